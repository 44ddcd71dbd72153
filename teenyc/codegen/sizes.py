"""Sizes at a launch: what `shape(...)` states goes in, Python expressions that check it come out."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from teenyc.record import record
from teenyc.types import Extent, Quotient, Shape


@record
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
    waiting, before = list(shapes), -1
    while waiting and len(waiting) != before:
        before = len(waiting)
        for tensor, shape in list(waiting):
            check = _check(tensor, shape, bound, names)
            if check is not None:
                checks.append(check)
                waiting.remove((tensor, shape))
    return tuple(checks)


def _check(tensor: str, shape: Shape, bound: dict[str, str], names: Mapping[str, str]) -> SizeCheck | None:
    """The check of one tensor, which may bind a symbol; None while its shape is open."""
    name = names.get(tensor, tensor)
    texts = [_factor(extent, names) for extent in shape]
    needed = " * ".join(texts) or "1"
    openings = [axis for axis, extent in enumerate(shape) if not extent.names <= set(bound)]
    if not openings:
        return SizeCheck(name, needed, _shown(shape, bound, names))
    symbol = str(shape[openings[0]])
    if len(openings) > 1 or shape[openings[0]] != Extent.of(symbol):
        return None
    shown = _shown(shape, {**bound, symbol: ""}, names)
    bound[symbol] = name
    rest = " * ".join(texts[: openings[0]] + texts[openings[0] + 1 :])
    solution = f"{name}.numel()" + (f" // ({rest})" if rest else "")
    return SizeCheck(name, needed, shown, names.get(symbol, symbol), solution)


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
    texts = (extent_text(extent, names) for extent in (quotient.numerator, quotient.denominator))
    return "({} // {})".format(*(f"({text})" if " " in text else text for text in texts))
