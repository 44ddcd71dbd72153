"""Named axes: a kernel goes in, for each value the axes along which it varies come out. Tiling starts from here.

Three kinds of axes: a *program* axis for each `program_id`, a *loop* axis for the counter of each `for` (and for each
`while`), and a *lane* axis for each place where lanes come into being: an `arange`, or an operation that does not work
element by element. A value varies along program and loop axes as a whole, and along lane axes at the positions of its
shape. A position without an axis is uniform: all elements there are equal, whatever its extent.

Values carried by a loop are taken to be uniform until an iteration shows that they are not. What memory holds is taken
to vary as its address does, and with the loops around that write to memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never

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
from teenyc.ir.walk import operands_of, statements_of, values_of
from teenyc.record import field, record, state
from teenyc.types import ONE, Shape, TensorType


@record(order=True)
class Axis:
    """One axis. `id` is the number of the program axis, the counter's id, or the id of the value that has the lanes.

    A loop axis of a `while` has the id of its first carried value. `position` tells the axes of one value apart.
    """

    kind: str  # "program", "loop" or "lane"
    id: int
    position: int = 0


Axes: TypeAlias = "frozenset[Axis]"
NONE: Axes = frozenset()
PROGRAMS: Axes = frozenset(Axis("program", n) for n in range(3))


@record
class AxisInfo:
    """The axes of a value: program and loop axes of the whole, lane axes of each position of its shape."""

    outer: Axes = NONE
    lanes: tuple[Axes, ...] = ()

    def is_uniform(self, position: int) -> bool:
        """Whether all elements along a position are equal."""
        return not self.lanes[position]

    @property
    def all(self) -> Axes:
        """Every axis along which the value varies."""
        return self.outer.union(*self.lanes)


def axes(kernel: Kernel) -> Mapping[int, AxisInfo]:
    """The axes of every value of a kernel, by id."""
    analysis = _Analysis()
    for parameter in kernel.parameters:
        analysis.known[parameter.value.id] = AxisInfo()
    analysis.block(kernel.body, NONE)
    return analysis.known


def print_axes(kernel: Kernel) -> str:
    """One line a value, in order of definition: `%x: [d, -] in program 0, loop k`; `-` is a uniform position."""
    from teenyc.ir.printer import value_names

    names = value_names(kernel)
    lines = [f"axes of {kernel.name}"]
    infos = axes(kernel)
    for value in values_of(kernel):
        info = infos.get(value.id, _uniform(value))
        lanes = ", ".join(" * ".join(_texts(a, names)) or "-" for a in info.lanes)
        outer = f" in {', '.join(_texts(info.outer, names))}" if info.outer else ""
        lines.append(f"    {names[value.id]}: [{lanes}]{outer}")
    return "\n".join(lines) + "\n"


def _texts(axes: Axes, names: Mapping[int, str]) -> list[str]:
    return [_axis_text(axis, names) for axis in sorted(axes)]


def _axis_text(axis: Axis, names: Mapping[int, str]) -> str:
    if axis.kind == "program":
        return f"program {axis.id}"
    name = names.get(axis.id, "%while").removeprefix("%")
    if axis.kind == "loop":
        return f"loop {name}"
    return name if axis.position == 0 else f"{name}:{axis.position}"


# ---- the analysis ---------------------------------------------------------------------------------------------------


@state
class _Analysis:
    """What is known so far. Facts only grow, so the rounds of a loop end; `changes` counts those that were others."""

    known: dict[int, AxisInfo] = field(default_factory=dict)
    changes: int = 0

    def of(self, operand: Operand) -> AxisInfo:
        """The axes of an operand; a scalar that is no value varies along none."""
        found = self.known.get(operand.id) if isinstance(operand, Value) else None
        return found or _uniform(operand)

    def join(self, value: Value, info: AxisInfo) -> None:
        old = self.known.get(value.id)
        new = info if old is None else _met(_rank(value), old, info)
        if new != old:
            self.known[value.id] = new
            self.changes += old is not None

    def block(self, block: Block, written: Axes) -> None:
        """The values of a block; `written` are the loops around that write to memory."""
        for statement in block.statements:
            self.statement(statement, written)

    def statement(self, statement: Statement, written: Axes) -> None:
        match statement:
            case Let():
                self.let(statement, written)
            case For() | While():
                self.loop(statement, written)
            case If():
                condition = AxisInfo(self.of(statement.condition).outer)
                for block in (statement.then, statement.otherwise):
                    self.block(block, written)
                    for value, operand in zip(statement.results, block.yields, strict=False):
                        self.join(value, _met(_rank(value), self.of(operand), condition))
            case Return():
                pass
            case _:
                assert_never(statement)

    def loop(self, loop: For | While, written: Axes) -> None:
        """Rounds until what an iteration carries to the next is what it was taken to be."""
        axis = Axis("loop", _loop_id(loop))
        around = written | {axis} if _writes(loop) else written
        before = -1
        while before != self.changes:
            before = self.changes
            self.round(loop, axis, around)

    def round(self, loop: For | While, axis: Axis, around: Axes) -> None:
        """Results do not vary along the loop itself, but with whatever decides how often it runs."""
        steers: Axes = NONE
        if isinstance(loop, For):
            bounds = (loop.start, loop.stop, loop.step)
            steers = NONE.union(*(self.of(bound).outer for bound in bounds))
            self.join(loop.counter, AxisInfo(self.of(loop.start).outer | self.of(loop.step).outer | {axis}))
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            is_changed = not (isinstance(following, Value) and following.id == carried.inside.id)
            changed = AxisInfo(frozenset({axis}) if is_changed else NONE)
            self.join(carried.inside, _met(_rank(carried.inside), self.of(carried.initial), changed))
        if isinstance(loop, While):
            self.block(loop.condition, around)
            steers = NONE.union(*(self.of(test).outer for test in loop.condition.yields))
        self.block(loop.body, around)
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            self.join(carried.inside, self.of(following))
            info = self.of(carried.inside)
            self.join(carried.result, AxisInfo((info.outer | steers) - {axis}, info.lanes))

    def let(self, let: Let, written: Axes) -> None:
        operation = let.operation
        infos = tuple(self.of(operand) for operand in operands_of(operation))
        for value in let.results:
            rank = _rank(value)
            match operation:
                case Copy() | Unary() | Binary() | Compare() | Cast() | Offset():
                    info = _met(rank, *infos)
                case ExpandDims():
                    lanes = list(infos[0].lanes)
                    for axis in operation.axes:
                        lanes.insert(axis, NONE)
                    info = AxisInfo(infos[0].outer, tuple(lanes))
                case Call():
                    info = _call(operation, value, infos, written)
                case Apply():
                    met = _fresh(value, infos)
                    info = AxisInfo(met.outer | PROGRAMS | written, met.lanes)
                case _:
                    assert_never(operation)
            self.join(value, info)


def _loop_id(loop: For | While) -> int:
    if isinstance(loop, For):
        return loop.counter.id
    return loop.carried[0].inside.id if loop.carried else -1


def _writes(loop: For | While) -> bool:
    """Whether a loop may change memory that it loads: by a call that writes, or by a device function."""
    from teenyc.intrinsics import TABLE
    from teenyc.intrinsics.spec import Effect

    changes = {Effect.WRITES, Effect.ATOMIC}
    for block in (loop.body,) if isinstance(loop, For) else (loop.condition, loop.body):
        for _, statement in statements_of(block):
            operation = statement.operation if isinstance(statement, Let) else None
            if isinstance(operation, Apply):
                return True
            record = TABLE.get(operation.intrinsic) if isinstance(operation, Call) else None
            if record is not None and not record.effects.isdisjoint(changes):
                return True
    return False


# ---- intrinsics -----------------------------------------------------------------------------------------------------

Rule: TypeAlias = "Callable[[Call, Value, tuple[AxisInfo, ...]], AxisInfo]"


def _call(call: Call, value: Value, infos: tuple[AxisInfo, ...], written: Axes) -> AxisInfo:
    from teenyc.intrinsics import TABLE
    from teenyc.intrinsics.spec import Effect

    record = TABLE.get(call.intrinsic)
    effects = record.effects if record is not None else frozenset()
    if Effect.ATOMIC in effects:
        # What was there before depends on every other program and iteration.
        fresh = _fresh(value, infos)
        return AxisInfo(fresh.outer | PROGRAMS | written, fresh.lanes)
    info = _RULES.get(call.intrinsic, _fresh_rule)(call, value, infos)
    return AxisInfo(info.outer | written, info.lanes) if Effect.READS in effects else info


def _elementwise(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    return _met(_rank(value), *infos)


def _fresh_rule(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    return _fresh(value, infos)


def _program_id(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    axis = call.attribute("axis", 0)
    return AxisInfo(frozenset({Axis("program", axis)}) if isinstance(axis, int) else PROGRAMS)


def _reduction(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    """The axis that is reduced is gone, or uniform with `keep_dims`; without one all are."""
    outer, rank = _met(0, *(AxisInfo(i.outer) for i in infos)).outer, _rank(value)
    source = max((i.lanes for i in infos), key=len, default=())
    axis = call.attribute("axis")
    if not isinstance(axis, int):
        return AxisInfo(outer, (NONE,) * rank)
    axis %= max(len(source), 1)
    rest = (*source[:axis], *((NONE,) if rank == len(source) else ()), *source[axis + 1 :])
    return AxisInfo(outer, rest)


def _scan(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    """Elements change places or add up along one axis; the other axes stay."""
    axis = call.attribute("axis", call.attribute("dim"))
    met, fresh = _met(_rank(value), *infos), _fresh(value, ())
    if not isinstance(axis, int) or not met.lanes:
        return AxisInfo(met.outer, fresh.lanes)
    axis %= len(met.lanes)
    lanes = tuple(a | fresh.lanes[n] if n == axis else a for n, a in enumerate(met.lanes))
    return AxisInfo(met.outer, lanes)


def _transposed(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    lanes = infos[0].lanes
    order = next((a for _, a in call.attributes if isinstance(a, tuple)), None)
    order = (*range(len(lanes) - 2), len(lanes) - 1, len(lanes) - 2) if order is None else order
    return AxisInfo(infos[0].outer, tuple(lanes[n] for n in order if isinstance(n, int)))


def _reshaped(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    """A value that is uniform everywhere stays so in any shape."""
    is_uniform = not any(a for info in infos for a in info.lanes)
    return _met(_rank(value), *(AxisInfo(i.outer) for i in infos)) if is_uniform else _fresh(value, infos)


def _dot(call: Call, value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    """Rows of the left, columns of the right; the axis that is summed is gone."""
    named = {name: info for (name, _), info in zip(call.operands, infos, strict=True)}
    left, right = named.get("input"), named.get("other")
    if left is None or right is None:
        return _fresh(value, infos)
    product = AxisInfo(left.outer | right.outer, (*left.lanes[:-1], right.lanes[-1]))
    return _met(_rank(value), product, named.get("acc", AxisInfo()))


_ELEMENTWISE = (
    "abs bitcast broadcast_to cast cdiv ceil clamp cos div_rn erf exp exp2 fdiv floor fma full load log "
    "log2 max_constancy max_contiguous maximum minimum multiple_of pair_uniform_to_normal philox rand "
    "rand4x randint randint4x randn randn4x rsqrt sigmoid sin sqrt sqrt_rn swizzle2d tanh "
    "uint_to_uniform_float umulhi where zeros"
)
_REDUCTIONS = "argmax argmin max max_with_indices min min_with_indices prod reduce reduce_and reduce_or sum xor_sum"

_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(_REDUCTIONS.split(), _reduction),
    **dict.fromkeys(("associative_scan", "cumprod", "cumsum", "flip", "sort"), _scan),
    **dict.fromkeys(("permute", "trans"), _transposed),
    **dict.fromkeys(("ravel", "reshape", "view"), _reshaped),
    "dot": _dot,
    "program_id": _program_id,
    "zeros_like": lambda call, value, infos: _uniform(value),
}
"""What is not here gets axes of its own, and varies along the program and loop axes of what it is made of."""


# ---- joining --------------------------------------------------------------------------------------------------------


def _met(rank: int, *infos: AxisInfo) -> AxisInfo:
    """The axes of what is made element by element, with positions aligned at the last."""
    if len(infos) == 1 and len(infos[0].lanes) == rank:
        return infos[0]
    outer = NONE.union(*(info.outer for info in infos))
    lanes = [NONE] * rank
    for info in infos:
        shift = rank - len(info.lanes)
        for position, axes in enumerate(info.lanes):
            if shift + position >= 0:
                lanes[shift + position] |= axes
    return AxisInfo(outer, tuple(lanes))


def _fresh(value: Value, infos: tuple[AxisInfo, ...]) -> AxisInfo:
    """Axes that nothing else has at every position whose extent is not 1."""
    lanes = tuple(
        NONE if extent == ONE else frozenset({Axis("lane", value.id, position)})
        for position, extent in enumerate(_shape(value))
    )
    return AxisInfo(NONE.union(*(info.outer for info in infos)), lanes)


def _uniform(operand: Operand) -> AxisInfo:
    return AxisInfo(NONE, (NONE,) * _rank(operand))


def _shape(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def _rank(operand: Operand) -> int:
    return len(_shape(operand))
