"""Sizes at a launch: what `shape(...)` states goes in, Python expressions that check it come out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from teenyc.types import Extent, Quotient, Shape


@dataclass(frozen=True, slots=True)
class SizeCheck:
    """The check of one tensor's number of elements, as Python source.

    `needed` is the number that the shape asks for. Where the shape binds a symbol, that is assigned from `solution`
    before `needed` is used. `shown` is the inside of an f-string that shows the shape with the values of its symbols.
    """

    tensor: str
    needed: str
    shown: str
    symbol: str | None = None
    solution: str | None = None


def size_checks(
    shapes: tuple[tuple[str, Shape], ...], known: Collection[str], names: Mapping[str, str]
) -> tuple[SizeCheck, ...]:
    """The checks of what can be known at a launch, in an order in which each symbol is bound before it is used.

    `known` holds parameters and constants; another symbol is solved from the first tensor in which it alone is open and
    is an axis by itself. A shape with a symbol that nothing binds is not checked.
    """
    bound: dict[str, str] = dict.fromkeys(known, "")
    checks: list[SizeCheck] = []
    waiting = list(shapes)
    while waiting:
        ready = [(tensor, shape) for tensor, shape in waiting if _openings(shape, bound) <= 1]
        if not ready:
            break
        for tensor, shape in ready:
            if _openings(shape, bound) <= 1:
                waiting.remove((tensor, shape))
                checks += _check(tensor, shape, bound, names)
    return tuple(checks)


def _openings(shape: Shape, bound: Collection[str]) -> int:
    """How many axes hold a symbol that is not bound."""
    return sum(not extent.names <= set(bound) for extent in shape)


def _check(tensor: str, shape: Shape, bound: dict[str, str], names: Mapping[str, str]) -> list[SizeCheck]:
    name = names.get(tensor, tensor)
    texts = [_factor(extent, names) for extent in shape]
    needed = " * ".join(texts) or "1"
    symbol = next((s for extent in shape for s in extent.names if s not in bound), None)
    if symbol is None:
        return [SizeCheck(name, needed, _shown(shape, bound, names))]
    axis = next(i for i, extent in enumerate(shape) if symbol in extent.names)
    if shape[axis] != Extent.of(symbol):
        return []
    bound[symbol] = name
    rest = " * ".join(texts[:axis] + texts[axis + 1 :])
    solution = f"{name}.numel()" + (f" // ({rest})" if rest else "")
    return [SizeCheck(name, needed, _shown(shape, {**bound, symbol: ""}, names), names.get(symbol, symbol), solution)]


def _factor(extent: Extent, names: Mapping[str, str]) -> str:
    text = extent_text(extent, names)
    return f"({text})" if len(extent.terms) > 1 else text


def _shown(shape: Shape, bound: Mapping[str, str], names: Mapping[str, str]) -> str:
    """`[{bh=}, {n_ctx_q=}] (bh from `q_ptr`)`: braces of an f-string, no quotes."""
    axes = ", ".join(f"{{{text}=}}" if not text.isdigit() else text for text in (extent_text(e, names) for e in shape))
    origins = {s: bound[s] for e in shape for s in sorted(e.names) if bound.get(s)}
    found = ", ".join(f"{names.get(s, s)} from `{tensor}`" for s, tensor in origins.items())
    return f"[{axes}]" + (f" ({found})" if found else "")


def extent_text(extent: Extent, names: Mapping[str, str]) -> str:
    """A polynomial as a Python expression over `names` of its symbols; quotients are of positive numbers here."""
    if extent.known is not None:
        return str(extent.known)
    terms = []
    for monomial, coefficient in extent.terms:
        factors = [names.get(a, a) if isinstance(a, str) else _quotient_text(a, names) for a in monomial]
        if coefficient not in (1, -1) or not factors:
            factors.insert(0, str(abs(coefficient)))
        terms.append(("-" if coefficient < 0 else "+", " * ".join(factors)))
    first, *others = terms
    return ("-" if first[0] == "-" else "") + first[1] + "".join(f" {sign} {text}" for sign, text in others)


def _quotient_text(quotient: Quotient, names: Mapping[str, str]) -> str:
    return f"(({extent_text(quotient.numerator, names)}) // ({extent_text(quotient.denominator, names)}))"
