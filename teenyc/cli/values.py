"""Values of options: each function is a click callback that turns words into values or raises a usage error."""

from __future__ import annotations

import re
from typing import Any

import click

from teenyc.cli.settings import CHECK

Words = tuple[str, ...]


def constants(_: click.Context, __: click.Parameter, words: Words) -> dict[str, int | bool]:
    """`--set NAME=VALUE`, with an integer, `true` or `false`."""
    return dict(_constant(word) for word in words)


def dtypes(_: click.Context, __: click.Parameter, words: Words) -> dict[str, str]:
    """`--dtype D=bf16`: a dtype parameter and the type that it stands for."""
    return dict(_dtype(word) for word in words)


def grid(_: click.Context, __: click.Parameter, word: str | None) -> tuple[int, ...] | None:
    """`--grid 64,4`: how many programs along each axis."""
    if word is None:
        return None
    if re.fullmatch(r"\s*-?[0-9]+\s*(,\s*-?[0-9]+\s*)*", word) is None:
        raise click.BadParameter(f"{word!r} is no list of numbers, such as 64,4")
    return tuple(int(number) for number in word.split(","))


def arguments(_: click.Context, __: click.Parameter, words: Words) -> dict[str, str]:
    """`--arg NAME=FORM`: a parameter of the kernel and what it is given."""
    found: dict[str, str] = {}
    for word in words:
        name, sign, form = word.partition("=")
        if not sign or not name.strip().isidentifier():
            raise click.BadParameter(f"{word!r} is not NAME=FORM, such as x=randn(64)")
        found[name.strip()] = form.strip()
    return found


def targets(_: click.Context, __: click.Parameter, words: Words) -> Words:
    """`--target cuda:90` or `--target hip:gfx942`."""
    if words:
        from teenyc.runtime.targets import TARGETS

        for word in words:
            if word not in TARGETS:
                raise click.BadParameter(f"{word!r} is no target; known are {', '.join(TARGETS)}")
    return words


def stage(_: click.Context, __: click.Parameter, word: str | None) -> str | None:
    """`--emit-after PASS`: the name of a pass, or `check` for the program as the checker made it."""
    if word is not None and word not in (names := _stages()):
        raise click.BadParameter(f"{word!r} is no pass; known are {', '.join(names)}")
    return word


def stages(_: click.Context, __: click.Parameter, beginning: str) -> list[Any]:
    """What completes `--emit-after`."""
    return [name for name in _stages() if name.startswith(beginning)]


def _constant(word: str) -> tuple[str, int | bool]:
    match = re.fullmatch(r"\s*(\w+)\s*=\s*(true|false|-?[0-9][0-9_]*)\s*", word)
    if match is None:
        raise click.BadParameter(f"{word!r} is not NAME=VALUE with an integer, true or false, such as HEAD_DIM=64")
    name, text = match.groups()
    return name, text == "true" if text in ("true", "false") else int(text)


def _dtype(word: str) -> tuple[str, str]:
    from teenyc.types import DTYPES

    name, _, dtype = (part.strip() for part in word.partition("="))
    if not name.isidentifier() or dtype not in DTYPES:
        from teenyc.diagnostics.suggest import closest

        similar = closest(dtype, tuple(DTYPES)) if dtype else None
        near = f"; a similar type is {similar}" if similar else ""
        raise click.BadParameter(f"{word!r} is not D=TYPE; the types are {', '.join(DTYPES)}{near}")
    return name, dtype


def _stages() -> Words:
    from teenyc.passes import PIPELINE

    return (CHECK, *(each.name for each in PIPELINE))
