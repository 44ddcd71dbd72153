"""`use` declarations: the tokens of one go in, the names that it brings into its module come out."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.syntax import ast
from teenyc.syntax.tokens import Token


def imports(tokens: Sequence[Token]) -> tuple[ast.Import, ...]:
    """What `a::{f, g as h, b::*}`, between `use` and `;`, imports; what is incomplete is taken as far as it goes."""
    found: list[ast.Import] = []
    prefixes: list[tuple[str, ...]] = [()]
    path: list[str] = []
    alias = ""
    words = [*(t.text for t in tokens), ","]
    for before, word in zip(["", *words], words, strict=False):
        match word:
            case "::" | "as":
                pass
            case "{":
                prefixes.append((*prefixes[-1], *path))
                path = []
            case "," | "}":
                if path:
                    found.append(_import((*prefixes[-1], *path), alias))
                path, alias = [], ""
                if word == "}" and len(prefixes) > 1:
                    prefixes.pop()
            case _ if before == "as":
                alias = word
            case _:
                path.append(word)
    return tuple(found)


def _import(path: tuple[str, ...], alias: str) -> ast.Import:
    """`a::{self}` is `a` itself, and `a::*` brings all of it under their own names."""
    whole = path[:-1] if path[-1] == "self" and len(path) > 1 else path
    return ast.Import(path=whole[:-1] if whole[-1] == "*" else whole, name=alias or whole[-1])
