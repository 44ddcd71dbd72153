"""The fix for a variable that a loop rounds: its first value and what follows become wide, and are cast where read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from teenyc.check.places import Places, all_nodes
from teenyc.diagnostics.model import Fix
from teenyc.source import Span
from teenyc.syntax import ast

_AS = re.compile(r"\s*\bas\s*$")


def widened(places: Places, place: Span, wide: str, narrow: str) -> Fix | None:
    """The edits for the cast at a place, which makes a variable of type `narrow` of a value that is `wide`.

    Where the value is narrow by its type already, the cast only rounds, and goes. Otherwise the variable becomes wide;
    None where it is more than a tensor that begins with a number, is added to in one place, and is read.
    """
    cast = places.at(place, ast.Cast)
    if cast is None or places.text(cast.target.span) != narrow:
        return None
    around = places.around(place)
    function = next((n for n in reversed(around) if isinstance(n, ast.Function)), None)
    assignment = next((n for n in reversed(around) if isinstance(n, ast.Assign)), None)
    if function is None or assignment is None:
        return None
    removal = _uncast(places, cast, is_whole=assignment.value is cast)
    if not removal or wide == narrow:
        return _together(removal)
    target = assignment.target
    if not isinstance(target, ast.PathExpression) or wide not in ("f32", "f64"):
        return None
    name = target.segments[0].name.text
    first = _first(places, function, name, wide, narrow)
    reads = _reads(places, function, name, wide, narrow, target)
    if first is None or reads is None:
        return None
    return _together([*first, *removal, *reads])


def _together(edits: list[Fix]) -> Fix | None:
    edits = sorted(edits, key=lambda edit: edit.span)
    return Fix(edits[0].span, edits[0].replacement, tuple(edits[1:])) if edits else None


def _uncast(places: Places, cast: ast.Cast, *, is_whole: bool = False) -> list[Fix]:
    """Takes `as bf16` away, and what is a whole value out of its parentheses."""
    inside = cast.operand.span
    between = places.text(Span(inside.end, cast.target.span.start))
    found = _AS.search(between)
    if found is None:
        return []
    if is_whole and isinstance(cast.operand, ast.Binary) and inside.start < cast.operand.left.span.start:
        return [Fix(Span(inside.start, inside.start + 1), ""), Fix(Span(inside.end - 1, cast.span.end), "")]
    return [Fix(Span(inside.end + found.start(), cast.span.end), "")]


def _first(places: Places, function: ast.Function, name: str, wide: str, narrow: str) -> list[Fix] | None:
    """Makes the type wide in the only `let` of a variable: that of `zeros::<bf16>` or `0.0 as bf16`, and the stated."""
    lets = [n for n in all_nodes(function) if isinstance(n, ast.Let) and name in _named(n.pattern)]
    declared = [n for n in all_nodes(function) if isinstance(n, ast.NamePattern) and n.name.text == name]
    if len(lets) != 1 or len(declared) != 1 or any(p.name.text == name for p in function.parameters):
        return None
    (let,) = lets
    match let.value:
        case ast.Cast():
            typed: list[object] = [let.value.target]
        case ast.Call(callee=ast.PathExpression() as callee) if callee.segments[-1].name.text in ("zeros", "full"):
            typed = [generic for segment in callee.segments for generic in segment.generics]
        case _:
            return None
    types = [n for n in (*typed, let.annotation) if n is not None]
    found = [n.span for each in types for n in all_nodes(each) if _is_named(n, narrow)]
    return [Fix(span, wide) for span in found] if any(_is_named(n, narrow) for n in typed) else None


def _named(pattern: ast.Pattern) -> tuple[str, ...]:
    return (pattern.name.text,) if isinstance(pattern, ast.NamePattern) else ()


def _is_named(node: object, narrow: str) -> bool:
    """Whether a node is the narrow type, written by its name alone."""
    return (
        isinstance(node, ast.PathType | ast.PathExpression)
        and len(node.segments) == 1
        and node.segments[0].name.text == narrow
        and not node.segments[0].generics
    )


def _reads(
    places: Places, function: ast.Function, name: str, wide: str, narrow: str, target: ast.PathExpression
) -> list[Fix] | None:
    """Casts the variable where it is read as it was; where it was cast to the wide type, that goes."""
    targets = [n.target for n in all_nodes(function) if isinstance(n, ast.Assign) and _is_named(n.target, name)]
    if len(targets) != 1 or targets[0] is not target:
        return None
    return list(_cast_reads(places, function, name, wide, narrow, target))


def _cast_reads(
    places: Places, function: ast.Function, name: str, wide: str, narrow: str, target: ast.PathExpression
) -> Iterator[Fix]:
    done = {id(target)}
    for node in all_nodes(function):
        if isinstance(node, ast.Cast) and _is_named(node.operand, name):
            done.add(id(node.operand))
            if _is_named(node.target, wide):
                yield from _uncast(places, node)
        elif isinstance(node, ast.Argument) and _is_named(node.value, name):
            done.add(id(node.value))
            yield Fix(Span(node.value.span.end, node.value.span.end), f" as {narrow}")
        elif isinstance(node, ast.PathExpression) and _is_named(node, name) and id(node) not in done:
            yield Fix(node.span, f"({name} as {narrow})")
