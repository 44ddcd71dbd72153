"""Turns source text into tokens, with comments set apart by the token that they stand before or behind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

IDENTIFIER: Final = "IDENTIFIER"
STRING: Final = "STRING"
ATTRIBUTE: Final = "ATTRIBUTE"
UNKNOWN: Final = "UNKNOWN"
UNTERMINATED: Final = "UNTERMINATED"

KEYWORDS = frozenset(
    "_ as break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub ref "
    "return self Self static struct super trait true type unsafe use where while async await dyn "
    "abstract become box do final macro override priv try typeof unsized virtual yield".split()
)
"""Words that are no names, each its own kind of token: all of Rust's, most of which no kernel needs."""

CLOSERS: Mapping[str, str] = MappingProxyType({"(": ")", "[": "]", "{": "}"})
"""The closing bracket of each opening one."""

SPACES = frozenset("\x85\u200e\u200f\u2028\u2029")
"""What counts as a space in Rust beyond ASCII."""


class Token(NamedTuple):
    """One token. `kind` is the text itself for words and operators; `text` is as written."""

    kind: str
    start: int
    end: int
    text: str


class Lexed:
    """The tokens of a source and what stands between them. Places are offsets of code points.

    `leading` holds `//` comments by the start of the token that follows them, `trailing` the one behind a token on its
    line by the token's end (and, behind a comma, also by the end of what the comma follows). `docs` lists doc comments
    as written with the start of the next token, `inner_docs` those with `!`. `unterminated` is a comment or string that
    the end of the file cut off.
    """

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.leading: dict[int, tuple[str, ...]] = {}
        self.trailing: dict[int, str] = {}
        self.docs: list[tuple[int, str]] = []
        self.inner_docs: list[tuple[int, str]] = []
        self.unterminated: Token | None = None


class _Comment(NamedTuple):
    start: int
    text: str


def tokenize(text: str, pattern: str) -> Lexed:
    """Split a source by the pattern that `master_pattern` made; never fails, what is no token is `UNKNOWN`."""
    lexed = Lexed()
    comments: list[_Comment] = []
    plain = text.translate(_PLAIN_SPACES) if any(space in text for space in SPACES) else text
    position = _after_shebang(text)
    while position < len(text):
        matches = _compiled(pattern).finditer(plain, position)
        position = _scan(text, matches, lexed, comments)
    _attach(text, lexed, comments, len(text))
    return lexed


_compiled = cache(re.compile)


_PLAIN_SPACES = dict.fromkeys(map(ord, SPACES), " ")


def _scan(text: str, matches: Iterator[re.Match[str]], lexed: Lexed, comments: list[_Comment]) -> int:
    """Read tokens up to what the pattern cannot take whole; where to go on."""
    tokens = lexed.tokens
    for match in matches:
        kind = match.lastgroup or UNKNOWN
        start, end = match.span(kind)
        word = text[start:end]
        if kind == "LINE_COMMENT":
            comments.append(_Comment(start, word))
            continue
        if kind == "BLOCK_COMMENT":
            return _block_comment(text, start, lexed, comments)
        if comments:
            _attach(text, lexed, comments, start)
        if kind == "OPERATOR":
            kind = word
        elif kind == "IDENTIFIER":
            kind = word if word in KEYWORDS else IDENTIFIER
            if not word.isascii():
                return _foreign_word(text, start, end, tokens)
        elif kind == "UNTERMINATED":
            lexed.unterminated = Token(UNTERMINATED, start, len(text), text[start:])
            tokens.append(lexed.unterminated)
            return len(text)
        tokens.append(Token(kind, start, end, word))
    return len(text)


def _after_shebang(text: str) -> int:
    if text.startswith("#!") and not re.match(r"#!\s*\[", text):
        return len(text.partition("\n")[0])
    return 0


_BLOCK_EDGE = re.compile(r"/\*|\*/")


def _block_comment(text: str, start: int, lexed: Lexed, comments: list[_Comment]) -> int:
    """Pass a block comment, which may hold others; where to go on."""
    depth = 0
    for edge in _BLOCK_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            comments.append(_Comment(start, text[start : edge.end()]))
            return edge.end()
    lexed.unterminated = Token(UNTERMINATED, start, len(text), text[start:])
    return len(text)


def _foreign_word(text: str, start: int, end: int, tokens: list[Token]) -> int:
    """Read a run of letters, digits and characters beyond ASCII: names and what is unknown; where it ends."""
    while start < end:
        first = stop = start + 2 if text.startswith("r#", start) else start
        while stop < end and (text[stop] if stop == first else "a" + text[stop]).isidentifier():
            stop += 1
        if stop == first:
            stop = start + 1
            tokens.append(Token(UNKNOWN, start, stop, text[start]))
        else:
            word = text[start:stop]
            tokens.append(Token(word if word in KEYWORDS else IDENTIFIER, start, stop, word))
        start = stop
    return end


def _attach(text: str, lexed: Lexed, comments: list[_Comment], start: int) -> None:
    """Hang the comments before the token at `start` on what they belong to."""
    leading: list[str] = []
    for comment in comments:
        if _DOC.match(comment.text):
            inner = comment.text[2] == "!"
            (lexed.inner_docs if inner else lexed.docs).append((start, comment.text))
        if not comment.text.startswith("//"):
            continue
        words = comment.text.lstrip("/").strip()
        if leading or comment is not comments[0] or not _is_behind(text, lexed, comment, words):
            leading.append(words)
    if leading:
        lexed.leading[start] = tuple(leading)
    comments.clear()


_DOC = re.compile(r"///(?!/)|//!|/\*\*(?![*/])|/\*!")


def _is_behind(text: str, lexed: Lexed, comment: _Comment, words: str) -> bool:
    """Whether a comment stands behind a token on the same line; then it is noted there."""
    if not lexed.tokens:
        return False
    last = lexed.tokens[-1]
    if last.kind in ("(", "[", "{") or "\n" in text[last.end : comment.start]:
        return False
    lexed.trailing[last.end] = words
    if last.kind == "," and len(lexed.tokens) > 1:
        lexed.trailing[lexed.tokens[-2].end] = words
    return True


def master_pattern(shapes: dict[str, str], operators: list[str]) -> str:
    """One pattern for all tokens: `shapes` are the grammar's terminals with a pattern, `operators` its other ones.

    Sets of characters beyond ASCII are avoided: compiling one takes longer than lexing a file.
    """
    kinds = {
        **{kind: shapes[kind] for kind in ("RAW_STRING", "STRING")},
        "BYTES": rf"[bc]{shapes['STRING']}|[bc]{shapes['RAW_STRING'].replace('hashes', 'bytes_hashes')}|b?{_CHARACTER}",
        UNTERMINATED: r'[bc]?r#*+"|[bc]?"',
        "IDENTIFIER": shapes["IDENTIFIER"],
        "LINE_COMMENT": r"//[^\n]*+",
        "BLOCK_COMMENT": r"/\*",
        "OPERATOR": _operators({*operators, *"?@$~"}),
        **{kind: shapes[kind] for kind in ("FLOAT", "INTEGER")},
        "LIFETIME": shapes["LIFETIME"],
        UNKNOWN: r"[\s\S]",
    }
    return r"[\t-\r ]*+(?:" + "|".join(f"(?P<{kind}>{shape})" for kind, shape in kinds.items()) + ")"


_CHARACTER = r"'(?:[^'\\\n\r\t]|\\u\{[^}'\n]*+\}|\\x[0-9a-fA-F]{2}|\\[^ux])'"


def _operators(operators: set[str]) -> str:
    """A pattern for the longest operator, by first character."""
    choices: list[str] = []
    for first in sorted({o[0] for o in operators}):
        rest = sorted((o[1:] for o in operators if o[0] == first), key=lambda o: (-len(o), o))
        alternatives = "|".join(re.escape(r) for r in rest)
        choices.append(re.escape(first) + (f"(?:{alternatives})" if rest != [""] else ""))
    return "|".join(choices)
