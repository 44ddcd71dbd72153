"""Padding lanes: a kernel and names of its constants go in, what the lanes beyond their extents hold comes out.

With `pad(NAME)` an axis of extent `NAME` gets the next power of two: it has lanes that the source does not know of.
Forward through the kernel, the analysis finds for each axis of each value the number that all its padding lanes hold,
if there is one, and for each operation what must be done so that none of them is seen (`rules`). What cannot
be padded is refused with a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from teenyc.ir.nodes import Block, For, If, Kernel, Let, Operand, Return, Statement, Value, While
from teenyc.ir.pad.extents import Pads, pads_of
from teenyc.ir.pad.fills import Beyond, Fill, met
from teenyc.ir.pad.plan import Fills, Plan, Site, shape_of
from teenyc.ir.pad.rules import plan_of
from teenyc.ir.walk import operands_of, statements_of, values_of
from teenyc.record import record
from teenyc.source import Span


@record
class Refusal:
    """A place that cannot be padded, and why."""

    span: Span
    why: str


@record
class Padding:
    """What is known of a kernel whose constants are padded: the fills of each value, by id.

    `plans` say what becomes of each definition, in the order in which they stand.
    """

    pads: Pads
    fills: Mapping[int, Fills]
    plans: tuple[Plan, ...]

    def of(self, value: Value) -> Fills:
        """The fills of a value."""
        return self.fills.get(value.id, (None,) * len(shape_of(value)))


def padding(kernel: Kernel, names: Collection[str]) -> Padding:
    """The padding of a kernel in which the constants `names` are padded."""
    analysis = _Analysis(pads_of(kernel, names))
    while analysis.has_changed:
        analysis.has_changed = False
        analysis.plans.clear()
        analysis.block(kernel.body)
    return Padding(analysis.pads, analysis.known, tuple(analysis.plans))


def refusals(kernel: Kernel, found: Padding) -> tuple[Refusal, ...]:
    """Where the kernel cannot be padded, in order."""
    lets = (s for _, s in statements_of(kernel.body) if isinstance(s, Let))
    refused = ((let, plan.refusal) for let, plan in zip(lets, found.plans, strict=True) if plan.refusal is not None)
    return tuple(dict.fromkeys(Refusal(let.span, why) for let, why in refused if not _follows(let, found.pads)))


def _follows(let: Let, pads: Pads) -> bool:
    """Whether a statement reads what cannot be padded: the refusal stands where that was made."""
    return not all(pads.is_sound(extent) for operand in operands_of(let) for extent in shape_of(operand))


def print_padding(kernel: Kernel, names: Collection[str]) -> str:
    """One line a value with padded axes: `%x: [0.0, -, ?]`; `-` is not padded, `?` unknown, `N..` not below `N`."""
    from teenyc.ir.printer import value_names

    texts, found = value_names(kernel), padding(kernel, names)
    lines = [f"padding of {kernel.name}"]
    for value in values_of(kernel):
        shape = shape_of(value)
        if found.pads.axes(shape):
            fills = zip(shape, found.of(value), strict=True)
            row = ", ".join(_text(fill) if found.pads.touches(extent) else "-" for extent, fill in fills)
            lines.append(f"    {texts[value.id]}: [{row}]")
    return "\n".join(lines) + "\n"


def _text(fill: Fill) -> str:
    if isinstance(fill, Beyond):
        return f"{fill.extent}.."
    return "?" if fill is None else repr(fill).lower()


class _Analysis:
    """What is known after the rounds so far; a fill only ever becomes unknown, so rounds end.

    `plans` are those of the last round, which are right once it has changed nothing.
    """

    def __init__(self, pads: Pads) -> None:
        self.pads = pads
        self.known: dict[int, Fills] = {}
        self.plans: list[Plan] = []
        self.has_changed = True

    def of(self, operand: Operand) -> Fills:
        known = self.known.get(operand.id) if isinstance(operand, Value) else None
        return (None,) * len(shape_of(operand)) if known is None else known

    def join(self, value: Value, fills: Fills) -> None:
        old = self.known.get(value.id)
        new = fills if old is None else tuple(map(met, old, fills))
        if new != old:
            self.known[value.id] = new
            self.has_changed = True

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                plan = plan_of(Site(statement, self.pads, self.of))
                self.plans.append(plan)
                for value, fills in zip(statement.results, plan.fills, strict=False):
                    self.join(value, fills)
            case For() | While():
                self.loop(statement)
            case If():
                for block in (statement.then, statement.otherwise):
                    self.block(block)
                    for value, operand in zip(statement.results, block.yields, strict=False):
                        self.join(value, self.of(operand))
            case Return():
                pass
            case _:
                assert_never(statement)

    def loop(self, loop: For | While) -> None:
        for carried in loop.carried:
            self.join(carried.inside, self.of(carried.initial))
            self.join(carried.result, self.of(carried.initial))
        if isinstance(loop, While):
            self.block(loop.condition)
        self.block(loop.body)
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            self.join(carried.inside, self.of(following))
            self.join(carried.result, self.of(following))
