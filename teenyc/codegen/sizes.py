"""Sizes at a launch: what `shape(...)` states goes in, Python expressions that check it come out."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping

from teenyc.record import record
from teenyc.types import Extent, Quotient, Shape


@record
class SizeCheck:
    """The check of one tensor's number of elements, as Python source.

    `extents` are those of the shape. Where it binds a symbol, that is assigned from `solution` before they are used:
    the number of elements by the other extents, or where those may be zero by `solutions`, such pairs of several
    tensors. `shown` is the inside of an f-string that shows the shape with the values of its symbols.
    """

    tensor: str
    extents: tuple[str, ...]
    shown: str
    symbol: str | None = None
    solution: str | None = None
    solutions: tuple[str, ...] = ()

    @property
    def needed(self) -> str:
        """The number of elements that the shape asks for."""
        return " * ".join(self.extents) or "1"


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
            check = _check(tensor, shape, shapes, bound, names)
            if check is not None:
                checks.append(check)
                waiting.remove((tensor, shape))
    return tuple(checks)


def _check(
    tensor: str, shape: Shape, shapes: Iterable[tuple[str, Shape]], bound: dict[str, str], names: Mapping[str, str]
) -> SizeCheck | None:
    """The check of one tensor, which may bind a symbol; None while its shape is open."""
    name = names.get(tensor, tensor)
    texts = tuple(_factor(extent, names) for extent in shape)
    openings = [axis for axis, extent in enumerate(shape) if not extent.names <= set(bound)]
    if not openings:
        return SizeCheck(name, texts, _shown(shape, bound, names))
    symbol = str(shape[openings[0]])
    if len(openings) > 1 or shape[openings[0]] != Extent.of(symbol):
        return None
    others = [other for other in shapes if other[0] != tensor]
    rests = [(t, r) for t, s in [(tensor, shape), *others] if (r := _rest(s, symbol, bound, names)) is not None]
    first: dict[str, str] = {}
    for each, rest in rests:
        first.setdefault(rest or "1", names.get(each, each))
    pairs = tuple(f"({each}.numel(), {rest})" for rest, each in first.items())
    shown = _shown(shape, {**bound, symbol: ""}, names)
    bound[symbol] = name
    whole = _rest(shape, symbol, bound, names)
    solution = f"{name}.numel()" + (f" // ({whole})" if whole else "")
    return SizeCheck(name, texts, shown, names.get(symbol, symbol), solution, pairs if whole else ())


def _rest(shape: Shape, symbol: str, bound: Container[str], names: Mapping[str, str]) -> str | None:
    """The product of the other extents of a shape, which are known, where the symbol is one by itself."""
    others = [extent for extent in shape if extent != Extent.of(symbol)]
    if len(others) != len(shape) - 1 or any(name not in bound or name == symbol for e in others for name in e.names):
        return None
    return " * ".join(_factor(extent, names) for extent in others)


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
