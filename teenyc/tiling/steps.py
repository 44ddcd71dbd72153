"""Steps: what a carried value is after a block of iterations, by its law."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir.nodes import Call, Compare, Copy, For, Let, Literal, Operand, Value
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import operations, sums
from teenyc.tiling.bounds import is_true
from teenyc.tiling.folds import extremum, fold
from teenyc.tiling.plan import Extremum, Fold, Law, LoopPlan, Sum, Unchanged
from teenyc.tiling.state import Blocking, Tile, element_of
from teenyc.types import BOOL, Extent, scalar


def make(b: Blocking, loop: For, plan: LoopPlan, let: Let) -> None:
    """Writes a definition in the body of a loop; what brings sums to an extremum is 1 where that stays.

    An extremum that no iteration of a block changes may be infinite still, and would make no number of the difference.
    """
    m = next((m for m in _rescaled(b, loop, plan, let) if _may_stay(b, plan.laws[m])), None)
    if m is None:
        operations.make(b, let)
        return
    (result,) = let.results
    operations.make(b, replace(let, results=(replace(result, name=""),)))
    old, new = (b.tile(o, let.span) for o in (loop.carried[m].inside, loop.body.yields[m]))
    (first, second), lead, rank, shape = b.met([old, new], let.span)
    stays = Tile(b.let(Compare(operator="eq", left=first, right=second), BOOL, shape, let.span), lead, rank)
    one = Tile(Literal(1.0, scalar(element_of(result))))
    operands, lead, rank, shape = b.met([stays, one, b.tiles[result.id]], let.span)
    chosen = tuple(zip(("condition", "x", "y"), operands, strict=True))
    b.tiles[result.id] = Tile(b.call("where", chosen, (), element_of(result), shape, let.span, result.name), lead, rank)


def _rescaled(b: Blocking, loop: For, plan: LoopPlan, let: Let) -> Iterator[int]:
    """The carried extrema to which a definition brings sums."""
    for n, law in enumerate(plan.laws):
        if isinstance(law, Sum) and law.extremum is not None:
            inside = loop.carried[n].inside
            if any(named(b, f) in let.results for f in law.kept.factors if f != inside):
                yield law.extremum


def _may_stay(b: Blocking, law: Law) -> bool:
    """Whether some rows may have no iteration in a block that counts for an extremum."""
    return isinstance(law, Extremum) and _is_chosen(b, law.operand)


def _is_chosen(b: Blocking, operand: Operand) -> bool:
    """Whether some lanes of an operand are a number that never changes an extremum, by one condition or another."""
    operand = named(b, operand)
    let = b.lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Call(intrinsic="where", operands=((_, condition), (_, value), (_, Literal()))):
            return not is_true(b.tile(condition, Span(0, 0)).operand) or _is_chosen(b, value)
    return False


def named(b: Blocking, operand: Operand) -> Operand:
    """What an operand is another name of."""
    let = b.lets.get(operand.id) if isinstance(operand, Value) else None
    return named(b, let.operation.operand) if let is not None and isinstance(let.operation, Copy) else operand


def step(b: Blocking, loop: For, n: int, plan: LoopPlan, let: Let) -> Tile:
    """What a carried value is after a block of iterations."""
    law, inside = plan.laws[n], b.tile(loop.carried[n].inside, let.span)
    (result,) = let.results
    match law:
        case Extremum():
            return extremum(b, law, inside, plan.axis, let)
        case Fold():
            return fold(b, law, inside, plan.axis, let)
        case Sum():
            kept = sums.factor_product(b, law.kept, let.span)
            opened = [t for term in law.terms for t in sums.opened(b, term)]
            block = Extent.of(plan.axis.block)
            return sums.contracted(b, opened, plan.axis, kept, let.span, result, block, b.iterations)
        case Unchanged():
            return inside
