"""Places of a file, for fixes: spans go in; the calls that stand there, their arguments and their texts come out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

from teenyc.check.arguments import is_none
from teenyc.diagnostics.model import Fix
from teenyc.intrinsics import find
from teenyc.intrinsics.spec import Intrinsic
from teenyc.record import fields, is_record
from teenyc.source import Span
from teenyc.syntax import ast

Node = TypeVar("Node")


class Places:
    """The syntax tree of a file, which is asked what stands at a place."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.declared: dict[Span, dict[str, int]] = {}
        """How often each function declares each name; what is mutable counts twice."""

    def text(self, span: Span) -> str:
        return self.tree.text[span.start : span.end]

    def around(self, span: Span) -> list[Any]:
        """The nodes that hold what stands at a place, and it, each inside of the one before; none if nothing does."""
        found: list[Any] = []
        index = self.innermost.get(span)
        while index is not None:
            node, index = self.nodes[index]
            found.append(node)
        return found[::-1]

    @cached_property
    def nodes(self) -> list[tuple[Any, int | None]]:
        """All nodes with a place, each with the number of the one around it."""
        found: list[tuple[Any, int | None]] = []

        def visit(node: object, around: int | None) -> None:
            if isinstance(getattr(node, "span", None), Span):
                found.append((node, around))
                around = len(found) - 1
            for part in _parts(node):
                visit(part, around)

        visit(self.tree.items, None)
        return found

    @cached_property
    def innermost(self) -> Mapping[Span, int]:
        """The number of the innermost node at each place."""
        return {node.span: number for number, (node, _) in enumerate(self.nodes)}

    def at(self, span: Span, kind: type[Node]) -> Node | None:
        """The outermost node of a kind with exactly that place."""
        nodes = (n for n in self.around(span) if isinstance(n, kind) and getattr(n, "span", None) == span)
        return next(nodes, None)

    def call(self, span: Span) -> Call | None:
        """The call of an intrinsic with exactly that place."""
        node = self.at(span, ast.Call) or self.at(span, ast.MethodCall)
        if node is None:
            return None
        record = find(_name_of(node))
        given, prefix = node.arguments, ""
        if isinstance(node, ast.MethodCall):
            given = (ast.Argument(value=node.receiver, span=node.receiver.span), *given)
        elif isinstance(node.callee, ast.PathExpression):
            prefix = "".join(f"{segment.name.text}::" for segment in node.callee.segments[:-1])
        return None if record is None else Call(record, given, prefix)

    def repeated(self, value: ast.Expression, place: Span) -> str | None:
        """The text of an expression, where it means the same at a later place; None where that is not certain."""
        around = self.around(value.span)
        block = next((n for n in reversed(around) if isinstance(n, ast.Block)), None)
        function = next((n for n in reversed(around) if isinstance(n, ast.Function)), None)
        if block is None or function is None or not _holds(block.span, place) or place.start < value.span.end:
            return None
        names = {n.segments[0].name.text for n in all_nodes(value) if isinstance(n, ast.PathExpression)}
        if not all(self.is_fixed(function, name) for name in names) or not all(map(_is_pure, all_nodes(value))):
            return None
        return self.text(value.span)

    def stays(self, name: str, declared: Span) -> bool:
        """Whether a variable that is declared at a place means the same wherever its function names it."""
        function = self.function(declared)
        return function is not None and self.is_fixed(function, name)

    def function(self, place: Span) -> ast.Function | None:
        """The innermost function around a place."""
        before = bisect_right(self.functions, place.start, key=lambda found: found[0])
        index = self.functions[before - 1][1] if before else None
        while index is not None:
            node, index = self.nodes[index]
            if isinstance(node, ast.Function) and _holds(node.span, place):
                return node
        return None

    @cached_property
    def functions(self) -> list[tuple[int, int]]:
        """Where each function begins, and its number among the nodes, in the order of the source."""
        return sorted((node.span.start, n) for n, (node, _) in enumerate(self.nodes) if isinstance(node, ast.Function))

    def is_fixed(self, function: ast.Function, name: str) -> bool:
        """Whether a function declares a name once at most, and not as mutable."""
        if function.span not in self.declared:
            counts: dict[str, int] = {}
            for each, is_mutable in _declared(function):
                counts[each] = counts.get(each, 0) + (2 if is_mutable else 1)
            self.declared[function.span] = counts
        return self.declared[function.span].get(name, 0) <= 1


class Call:
    """A call of an intrinsic, and what was given to it; `prefix` is what stands before its name, such as `T::`."""

    def __init__(self, record: Intrinsic, given: tuple[ast.Argument, ...], prefix: str) -> None:
        self.record = record
        self.given = given
        self.prefix = prefix

    def argument(self, name: str) -> ast.Argument | None:
        """What stands for a parameter, by its name or its place; perhaps `None`."""
        param = next((p for p in self.record.params if p.name == name), None)
        if param is None:
            return None
        named = (a for a in self.given if a.name is not None and a.name.text in (name, *param.aliases))
        by_place = [p.name for p in self.record.params if not p.by_name_only]
        placed = (a for p, a in zip(by_place, self.given, strict=False) if p == name and a.name is None)
        return next(named, None) or next(placed, None)

    def value(self, name: str) -> ast.Expression | None:
        """The value of an argument, without `Some(…)` around it; None for an absent one."""
        argument = self.argument(name)
        if argument is None or is_none(argument.value):
            return None
        value = argument.value
        is_some = isinstance(value, ast.Call) and isinstance(value.callee, ast.PathExpression)
        if is_some and isinstance(value, ast.Call) and _name_of(value) == "Some" and len(value.arguments) == 1:
            return value.arguments[0].value
        return value

    def adding(self, name: str, text: str) -> Fix | None:
        """The edit that gives the call an argument that it lacks."""
        argument = self.argument(name)
        if argument is None:
            end = self.given[-1].span.end
            return Fix(Span(end, end), f", {name} = {text}")
        if not is_none(argument.value):
            return None
        return Fix(argument.value.span, f"Some({text})" if argument.name is None else text)

    def without(self, name: str) -> Fix | None:
        """The edit that takes an argument away; `None` takes the place of one that goes by its place."""
        argument = self.argument(name)
        if argument is None or is_none(argument.value):
            return None
        if argument.name is None:
            return Fix(argument.value.span, "None")
        before = self.given[self.given.index(argument) - 1]
        return Fix(Span(before.span.end, argument.span.end), "")


def _name_of(node: ast.Call | ast.MethodCall) -> str:
    if isinstance(node, ast.MethodCall):
        return node.method.name.text
    return node.callee.segments[-1].name.text if isinstance(node.callee, ast.PathExpression) else ""


def _is_pure(node: object) -> bool:
    """Whether what a node computes is the same wherever it stands: no call but of what reads and writes nothing."""
    if not isinstance(node, ast.Call | ast.MethodCall):
        return not isinstance(node, ast.Block | ast.Closure)
    record = find(_name_of(node))
    return record is not None and not record.effects


def _declared(function: ast.Function) -> Iterator[tuple[str, bool]]:
    """The names that a function declares, each as often as it does, and whether they are mutable."""
    for node in all_nodes(function):
        if isinstance(node, ast.NamePattern | ast.Parameter):
            yield node.name.text, node.mutable
        elif isinstance(node, ast.ConstantParameter):
            yield node.name.text, False


def all_nodes(node: object) -> Iterator[Any]:
    """A node and all that is in it."""
    yield node
    for part in _parts(node):
        yield from all_nodes(part)


def _parts(node: object) -> tuple[object, ...]:
    if isinstance(node, tuple):
        return node
    if not is_record(node) or not type(node).__module__.startswith("teenyc.syntax"):
        return ()
    return tuple(getattr(node, each.name) for each in fields(node))


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
