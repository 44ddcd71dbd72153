"""Certificates: a plan, or why there is none, goes in; sentences that people can check come out, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from teenyc.ir.axes import AxisInfo
from teenyc.ir.counters import counter_name
from teenyc.ir.nodes import (
    DESCRIPTORS,
    Binary,
    Call,
    Carried,
    Certificate,
    Copy,
    For,
    Let,
    Operand,
    Remark,
    Value,
)
from teenyc.ir.walk import statements_of
from teenyc.record import replace
from teenyc.source import Span
from teenyc.tiling import choose, refusals
from teenyc.tiling.plan import (
    BlockedAxis,
    Contraction,
    Extremum,
    Fold,
    Grouped,
    LastFirst,
    Law,
    LoopPlan,
    Parts,
    Prologue,
    Refusal,
    Side,
    Sum,
    Unchanged,
    outer_of,
)
from teenyc.tiling.tile import Tiled
from teenyc.tiling.turns import GROUP
from teenyc.tiling.wording import SHORT, Wording
from teenyc.types import F32, TypeVar

LONG = {"maximum": "maximum", "minimum": "minimum"}
FOLDS = {
    "mul": ("·", "product", "Π"),
    "and": (" & ", "bits that all have", "AND"),
    "or": (" | ", "bits that any has", "OR"),
    "xor": (" ^ ", "exclusive or", "XOR"),
}
"""How folds are written: the sign between two, what they are, and what stands before all of a block."""

GUARDS = {
    "edge": "programs beyond the grid read 0 in the place of `{}`, and store nothing",
    "rows": "programs beyond the grid compute what the last `{}` does, and store nothing",
    "part": "programs of another {1}, or beyond the grid, compute what a `{0}` at the edge does, and store nothing",
    "rest": "full blocks run without a mask; in the rest, loads beyond the last `{}` read 0",
    "bounds": "blocks of `{}` at the ends of a row's own bounds are masked, and those between run without a mask",
}


def certificate(found: Tiled | Refusal) -> Certificate:
    """What tiling did with a kernel."""
    if isinstance(found, Refusal):
        return Certificate(False, (Remark("refused", found.reason, found.span, help=found.help),))
    return Certificate(True, tuple(_Speaker(found).remarks()))


class _Speaker:
    """Speaks of one plan in the words of its kernel."""

    def __init__(self, tiled: Tiled) -> None:
        form = tiled.form
        self.kernel, self.plan, self.rows = form.kernel, tiled.plan, tiled.rows
        self.fors = {s.counter.id: s for _, s in statements_of(form.kernel.body) if isinstance(s, For)}
        wording = Wording.of(form.lets)
        self.lets, self.infos = form.lets, form.axes
        carried = [
            (c, self.plain(y)) for s in self.fors.values() for c, y in zip(s.carried, s.body.yields, strict=True)
        ]
        primed = {y.id for c, y in carried if isinstance(y, Value) and wording.name(y) == c.inside.name}
        self.wording = replace(wording, primed=frozenset(primed))

    def remarks(self) -> Iterator[Remark]:
        said: set[int] = set()
        for axis in self.plan.programs:
            text = f"`{axis.name}`, {self.part(axis)}, is blocked: a program takes `{axis.block}` of them"
            yield Remark("program", text, axis.span, subject=axis.name)
        yield from self.order(self.plan.order)
        for loop in self.plan.loops:
            yield from self.loop(loop, said)
        for each in sorted(self.plan.contractions, key=lambda c: c.span):
            if each.result not in said:
                yield self.contraction(each, 0)
        if self.rows is not None:
            yield from self.prologue(self.rows, self.plan.prologue)
        for found in self.plan.repeated:
            text = f"`{found.subject}` is computed by all programs alike: {found.reason}"
            yield Remark("prologue", text, found.span, help=found.help, subject=found.subject)
        yield from self.sharing(self.plan.parts)
        for guard in self.plan.guards:
            other = "quotient" if self.plan.turned is None else "remainder"
            text = GUARDS[guard.kind].format(guard.axis.name, other) + (
                self.rest(guard.axis) if guard.kind == "rest" else ""
            )
            yield Remark("guard", text, guard.axis.span)
        yield from self.configurations()
        for left in (*self.plan.left, *self.unnamed()):
            yield Remark("left", left.reason, left.span, help=left.help, subject=left.subject)

    def part(self, axis: BlockedAxis) -> str:
        """What axis of the grid a program axis is, or is a part of."""
        if not axis.is_part:
            return f"program axis {axis.id}"
        outer = next((a.name for a in choose.programs(self.kernel) if a.id == outer_of(axis.grid_axis)), "")
        if self.plan.turned is not None:
            of = f"the quotient of program axis {axis.grid_axis} by `{self.plan.turned}`, where that divides the grid"
            return f"{of}, for one `{outer or 'remainder'}` after another"
        return f"the remainder of program axis {axis.grid_axis}, for one `{outer or 'quotient'}` after another"

    def order(self, order: Grouped | LastFirst | None) -> Iterator[Remark]:
        """In which order programs take blocks, where that is not the grid's."""
        match order:
            case None:
                return
            case LastFirst():
                axis = order.axis
                text = f"the last blocks of `{axis.name}` come first: there the loop over `{order.loop}` is longest"
            case Grouped():
                axis = order.outer
                text = (
                    f"programs take `{order.size}` blocks of `{axis.name}`, {GROUP} where a launch does not say, for "
                    f"one block of `{order.inner.name}` after another: neighbours load what a cache holds"
                )
            case _:
                assert_never(order)
        yield Remark("order", text, axis.span, subject=axis.name)

    def rest(self, axis: BlockedAxis) -> str:
        """What beside loads does not see the iterations beyond the bound of a loop."""
        plan = next(each for each in self.plan.loops if each.axis == axis)
        seen = (
            ", sums add 0, and extrema, products and bits see the number that never changes them" if plan.laws else ""
        )
        return seen + (", and nothing is stored there" if plan.stores else "")

    def unnamed(self) -> Iterator[Refusal]:
        """The loops that the author leaves out where he names the axes."""
        for loop in self.fors.values():
            name = counter_name(loop)
            if self.kernel.attributes.tile and name not in self.kernel.attributes.tile:
                yield refusals.other_axes(name, loop.span)

    # ---- loops ------------------------------------------------------------------------------------------------------

    def loop(self, plan: LoopPlan, said: set[int]) -> Iterator[Remark]:
        """The loop, the law of each value that it carries, and the sums in it."""
        loop, axis = self.fors[plan.axis.id], plan.axis
        moved = f", and moved inside of that over `{plan.within}`" if plan.within else ""
        text = f"the loop over `{axis.name}` is blocked{moved}: one iteration takes `{axis.block}` of the source's"
        yield Remark("loop", text, axis.span, subject=axis.name)
        rows = zip(loop.carried, loop.body.yields, plan.laws, strict=True)
        for carried, following, law in sorted(rows, key=lambda row: self.span(row[1], loop.span)):
            new = self.plain(following)
            text = self.law(carried, new, law, plan)
            yield Remark("law", text, self.span(following, loop.span), 1, subject=carried.inside.name)
            if isinstance(new, Value):
                yield from self.sums_of({new.id}, 2, said)
        inside = {v.id for _, s in statements_of(loop.body) if isinstance(s, Let) for v in s.results}
        yield from self.sums_of(inside, 1, said)
        for stored in plan.stores:
            text = f"`{stored.text}`: each iteration stores to addresses of its own, and nothing else reads them"
            if stored.apart:
                orders = (" and ".join(f"`{a.number} ≥ {a.least}`" for a in order) for order in stored.apart)
                text += f"; that is so where {' or '.join(orders)}, and elsewhere the kernel runs as written"
            yield Remark("store", text, stored.span, 1, subject=stored.pointer)

    def law(self, carried: Carried, new: Operand, law: Law, plan: LoopPlan) -> str:
        """A law with its formula."""
        name = carried.inside.name or "a value"
        match law:
            case Unchanged():
                return f"`{name}`: handed on as it is"
            case Extremum():
                short = SHORT[law.intrinsic]
                block = f"{short}_{plan.axis.name} {self.wording.product([law.operand])}"
                formula = f"{self.next_name(new, name)} = {short}({name}, {block})"
                return f"`{name}`: running {LONG[law.intrinsic]}, {formula}"
            case Fold():
                sign, what, block = FOLDS[law.operator]
                operands = self.wording.joined(law.operands, law.operator)
                formula = f"{self.next_name(new, name)} = {name}{sign}{block}_{plan.axis.name} {operands}"
                return f"`{name}`: {what}, {formula}"
            case Sum():
                return self.sum(name, carried.inside, new, law, plan)
            case _:
                assert_never(law)

    def sum(self, name: str, inside: Value, new: Operand, law: Sum, plan: LoopPlan) -> str:
        coefficient = [f for f in law.kept.factors if f != inside]
        terms, sign = law.terms, "+"
        if len(terms) == 1 and terms[0].is_negative:
            terms, sign = (replace(terms[0], is_negative=False),), "−"
        added = self.wording.sum(terms)
        added = f"({added})" if len(terms) > 1 else added
        formula = f"{self.next_name(new, name)} = {self.wording.product([*coefficient, inside])} {sign} "
        formula += f"Σ_{plan.axis.name} {added}"
        if law.extremum is None:
            return f"`{name}`: sum, {formula}"
        loop = self.fors[plan.axis.id]
        extremum = plan.laws[law.extremum]
        assert isinstance(extremum, Extremum), "sums are brought to an extremum"
        maximum = self.next_name(self.plain(loop.body.yields[law.extremum]), loop.carried[law.extremum].inside.name)
        factors = [*coefficient, *(f for term in law.terms for f in term.factors)]
        where = self.definitions(factors)
        kind = LONG[extremum.intrinsic]
        return (
            f"`{name}`: rescaled sum, {formula}{where}, with {maximum} the {kind} after the block; "
            f"the intermediate {kind.replace('mum', 'ma')} cancel"
        )

    def definitions(self, factors: list[Operand]) -> str:
        """What named exponentials are."""
        texts = [
            f"{self.wording.name(f)} = {self.wording.definition(f)}"
            for f in dict.fromkeys(map(self.plain, factors))
            if isinstance(f, Value) and self.wording.name(f) and self.is_call(f)
        ]
        return f", where {' and '.join(texts)}" if texts else ""

    def is_call(self, value: Value) -> bool:
        let = self.lets.get(value.id)
        operation = let.operation if let is not None else None
        return isinstance(operation, Call) and operation.intrinsic in ("exp", "exp2")

    def next_name(self, new: Operand, name: str) -> str:
        """How the next value of what a loop carries is called."""
        own = self.wording.name(new)
        return own if own else f"{name}'"

    def configurations(self) -> Iterator[Remark]:
        """The blocks and launch options that are tried, in one sentence."""
        tried = [each for each in self.plan.configurations if (DESCRIPTORS, 1) not in each]
        if len({tuple(name for name, _ in each) for each in tried}) == 1:
            names = "×".join(f"`{name}`" for name, _ in tried[0])
            rows = ", ".join("×".join(str(value) for _, value in each) for each in tried)
            yield Remark("configurations", f"configurations to choose from, {names}: {rows}", self.kernel.span)
        elif tried:
            rows = "; ".join(", ".join(f"`{name} = {value}`" for name, value in each) for each in tried)
            yield Remark("configurations", f"configurations to choose from: {rows}", self.kernel.span)

    # ---- sums -------------------------------------------------------------------------------------------------------

    def sums_of(self, values: set[int], depth: int, said: set[int]) -> Iterator[Remark]:
        for each in sorted(self.plan.contractions, key=lambda c: c.span):
            if each.result in values and each.result not in said:
                yield self.contraction(each, depth)
        said |= values

    def contraction(self, each: Contraction, depth: int) -> Remark:
        axis = self.axis_name(each)
        factors = [f for side in each.sides for f in side.factors]
        let = self.lets.get(each.result)
        name = self.wording.name(let.results[0]) if let is not None and depth < 2 else ""
        rest = list(each.summand.factors)
        for factor in each.outside:
            rest.remove(factor)
        head = f"`{name}`: " * bool(name) + f"Σ_{axis} {self.wording.term(replace(each.summand, factors=tuple(rest)))}"
        outside = f"; `{self.wording.product(each.outside)}` is multiplied outside" if each.outside else ""
        if len(each.sides) == 2:
            operands = ", ".join(self.side(*pair) for pair in (each.sides, each.sides[::-1]))
            how = f", by `{each.precision}`" if all(s.element == F32 for s in each.sides) else ""
            return Remark("product", f"{head} is a product of matrices: {operands}{how}{outside}", each.span, depth)
        if not each.sides:
            return Remark("sum", f"nothing varies along `{axis}`: what is added counts once for each", each.span, depth)
        is_product = len(factors) > 1 or any(map(self.is_product, factors))
        reason = ": its factors vary along the same axes" if is_product else ""
        return Remark("sum", f"{head} stays a sum{reason}{outside}", each.span, depth)

    def is_product(self, operand: Operand) -> bool:
        """Whether an operand without a name is a product."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) and not self.wording.name(operand) else None
        return let is not None and isinstance(let.operation, Binary) and let.operation.operator == "mul"

    def side(self, side: Side, other: Side) -> str:
        """One operand of a product: what it is, and in which type it is read."""
        text = f"`{self.wording.product(side.factors)}`"
        if side.is_rounded:
            return f"{text} rounded to `{side.element}`"
        if side.is_stored:
            return f"{text} as stored in `{side.element}`"
        if other.is_stored and isinstance(other.element, TypeVar) and other.element != side.element:
            return f"{text} rounded to `{other.element}` (where that is f16, both are widened to f32 and not rounded)"
        return f"{text} in `{side.element}`"

    def axis_name(self, each: Contraction) -> str:
        """What the author calls the axis of a sum."""
        if not isinstance(each.over, int):
            return each.over.name
        infos = [self.infos[f.id] for side in each.sides for f in side.factors if isinstance(f, Value)]
        return next((name for info in infos for name in self.lane_names(info, each.over)), "lane")

    def lane_names(self, info: AxisInfo, place: int) -> Iterator[str]:
        """The names of the lanes at a place counted from the last."""
        for lane in sorted(info.lanes[-1 - place]) if place < len(info.lanes) else ():
            let = self.lets.get(lane.id)
            if let is not None and (name := self.wording.name(let.results[0])):
                yield name

    # ---- what runs before -------------------------------------------------------------------------------------------

    def prologue(self, rows: Tiled, prologue: Prologue | None) -> Iterator[Remark]:
        """What a kernel computes before this one, and the sums in it."""
        assert prologue is not None, "what runs before is planned"
        speaker = _Speaker(rows)
        made = [speaker.lets[id].results[0] for id in prologue.values]
        names = _listed([speaker.wording.text(value) for value in made])
        loads = _listed([speaker.wording.text(speaker.lets[id].results[0]) for id in prologue.loads])
        counter = next(each.axis.name for each in self.plan.loops if each.axis.id == prologue.loop)
        indices = (axis.name for axis in choose.programs(rows.form.kernel) if axis.id in prologue.axes)
        blocked = _listed([axis.name for axis in self.plan.programs])
        verb, them = ("are", "them") if len(made) > 1 else ("is", "it")
        text = (
            f"{names} {verb} the same for every {blocked}: a kernel that runs before computes {them} once for each "
            f"{_listed([counter, *indices])}, and the loop over `{counter}` loads {them} in the place of {loads}"
        )
        yield Remark("prologue", text, speaker.span(made[0], rows.form.kernel.span), subject=made[0].name)
        yield from (speaker.contraction(each, 1) for each in rows.plan.contractions)

    # ---- parts of a loop --------------------------------------------------------------------------------------------

    def sharing(self, parts: Parts | Refusal | None) -> Iterator[Remark]:
        """Whether several programs may share a loop."""
        if isinstance(parts, Refusal):
            text = f"programs do not share the loop over `{parts.subject}`: {parts.reason}"
            yield Remark("split", text, parts.span, subject=parts.subject)
        elif parts is not None:
            axis = next(each.axis for each in self.plan.loops if each.axis.id == parts.loop)
            carried = self.fors[axis.id].carried
            values = _listed([carried[n].inside.name or "what it carries" for n in parts.values])
            text = (
                f"where programs are few, `{parts.count}` of them share the loop over `{axis.name}`: each makes a part "
                f"of its iterations, and a kernel behind them joins {values} by the laws"
            )
            yield Remark("split", text, axis.span, subject=axis.name)

    # ---- values -----------------------------------------------------------------------------------------------------

    def plain(self, operand: Operand) -> Operand:
        """What an operand is another name of."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        return self.plain(let.operation.operand) if let is not None and isinstance(let.operation, Copy) else operand

    def span(self, operand: Operand, otherwise: Span) -> Span:
        """Where a value is made."""
        plain = self.plain(operand)
        let = self.lets.get(plain.id) if isinstance(plain, Value) else None
        return let.span if let is not None else otherwise


def _listed(names: Sequence[str]) -> str:
    """`a`, `b` and `c`."""
    texts = [f"`{name}`" for name in names]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
