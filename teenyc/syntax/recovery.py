"""What happens on an unexpected token: it is reported, and the automaton goes on with the next statement.

A missing `;` is put in. Otherwise the statement is given up: its symbols are dropped, and its tokens passed over up to
the next `;`, the end of its block, or a line that begins a statement. In a header nothing is mended. A statement that
a missing `;` or bracket was reported for gets no second report.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from teenyc.diagnostics.catalog.syntax import ElseWithoutIf, MacroCall, Unexpected, UnknownCharacter
from teenyc.diagnostics.model import Diagnostic, Fix
from teenyc.source import Span
from teenyc.syntax.context import Context
from teenyc.syntax.describe import describe, unknown_character
from teenyc.syntax.place import Place
from teenyc.syntax.stack import Run
from teenyc.syntax.tables import END
from teenyc.syntax.tokens import CLOSERS, IDENTIFIER, UNKNOWN, UNTERMINATED, Token

ERROR_LIMIT: Final = 1000
"""Mistakes after which the rest of an item is not read."""

_UNMISTAKABLE = frozenset("let for while loop return break continue".split())
"""What begins a statement wherever it stands."""

_STATEMENTS = _UNMISTAKABLE | frozenset("fn const if match".split())
"""What begins a statement at the start of a line."""


def recover(run: Run, position: int, token: Token, context: Context) -> tuple[int, Token] | None:
    """Where to go on and with which token, after a report; None where that is nowhere in this item."""
    context.errors += 1
    previous = run.stream[position - 1] if position else token
    problem = diagnose(run, position, token, context)
    if token.kind == UNTERMINATED or context.errors > ERROR_LIMIT:
        return None
    stays = run.mended == position
    run.mended = position
    at_start = "<statement>" in run.tables.rows[run.states[-1]]
    if not (stays or at_start) and _begins_new(context.text, previous, token) and run.accepts(";"):
        run.inserted = -1 if token.kind in _UNMISTAKABLE else token.start
        context.report(problem)
        return position, Token(";", previous.end, previous.end, "")
    begin, go_on = _skip_statement(run, position, stays, context)
    end = run.stream[go_on].start if go_on is not None else len(context.text)
    if begin != run.inserted and not context.has_fault(begin, end):
        context.report(problem)
    return None if go_on is None else (go_on, run.stream[go_on])


# ---- saying what is wrong -------------------------------------------------------------------------------------------


def diagnose(run: Run, position: int, token: Token, context: Context) -> Diagnostic:
    """The report of an unexpected token."""
    span = Span(token.start, token.end)
    previous = run.stream[position - 1] if position else token
    if token.kind == UNKNOWN:
        return UnknownCharacter(span=span, **unknown_character(token.text))
    if token.kind == "else":
        return ElseWithoutIf(span=span)
    if token.kind == "!" and previous.kind == IDENTIFIER and previous.end == token.start:
        return MacroCall(span=Span(previous.start, token.end), name=previous.text)
    from teenyc.syntax.habits import recognise

    place = Place(run, position, _expected(run, previous), context.text)
    return recognise(place) or _unexpected(place)


def _unexpected(place: Place) -> Unexpected:
    from teenyc.syntax.habits import hint

    token, previous, expected = place.token, place.previous, place.expected
    at = Span(token.start, token.end)
    found_at = None
    help_, right = hint(place)
    fix = Fix(at, right) if right else None
    if expected[0] == "`" and not help_ and _begins_new(place.text, previous, token):
        found_at = None if token.kind == END else at
        at = Span(previous.end, previous.end)
        if expected == "`;`":
            fix, help_ = Fix(at, ";"), "add `;` here"
    return Unexpected(span=at, expected=expected, found=describe(token), found_at=found_at, hint=help_, replacement=fix)


def _expected(run: Run, previous: Token) -> str:
    """What could come next, in words."""
    wanted = _wanted(run)
    if wanted == ["`;`"] and previous.kind == ";":
        return "a statement"
    return " or ".join((", ".join(wanted[:-1]), wanted[-1])) if len(wanted) > 1 else wanted[0]


_PARTS: Mapping[str, str] = MappingProxyType(
    {
        "<statement>": "a statement",
        "<expression>": "an expression",
        "<operation>": "an expression",
        "<operand>": "an expression",
        "<prefixed>": "an expression",
        "<match_pattern>": "a pattern",
        "<pattern>": "a pattern",
        "<type>": "a type",
        "<path_type>": "a type",
        "<bound>": "a bound",
        "<parameter>": "a parameter",
        "<argument>": "an argument",
    }
)
"""What a state waits for, by the symbols that it can go on with; the first that applies is named."""

_MARKS = (":", "=", "=>", "in", "{", ";", ",", ")", "]")
_OTHER_MARKS = ("(", ">", "<", "}", "|", "[", "fn", "struct")
"""What a state may wait for after a complete part, in the order in which reports name it; the others if it is alone."""


def _wanted(run: Run) -> list[str]:
    """What could come next, in words and tokens; most telling first, at most three."""
    row = run.tables.rows[run.states[-1]]
    marks = [mark for mark in _MARKS if run.accepts(mark)]
    if ";" in marks and ":" not in marks and "<statement>" not in row:
        return ["`;`"]
    for part, words in _PARTS.items():
        if part in row:
            return [words]
    if run.accepts("STRING"):
        return ["an expression"]
    if run.accepts(IDENTIFIER):
        return ["a name"]
    if run.accepts("+") or "{" in marks:  # behind an operand, where `=` is the rarest way to go on
        marks = [mark for mark in marks if mark != "="]
    marks = marks or [mark for mark in _OTHER_MARKS if run.accepts(mark)]
    return [f"`{mark}`" for mark in marks[:3]] or ["something else"]


# ---- going on -------------------------------------------------------------------------------------------------------


def _skip_statement(run: Run, position: int, stays: bool, context: Context) -> tuple[int, int | None]:
    """Drop the symbols of the statement and pass its tokens: where its text began, and the token to go on with."""
    depth = _innermost_block(run)
    place = None if depth is None else _climb(run, position, run.values[depth])
    if depth is None or place is None:
        return run.stream[0].start, None
    count = depth + 1 + _has_statements(run, depth)
    begin = run.starts[count] if len(run.starts) > count else run.stream[position].start
    run.cut(count)
    return begin, _next_statement(run, *place, stays, context)


def _innermost_block(run: Run) -> int | None:
    """The place on the stack of the `{` of the innermost block; None outside of all."""
    rows = run.tables.rows
    for depth in range(len(run.values) - 1, -1, -1):
        if "<_statements>" in rows[run.states[depth + 1]]:
            return depth
    return None


def _has_statements(run: Run, depth: int) -> bool:
    """Whether whole statements of that block lie on its `{`."""
    if len(run.states) <= depth + 2:
        return False
    return run.states[depth + 2] == run.tables.rows[run.states[depth + 1]].get("<_statements>")


def _climb(run: Run, position: int, opener: Token) -> tuple[int, bool] | None:
    """The token that stands directly in the block and holds the one at fault, and whether it is another one."""
    tokens, parent, offset = run.stream, run.parent, run.offset
    index = position
    while index + offset < len(parent) and (around := parent[index + offset] - offset) >= 0:
        if tokens[around] is opener:
            return index, index != position
        index = around
    return None


def _next_statement(run: Run, index: int, is_around: bool, stays: bool, context: Context) -> int:
    """Where the next statement begins, or the block ends."""
    tokens, partner, offset = run.stream, run.partner, run.offset
    start = tokens[index]
    is_in_block = False  # indented lines behind `:`, as in Python
    while True:
        token = tokens[index]
        if token.kind == ";" and not is_in_block:
            return index + 1
        if partner[index + offset] >= 0 and partner[index + offset] < index + offset:
            return index  # the end of the block
        if _begins_line(context.text, tokens[index - 1], token):
            was_in_block = is_in_block
            is_in_block = _is_indented(context.text, start.start, token) and (
                is_in_block or tokens[index - 1].kind == ":"
            )
            if was_in_block and not is_in_block and token.text not in _BRANCHES:
                return index
            may_begin = not is_in_block and not (token is start and (stays or is_around))
            if may_begin and token.kind in _STATEMENTS:
                return index
        if token.kind in CLOSERS:
            index = partner[index + offset] - offset
            is_whole = token.kind == "{" and tokens[index + 1].kind not in _AFTER_BLOCK
            if is_whole and not (start.kind == "do" and tokens[index + 1].kind == "while"):
                return index + 1
        index += 1


_BRANCHES = frozenset("else elif except finally".split())
"""What goes on with a statement of Python behind the indented lines of its first part."""


def _is_indented(text: str, begin: int, token: Token) -> bool:
    """Whether the line of a token is indented more than the one in which something begins."""
    return _indentation(text, token.start) > _indentation(text, begin)


def _indentation(text: str, place: int) -> int:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return len(line) - len(line.lstrip())


_AFTER_BLOCK = frozenset("else . ; , ) ] ? =>".split())


def _begins_new(text: str, previous: Token, token: Token) -> bool:
    """Whether a token belongs to what comes next rather than to what is not complete."""
    return token.kind in _UNMISTAKABLE or token.kind == END or _begins_line(text, previous, token)


def _begins_line(text: str, previous: Token, token: Token) -> bool:
    return token.kind == "}" or "\n" in text[previous.end : token.start]
