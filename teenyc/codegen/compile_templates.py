"""Compiles `templates/` to the modules in `teenyc/codegen/compiled/`: a start pays neither for that nor for Jinja.

    python -m teenyc.codegen.compile_templates

Jinja parses a template; of its tree is made a function that yields the text. A template has loops, conditions, names
and inclusions: what else Jinja knows is refused here. A test compares the modules with the templates, and what they
give with what Jinja gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from teenyc.codegen.render import checksum, module_name
from teenyc.resources import template_directory

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

HEAD = '''"""`templates/{name}` as a function that yields its text."""

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
        yield module_name(name), HEAD.format(name=name, checksum=checksum(source)) + compiled(source)


def compiled(source: str) -> str:
    """The text of the function `text(names, include)` that gives the text of a template, piece by piece."""
    from jinja2 import nodes

    tree = environment().parse(source)
    stored = {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    loaded = dict.fromkeys(name.name for name in tree.find_all(nodes.Name) if name.ctx == "load")
    given = (f'    {name} = names["{name}"]' for name in loaded if name not in stored)
    lines = ["def text(names, include):", *given, *_statements(tree.body, (), "    ")]
    return "\n".join(lines) + "\n"


@cache
def environment() -> Environment:
    """Jinja as the templates are written for it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(template_directory()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


# ---- statements -----------------------------------------------------------------------------------------------------


def _statements(body: Sequence[nodes.Node], bound: tuple[str, ...], indent: str) -> Iterator[str]:
    """The lines that yield the text of a body; `bound` are the names that loops around it and `with` define."""
    from jinja2 import nodes

    for node in body:
        match node:
            case nodes.Output():
                yield from _output(node, indent)
            case nodes.For(target=nodes.Name(name=name), else_=[], test=None, recursive=False):
                yield f"{indent}for {name} in {_expression(node.iter)}:"
                yield from _statements(node.body, (*bound, name), indent + "    ")
            case nodes.If(elif_=[]):
                yield f"{indent}if {_expression(node.test)}:"
                yield from _statements(node.body, bound, indent + "    ")
                if node.else_:
                    yield f"{indent}else:"
                    yield from _statements(node.else_, bound, indent + "    ")
            case nodes.With(targets=[nodes.Name(name=name)], values=[value]):
                yield f"{indent}{name} = {_expression(value)}"
                yield from _statements(node.body, (*bound, name), indent)
            case nodes.Include(with_context=True, ignore_missing=False):
                names = "".join(f', "{name}": {name}' for name in dict.fromkeys(bound))
                given = f"{{**names{names}}}" if bound else "names"
                yield f"{indent}yield from include({_expression(node.template)}, {given})"
            case _:
                raise _unknown(node)


def _output(node: nodes.Output, indent: str) -> Iterator[str]:
    """One `yield` for each line of what is said, and for each expression that no f-string can hold."""
    from jinja2 import nodes

    line, is_formatted = "", False
    for each in node.nodes:
        match each:
            case nodes.TemplateData(data=data):
                *whole, rest = data.split("\n")
                for part in whole:
                    yield from _said(f"{line}{_escaped(part)}\\n", is_formatted, indent)
                    line, is_formatted = "", False
                line += _escaped(rest)
            case nodes.Name() | nodes.Getattr():
                line, is_formatted = f"{line}{{{_expression(each)}}}", True
            case _:
                yield from _said(line, is_formatted, indent)
                yield f"{indent}yield str({_expression(each)})"
                line, is_formatted = "", False
    yield from _said(line, is_formatted, indent)


def _said(line: str, is_formatted: bool, indent: str) -> Iterator[str]:
    if line:
        yield f'{indent}yield f"{line}"' if is_formatted else f"{indent}yield {_plain(line)}"


def _escaped(text: str) -> str:
    """What stands for a text in an f-string."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("{", "{{").replace("}", "}}")


def _plain(line: str) -> str:
    """A string without expressions, of what stands for it in an f-string."""
    return '"{}"'.format(line.replace("{{", "{").replace("}}", "}"))


# ---- expressions ----------------------------------------------------------------------------------------------------


def _expression(node: nodes.Node) -> str:
    from jinja2 import nodes

    match node:
        case nodes.Name(name=name):
            return str(name)
        case nodes.Getattr(node=inner, attr=name):
            return f"{_expression(inner)}.{name}"
        case nodes.Const(value=str() as text) | nodes.TemplateData(data=text):
            return _plain(_escaped(text))
        case nodes.Concat():
            return f"({' + '.join(f'str({_expression(each)})' for each in node.nodes)})"
        case nodes.CondExpr(expr2=nodes.Expr() as other):
            return f"({_expression(node.expr1)} if {_expression(node.test)} else {_expression(other)})"
        case nodes.Not(node=nodes.Test(name="none", node=inner)):
            return f"{_expression(inner)} is not None"
        case _:
            raise _unknown(node)


def _unknown(node: nodes.Node) -> ValueError:
    return ValueError(f"templates have no {type(node).__name__} (line {node.lineno})")


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
