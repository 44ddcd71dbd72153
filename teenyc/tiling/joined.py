"""Joined: a kernel whose loop is made in parts goes in; out comes the kernel that joins the parts and does the rest.

It has the values of all parts in lanes. Each law says how they are joined, beginning with what the loop of the source
began with: sums are added, extrema met, and sums that belong to an extremum brought to that of all parts first. There,
a factor between equal extrema is 1, also where both are infinite: in a part without iterations nothing is summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir.counters import counter_name
from teenyc.ir.nodes import (
    Attributes,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    For,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    PaddedConstant,
    Parameter,
    Statement,
    Unary,
    Value,
)
from teenyc.ir.walk import map_operation, operands_of
from teenyc.record import replace
from teenyc.tiling.choose import free_name
from teenyc.tiling.identities import FOLDS
from teenyc.tiling.parts import PartWriter, known_number, loop_of, memory_for, neutral_of, with_count
from teenyc.tiling.plan import Extremum, Fold, Law, Parts, Refusal, Sum, Unchanged
from teenyc.tiling.recurrences import EXPONENTIALS, Reading
from teenyc.tiling.scratch import element_of, fresh_ids, swept, trimmed
from teenyc.tiling.state import shape_of
from teenyc.types import BOOL, I32, ONE, Extent, Shape, broadcast, scalar

REDUCTIONS = {"maximum": "max", "minimum": "min"}


def joined(kernel: Kernel, plan: Parts, laws: tuple[Law, ...], form: For) -> Kernel | Refusal:
    """The kernel behind that of the parts; `form` is the loop of which the laws speak."""
    padded = free_name(kernel, f"{plan.count}_PADDED")
    wide = replace(kernel, padded=(*kernel.padded, PaddedConstant(name=padded, of=plan.count)))
    loop, ids = loop_of(kernel, plan), fresh_ids(kernel)
    memory = memory_for(plan, loop, ids)
    place = kernel.body.statements.index(loop)
    statements: list[Statement] = list(kernel.body.statements[:place])
    joining = _Joining(with_count(wide, plan), plan, padded, loop, form, laws, memory, statements, ids)
    reason = joining.join()
    if reason:
        return Refusal(reason, loop.span, subject=counter_name(loop))
    body = Block(statements=(*statements, *kernel.body.statements[place + 1 :]))
    made = replace(
        with_count(wide, plan),
        name=f"{kernel.name}_joined",
        doc=_doc(kernel, loop, plan),
        parameters=(*kernel.parameters, *memory),
        body=swept(body),
        attributes=Attributes(),
    )
    return trimmed(made, memory)


def _doc(kernel: Kernel, loop: For, plan: Parts) -> str:
    """What the kernel is, by names of the source."""
    of = f"over `{loop.counter.name}`" if loop.counter.name else "of its loop"
    return f"What `{kernel.name}` makes of all `{plan.count}` parts of its iterations {of}."


class _Joining:
    """Writes what each carried value is behind all parts."""

    def __init__(
        self,
        kernel: Kernel,
        plan: Parts,
        padded: str,
        loop: For,
        form: For,
        laws: tuple[Law, ...],
        memory: tuple[Parameter, ...],
        statements: list[Statement],
        ids: Iterator[int],
    ) -> None:
        self.plan, self.loop, self.form, self.laws = plan, loop, form, laws
        self.extent = Extent.of(padded)
        self.memory = dict(zip(plan.values, memory, strict=True))
        self.writer = PartWriter(kernel, statements, statements, ids, loop.span)
        self.lets = {v.id: s for s in statements if isinstance(s, Let) for v in s.results}
        self.reading = Reading.of(form)
        self.loaded: dict[int, Value] = {}
        self.weights: dict[tuple[Operand, int], Value] = {}

    def join(self) -> str:
        """Writes all of it, or says why it cannot be."""
        part = self.writer.lanes(self.extent)
        part = replace(part, name=part.name or "part")
        self.writer.statements[-1] = replace(self._last(), results=(part,))
        count = Constant(self.plan.count, scalar(I32))
        mask = self.writer.let(Compare(operator="lt", left=part, right=count), BOOL, (self.extent,), "is_part")
        place = self.writer.place(self.plan, part)
        for n, parameter in self.memory.items():
            self.loaded[n] = self.load(n, parameter, place, mask)
        order = sorted(range(len(self.laws)), key=lambda n: not isinstance(self.laws[n], Extremum))
        return next(filter(None, map(self.value, order)), "")

    def _last(self) -> Let:
        last = self.writer.statements[-1]
        assert isinstance(last, Let), "lanes were written"
        return last

    def load(self, n: int, parameter: Parameter, place: Value, mask: Value) -> Value:
        """The values of all parts; those that are not there change nothing."""
        result, lanes = self.loop.carried[n].result, shape_of(self.loop.carried[n].result)
        pointer = self.writer.address(parameter.value, place, lanes)
        element = element_of(result.type)
        if lanes:
            mask = self.writer.let(ExpandDims(operand=mask, axes=(1,)), BOOL, (self.extent, ONE))
        other = Literal(neutral_of(element, self.laws[n]), scalar(element))
        call = Call(intrinsic="load", operands=(("pointer", pointer), ("mask", mask), ("other", other)))
        return self.writer.let(call, element, (self.extent, *lanes), f"{result.name or 'value'}_part")

    def value(self, n: int) -> str:
        """Defines a carried value as it is behind the loop."""
        carried, law = self.loop.carried[n], self.laws[n]
        initial = carried.initial
        is_idle = known_number(initial, self.lets) == neutral_of(element_of(carried.result.type), law)
        match law:
            case Unchanged():
                self.define(carried.result, Copy(operand=initial))
            case Extremum():
                call = self.over_parts(REDUCTIONS[law.intrinsic], self.loaded[n])
                meet = None if is_idle else law.intrinsic
                self.met(carried.result, call, meet, initial)
            case Fold():
                self.met(carried.result, self.over_parts(FOLDS[law.operator], self.loaded[n]), law.operator, initial)
            case Sum(extremum=None):
                self.met(carried.result, self.over_parts("sum", self.loaded[n]), None if is_idle else "add", initial)
            case Sum():
                return self.rescaled(n, law, is_idle)
        return ""

    def over_parts(self, intrinsic: str, values: Value) -> Call:
        return Call(intrinsic=intrinsic, operands=(("input", values),), attributes=(("axis", 0),))

    def met(self, result: Value, of_parts: Call, how: str | None, initial: Operand) -> None:
        """Defines what an operation makes of the parts, and of what the loop began with."""
        if how is None:
            self.define(result, of_parts)
            return
        value = self.writer.let(of_parts, element_of(result.type), shape_of(result))
        if how in REDUCTIONS:
            self.define(result, Call(intrinsic=how, operands=(("x", initial), ("y", value))))
        else:
            self.define(result, Binary(operator=how, left=initial, right=value))

    def define(self, result: Value, operation: Operation) -> None:
        self.writer.statements.append(Let(results=(result,), operation=operation, span=self.loop.span))

    # ---- sums that belong to an extremum ----------------------------------------------------------------------------

    def rescaled(self, n: int, law: Sum, is_idle: bool) -> str:
        """The sum over parts, each brought from its own extremum to that of all."""
        carried, m = self.loop.carried[n], law.extremum
        assert m is not None, "it belongs to an extremum"
        (coefficient,) = (f for f in law.kept.factors if f != self.form.carried[n].inside)
        element, shape = element_of(carried.result.type), shape_of(carried.result)
        key = (self.reading.plain(coefficient), m)
        weight = self.weights.get(key) or self.factor(coefficient, m, self.loaded[m])
        if weight is None or element_of(weight.type) != element:
            return "what brings its sums to a new extremum is no exponential alone"
        self.weights[key] = weight
        if shape and len(shape_of(weight)) == 1:
            weight = self.writer.let(ExpandDims(operand=weight, axes=(1,)), element, (self.extent, ONE))
        product = Binary(operator="mul", left=weight, right=self.loaded[n])
        weighted = self.writer.let(product, element, (self.extent, *shape))
        total = self.over_parts("sum", weighted)
        if is_idle:
            self.define(carried.result, total)
            return ""
        of_parts = self.writer.let(total, element, shape)
        first = self.factor(coefficient, m, self.loop.carried[m].initial)
        assert first is not None, "it was one of the parts"
        begun = self.writer.let(Binary(operator="mul", left=first, right=carried.initial), element, shape)
        self.define(carried.result, Binary(operator="add", left=begun, right=of_parts))
        return ""

    def factor(self, coefficient: Operand, m: int, old: Operand) -> Value | None:
        """What brings a sum from an extremum to that of all parts: 1 where they are equal."""
        new = self.loop.carried[m].result
        made = self.copied(coefficient, {self.form.carried[m].inside.id: old, **self.renewed(m, new)})
        if not isinstance(made, Value):
            return None
        element, shape = element_of(made.type), shape_of(made)
        is_same = self.writer.let(Compare(operator="eq", left=old, right=new), BOOL, shape)
        one = Literal(1.0, scalar(element))
        call = Call(intrinsic="where", operands=(("condition", is_same), ("x", one), ("y", made)))
        return self.writer.let(call, element, shape, "correction" if shape_of(new) == shape else "weight")

    def renewed(self, m: int, new: Value) -> Mapping[int, Operand]:
        """What the next extremum is called in the loop."""
        following = self.form.body.yields[m]
        names = {following.id: new} if isinstance(following, Value) else {}
        plain = self.reading.plain(following)
        return {**names, **({plain.id: new} if isinstance(plain, Value) else {})}

    def copied(self, operand: Operand, given: Mapping[int, Operand]) -> Operand | None:
        """A value of the loop, computed again of other extrema; None for what is not made of these alone."""
        if not isinstance(operand, Value) or operand.id in given:
            return given[operand.id] if isinstance(operand, Value) else operand
        let = self.reading.lets.get(operand.id)
        if let is None:
            return operand if operand.id in self.lets or operand.id in self.parameters else None
        operation = let.operation
        is_plain = isinstance(operation, Binary | Unary | Cast | Copy)
        if not is_plain and not (isinstance(operation, Call) and operation.intrinsic in EXPONENTIALS):
            return None
        operands = {o: self.copied(o, given) for o in operands_of(operation)}
        if any(o is None for o in operands.values()):
            return None
        shape: Shape = ()
        for each in operands.values():
            assert each is not None, "all are made"
            shape = broadcast(shape, shape_of(each)) or ()
        operation = map_operation(operation, lambda o: operands[o] or o)
        return self.writer.let(operation, element_of(operand.type), shape)

    @property
    def parameters(self) -> frozenset[int]:
        return frozenset(o.id for o in self.writer.known.values() if isinstance(o, Value))
