"""Undefined lanes: a kernel goes in; where lanes that a mask left out of a load can make a difference comes out.

A load without `other` leaves the lanes that its mask leaves out undefined. For each value we hold the conditions under
which its lanes are defined, each with the load that asks for it. Work that goes lane by lane hands them on; a store, or
a `where`, under a mask that implies them does without. What a loop carries is under conditions of earlier iterations,
which no mask of this one implies, unless the loop carries the mask too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from teenyc.ir.lanes import Lanes, lanes_of, order_of
from teenyc.ir.masks import ALWAYS, Condition, Conditions, Masks, moved, shape_of
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Copy,
    ExpandDims,
    For,
    If,
    Kernel,
    Let,
    Offset,
    Operand,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import operands_of, results_of
from teenyc.record import record
from teenyc.types import BOOL, TensorType

Needs: TypeAlias = "Mapping[Condition, Let]"
"""The conditions under which the lanes of a value are defined, with the loads that ask for them."""

DEFINED: Needs = {}


@record
class UndefinedUse:
    """One place where undefined lanes can make a difference.

    `sink` is the intrinsic, or `address`, `mask`, `condition` or `bound`; `operand` is what has the lanes.
    """

    sink: str
    operand: Value
    load: Let
    use: Statement


def undefined_uses(kernel: Kernel, masks: Masks) -> tuple[UndefinedUse, ...]:
    """The places of a kernel, in source order of the statements."""
    analysis = _Analysis(masks)
    while analysis.has_changed:
        analysis.has_changed = False
        analysis.found.clear()
        analysis.block(kernel.body, ALWAYS)
    return tuple(analysis.found)


def is_open_load(let: Let) -> bool:
    """Whether a load leaves lanes undefined."""
    call = let.operation
    if not isinstance(call, Call) or call.intrinsic != "load":
        return False
    return call.operand("mask") is not None and call.operand("other") is None


class _Analysis:
    """What is known after the rounds so far; needs only grow, so rounds end."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        self.needs: dict[int, dict[Condition, Let]] = {}
        self.unpaired: set[int] = set()
        self.found: list[UndefinedUse] = []
        self.has_changed = True

    # ---- facts ------------------------------------------------------------------------------------------------------

    def of(self, operand: Operand, known: Conditions = ALWAYS) -> Needs:
        """What the lanes of an operand need beyond what is known to hold."""
        needs = self.needs.get(operand.id) if isinstance(operand, Value) else None
        if not needs:
            return DEFINED
        return {c: load for c, load in needs.items() if c not in known} if known else needs

    def give(self, value: Value, *needs: Needs) -> None:
        if not any(needs):
            return
        own = self.needs.setdefault(value.id, {})
        before = len(own)
        for each in needs:
            for condition, load in each.items():
                own.setdefault(condition, load)
        self.has_changed |= len(own) != before

    def use(self, sink: str, operand: Operand, known: Conditions, statement: Statement) -> None:
        """Notes a use of an operand that must be defined in every lane that `known` leaves."""
        for load in self.of(operand, known).values():
            assert isinstance(operand, Value), "only values have undefined lanes"
            self.found.append(UndefinedUse(sink, operand, load, statement))
            return

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block, facts: Conditions) -> None:
        """One round over a block; `facts` are conditions on single values that hold in it."""
        for statement in block.statements:
            match statement:
                case Let():
                    self.let(statement, facts)
                case For() | While():
                    self.loop(statement, facts)
                case If():
                    facts = self.branch(statement, facts)
                case Return():
                    pass
                case _:
                    assert_never(statement)

    def branch(self, branch: If, facts: Conditions) -> Conditions:
        """An `if`; the facts that hold behind it, which are more where one of its branches leaves."""
        self.use("condition", branch.condition, facts, branch)
        blocks = (branch.then, branch.otherwise)
        inside = [facts | self.masks.conditions(branch.condition, holds=holds) for holds in (True, False)]
        for block, known in zip(blocks, inside, strict=True):
            self.block(block, known)
        ends = [(b, known) for b, known in zip(blocks, inside, strict=True) if not _leaves(b)]
        self.join(branch.results, [b.yields for b, _ in ends], [known for _, known in ends])
        return ends[0][1] if len(ends) == 1 else facts

    def loop(self, loop: For | While, facts: Conditions) -> None:
        inside = facts
        if isinstance(loop, For):
            for bound in (loop.start, loop.stop, loop.step):
                self.use("bound", bound, facts, loop)
        else:
            self.block(loop.condition, facts)
            for test in loop.condition.yields:
                self.use("condition", test, facts, loop)
                inside |= self.masks.conditions(test)
        self.block(loop.body, inside)
        sources = [tuple(c.initial for c in loop.carried), loop.body.yields]
        self.join(tuple(c.inside for c in loop.carried), sources, [facts, inside], loop)
        self.join(results_of(loop), sources, [facts, inside], loop)

    def join(
        self,
        results: Sequence[Value],
        sources: Sequence[Sequence[Operand]],
        facts: Sequence[Conditions],
        loop: For | While | None = None,
    ) -> None:
        """Values from one of several places; their lanes need what each place needs, or a mask that comes along."""
        flags = [n for n, value in enumerate(results) if _is_flag(value)]
        for index, value in enumerate(results):
            needs = [self.of(s[index], known) for s, known in zip(sources, facts, strict=True)]
            if not any(needs):
                continue
            partner = self.partner(value, needs, flags, results, sources)
            if partner is not None:
                load = next(load for each in needs for load in each.values())
                self.give(value, dict.fromkeys(self.masks.conditions(partner), load))
                continue
            self.give(value, *(self.aged(each, loop) for each in needs))

    def partner(
        self,
        value: Value,
        needs: Sequence[Needs],
        flags: Sequence[int],
        results: Sequence[Value],
        sources: Sequence[Sequence[Operand]],
    ) -> Value | None:
        """A mask that comes from the same places and implies at each what the lanes need there."""
        if value.id in self.unpaired:
            return None
        for flag in flags:
            if shape_of(results[flag]) == shape_of(value) and all(
                each.keys() <= self.masks.conditions(s[flag]) for each, s in zip(needs, sources, strict=True)
            ):
                return results[flag]
        self.unpaired.add(value.id)
        return None

    def aged(self, needs: Needs, loop: For | While | None) -> Needs:
        """Needs as a later iteration sees them: conditions that vary in the loop are of an earlier one."""
        if loop is None:
            return needs
        stale = self.masks.stale(id(loop))
        return {stale if self.masks.varies(c, id(loop)) else c: load for c, load in needs.items()}

    # ---- operations -------------------------------------------------------------------------------------------------

    def let(self, let: Let, facts: Conditions) -> None:
        operation = let.operation
        match operation:
            case Copy() | Unary() | Cast():
                self.give(let.results[0], self.of(operation.operand, facts))
            case Compare():
                self.give(let.results[0], self.of(operation.left, facts), self.of(operation.right, facts))
            case Binary():
                self.give(let.results[0], *self.binary(operation, let.results[0], facts))
            case ExpandDims():
                rank = len(shape_of(let.results[0]))
                needs = self.of(operation.operand, facts)
                self.give(let.results[0], {(h, n, moved(p, operation.axes, rank)): v for (h, n, p), v in needs.items()})
            case Offset():
                self.use("address", operation.offset, facts, let)
                self.give(let.results[0], self.of(operation.pointer, facts))
            case Call():
                self.call(let, operation, facts)
            case Apply():
                for value in let.results:
                    self.give(value, *(self.of(o, facts) for o in operation.operands))
            case _:
                assert_never(operation)

    def binary(self, binary: Binary, value: Value, facts: Conditions) -> tuple[Needs, Needs]:
        """A lane of `a & b` is defined where one is and does not hold, of `a | b` where one is and holds."""
        left, right = self.of(binary.left, facts), self.of(binary.right, facts)
        if binary.operator not in ("and", "or") or not _is_flag(value) or (left and right):
            return left, right
        holds = binary.operator == "and"
        return (
            _without(left, self.masks.conditions(binary.right, holds=holds)) if left else left,
            _without(right, self.masks.conditions(binary.left, holds=holds)) if right else right,
        )

    def call(self, let: Let, call: Call, facts: Conditions) -> None:
        if call.intrinsic == "where":
            self.give(let.results[0], *self.selected(call, facts))
        elif call.operand("pointer") is not None:
            self.access(let, call, facts)
        elif call.intrinsic in _TESTS:
            for _, operand in call.operands:
                self.use("condition", operand, facts, let)
        else:
            self.lanes(let, call, facts)

    def selected(self, call: Call, facts: Conditions) -> Iterable[Needs]:
        condition = call.operand("condition")
        assert condition is not None, "`where` has a condition"
        yield self.of(condition, facts)
        for name, holds in (("x", True), ("y", False)):
            operand = call.operand(name)
            if operand is not None and (needs := self.of(operand, facts)):
                yield _without(needs, self.masks.conditions(condition, holds=holds))

    def access(self, let: Let, call: Call, facts: Conditions) -> None:
        """A load, a store or an atomic; lanes that its mask leaves out make no difference to what is written."""
        mask = call.operand("mask")
        allowed = facts
        if mask is not None:
            self.use("mask", mask, facts, let)
            allowed = facts | self.masks.conditions(mask)
        for name, operand in call.operands:
            if name == "pointer":
                self.use("address", operand, facts, let)
            elif name not in ("mask", "other"):
                self.use(call.intrinsic, operand, allowed, let)
        if is_open_load(let) and mask is not None:
            needs = dict.fromkeys(self.masks.conditions(mask), let)
            self.give(let.results[0], {c: load for c, load in needs.items() if c not in facts})
        elif mask is not None and (other := call.operand("other")) is not None:
            without = self.masks.conditions(mask, holds=False)
            self.give(let.results[0], _without(self.of(other, facts), without))

    def lanes(self, let: Let, call: Call, facts: Conditions) -> None:
        for index, value in enumerate(let.results):
            match lanes_of(call.intrinsic):
                case Lanes.SAME:
                    self.give(value, *(self.of(o, facts) for o in operands_of(call)))
                case Lanes.STRETCHED:
                    self.give(value, self.of(call.operands[index][1], facts))
                case Lanes.PERMUTED:
                    self.give(value, _permuted(self.of(call.operands[0][1], facts), call, value))
                case Lanes.MOVED:
                    self.give(value, self.moved(call, value, index, facts))
                case Lanes.SHAPE:
                    pass
                case Lanes.MIXED:
                    break
        if lanes_of(call.intrinsic) is Lanes.MIXED:
            for _, operand in call.operands:
                self.use(call.intrinsic, operand, facts, let)

    def moved(self, call: Call, value: Value, index: int, facts: Conditions) -> Needs:
        """Lanes in other places need their conditions moved alike; no mask implies those of one operand of several."""
        needs: dict[Condition, Let] = {}
        for _, operand in call.operands:
            for condition, load in self.of(operand, facts).items():
                for each in self.masks.shuffle((condition,), call, value, index):
                    needs.setdefault(each, load)
        return needs


_TESTS = frozenset({"assume", "device_assert"})


def _permuted(needs: Needs, call: Call, value: Value) -> Needs:
    rank = len(shape_of(value))
    order = order_of(call, rank)
    return {(h, n, tuple(order.index(p + rank) - rank for p in at)): load for (h, n, at), load in needs.items()}


def _without(needs: Needs, conditions: Conditions) -> Needs:
    return {c: load for c, load in needs.items() if c not in conditions}


def _leaves(block: Block) -> bool:
    return bool(block.statements) and isinstance(block.statements[-1], Return)


def _is_flag(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.element == BOOL
