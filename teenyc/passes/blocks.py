"""Blocks of memory: what a descriptor is made of goes in, pointers to elements and the mask of those inside come out.

Along each axis a block has an *index*, `offset + arange(0, extent)`, named after the descriptor. An index, a mask or a
tensor of pointers that is needed again within reach of the first is used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from itertools import count
from typing import TypeAlias

from teenyc.intrinsics import TABLE
from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    ExpandDims,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Statement,
    Value,
)
from teenyc.record import field, record, replace, state
from teenyc.source import Span
from teenyc.types import (
    BOOL,
    I32,
    I64,
    ONE,
    DType,
    Element,
    Extent,
    Shape,
    TensorType,
    Type,
    broadcast,
)

SUFFIXES = ("_descriptor", "_desc", "_block_ptr", "_block", "_ptr")
"""Ends of names that say no more than that something is a descriptor or a pointer."""


@record
class View:
    """What a descriptor is made of: a pointer, and for each axis extent, stride and, in a block pointer, offset."""

    base: Operand
    sizes: tuple[Operand, ...]
    strides: tuple[Operand, ...]
    offsets: tuple[Operand, ...] = ()

    @property
    def parts(self) -> tuple[Operand, ...]:
        """Everything, in order."""
        return (self.base, *self.sizes, *self.strides, *self.offsets)

    def of(self, parts: tuple[Operand, ...]) -> View:
        """A descriptor of the same rank and kind that is made of these."""
        rank, (base, *rest) = len(self.sizes), parts
        return View(base, tuple(rest[:rank]), tuple(rest[rank : 2 * rank]), tuple(rest[2 * rank :]))

    def part_names(self, stem: str) -> tuple[str, ...]:
        """What the parts are called where they are variables."""
        lists = {"size": self.sizes, "stride": self.strides, "offset": self.offsets}
        return (f"{stem}_base", *(f"{stem}_{name}_{axis}" for name, each in lists.items() for axis in range(len(each))))


def stem_of(descriptor: Operand, view: View) -> str:
    """How the names of a block begin: `x` for `x_desc`, or for `x_ptr` where the descriptor has no name."""
    names = (operand.name for operand in (descriptor, view.base) if isinstance(operand, Value))
    name = next(filter(None, names), "block")
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end) and name != end), name)


@record
class Access:
    """One access: the view, how its names begin, the index along each axis, and the axes whose bounds are checked."""

    view: View
    stem: str
    indices: tuple[Operand, ...]
    checked: tuple[int, ...]
    span: Span


@record
class Check:
    """A comparison of an index with one end of its axis: it is at least zero, or below the extent `size`."""

    index: Operand
    size: Operand | None


Key: TypeAlias = "tuple[object, ...]"


@state
class Blocks:
    """Builds the addresses of one body; `proven` are the checks, by number, that need not be written.

    `author` has the names in the source. `names` grows by those of values that turn out to deserve one.
    """

    ids: Iterator[int]
    proven: Set[int]
    author: Set[str]
    checks: list[Check]
    names: dict[int, str] = field(default_factory=dict)
    seen: dict[Key, Value | None] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    interned: dict[Key, int] = field(default_factory=dict)

    # ---- what is known already --------------------------------------------------------------------------------------

    @contextmanager
    def inner(self) -> Iterator[None]:
        """What a block computes is not within reach of what follows it."""
        before = dict(self.seen)
        yield
        self.seen = before

    def note(self, let: Let) -> None:
        """Remembers how an unnamed number is computed, to know the same expression again."""
        operation = let.operation
        if len(let.results) != 1 or let.results[0].name:
            return
        match operation:
            case Binary():
                sign: object = operation.operator
            case Cast():
                sign = "cast"
            case Call() if TABLE[operation.intrinsic].is_pure:
                sign = (operation.intrinsic, operation.attributes, tuple(name for name, _ in operation.operands))
            case _:
                return
        key = (sign, let.results[0].type, *map(self.number, walk.operands_of(operation)))
        self.numbers[let.results[0].id] = self.interned.setdefault(key, -1 - len(self.interned))

    def number(self, operand: Operand) -> object:
        """Equal for operands that are certainly equal."""
        return self.numbers.get(operand.id, operand.id) if isinstance(operand, Value) else operand

    # ---- addresses --------------------------------------------------------------------------------------------------

    def index(
        self, name: str, operands: tuple[Operand, ...], extent: Extent, to: list[Statement], span: Span
    ) -> Operand:
        """`offset + arange(0, extent)`, of a type that holds `operands`, of which the offset is the first."""
        element, offset = wider(*operands), operands[0]
        key = ("index", name, self.number(offset), extent, element)
        if key not in self.seen:
            call = Call(intrinsic="arange", attributes=(("start", Extent.of(0)), ("end", extent)))
            lanes = self.let(call, TensorType(I32, (extent,)), to, span)
            left, right = self.convert(offset, element, to, span), self.convert(lanes, element, to, span)
            total = Binary(operator="add", left=left, right=right)
            self.seen[key] = self.let(total, TensorType(element, (extent,)), to, span, name)
        found = self.seen[key]
        assert found is not None, "an index is always there"
        return found

    def pointers(self, access: Access, to: list[Statement]) -> Operand:
        """The address of each element of a block."""
        key = ("pointers", access.stem, *map(self.number, (*access.view.parts, *access.indices)))
        known = self.seen.get(key)
        if known is not None:
            self.names[known.id] = self.free(f"{access.stem}_pointers")
            return known
        pointer = access.view.base
        for axis, stride in enumerate(access.view.strides):
            step = self.expanded(access, axis, to)
            if not isinstance(stride, Literal) or stride.value != 1:
                by = self.convert(stride, _element(step), to, access.span)
                step = self.let(Binary(operator="mul", left=step, right=by), step.type, to, access.span)
            shape = broadcast(_shape(pointer), _shape(step))
            assert shape is not None, "axes of extent 1 stretch"
            pointer = self.let(
                Offset(pointer=pointer, offset=step), TensorType(_element(pointer), shape), to, access.span
            )
        assert isinstance(pointer, Value), "a descriptor has an axis"
        self.seen[key] = pointer
        return pointer

    def mask(self, access: Access, to: list[Statement]) -> Operand | None:
        """Which elements of a block are inside; None where all certainly are."""
        sizes = tuple(access.view.sizes[axis] for axis in access.checked)
        key = ("mask", access.stem, access.checked, *map(self.number, (*sizes, *access.indices)))
        if key in self.seen:
            known = self.seen[key]
            if known is not None and not known.name:
                self.names[known.id] = self.free(f"{access.stem}_mask")
            return known
        needed = [(axis, check) for axis, check in self.checks_of(access) if check is not None]
        total: Value | None = None
        for position, (axis, check) in enumerate(needed):
            term = self.compared(access, axis, check, to)
            is_last = position == len(needed) - 1
            total = term if total is None else self.both(total, term, to, access, is_last)
        self.seen[key] = total
        return total

    def checks_of(self, access: Access) -> Iterator[tuple[int, Check | None]]:
        """The comparisons with the ends of each axis; None for one that always holds."""
        for axis in access.checked:
            for size in (None, access.view.sizes[axis]):
                check = Check(access.indices[axis], size)
                self.checks.append(check)
                yield axis, None if len(self.checks) - 1 in self.proven else check

    def compared(self, access: Access, axis: int, check: Check, to: list[Statement]) -> Value:
        index = self.expanded(access, axis, to)
        zero = Literal(0, TensorType(_element(index)))
        limit = zero if check.size is None else self.convert(check.size, _element(index), to, access.span)
        compare = Compare(operator="ge" if check.size is None else "lt", left=index, right=limit)
        return self.let(compare, TensorType(BOOL, _shape(index)), to, access.span)

    def both(self, left: Value, right: Value, to: list[Statement], access: Access, is_last: bool) -> Value:
        shape = broadcast(_shape(left), _shape(right))
        assert shape is not None, "axes of extent 1 stretch"
        name = self.free(f"{access.stem}_mask") if is_last else ""
        total = Binary(operator="and", left=left, right=right)
        return self.let(total, TensorType(BOOL, shape), to, access.span, name)

    def expanded(self, access: Access, axis: int, to: list[Statement]) -> Operand:
        """The index along an axis, with axes of extent 1 for the others: `x_row[:, None]`."""
        index, rank = access.indices[axis], len(access.indices)
        others = tuple(other for other in range(rank) if other != axis)
        if not others:
            return index
        (extent,) = _shape(index)
        shape: Shape = (*(ONE,) * axis, extent, *(ONE,) * (rank - 1 - axis))
        expand = ExpandDims(operand=index, axes=others)
        return self.let(expand, TensorType(_element(index), shape), to, access.span)

    # ---- operations -------------------------------------------------------------------------------------------------

    def let(self, operation: Operation, type: Type, to: list[Statement], span: Span, name: str = "") -> Value:
        """A new value at the end of `to`."""
        result = Value(next(self.ids), type, name)
        to.append(Let(results=(result,), operation=operation, span=span))
        return result

    def convert(self, operand: Operand, element: Element, to: list[Statement], span: Span) -> Operand:
        """An integer in another type."""
        type = operand.type
        assert isinstance(type, TensorType), "an index is a number"
        if type.element == element:
            return operand
        if isinstance(operand, Literal):
            return replace(operand, type=replace(type, element=element))
        return self.let(Cast(operand=operand), replace(type, element=element), to, span)

    def free(self, name: str) -> str:
        """The name, or one like it that the author does not use."""
        variants = (f"{name}_{number}" for number in count(2))
        return name if name not in self.author else next(v for v in variants if v not in self.author)

    def index_name(self, stem: str, axis: int, rank: int) -> str:
        """What the index along an axis is called."""
        if rank <= 2:
            return self.free(f"{stem}_{('row', 'col')[axis] if rank == 2 else 'index'}")
        return self.free(f"{stem}_index_{axis}")


def wider(*operands: Operand) -> DType:
    """The integer type that holds all operands: i32 where none needs more."""
    elements = [_element(operand) for operand in operands]
    fits = all(isinstance(e, DType) and e.maximum <= I32.maximum for e in elements)
    return I32 if fits else I64


def _element(operand: Operand) -> Element:
    assert isinstance(operand.type, TensorType), "no descriptor is left"
    return operand.type.element


def _shape(operand: Operand) -> Shape:
    assert isinstance(operand.type, TensorType), "no descriptor is left"
    return operand.type.shape


# ---- names ----------------------------------------------------------------------------------------------------------


def named(block: Block, names: dict[int, str], candidates: dict[int, str]) -> Block:
    """The block with names for values that have none: those in `names`, and candidates that get a line of their own."""
    names = {**{id: name for id, name in candidates.items() if id in _shared(block)}, **names}

    def new(value: Value) -> Value:
        return replace(value, name=names[value.id]) if value.id in names and not value.name else value

    def use(operand: Operand) -> Operand:
        return new(operand) if isinstance(operand, Value) else operand

    def inside(block: Block) -> Block:
        statements = tuple(
            walk.map_blocks(walk.map_definitions(walk.map_operands(s, use), new), inside) for s in block.statements
        )
        return Block(statements=statements, yields=tuple(map(use, block.yields)))

    return inside(block) if names else block


def _shared(block: Block) -> frozenset[int]:
    """The values that are not read exactly once, in the block that defines them."""
    counts = walk.uses(block)
    single: set[int] = set()
    pending = [block]
    while pending:
        each = pending.pop()
        own = {o.id for s in each.statements for o in walk.operands_of(s) if isinstance(o, Value)}
        single.update(v.id for s in each.statements for v in walk.results_of(s) if counts[v.id] == 1 and v.id in own)
        pending.extend(inner for s in each.statements for inner in walk.blocks_of(s))
    return frozenset(counts.keys() - single)
