"""Tells host code from kernel code where both are functions and constants of one file.

A function or constant that some kernel mentions, directly or through others, is kernel code. One that none mentions and
that uses what only host code has (macros, references, `?`, `self`, …) is host code, and is not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from teenyc.syntax.brackets import Nested
from teenyc.syntax.items import RawItem
from teenyc.syntax.tokens import ATTRIBUTE, IDENTIFIER, Token


def host_items(nested: Nested, items: tuple[RawItem, ...]) -> frozenset[RawItem]:
    """The functions and constants, those of modules included, that are host code."""
    named = [item for item in _flat(items) if item.kind in ("fn", "const")]
    suspects = [item for item in named if not item.is_kernel and _is_hosted(nested, item)]
    if not suspects:
        return frozenset()
    reached = _reached(nested, named)
    return frozenset(item for item in suspects if item.name not in reached)


def _flat(items: Iterable[RawItem]) -> Iterator[RawItem]:
    for item in items:
        yield item
        yield from _flat(item.items)


def _reached(nested: Nested, named: list[RawItem]) -> set[str]:
    """The names that kernels mention, and those that what they mention mentions."""
    by_name: dict[str, list[RawItem]] = {}
    for item in named:
        by_name.setdefault(item.name, []).append(item)
    waiting = [item for item in named if item.is_kernel]
    reached: set[str] = set()
    while waiting:
        item = waiting.pop()
        mentioned = {t.text for t in nested.tokens[item.keyword + 2 : item.last] if t.kind == IDENTIFIER} - reached
        reached |= mentioned
        waiting += [i for name in mentioned for i in by_name.get(name, ()) if not i.is_kernel]
    return reached


_HOST_WORDS = frozenset("? dyn impl async await move ref self Self static unsafe BYTES".split())


def _is_hosted(nested: Nested, item: RawItem) -> bool:
    tokens = nested.tokens[item.first : item.last]
    if item.name == "main" or any(_is_test(t) for t in tokens[: item.keyword - item.first]):
        return True
    if item.kind == "const" and _is_struct_value(tokens):
        return True
    return any(t.kind in _HOST_WORDS for t in tokens) or any(_is_host_pair(a, b) for a, b in pairwise(tokens))


def _is_struct_value(tokens: Sequence[Token]) -> bool:
    """Whether a constant's value begins as `Config {` or `config::Config {` does."""
    kinds = [t.kind for t in tokens]
    value = kinds[kinds.index("=") + 1 :] if "=" in kinds else []
    path = list(takewhile(lambda kind: kind in (IDENTIFIER, "::"), value))
    return bool(path) and value[len(path) : len(path) + 1] == ["{"]


_TEST = re.compile(r"\b(?:test|bench|proc_macro\w*)\b")


def _is_test(token: Token) -> bool:
    return token.kind == ATTRIBUTE and _TEST.search(token.text) is not None


def _is_host_pair(first: Token, second: Token) -> bool:
    """A macro call, or a type or value behind a reference."""
    if second.kind == "!":
        return first.kind == IDENTIFIER
    if first.kind in ("&", "<"):
        return second.kind == "LIFETIME" or second.kind in _REFERENCES.get(first.kind, ())
    return first.kind == ":" and second.kind == "&"


_REFERENCES = {"&": ("mut", "str")}
