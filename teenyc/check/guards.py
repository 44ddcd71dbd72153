"""Lints for masks: those that leave no lane out, and accesses without the mask that another beside them has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Fix, Reporter
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.addresses import Access
from teenyc.ir.digits import LOADED
from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.masks import Condition
from teenyc.ir.walk import blocks_of, operands_of, statements_of
from teenyc.source import Span
from teenyc.types import BOOL, DType, Extent, TensorType, is_integer

Bounds: TypeAlias = "tuple[Extent | None, Extent | None]"
"""The least and the greatest number of a value, over the constants of the kernel; None where that is not known."""

_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_SWAPPED = {"lt": "gt", "gt": "lt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}


def lint_masks(facts: Facts, reporter: Reporter) -> None:
    """Reports useless masks of a kernel's own accesses, and those that lack one."""
    guards = Guards(facts, reporter)
    for _, statement in statements_of(facts.kernel.body):
        if isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call):
            guards.useless(statement, statement.operation)
    guards.missing()


class Guards:
    """The masks and bounds of one kernel."""

    def __init__(self, facts: Facts, reporter: Reporter) -> None:
        self.facts = facts
        self.reporter = reporter
        self.made: dict[int, ir.Let] = {}
        for _, statement in statements_of(facts.kernel.body):
            if isinstance(statement, ir.Let):
                self.made.update((value.id, statement) for value in statement.results)
        self.known: dict[int, Bounds] = {}
        self.sources: dict[int, frozenset[bool | None]] = {}

    # ---- masks that always hold -------------------------------------------------------------------------------------

    def useless(self, let: ir.Let, call: ir.Call) -> None:
        """Of functions nothing is said: another call of one may pass another bound."""
        mask = call.operand("mask")
        if mask is None or not all(map(self.always, self.facts.masks.conditions(mask))) or not self.is_own(let.span):
            return
        from teenyc.diagnostics.catalog.lints import UselessMask

        pointer = call.operand("pointer")
        name = pointer.name if isinstance(pointer, ir.Value) else ""
        found = self.facts.places.call(let.span)
        given = found.value("mask") if found is not None else None
        edits = [e for n in ("mask", "other") if found is not None and (e := found.without(n)) is not None]
        edit = Fix(edits[0].span, edits[0].replacement, tuple(edits[1:])) if edits else None
        self.reporter.report(UselessMask(span=given.span if given else let.span, name=name, edit=edit))

    def is_own(self, span: Span) -> bool:
        """Whether a place is in the text of the kernel, not in that of a function that it calls."""
        return self.text is not None and self.text.start <= span.start and span.end <= self.text.end

    @cached_property
    def text(self) -> Span | None:
        """The place of the kernel."""
        function = self.facts.places.function(self.facts.kernel.span)
        return None if function is None else function.span

    def always(self, condition: Condition) -> bool:
        """Whether a condition is a comparison of numbers that are in order whatever the constants are."""
        compared = self.compared(condition)
        if compared is None:
            return False
        operator, left, right = compared
        if operator in ("gt", "ge"):
            operator, left, right = _SWAPPED[operator], right, left
        greatest, least = self.bounds(left)[1], self.bounds(right)[0]
        distance = (greatest - least).known if greatest is not None and least is not None else None
        return distance is not None and (distance < 0 if operator == "lt" else operator == "le" and distance <= 0)

    def compared(self, condition: Condition) -> tuple[str, ir.Operand, ir.Operand] | None:
        """The comparison of integers that a condition says to hold."""
        holds, number, _ = condition
        if number not in self.facts.compares:
            return None
        direct, compare = self.facts.compares[number]
        element = compare.left.type.element if isinstance(compare.left.type, TensorType) else None
        if not isinstance(element, DType) or not is_integer(element):
            return None
        return compare.operator if holds is direct else _NEGATED[compare.operator], compare.left, compare.right

    def bounds(self, operand: ir.Operand) -> Bounds:
        match operand:
            case ir.Literal():
                return (Extent.of(operand.value),) * 2 if type(operand.value) is int else (None, None)
            case ir.Constant():
                return (Extent.of(operand.name),) * 2 if operand.type.element != BOOL else (None, None)
            case ir.Value():
                if operand.id not in self.known:
                    let = self.made.get(operand.id)
                    self.known[operand.id] = self.computed(let.operation) if let is not None else (None, None)
                return self.known[operand.id]

    def computed(self, operation: ir.Operation) -> Bounds:
        match operation:
            case ir.Copy() | ir.ExpandDims():
                return self.bounds(operation.operand)
            case ir.Call(intrinsic="arange"):
                start, end = operation.attribute("start", 0), operation.attribute("end")
                first = Extent.of(start) if isinstance(start, int) else start
                is_known = isinstance(first, Extent) and isinstance(end, Extent)
                return (first, end - Extent.of(1)) if is_known else (None, None)  # type: ignore[return-value,operator]
            case ir.Call() if lanes_of(operation.intrinsic) is Lanes.STRETCHED:
                return self.bounds(operation.operands[0][1])
            case ir.Binary(operator="add"):
                (a, b), (c, d) = self.bounds(operation.left), self.bounds(operation.right)
                return _sum(a, c), _sum(b, d)
            case ir.Binary(operator="sub"):
                (a, b), (c, d) = self.bounds(operation.left), self.bounds(operation.right)
                return _difference(a, d), _difference(b, c)
            case _:
                return None, None

    # ---- masks that are missing -------------------------------------------------------------------------------------

    def missing(self) -> None:
        """Reports accesses whose address is made of an index that the mask of another in their block bounds."""
        by_let = {id(access.let): access for access in self.facts.accesses if access.block is None}
        for block in blocks_in(self.facts.kernel.body):
            listed = [by_let[id(s)] for s in block.statements if id(s) in by_let]
            guarded = [(a, bound) for a in listed for bound in self.upper_bounds(a.call.operand("mask"))]
            for access in listed:
                if access.call.operand("mask") is None and self.facts.kernel.attributes.grid != ():
                    self.lacks(access, guarded)

    def number(self, operand: ir.Operand) -> int:
        """The number of an operand, wherever its lanes lie."""
        return self.facts.masks.view(operand)[0]

    def upper_bounds(self, mask: ir.Operand | None) -> Iterator[tuple[ir.Operand, ir.Operand]]:
        """What a mask keeps below what: an index that varies along lanes, and a number of the launch."""
        for condition in sorted(self.facts.masks.conditions(mask)) if mask is not None else ():
            compared = self.compared(condition)
            if compared is None:
                continue
            operator, index, bound = compared
            if operator in ("gt", "ge"):
                operator, index, bound = _SWAPPED[operator], bound, index
            is_lanes = bool(self.facts.masks.view(index)[1]) and LOADED not in self.facts.digits.of(index)
            if operator in ("lt", "le") and is_lanes and self.is_of_launch(bound) and not self.always(condition):
                yield index, bound

    def is_of_launch(self, operand: ir.Operand) -> bool:
        """Whether a number is made of parameters, constants and literals, and not of these last alone."""
        return True in self.origins(operand) and None not in self.origins(operand)

    def origins(self, operand: ir.Operand) -> frozenset[bool | None]:
        """Of what a number is made: parameters (True), what the text knows (False), anything else (None)."""
        if not isinstance(operand, ir.Value):
            return frozenset({False})
        if operand.id not in self.sources:
            let = self.made.get(operand.id)
            if let is None:
                is_parameter = any(p.value.id == operand.id for p in self.facts.kernel.parameters)
                self.sources[operand.id] = frozenset({True if is_parameter else None})
            elif isinstance(let.operation, ir.Copy | ir.Cast | ir.Binary | ir.ExpandDims):
                found = map(self.origins, operands_of(let))
                self.sources[operand.id] = frozenset[bool | None]().union(*found)
            else:
                self.sources[operand.id] = frozenset({None})
        return self.sources[operand.id]

    def lacks(self, access: Access, guarded: Iterable[tuple[Access, tuple[ir.Operand, ir.Operand]]]) -> None:
        name = access.root.name
        if any(name == shaped for shaped, _ in self.facts.kernel.attributes.shapes):
            return
        parts = self.parts(access.call.operand("pointer"))
        for other, (index, bound) in guarded:
            is_meant = access.is_write or other.root.id == access.root.id
            if is_meant and self.number(index) in parts:
                from teenyc.diagnostics.catalog.lints import MissingMask

                lint = MissingMask(
                    span=access.let.span,
                    name=name,
                    index=self.name(index),
                    bound=self.name(bound),
                    guarded=other.let.span,
                    is_write=access.is_write,
                    edit=self.guard(access, other),
                )
                self.reporter.report(lint)
                return

    def parts(self, operand: ir.Operand | None) -> frozenset[int]:
        """The numbers of all views of which an address is made."""
        found: set[int] = set()
        waiting, seen = [operand], set[int]()
        while waiting:
            current = waiting.pop()
            if not isinstance(current, ir.Value) or current.id in seen:
                continue
            seen.add(current.id)
            found.add(self.number(current))
            let = self.made.get(current.id)
            if let is not None and not _reads(let.operation):
                waiting += operands_of(let)
        return frozenset(found)

    def name(self, operand: ir.Operand) -> str:
        """The author's name of a value, with or without new axes."""
        while isinstance(operand, ir.Value) and not operand.name and operand.id in self.made:
            operation = self.made[operand.id].operation
            if not isinstance(operation, ir.ExpandDims | ir.Copy):
                break
            operand = operation.operand
        return operand.name if isinstance(operand, ir.Value | ir.Constant) else ""

    def guard(self, access: Access, other: Access) -> Fix | None:
        """Gives a store the mask of another access of as many lanes."""
        pointers = [a.call.operand("pointer") for a in (access, other)]
        shapes = {p.type.shape for p in pointers if p is not None and isinstance(p.type, TensorType)}
        places = self.facts.places
        call, guarded = places.call(access.let.span), places.call(other.let.span)
        mask = guarded.value("mask") if guarded is not None else None
        if not access.is_write or len(shapes) != 1 or call is None or mask is None:
            return None
        text = places.repeated(mask, access.let.span)
        return call.adding("mask", text) if text is not None else None


def blocks_in(block: ir.Block) -> Iterator[ir.Block]:
    """A block and all inside of it."""
    yield block
    for _, statement in statements_of(block):
        yield from blocks_of(statement)


def _reads(operation: ir.Operation) -> bool:
    return isinstance(operation, ir.Call) and Effect.READS in TABLE[operation.intrinsic].effects


def _sum(a: Extent | None, b: Extent | None) -> Extent | None:
    return a + b if a is not None and b is not None else None


def _difference(a: Extent | None, b: Extent | None) -> Extent | None:
    return a - b if a is not None and b is not None else None
