"""Compiles `templates/` to the modules in `teenyc/codegen/compiled/`, so that a start does not pay for it.

    python -m teenyc.codegen.compile_templates

A test compares the modules with the templates; where they differ, or Jinja is another, templates compile when used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from teenyc.codegen.render import checksum, environment, module_name
from teenyc.resources import template_directory

HEAD = '''"""`templates/{name}` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = {checksum}

'''


def compiled_templates() -> Iterator[tuple[str, str]]:
    """The name and the text of the module of each template."""
    root = template_directory()
    for path in sorted(root.rglob("*.jinja")):
        name = path.relative_to(root).as_posix()
        source = path.read_text(encoding="utf-8")
        code = environment().compile(source, name, name, raw=True, defer_init=True)
        yield module_name(name), HEAD.format(name=name, checksum=checksum(source)) + code + "\n"


def main() -> None:
    """Writes the modules and removes those whose template is gone."""
    folder = Path(__file__).parent / "compiled"
    modules = dict(compiled_templates())
    for path in folder.glob("[!_]*.py"):
        if path.stem not in modules:
            path.unlink()
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
