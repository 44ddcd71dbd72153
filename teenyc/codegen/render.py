"""Render: views of plain strings go in, the text of a module comes out. The only code that knows the templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias
from zlib import crc32

from teenyc.codegen.host import HostView
from teenyc.codegen.views import ModuleView
from teenyc.resources import template_text

Names: TypeAlias = Mapping[str, object]
Template: TypeAlias = "Callable[[Names, Callable[[str, Names], Iterator[str]]], Iterator[str]]"
"""Yields the text of a template, of what its names stand for, and of what it includes."""


def render(module: ModuleView, host: HostView) -> str:
    """The module's text, by `module.py.jinja`. A name that a template misspells is an error."""
    return text_of("module.py.jinja", {"module": module, "host": host})


def text_of(template: str, names: Names) -> str:
    """The text of one template, with what its names stand for."""
    return "".join(_text(template, names))


def module_name(template: str) -> str:
    """The module in `teenyc.codegen.compiled` of a template: `helpers_round_to` of `helpers/round_to.py.jinja`."""
    return template.partition(".")[0].replace("/", "_")


def checksum(source: str) -> int:
    """What tells one text of a template from another."""
    return crc32(source.encode())


def _text(name: str, names: Names) -> Iterator[str]:
    return _template(name)(names, _text)


@cache
def _template(name: str) -> Template:
    """A template by its name: compiled before, or now where its text is another."""
    source = template_text(name)
    try:
        scope: dict[str, Any] = vars(import_module(f"teenyc.codegen.compiled.{module_name(name)}"))
    except ModuleNotFoundError:
        scope = {}
    if scope.get("CHECKSUM") != checksum(source):
        from teenyc.codegen.compile_templates import compiled

        scope = {}
        exec(compiled(source), scope)
    template: Template = scope["text"]
    return template
