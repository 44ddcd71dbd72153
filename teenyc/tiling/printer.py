"""Plans as text for people and goldens: every field of a plan, one decision a line, the same on every run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import assert_never

from teenyc.ir.nodes import For, Kernel, Operand
from teenyc.ir.printer import Names, operand_text, value_names
from teenyc.ir.walk import statements_of
from teenyc.tiling.plan import (
    BlockedAxis,
    Condition,
    Contraction,
    Extremum,
    Fold,
    Grouped,
    Key,
    LastFirst,
    Law,
    LoopPlan,
    Parts,
    Plan,
    Prologue,
    Refusal,
    Side,
    Staged,
    Stored,
    Sum,
    Term,
    Unchanged,
)
from teenyc.tiling.tile import Tiled


def print_plan(kernel: Kernel, found: Tiled | Refusal) -> str:
    """The plan of a kernel, ending in a newline. Values are called as in the IR before the pass."""
    if isinstance(found, Refusal):
        return f"no plan of {kernel.name}: {found.reason}\n"
    plan, kernel = found.plan, found.form.kernel
    names = value_names(kernel)
    lines = [f"plan of {plan.kernel}", *(f"    {_program(a, plan)} {_axis(a)}" for a in plan.programs)]
    if plan.order is not None:
        lines.append(f"    order {_order(plan.order)}")
    loops = {s.counter.id: s for _, s in statements_of(kernel.body) if isinstance(s, For)}
    for loop in plan.loops:
        lines.extend(_loop(loop, loops[loop.axis.id], names))
    lines.extend(f"    {_staged(each, names)}" for each in plan.staged)
    lines.extend(f"    {_contraction(each, names)}" for each in plan.contractions)
    if found.rows is not None:
        lines.extend(_prologue(found.rows, plan.prologue))
    lines.extend(f"    repeated {each.subject or 'something'}: {each.reason}" for each in plan.repeated)
    lines.extend(_parts(plan.parts, names))
    lines.extend(f"    guard {each.kind} of {each.axis.name}" for each in plan.guards)
    lines.extend(f"    left {each.subject or 'something'}: {each.reason}" for each in plan.left)
    lines.extend(f"    try {' '.join(f'{n} {v}' for n, v in each)}" for each in plan.configurations)
    return "\n".join(lines) + "\n"


def _program(axis: BlockedAxis, plan: Plan) -> str:
    part = " remainder" if plan.turned is None else f" quotient by {plan.turned}"
    return f"program {axis.grid_axis}{part if axis.is_part else ''}"


def _axis(axis: BlockedAxis) -> str:
    return f"{axis.name} block {axis.block}"


def _order(order: Grouped | LastFirst) -> str:
    match order:
        case Grouped():
            return f"{order.size} of {order.outer.name} for each {order.inner.name}"
        case LastFirst():
            return f"the last {order.axis.name} first"
        case _:
            assert_never(order)


def _loop(plan: LoopPlan, loop: For, names: Names) -> Iterator[str]:
    yield f"    loop {_axis(plan.axis)}{f' within {plan.within}' if plan.within else ''}"
    for carried, law in zip(loop.carried, plan.laws, strict=True):
        yield f"        carry {operand_text(carried.inside, names)}: {_law(law, loop, names)}"
    yield from (f"        store to {_stored(stored)}" for stored in plan.stores)


def _stored(stored: Stored) -> str:
    """`y_ptr: each iteration to addresses of its own where stride >= 1`."""
    orders = (" and ".join(f"{each.number} >= {each.least}" for each in order) for order in stored.apart)
    return (
        f"{stored.pointer}: each iteration to addresses of its own{' where ' * bool(stored.apart)}{' or '.join(orders)}"
    )


def _law(law: Law, loop: For, names: Names) -> str:
    match law:
        case Extremum():
            beside_nan = ", NaN beside NaN" if law.propagates_nan else ""
            return f"{law.intrinsic} of {operand_text(law.operand, names)}{beside_nan}"
        case Fold():
            return f"fold {law.operator} of {', '.join(operand_text(o, names) for o in law.operands)}"
        case Sum():
            terms = _terms(law.terms, names)
            if law.extremum is None:
                return f"sum of {terms}"
            extremum = operand_text(loop.carried[law.extremum].inside, names)
            return f"sum of {terms}, rescaled by {extremum}: {_terms([law.kept], names)}"
        case Unchanged():
            return "unchanged"
        case _:
            assert_never(law)


def _terms(terms: Collection[Term], names: Names) -> str:
    return " ".join(_term(t, names) for t in terms)


def _term(term: Term, names: Names) -> str:
    divisors = "".join(f" / {operand_text(d, names)}" for d in term.divisors)
    conditions = "".join(f" {_condition(c, names)}" for c in term.conditions)
    return f"{'-' if term.is_negative else '+'} {_factors(term.factors, names)}{divisors}{conditions}"


def _condition(condition: Condition, names: Names) -> str:
    return f"where {'' if condition.holds else 'not '}{operand_text(condition.operand, names)}"


def _factors(factors: Collection[Operand], names: Names) -> str:
    return " * ".join(operand_text(f, names) for f in factors) or "1"


def _staged(each: Staged, names: Names) -> str:
    """`load %k from k_ptr: k_row and 1 of lanes, in every iteration`."""
    axes = [axis.name for axis in each.axes] + [f"{each.rank} of lanes"] * bool(each.rank)
    often = ", in every iteration" if each.loop is not None else ""
    return (
        f"load {names.get(each.value, '%?')} from {each.pointer or 'somewhere'}: {' and '.join(axes) or 'one'}{often}"
    )


def _contraction(each: Contraction, names: Names) -> str:
    """`dot %acc term 0 over k: [%p] bf16 rounded, [%v] bf16 stored, outside %scale`."""
    kind = "dot" if len(each.sides) == 2 else "sum"
    result = names.get(each.result, "%?")
    parts = [*(_side(s, names) for s in each.sides)]
    if each.outside:
        parts.append(f"outside {_factors(each.outside, names)}")
    parts += [f"by {_factors([d], names)}" for d in each.summand.divisors]
    parts += [_condition(c, names) for c in each.summand.conditions]
    sign = "-" if each.summand.is_negative else "+"
    how = f" {each.precision}" if each.precision else ""
    return f"{kind}{how} {result} term {each.term} {sign} over {_key(each.over)}: {', '.join(parts)}"


def _side(side: Side, names: Names) -> str:
    how = " rounded" if side.is_rounded else " stored" if side.is_stored else ""
    return f"[{_factors(side.factors, names)}] {side.element}{how}"


def _prologue(rows: Tiled, prologue: Prologue | None) -> Iterator[str]:
    """`prologue d_rows for %d: n_ctx_q along program 0, and program 1, in the place of %o`, and the plan of that."""
    assert prologue is not None, "what runs before is planned"
    names = value_names(rows.form.kernel)
    numbers = (f"{n} for {names[v]}" for n, v in zip(prologue.names, prologue.values, strict=True))
    axes = "".join(f", program {axis}" for axis in prologue.axes)
    loads = ", ".join(names[id] for id in prologue.loads)
    start = f" from {prologue.start}" if prologue.start.known != 0 else ""
    grid = f"{prologue.extent}{start} along program {prologue.axis}{axes}"
    yield f"    prologue {', '.join(numbers)}: {grid}, in the place of {loads}"
    yield from (f"    {line}" for line in print_plan(rows.form.kernel, rows).splitlines())


def _parts(parts: Parts | Refusal | None, names: Names) -> Iterator[str]:
    """`split %k_row in SPLIT along program 2: acc_parts`, or why not."""
    if isinstance(parts, Refusal):
        yield f"    whole {parts.subject}: {parts.reason}"
    elif parts is not None:
        yield f"    split {names[parts.loop]} in {parts.count} along program {parts.axis}: {', '.join(parts.names)}"


def _key(key: Key) -> str:
    return f"lanes {key} from the last" if isinstance(key, int) else key.name
