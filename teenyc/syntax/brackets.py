"""Pairs brackets: tokens go in; out they come with attributes folded, and for each bracket where its group ends.

Where brackets do not pair, `repair.py` is asked first: it reports what is wrong and puts the missing ones in, so that
the parser sees balanced groups only.
"""

from __future__ import annotations

import re
from typing import Final

from teenyc.diagnostics.model import Reporter
from teenyc.syntax.tokens import ATTRIBUTE, CLOSERS, IDENTIFIER, Lexed, Token

NESTING_LIMIT: Final = 256
"""How many brackets may be open at once, beside that of the function's body."""

HEIGHT_LIMIT: Final = 1000
"""How many operators, suffixes or `else if` may hang on each other in one expression."""

_STACKING = frozenset("+ - * / % & | ^ << >> < <= > == != && || ! . as else return break -> :: dyn impl".split())
"""What makes a tree higher by one without a bracket."""

_SEPARATING = frozenset("; , => = :".split())
_OPENERS = frozenset(CLOSERS)
_CLOSERS = frozenset(CLOSERS.values())


class Nested:
    """Tokens in balanced groups. `partner` holds for a bracket the index of the other one, `parent` the index of the
    bracket that a token stands in (for a closing one its opener), both -1 for none.

    `deep` lists indices of brackets beyond the nesting limit, `high` of tokens where an expression may be too high.
    """

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.partner: list[int] = []
        self.parent: list[int] = []
        self.deep: list[int] = []
        self.high: list[int] = []


def pair(text: str, lexed: Lexed, reporter: Reporter) -> Nested:
    """Pair all brackets of a source; those that cannot be paired are reported and repaired."""
    tokens = lexed.tokens
    if not _is_balanced(tokens):
        from teenyc.syntax.repair import repair

        tokens = repair(text, tokens, reporter, quiet_at_end=lexed.unterminated is not None)
    nested = Nested()
    _pair_all(nested, tokens, text)
    _find_high(nested)
    return nested


def _is_balanced(tokens: list[Token]) -> bool:
    open_: list[str] = []
    for token in tokens:
        kind = token.kind
        if kind in _OPENERS:
            open_.append(CLOSERS[kind])
        elif kind in _CLOSERS and (not open_ or open_.pop() != kind):
            return False
    return not open_


def _pair_all(nested: Nested, tokens: list[Token], text: str) -> None:
    out, partner, parent = nested.tokens, nested.partner, nested.parent
    stack: list[int] = []
    for token in tokens:
        kind = token.kind
        if kind in _CLOSERS:
            opener = stack.pop()
            partner[opener] = len(out)
            partner.append(opener)
            parent.append(opener)
            out.append(token)
            if kind == "]":
                _fold_attribute(nested, opener, text)
            continue
        parent.append(stack[-1] if stack else -1)
        partner.append(-1)
        if kind in _OPENERS:
            stack.append(len(out))
            if len(stack) > NESTING_LIMIT + 1:
                nested.deep.append(len(out))
        out.append(token)


def _find_high(nested: Nested) -> None:
    """Count how much stacks up: in the statement so far, and in those around it that are not complete."""
    height = base = 0
    around: list[tuple[int, int]] = []
    after_block = False
    for index, token in enumerate(nested.tokens):
        kind = token.kind
        if after_block and kind not in _STACKING:
            height = base
        after_block = kind == "}"
        if kind in _STACKING:
            height += 1
        elif kind in _OPENERS:
            height += 1
            around.append((height, base))
            base = height
        elif kind in _CLOSERS:
            height, base = around.pop()
        elif kind in _SEPARATING:
            height = base
        if height > HEIGHT_LIMIT:
            nested.high.append(index)


_PATH_WORDS = frozenset([IDENTIFIER, "unsafe", "crate", "self", "super"])
_KERNEL = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*kernel\b")


def _fold_attribute(nested: Nested, opener: int, text: str) -> None:
    """Put one token in place of `#[…]` or `#![…]`; the grammar reads `#[kernel]`, and reports what is malformed."""
    tokens = nested.tokens
    first = opener - 1
    if first > 0 and tokens[first].kind == "!":
        first -= 1
    if first < 0 or tokens[first].kind != "#":
        return
    start, end = tokens[first].start, tokens[-1].end
    if _KERNEL.match(text, start, end) or not _is_attribute(nested, opener + 1):
        return
    for column in (tokens, nested.partner, nested.parent):
        del column[first + 1 :]
    tokens[first] = Token(ATTRIBUTE, start, end, text[start:end])


def _is_attribute(nested: Nested, position: int) -> bool:
    """Whether a path stands there with nothing behind it, one group, or `= …`, up to the last token."""
    tokens, last = nested.tokens, len(nested.tokens) - 1
    while tokens[position].kind in _PATH_WORDS and tokens[position + 1].kind == "::":
        position += 2
    if tokens[position].kind not in _PATH_WORDS:
        return False
    following = tokens[position + 1].kind
    return position + 1 == last or following == "=" or nested.partner[position + 1] == last - 1
