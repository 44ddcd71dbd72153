"""Reads `#[allow(name, reason = "…")]`: an attribute goes in; the lints that it silences, and where, come out."""

from __future__ import annotations

import re

from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.tokens import Token

_ALLOW = re.compile(r"#\s*(!?)\s*\[\s*(?:allow|expect)\s*\(")
_NAME = re.compile(r"[\w:]+(?!\s*=|[\w:])")
_STRING = re.compile(r'(?:\br#*)?"(?:[^"\\]|\\.)*"#*', re.DOTALL)
_COMMA = re.compile(r"\s*,\s*")
_BLANKS = re.compile(r"[ \t]*")
_REASON = re.compile(r"\breason\s*=\s*([^\s,)]*)")
_FILLER = "\0"
"""What stands for the characters of a string while names are looked for."""


def allowance(text: str, token: Token, span: Span) -> ast.Allowance | None:
    """What an attribute in `text` silences in `span`; None where it is another attribute, or names nothing."""
    head = _ALLOW.match(token.text)
    if head is None:
        return None
    inside = _STRING.sub(lambda found: _FILLER * len(found[0]), token.text)
    reason = _REASON.search(inside, head.end())
    is_wrong = reason is not None and not reason[1].startswith(_FILLER)
    apart = range(*reason.span()) if reason is not None else range(0)
    names = [m for m in _NAME.finditer(inside, head.end()) if m.start() not in apart]
    if not names:
        return None
    whole = _line_of(text, token)
    return ast.Allowance(
        names=tuple(
            ast.Allowed(
                name=ast.Name(m[0], Span(token.start + m.start(), token.start + m.end())),
                cut=_cut(inside, m, token.start) if len(names) > 1 else whole,
            )
            for m in names
        ),
        span=span,
        attribute=Span(token.start, token.end),
        is_inner=bool(head[1]),
        wrong_reason=Span(token.start + reason.start(1), token.start + reason.end(1)) if is_wrong and reason else None,
    )


def _cut(inside: str, name: re.Match[str], start: int) -> Span:
    """A name of several with the comma behind it, or of the last with the one before."""
    behind = _COMMA.match(inside, name.end())
    if behind is not None:
        return Span(start + name.start(), start + behind.end())
    before = len(inside[: name.start()].rstrip().removesuffix(",").rstrip())
    return Span(start + before, start + name.end())


def _line_of(text: str, token: Token) -> Span:
    """An attribute with the space behind it; one on a line of its own with the space before it, up to its line end."""
    blanks = _BLANKS.match(text, token.end)
    end = blanks.end() if blanks is not None else token.end
    first = text.rfind("\n", 0, token.start) + 1
    if text[first : token.start].strip() or not text.startswith(("\n", "\r\n"), end):
        return Span(token.start, end)
    return Span(first, text.index("\n", end) + 1)
