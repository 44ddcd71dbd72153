"""Render: views of plain strings go in, the text of a module comes out. The only code that knows Jinja."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from zlib import crc32

from teenyc.codegen.host import HostView
from teenyc.codegen.views import ModuleView
from teenyc.resources import template_text

if TYPE_CHECKING:
    from jinja2 import Environment, Template

JINJA = "3.1."
"""How the versions of Jinja begin whose compiled templates are alike."""


def render(module: ModuleView, host: HostView) -> str:
    """The module's text, by `module.py.jinja`. A name that a template misspells is an error."""
    return environment().get_template("module.py.jinja").render(module=module, host=host)


@cache
def environment() -> Environment:
    """Jinja with the templates, each compiled once in a process, most before it."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    class Compiled(FunctionLoader):
        """Takes a template's module where there is one, and its text otherwise."""

        def load(self, environment: Environment, name: str, globals: Any = None) -> Template:
            namespace = _compiled(name)
            if namespace is None:
                return super().load(environment, name, globals)
            return environment.template_class.from_module_dict(environment, namespace, globals or {})

    return Environment(
        loader=Compiled(template_text),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def module_name(template: str) -> str:
    """The module in `teenyc.codegen.compiled` of a template: `helpers_round_to` of `helpers/round_to.py.jinja`."""
    return template.partition(".")[0].replace("/", "_")


def checksum(source: str) -> int:
    """What tells one text of a template from another."""
    return crc32(source.encode())


def _compiled(name: str) -> dict[str, Any] | None:
    """What the module of a template defines, if it was made from the template as it is now and fits this Jinja."""
    import jinja2

    if not str(vars(jinja2).get("__version__", "")).startswith(JINJA):
        return None
    try:
        module = import_module(f"teenyc.codegen.compiled.{module_name(name)}")
    except ModuleNotFoundError:
        return None
    return vars(module) if checksum(template_text(name)) == module.CHECKSUM else None
