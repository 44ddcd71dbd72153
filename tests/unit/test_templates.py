"""The compiled templates are those of `templates/`, and what they render is what Jinja renders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from teenyc import compile_source
from teenyc.codegen import compiled, emit, render
from teenyc.codegen.compile_templates import compiled as compiled_text
from teenyc.codegen.compile_templates import compiled_templates, environment
from teenyc.codegen.host import HostView
from teenyc.codegen.views import ModuleView
from teenyc.resources import kernels_directory

GOLDEN = Path(__file__).parents[1] / "golden"
SOURCES = [kernels_directory() / "flash_attn2.tk", *sorted(GOLDEN.glob("*.tk"))[::8]]


@pytest.fixture
def fresh_templates() -> Iterator[None]:
    render._template.cache_clear()
    yield
    render._template.cache_clear()


def text_of(template: str, **names: object) -> str:
    scope: dict[str, object] = {}
    exec(compiled_text(template), scope)
    pieces = scope["text"]
    assert callable(pieces)
    return "".join(pieces(names, lambda name, inner: iter([f"<{name} {inner}>"])))


def test_modules_are_those_of_the_templates() -> None:
    folder = Path(compiled.__file__).parent
    written = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("[!_]*.py")}
    assert written == dict(compiled_templates()), "run `python -m teenyc.codegen.compile_templates`"


def test_compiled_templates_are_used_and_need_no_jinja(fresh_templates: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teenyc.codegen.compile_templates.compiled", None)
    assert compile_source((kernels_directory() / "flash_attn2.tk").read_text()).source


def test_templates_are_compiled_where_they_were_edited(fresh_templates: None, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (kernels_directory() / "flash_attn2.tk").read_text()
    expected = compile_source(text).source
    render._template.cache_clear()
    monkeypatch.setattr(render, "checksum", lambda _: -1)
    assert compile_source(text).source == expected


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_jinja_gives_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_jinja: list[str] = []

    def both(module: ModuleView, host: HostView) -> str:
        by_jinja.append(environment().get_template("module.py.jinja").render(module=module, host=host))
        ours.append(render.render(module, host))
        return ours[-1]

    ours: list[str] = []
    monkeypatch.setattr(emit, "render", both)
    compile_source(path.read_text())
    assert by_jinja == ours


def test_texts_keep_their_braces_quotes_and_backslashes() -> None:
    text = '{"a": \'\\n\'}\n{{ x }} = {%- if x %} {1: "{{ x }}"}{% endif %}\n'
    assert text_of(text, x="y") == environment().from_string(text).render(x="y")


def test_what_is_included_sees_the_names_around_it() -> None:
    text = "{% for a in list %}{% with b = a %}{% include 'c' %}{% endwith %}{% endfor %}"
    assert text_of(text, list="x") == "<c {'list': 'x', 'a': 'x', 'b': 'x'}>"


@pytest.mark.parametrize("error", [AttributeError, KeyError])
def test_a_misspelt_name_is_an_error(error: type[Exception]) -> None:
    with pytest.raises(error):
        text_of("{{ text.lenght }}" if error is AttributeError else "{{ texd }}", text="")


@pytest.mark.parametrize("text", ["{{ a | upper }}", "{% set a = 1 %}", "{% macro m() %}{% endmacro %}", "{{ a + 1 }}"])
def test_other_constructs_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="templates have no"):
        compiled_text(text)
