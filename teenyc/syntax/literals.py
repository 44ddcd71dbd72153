"""Reads the tokens of literals: numbers with bases, separators and suffixes, and strings with escapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isinf
from types import MappingProxyType

from teenyc.diagnostics.model import Diagnostic
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.tokens import Token

Report = Callable[[Diagnostic], None]

LARGEST_INTEGER = 2**64 - 1
FLOAT_SUFFIXES = frozenset("f8e4m3 f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b15 f16 bf16 f32 f64".split())
INTEGER_SUFFIXES = frozenset("i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize".split())
"""Rust's, so that host code reads; the checker knows which of them a kernel may use."""


def read_number(token: Token, report: Report) -> ast.IntegerLiteral | ast.FloatLiteral:
    """The literal of an `INTEGER` or `FLOAT` token; 0 after a report."""
    span = Span(token.start, token.end)
    if token.text[:2] in _BASES:
        return _based(token, span, report)
    digits, fraction, suffix = _split(token)
    if problem := _suffix_problem(suffix, is_float=bool(fraction), digits=digits):
        return _bad(span, report, *problem)
    if fraction or suffix in FLOAT_SUFFIXES:
        return _float(digits + fraction, suffix, span, report)
    return ast.IntegerLiteral(value=_integer(digits, 10, span, report), suffix=suffix, span=span)


_BASES: Mapping[str, tuple[int, str, str]] = MappingProxyType(
    {"0x": (16, "hexadecimal", "0-9A-Fa-f"), "0o": (8, "octal", "0-7"), "0b": (2, "binary", "01")}
)
_DECIMAL = re.compile(r"([0-9_]+)((?:\.[0-9_]*)?(?:[eE][+-]?_*[0-9][0-9_]*)?)(.*)", re.DOTALL)


def _split(token: Token) -> tuple[str, str, str]:
    """Digits before the point, the rest of the number, and the suffix, without separators."""
    parts = _DECIMAL.fullmatch(token.text)
    assert parts is not None  # the grammar's pattern of numbers begins with a digit
    digits, fraction, suffix = parts.groups()
    return digits.replace("_", ""), fraction.replace("_", ""), suffix


def _suffix_problem(suffix: str, *, is_float: bool, digits: str) -> tuple[str, str] | None:
    """What is wrong with a suffix, and what helps."""
    if not suffix or suffix in FLOAT_SUFFIXES or (suffix in INTEGER_SUFFIXES and not is_float):
        return None
    if suffix in INTEGER_SUFFIXES:
        return f"a float cannot have the integer suffix `{suffix}`", f"write `{digits}{suffix}`, or cast with `as`"
    if suffix.strip("_") in ("e", "E"):
        return "the exponent has no digits", ""
    return f"`{suffix}` is no suffix of a number", _meant(digits, suffix, is_float)


_MEANT: Mapping[str, str] = MappingProxyType(
    {"f": "f32", "F": "f32", "d": "f64", "D": "f64", "h": "f16", "l": "i64", "L": "i64", "ll": "i64", "LL": "i64"}
    | {"u": "u32", "U": "u32", "ul": "u64", "UL": "u64", "ull": "u64", "ULL": "u64"}
)
"""Suffixes of C."""


def _meant(digits: str, suffix: str, is_float: bool) -> str:
    meant = _MEANT.get(suffix, "")
    if meant and (meant[0] == "f" or not is_float):
        return f"write `_{meant}`, or leave it out where the type follows"
    return "suffixes are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`"


def _based(token: Token, span: Span, report: Report) -> ast.IntegerLiteral:
    base, name, allowed = _BASES[token.text[:2]]
    digits = re.match(rf"[{allowed}_]*", token.text[2:])
    assert digits is not None
    suffix = token.text[2 + digits.end() :]
    problem = ""
    if suffix[:1].isdigit():
        problem = f"`{suffix[0]}` is no {name} digit"
    elif not digits.group().strip("_"):
        problem = f"a {name} number without digits"
    elif suffix and suffix not in INTEGER_SUFFIXES:
        problem = f"`{suffix}` is no suffix of an integer"
    if problem:
        return _bad(span, report, problem)
    value = _integer(digits.group().replace("_", ""), base, span, report)
    return ast.IntegerLiteral(value=value, suffix=suffix, span=span)


def _bad(span: Span, report: Report, problem: str, hint: str = "") -> ast.IntegerLiteral:
    from teenyc.diagnostics.catalog.syntax import BadNumber

    report(BadNumber(span=span, problem=problem, hint=hint))
    return ast.IntegerLiteral(value=0, span=span)


def _integer(digits: str, base: int, span: Span, report: Report) -> int:
    digits = digits.lstrip("0") or "0"
    value = int(digits, base) if len(digits) <= 64 else LARGEST_INTEGER + 1
    if value <= LARGEST_INTEGER:
        return value
    _too_large(span, report, "integer", f"{LARGEST_INTEGER} (`u64`)")
    return 0


def _float(text: str, suffix: str, span: Span, report: Report) -> ast.FloatLiteral:
    value = float(text)
    if isinf(value):
        _too_large(span, report, "float", "near 1.8e308 (`f64`)")
        value = 0.0
    return ast.FloatLiteral(value=value, suffix=suffix, span=span)


def _too_large(span: Span, report: Report, kind: str, limit: str) -> None:
    from teenyc.diagnostics.catalog.syntax import NumberTooLarge

    report(NumberTooLarge(span=span, kind=kind, limit=limit))


def read_string(token: Token, report: Report) -> str:
    """The value of a `STRING` or `RAW_STRING` token; line ends count as `\\n`, as in Rust."""
    if token.kind == "RAW_STRING":
        hashes = token.text.index('"') - 1
        return token.text[hashes + 2 : len(token.text) - hashes - 1].replace("\r\n", "\n")

    def read(escape: re.Match[str]) -> str:
        return _escape(escape.group(), token.start + 1 + escape.start(), report)

    return _ESCAPE.sub(read, token.text[1:-1])


_ESCAPE = re.compile(r"\r\n|\\(?:\r?\n[ \t\r\n]*|u\{[^}]*\}?|x[0-9A-Za-z]{0,2}|[\s\S])")

_SIMPLE: Mapping[str, str] = MappingProxyType(
    {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\", '"': '"', "'": "'"}
)


def _escape(escape: str, start: int, report: Report) -> str:
    kind = escape[1]
    if kind in "\r\n":  # a line end, kept or joined with the next line
        return "" if escape[0] == "\\" else "\n"
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    character, problem = _coded(escape) if kind in "xu" else ("", f"unknown escape `{escape}`")
    if problem:
        from teenyc.diagnostics.catalog.syntax import BadEscape

        report(BadEscape(span=Span(start, start + len(escape)), problem=problem))
    return character


def _coded(escape: str) -> tuple[str, str]:
    """The character of `\\x41` or `\\u{1F600}`, or what is wrong with it."""
    if escape[1] == "x":
        if not re.fullmatch(r"[0-7][0-9A-Fa-f]", escape[2:]):
            return "", r"`\x` takes two hexadecimal digits, at most `\x7F`"
        return chr(int(escape[2:], 16)), ""
    digits = escape[3:-1].replace("_", "")
    if not re.fullmatch(r"\\u\{[0-9A-Fa-f][0-9A-Fa-f_]*\}", escape) or len(digits) > 6:
        return "", r"`\u` takes one to six hexadecimal digits in braces"
    point = int(digits, 16)
    if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        return "", f"`{escape}` is no Unicode character"
    return chr(point), ""
