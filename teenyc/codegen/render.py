"""Render: views of plain strings go in, the text of a module comes out. The only code that knows Jinja."""

from __future__ import annotations

from teenyc.codegen.host import HostView
from teenyc.codegen.views import ModuleView
from teenyc.resources import template_directory


def render(module: ModuleView, host: HostView) -> str:
    """The module's text, by `module.py.jinja`. A name that a template misspells is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(template_directory()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("module.py.jinja").render(module=module, host=host)
