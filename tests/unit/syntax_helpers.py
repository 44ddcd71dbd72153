"""What the tests of the front end share: parsing a text, a statement or an expression, and reports in one line each."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.record import fields, is_record
from teenyc.source import SourceFile, Span
from teenyc.syntax import ast
from teenyc.syntax.parse import parse


def parse_text(text: str) -> tuple[ast.Module, list[Diagnostic]]:
    """The module and the reports of a source."""
    reporter = Reporter()
    return parse(SourceFile("test.tk", text), reporter), list(reporter)


def module_of(text: str) -> ast.Module:
    """The module of a source without mistakes."""
    module, reports = parse_text(text)
    assert not reports, [r.message() for r in reports]
    return module


def function_of(text: str) -> ast.Function:
    """The only item of a source, a function."""
    (function,) = module_of(text).items
    assert isinstance(function, ast.Function)
    return function


def statements_of(body: str) -> tuple[ast.Statement, ...]:
    """The statements of a function with that body."""
    return function_of(f"#[kernel] fn f() {{ {body} }}").body.statements


def statement_of(body: str) -> ast.Statement:
    (statement,) = statements_of(body)
    return statement


def expression_of(text: str) -> ast.Expression:
    """The expression that stands on the right of a `let`."""
    statement = statement_of(f"let x = {text};")
    assert isinstance(statement, ast.Let)
    assert statement.value is not None
    return statement.value


def reports_of(text: str) -> list[str]:
    """Each report as `line:column code message`, with the text under the caret behind it if there is some."""
    source = SourceFile("test.tk", text)
    lines: list[str] = []
    for report in parse_text(text)[1]:
        assert report.span is not None
        place = source.position(report.span.start)
        under = text[report.span.start : report.span.end]
        lines.append(f"{place.line}:{place.column} {report.code} {report.message()}" + (f" [{under}]" if under else ""))
    return lines


def codes_of(text: str) -> list[str]:
    return [report.code for report in parse_text(text)[1]]


def nodes(root: object) -> Iterator[object]:
    """All nodes of a tree, a parent before its children."""
    if isinstance(root, tuple):
        for part in root:
            yield from nodes(part)
    elif is_record(root) and not isinstance(root, Span | type):
        yield root
        for field in fields(root):
            if field.compare:
                yield from nodes(getattr(root, field.name))


def spans(text: str, root: object) -> list[tuple[str, str]]:
    """The kind of each node that has a span, and the text that this covers."""
    found: list[tuple[str, str]] = []
    for node in nodes(root):
        span = getattr(node, "span", None)
        if isinstance(span, Span) and not isinstance(node, ast.Name):
            found.append((type(node).__name__, text[span.start : span.end]))
    return found
