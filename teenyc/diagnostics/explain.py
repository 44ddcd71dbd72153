"""`teenyc explain CODE`: a code goes in, its explanation comes out; it is the docstring of the report's class."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import indent

from teenyc.diagnostics.catalog import find
from teenyc.diagnostics.model import Diagnostic


def explain(code: str) -> str | None:
    """The code with its severity, and below it the explanation; None for a code that does not exist.

    The case of the code does not matter.
    """
    kind = find(code.strip().upper())
    if kind is None:
        return None
    return f"{kind.severity.value}[{kind.code}]\n\n{explanation(kind)}{_silencing(kind)}"


def _silencing(kind: type[Diagnostic]) -> str:
    """How to silence a lint."""
    from teenyc.diagnostics.catalog.lints import Lint

    if not issubclass(kind, Lint):
        return ""
    return f"\n\nWhere it is meant: `#[allow({kind.lint_name()})]` before the statement or the function."


def explanation(kind: type[Diagnostic]) -> str:
    """The docstring of a report without the indentation of its class; examples are indented by four columns.

    Where an example is all that follows the first line, formatters and Python itself (from 3.13) take its indentation
    for that of the docstring. Every docstring has an example, so that what has none indented gets it back.
    """
    text = cleandoc(kind.__doc__ or "")
    if "\n\n    " in text:
        return text
    summary, gap, example = text.partition("\n\n")
    return summary + gap + indent(example, "    ")
