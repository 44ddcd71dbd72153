"""Adds to tiled kernels the one that takes a padded extent in two parts: `x_uneven` behind `x_tiled`.

Heads of 80 numbers that are padded to 128 cost matrix units what 128 do. Taken as 64 and 16, each a power of two, they
cost what 80 do: whatever has the extent is done with each of the two parts, products along it are added up. Nothing is
masked in the first part. A launch takes this kernel where the two are less than the extent with its padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count
from typing import assert_never

from teenyc.intrinsics import TABLE
from teenyc.ir import walk
from teenyc.ir.nodes import (
    Apply,
    Attribute,
    Binary,
    Block,
    Call,
    Carried,
    Compare,
    Constant,
    ExpandDims,
    For,
    If,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    PaddedConstant,
    Program,
    Remark,
    Return,
    Statement,
    Value,
    While,
)
from teenyc.passes.forms import free_name, remarked
from teenyc.passes.parts import COMBINED, Way, can_be_split, has_parts, is_inside, is_whole, shape_of, way_of
from teenyc.record import field, record, replace, state
from teenyc.source import Span
from teenyc.types import BOOL, I32, Extent, Shape, TensorType, Type, scalar

TRUE = Literal(True, scalar(BOOL))
"""The first part of a mask of what is no padding."""

Parts = tuple[Operand, Operand]


def split_extents(program: Program) -> Program:
    """The program with a kernel that takes extents in two parts behind each tiled kernel that can be so."""
    if not any(kernel.padded and kernel.tiling is not None for kernel in program.kernels):
        return program
    ids, taken = count(walk.next_id(program)), {kernel.name for kernel in program.kernels}
    kernels: list[Kernel] = []
    remarks: dict[str, Remark] = {}
    for kernel in program.kernels:
        kernels.append(kernel)
        uneven = _uneven(kernel, ids)
        if uneven is not None and uneven.tiling is not None:
            kernels.append(replace(uneven, name=free_name(uneven.name, taken)))
            remarks[uneven.tiling.of] = _remark(kernel, uneven.tiling.uneven)
    return replace(program, kernels=tuple(remarked(kernel, remarks, is_behind=False) for kernel in kernels))


def _remark(kernel: Kernel, name: str) -> Remark:
    """What is done with a constant that extents are padded from."""
    text = f"a `{name}` of 80 is not padded to 128 but taken as 64 and 16, and others like it, in a form of its own"
    return Remark("uneven", text, kernel.span, subject=name)


def _uneven(kernel: Kernel, ids: Iterator[int]) -> Kernel | None:
    """The kernel in parts, if it can be."""
    tiling = kernel.tiling
    if tiling is None or not tiling.is_main or len(kernel.padded) != 1:
        return None
    (padded,) = kernel.padded
    if not can_be_split(kernel, padded):
        return None
    splitting = _Splitting(padded, *_parts_of(kernel, padded), ids, walk.uses(kernel.body))
    return replace(
        kernel,
        name=f"{tiling.of}_uneven",
        body=splitting.block(kernel.body),
        padded=(splitting.first, splitting.rest),
        tiling=replace(tiling, uneven=padded.of),
    )


def _parts_of(kernel: Kernel, padded: PaddedConstant) -> tuple[PaddedConstant, PaddedConstant]:
    """The greatest power of two in a constant, and what pads the rest."""
    taken = {c.name for c in kernel.constants} | {p.name for p in kernel.parameters}
    first = PaddedConstant(name=free_name(f"{padded.of}_FIRST", taken), of=padded.of, is_part=True)
    name = free_name(f"{padded.of}_REST", taken)
    return first, PaddedConstant(name=name, of=padded.of, minimum=padded.minimum, beyond=first.name)


@record
class _Part:
    """One of the two parts: which one, and its extent."""

    number: int
    extent: Extent


@state
class _Splitting:
    """One kernel. `parts` are the two parts of values by id, `lanes` the ids of all lanes of the extent.

    `uses` counts what reads a value in the source of this, and `shared` are the statements of the block at hand that
    define numbers without a name for one reader: each part gets its own, so that both read as the author wrote them.
    """

    padded: PaddedConstant
    first: PaddedConstant
    rest: PaddedConstant
    ids: Iterator[int]
    uses: Mapping[int, int]
    parts: dict[int, Parts] = field(default_factory=dict)
    shared: dict[int, Let] = field(default_factory=dict)
    lanes: set[int] = field(default_factory=set)

    @property
    def both(self) -> tuple[_Part, _Part]:
        return _Part(0, Extent.of(self.first.name)), _Part(1, Extent.of(self.rest.name))

    @property
    def extent(self) -> Extent:
        return Extent.of(self.padded.name)

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        around, self.shared = self.shared, {}
        for statement in block.statements:
            new = [*self.statement(statement)]
            statements += new
            self.shared |= {let.results[0].id: let for let in new if isinstance(let, Let) and self.is_shared(let)}
        self.shared = around
        yields = chain.from_iterable(map(self.operands, block.yields))
        return Block(statements=tuple(statements), yields=tuple(yields))

    def statement(self, statement: Statement) -> Iterator[Statement]:
        match statement:
            case Let():
                yield from self.let(statement)
            case For() | While():
                carried = tuple(each for c in statement.carried for each in self.carried(c))
                yield walk.map_blocks(replace(statement, carried=carried), self.block)
            case If():
                results = tuple(each for value in statement.results for each in self.values(value))
                yield replace(walk.map_blocks(statement, self.block), results=results)
            case Return():
                yield statement
            case _:
                assert_never(statement)

    def carried(self, carried: Carried) -> Iterator[Carried]:
        initial = self.operands(carried.initial)
        inside, result = self.values(carried.inside), self.values(carried.result)
        for one in zip(initial, inside, result, strict=True):
            yield Carried(initial=one[0], inside=one[1], result=one[2])

    def let(self, let: Let) -> Iterator[Statement]:
        match way_of(let, self.padded):
            case Way.KEPT:
                yield from self.kept(let)
            case Way.APART:
                yield from self.apart(let)
            case Way.SUMMED:
                yield from self.summed(let)
            case Way.REDUCED:
                yield from self.reduced(let)
            case None:
                raise AssertionError("every statement can be done in parts")

    def kept(self, let: Let) -> Iterator[Let]:
        """A statement that has nothing of the extent; whether that has padding is asked of both parts."""
        if not is_whole(let, self.padded):
            yield let
            return
        made: list[Let] = []
        of = Constant(self.padded.of, scalar(I32))
        sides = (Constant(self.first.name, scalar(I32)), Constant(self.rest.name, scalar(I32)))
        total = self.define(Binary(operator="add", left=sides[0], right=sides[1]), scalar(I32), let.span, made)
        yield from made
        yield replace(let, operation=Compare(operator="eq", left=total, right=of))

    def apart(self, let: Let) -> Iterator[Let]:
        """The statement with each part."""
        known = self.known(let.operation)
        if known is not None:
            self.parts[let.results[0].id] = (known, known)  # the other follows
        made: list[Let] = []
        for part in self.both if known is None else self.both[1:]:
            operation = self.of_part(let.operation, part, let.span, made)
            results = tuple(self.result(value, part) for value in let.results)
            if isinstance(operation, Call) and operation.intrinsic == "arange":
                self.lanes.add(let.results[0].id)
                operation = self.lanes_of_part(operation, part, results[0].type, let.span, made)
            yield from made
            made.clear()
            yield replace(let, results=results, operation=operation)

    def lanes_of_part(self, call: Call, part: _Part, type: Type, span: Span, made: list[Let]) -> Operation:
        """The lanes of a part: those of the second one stand behind the first."""
        if part.number == 0:
            return call
        before = Constant(self.first.name, scalar(I32))
        return Binary(operator="add", left=before, right=self.define(call, type, span, made))

    def summed(self, let: Let) -> Iterator[Let]:
        """A product along the extent: the second part is added to the first."""
        assert isinstance(let.operation, Call), "it multiplies"
        (result,), (first, rest) = let.results, self.both
        made: list[Let] = []
        total = self.define(self.of_part(let.operation, first, let.span, made), result.type, let.span, made)
        call = self.of_part(let.operation, rest, let.span, made)
        assert isinstance(call, Call), "it multiplies"
        given = tuple((name, operand) for name, operand in call.operands if name != "acc")
        yield from made
        yield replace(let, operation=replace(call, operands=(*given, ("acc", total))))

    def reduced(self, let: Let) -> Iterator[Let]:
        """A reduction along the extent: the results of both parts together."""
        assert isinstance(let.operation, Call), "it reduces"
        made: list[Let] = []
        one, other = (
            self.define(self.of_part(let.operation, part, let.span, made), let.results[0].type, let.span, made)
            for part in self.both
        )
        name = COMBINED[let.operation.intrinsic]
        together: Operation = Binary(operator="add", left=one, right=other)
        if name != "add":
            together = Call(intrinsic=name, operands=(("x", one), ("y", other)))
        yield from made
        yield replace(let, operation=together)

    def is_shared(self, let: Let) -> bool:
        """Whether a statement may be made twice, once for each part."""
        is_one = len(let.results) == 1 and not let.results[0].name and self.uses[let.results[0].id] == 1
        operation = let.operation
        is_pure = not isinstance(operation, (Apply, Call)) or (
            isinstance(operation, Call) and TABLE[operation.intrinsic].is_pure and operation.intrinsic != "dot"
        )
        return is_one and is_pure

    def copied(self, let: Let, made: list[Let]) -> Value:
        """The value of a statement made anew, with what stands in it."""

        def copy(operand: Operand) -> Operand:
            inner = self.shared.get(operand.id) if isinstance(operand, Value) else None
            return operand if inner is None else self.copied(inner, made)

        return self.define(walk.map_operation(let.operation, copy), let.results[0].type, let.span, made)

    # ---- one part ---------------------------------------------------------------------------------------------------

    def known(self, operation: Operation) -> Operand | None:
        """What the first part of a value is without any work: masks of what is no padding are true there."""
        match operation:
            case Compare() if is_inside(operation, frozenset(self.lanes), self.padded):
                return TRUE
            case Binary(operator="or", left=left, right=right) if TRUE in (self.part(left, 0), self.part(right, 0)):
                return TRUE
            case Binary(operator="and", left=left, right=right):
                one, other = self.part(left, 0), self.part(right, 0)
                if TRUE in (one, other):
                    return other if one == TRUE else one
            case ExpandDims(operand=operand) if self.part(operand, 0) == TRUE:
                return TRUE
            case Call(intrinsic="where", operands=((_, condition), (_, x), (_, y))) if self.part(condition, 0) == TRUE:
                chosen = self.part(x, 0)
                return chosen if shape_of(chosen) or not shape_of(y) else None
        return None

    def of_part(self, operation: Operation, part: _Part, span: Span, made: list[Let]) -> Operation:
        """The operation with one part of what it reads."""
        if isinstance(operation, Call):
            return self.call(operation, part, span, made)
        return walk.map_operation(operation, self.reading(part, span, made))

    def call(self, call: Call, part: _Part, span: Span, made: list[Let]) -> Call:
        attributes = tuple((name, self.attribute(name, each, part)) for name, each in call.attributes)
        operands = call.operands
        mask = call.operand("mask")
        if mask is not None and self.part(mask, part.number) == TRUE:
            operands = tuple((name, operand) for name, operand in operands if name not in ("mask", "other"))
        read = self.reading(part, span, made)
        given = ((name, self.part(o, part.number) if name == "mask" else read(o)) for name, o in operands)
        return replace(call, operands=tuple(given), attributes=attributes)

    def attribute(self, name: str, attribute: Attribute, part: _Part) -> Attribute:
        """An attribute with the extent of the part."""
        if isinstance(attribute, Extent):
            return part.extent if attribute == self.extent else attribute
        if isinstance(attribute, tuple) and any(isinstance(each, Extent) for each in attribute):
            return self.shape(tuple(each for each in attribute if isinstance(each, Extent)), part)
        return attribute

    def shape(self, shape: Shape, part: _Part) -> Shape:
        return tuple(part.extent if each == self.extent else each for each in shape)

    def reading(self, part: _Part, span: Span, made: list[Let]) -> Callable[[Operand], Operand]:
        """What gives the part of an operand, as a tensor."""

        def read(operand: Operand) -> Operand:
            found = self.part(operand, part.number)
            if part.number == 1 and found is operand and isinstance(found, Value) and found.id in self.shared:
                return self.copied(self.shared[found.id], made)
            shape = self.shape(shape_of(operand), part)
            if found is operand or shape_of(found) == shape:
                return found
            operands = (("value" if found == TRUE else "input", found),)
            name, dtype = ("full", (("dtype", BOOL),)) if found == TRUE else ("broadcast_to", ())
            stretched = Call(intrinsic=name, operands=operands, attributes=(("shape", shape), *dtype))
            assert isinstance(found.type, TensorType), "it has an axis"
            return self.define(stretched, replace(found.type, shape=shape), span, made)

        return read

    # ---- values -----------------------------------------------------------------------------------------------------

    def part(self, operand: Operand, number: int) -> Operand:
        """One part of an operand; what has not the extent is the same for both."""
        return self.parts[operand.id][number] if isinstance(operand, Value) and operand.id in self.parts else operand

    def operands(self, operand: Operand) -> tuple[Operand, ...]:
        """The parts of an operand, or itself."""
        return self.parts[operand.id] if isinstance(operand, Value) and operand.id in self.parts else (operand,)

    def values(self, value: Value) -> tuple[Value, ...]:
        """New values for the parts of one that a loop or a branch defines, or itself."""
        if not has_parts(value, self.extent):
            return (value,)
        first, rest = (self.result(value, part) for part in self.both)
        return first, rest

    def result(self, value: Value, part: _Part) -> Value:
        """A new value for one part of a result."""
        assert isinstance(value.type, TensorType), "it has an axis"
        name = f"{value.name}_rest" if value.name and part.number == 1 else value.name
        new = Value(next(self.ids), replace(value.type, shape=self.shape(value.type.shape, part)), name)
        parts = [*self.parts.get(value.id, (new, new))]
        parts[part.number] = new
        self.parts[value.id] = (parts[0], parts[1])
        return new

    def define(self, operation: Operation, type: Type, span: Span, made: list[Let]) -> Value:
        value = Value(next(self.ids), type)
        made.append(Let(results=(value,), operation=operation, span=span))
        return value
