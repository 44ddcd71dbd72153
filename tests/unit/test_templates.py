"""The compiled templates are those of `templates/`, and what they render is what the templates render."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from teenyc import compile_source
from teenyc.codegen import compiled, render
from teenyc.codegen.compile_templates import compiled_templates
from teenyc.resources import kernels_directory


@pytest.fixture
def fresh_environment() -> Iterator[None]:
    render.environment.cache_clear()
    yield
    render.environment.cache_clear()


def test_modules_are_those_of_the_templates() -> None:
    folder = Path(compiled.__file__).parent
    written = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("[!_]*.py")}
    assert written == dict(compiled_templates()), "run `python -m teenyc.codegen.compile_templates`"


def test_compiled_templates_are_used(fresh_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jinja2.Environment.compile", None)
    assert compile_source((kernels_directory() / "flash_attn2.tk").read_text()).source


@pytest.mark.parametrize("what", [("JINJA", "0."), ("checksum", lambda _: -1)], ids=["other Jinja", "edited"])
def test_templates_compile_where_the_modules_do_not_fit(
    what: tuple[str, object], fresh_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (kernels_directory() / "flash_attn2.tk").read_text()
    expected = compile_source(text).source
    render.environment.cache_clear()
    monkeypatch.setattr(render, *what)
    assert compile_source(text).source == expected
