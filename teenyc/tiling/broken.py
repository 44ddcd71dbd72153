"""Why there is no law: a carried value that obeys none goes in; the expression that breaks every law comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from teenyc.ir.nodes import Operand, Value
from teenyc.source import Span
from teenyc.tiling.plan import Extremum, Refusal, Term
from teenyc.tiling.products import terms_of
from teenyc.tiling.wording import Wording

if TYPE_CHECKING:
    from teenyc.tiling.recurrences import Reading

NONLINEAR = (
    "{} is computed from its last value by more than a sum, a product, a maximum, or a sum brought to a running maximum"
)
CANCELS = "the last {0} is taken from itself: over the reals it would cancel, and what it holds of rounding be lost"
LAWS = (
    "a block of iterations is one step where the next value is `{0} + S`, `{0}·S`, `max({0}, S)`, `{0} & S`, "
    "or `exp(m − m_new)·{0} + exp(x − m_new)·S`"
)
RESCALING = "a sum may be multiplied by `exp(m − m_new)`, where `m` is a running maximum and `m_new` the next one"


def why(reading: Reading, n: int, extrema: Mapping[int, Extremum]) -> Refusal:
    """What is said of the carried value number `n`, for which no law was found."""
    inside, following = reading.loop.carried[n].inside, reading.loop.body.yields[n]
    hidden = frozenset(
        id for id, let in reading.lets.items() for v in let.results if v.id == id and v.name == inside.name
    )
    wording = Wording(reading.lets, {}, hidden=hidden)
    name = _called(reading, n)
    terms = terms_of(following, reading.lets, lambda value: bool(reading.on(value)))
    kept = [t for t in terms if inside in map(reading.plain, t.factors)]
    bent = [f for t in terms for f in t.operands if reading.plain(f) != inside and n in reading.on(f)]
    if n not in reading.on(following):
        return _replaced(reading, name, following)
    within = (o for t in terms for o in t.operands if o not in t.factors)  # divisors and conditions
    is_bent = inside in map(reading.plain, within) or (bent and not _may_rescale(reading, kept, bent, extrema))
    if not kept or is_bent:
        place = reading.plain(bent[0] if bent else following)
        through = wording.definition(place) if isinstance(place, Value) else wording.text(place)
        help = f"it goes through `{through}`; {LAWS.format(inside.name or 'c')}"
        return Refusal(NONLINEAR.format(name), _span(reading, place), help)
    if len(kept) > 1 and len({t.is_negative for t in kept}) > 1:
        return Refusal(CANCELS.format(name), _span(reading, following), "the loop stays as it is, so that it is kept")
    is_changed = kept[0].is_negative or kept[0].divisors or kept[0].conditions
    if len(kept) > 1 or is_changed or [*map(reading.plain, kept[0].factors)].count(inside) > 1:
        return _general(reading, n, following)
    added = [t for t in terms if t not in kept]
    coefficient = [f for f in kept[0].factors if reading.plain(f) != inside]
    if not coefficient:
        return _not_free(reading, n, following, added, wording)
    factor = wording.product(coefficient)
    m = next((m for m in extrema if len(coefficient) == 1 and reading.rescaling(coefficient[0], m)), None)
    if m is None:
        reason = f"{name} is multiplied by `{factor}` in each iteration"
        return Refusal(reason, _span(reading, following), RESCALING)
    scale = reading.rescaling(coefficient[0], m)
    assert scale is not None, "found just now"
    term = next((t for t in added if not reading.is_rescaled(reading.named(t), m, scale)), None)
    if term is None:
        return _general(reading, n, following)
    new = wording.name(reading.plain(reading.loop.body.yields[m])) or "the new maximum"
    reason = f"{name} is brought to the new maximum `{new}`, and `{wording.product(term.factors)}` is not"
    return Refusal(reason, _span(reading, following), f"what is added must have one factor `exp(x − {new})`")


def _replaced(reading: Reading, name: str, following: Operand) -> Refusal:
    """The next value has nothing of the last one."""
    others = _named(reading, reading.on(following))
    made = f" from {others}" if others else ""
    return Refusal(
        f"{name} is set anew in each iteration{made}, so that an iteration sees what the last one left",
        _span(reading, following),
        "compute it from the counter, or read it from memory, instead of carrying it",
    )


def _not_free(reading: Reading, n: int, following: Operand, added: list[Term], wording: Wording) -> Refusal:
    """A plain sum of what depends on something that the loop carries."""
    name = _called(reading, n)
    factor = next((o for t in added for o in t.operands if reading.on(o)), None)
    if factor is None:
        return _general(reading, n, following)
    others = _named(reading, reading.on(factor))
    carried = [c.inside for c in reading.loop.carried]
    text = wording.text(factor)
    which = f", `{text}`, depends on {others}" if f"`{text}`" != others else f" depends on {others}"
    return Refusal(
        f"what is added to {name}{which}, which the loop carries",
        _span(reading, factor if reading.plain(factor) not in carried else following),
        "a sum of a block adds what each iteration makes by itself",
    )


def _may_rescale(reading: Reading, kept: list[Term], bent: list[Operand], extrema: Mapping[int, Extremum]) -> bool:
    """Whether the value depends on itself only through factors of itself, such as a maximum's `exp(m − m_new)`."""
    own = {reading.plain(f) for t in kept for f in t.factors}
    return bool(extrema) and all(reading.plain(f) in own for f in bent)


def _called(reading: Reading, n: int) -> str:
    """A carried value in a sentence."""
    name = reading.loop.carried[n].inside.name
    return f"`{name}`" if name else "a carried value"


def _general(reading: Reading, n: int, following: Operand) -> Refusal:
    """What is said where nothing more is known."""
    laws = LAWS.format(reading.loop.carried[n].inside.name or "c")
    return Refusal(NONLINEAR.format(_called(reading, n)), _span(reading, following), laws)


def _named(reading: Reading, carried: frozenset[int]) -> str:
    """Carried values by name, for a sentence."""
    names = [c.inside.name for n, c in enumerate(reading.loop.carried) if n in carried and c.inside.name]
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names)) or ("a value" if carried else "")


def _span(reading: Reading, operand: Operand) -> Span:
    """Where a value is made; the loop where it is not in it."""
    plain = reading.plain(operand)
    for each in (plain, operand):
        if isinstance(each, Value) and each.id in reading.lets:
            return reading.lets[each.id].span
    return reading.loop.span
