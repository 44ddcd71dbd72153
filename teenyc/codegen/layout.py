"""Layout: a statement on one line goes in, lines of at most 120 columns come out, broken as `ruff format` does it.

The text is the emitter's own: operators outside of brackets stand between spaces, and nothing else does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from teenyc.record import record

WIDTH = 120
STEP = "    "

_LEVELS = (
    (" if ", " else "),
    (" == ", " != ", " < ", " <= ", " > ", " >= "),
    (" | ",),
    (" ^ ",),
    (" & ",),
    (" << ", " >> "),
    (" + ", " - "),
    (" * ", " / ", " // ", " % "),
)
"""Operators from loose to tight: a line is broken before the loosest."""


def columns(text: str) -> int:
    """How wide a text is printed."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def broken(statement: str, indent: str) -> list[str]:
    """The lines of one statement."""
    if columns(indent + statement) <= WIDTH:
        return [indent + statement]
    head, expression, tail = _parts(statement)
    return _expression(head, expression, tail, indent, is_bracketed=False)


def _parts(statement: str) -> tuple[str, str, str]:
    """What stands before the expression of a statement, the expression, and what stands behind it."""
    tail = ":" if statement.endswith(":") else ""
    body = statement.removesuffix(":")
    for keyword in ("if not ", "elif not ", "while not ", "if ", "elif ", "while ", "return "):
        if body.startswith(keyword):
            return keyword, body[len(keyword) :], tail
    spaces = _scan(body).spaces
    for separator in (" = ", " in "):
        position = next((p for p in spaces if body.startswith(separator, p)), None)
        if position is not None:
            position += len(separator)
            return body[:position], body[position:], tail
    return "", body, tail


def _expression(head: str, text: str, tail: str, indent: str, *, is_bracketed: bool) -> list[str]:
    """An expression behind `head` and before `tail`; inside brackets a line may be broken anywhere."""
    line = indent + head + text + tail
    if columns(line) <= WIDTH:
        return [line]
    scan = _scan(text)
    operands, bracket = _operands(scan), _last_bracket(scan)
    if bracket and (len(operands) == 1 or (len(operands) == 2 and bracket.is_at_end and not is_bracketed)):
        lines = _bracket(head, text, tail, indent, bracket)
        if len(operands) == 1 or columns(lines[0]) <= WIDTH:
            return lines
    if len(operands) == 1:
        return list(_string(head, text, tail, indent))
    if is_bracketed:
        return [line for operand in _joined(head, operands, tail) for line in _operand(operand, indent)]
    inner = [line for operand in _joined("", operands, "") for line in _operand(operand, indent + STEP)]
    return [f"{indent}{head}(", *inner, f"{indent}){tail}"]


def _operand(text: str, indent: str) -> list[str]:
    """One operand, with the operator before it."""
    operator = next((o[1:] for level in _LEVELS for o in level if text.startswith(o[1:])), "")
    return _expression(operator, text[len(operator) :], "", indent, is_bracketed=True)


def _joined(head: str, operands: list[str], tail: str) -> Iterator[str]:
    for index, operand in enumerate(operands):
        yield (head if index == 0 else "") + operand + (tail if index == len(operands) - 1 else "")


def _bracket(head: str, text: str, tail: str, indent: str, bracket: _Bracket) -> list[str]:
    """The content of a bracket on a line of its own, or one item a line."""
    opening, content, closing = text[: bracket.start + 1], text[bracket.start + 1 : bracket.end], text[bracket.end :]
    inner = indent + STEP
    if columns(inner + content) <= WIDTH:
        lines = [inner + content]
    elif bracket.is_list:
        lines = list(_each(_items(content), inner))
    else:
        lines = _expression("", content, "", inner, is_bracketed=True)
    return [indent + head + opening, *lines, indent + closing + tail]


def _each(items: list[str], indent: str) -> Iterator[str]:
    """Items on lines of their own, each with a comma behind it."""
    for item in items:
        name, separator, value = item.partition("=")
        head = name + separator if separator and name.isidentifier() else ""
        yield from _expression(head, value if head else item, ",", indent, is_bracketed=not head)


def _string(head: str, text: str, tail: str, indent: str) -> Iterator[str]:
    """A string that is too long, as pieces that Python joins; any other text as it is."""
    if not (text.startswith('"') and text.endswith('"')) or _scan(text).strings != 1:
        yield indent + head + text + tail
        return
    room = WIDTH - len(indent) - len(head) - len(tail) - 2
    pieces: list[str] = [""]
    for unit in _units(text[1:-1]):
        if columns(pieces[-1] + unit) > room:
            pieces.append("")
        pieces[-1] += unit
    for index, piece in enumerate(pieces):
        yield indent + (head if index == 0 else "") + f'"{piece}"' + (tail if index == len(pieces) - 1 else "")


def _units(text: str) -> Iterator[str]:
    """Characters and whole escapes of a string literal."""
    position = 0
    lengths = {"x": 4, "u": 6, "U": 10}
    while position < len(text):
        size = 1
        if text[position] == "\\":
            size = lengths.get(text[position + 1 : position + 2], 2)
        yield text[position : position + size]
        position += size


# ---- reading the line -----------------------------------------------------------------------------------------------


@record
class _Scan:
    """A text with the places, outside of brackets and strings, of spaces, commas and brackets; how many strings."""

    text: str
    spaces: list[int]
    commas: list[int]
    brackets: list[_Bracket]
    strings: int


@record
class _Bracket:
    """A pair of brackets outside of all others; `is_list` if a comma may stand behind its last item."""

    start: int
    end: int
    is_at_end: bool
    is_list: bool


def _last_bracket(scan: _Scan) -> _Bracket | None:
    """The bracket to break: of those outside of all others the one with most in it, the last of equals."""
    return max(
        (b for b in scan.brackets if b.end > b.start + 1), key=lambda b: (b.end - b.start, b.start), default=None
    )


def _operands(scan: _Scan) -> list[str]:
    """The operands of the loosest operators outside of brackets, each but the first with its operator before it."""
    text = scan.text
    for level in _LEVELS:
        cuts = [p + 1 for p in scan.spaces if text.startswith(level, p)]
        if cuts:
            ends = [*cuts, len(text) + 1]
            return [text[: cuts[0] - 1], *(text[a : b - 1] for a, b in pairwise(ends))]
    return [text]


def _items(text: str) -> list[str]:
    """What stands between the commas outside of brackets."""
    cuts = _scan(text).commas
    starts = [0, *(c + 1 for c in cuts)]
    items = [text[a:b].strip() for a, b in zip(starts, [*cuts, len(text)], strict=True)]
    return [item for item in items if item]


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]{}]|[ ,]')


def _scan(text: str) -> _Scan:
    """Reads a text once; what is in strings is skipped."""
    spaces: list[int] = []
    commas: list[int] = []
    brackets: list[_Bracket] = []
    strings = depth = start = 0
    for match in _TOKEN.finditer(text):
        token, position = match[0], match.start()
        if token in "([{":
            start = position if depth == 0 else start
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth == 0:
                brackets.append(_bracket_at(text, start, position))
        elif depth == 0 and token == " ":
            spaces.append(position)
        elif depth == 0 and token == ",":
            commas.append(position)
        elif depth == 0:
            strings += 1
    return _Scan(text, spaces, commas, brackets, strings)


def _bracket_at(text: str, start: int, end: int) -> _Bracket:
    is_after_name = start > 0 and (text[start - 1] in ")]_" or text[start - 1].isalnum())
    return _Bracket(start, end, end == len(text) - 1, is_after_name == (text[start] == "("))
