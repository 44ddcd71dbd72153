"""Blocks of matrices in memory: a load of a tiled kernel goes in; the matrix, and where in it the block is, come out.

The address of a block is `root + base + row * stride + column`, with rows and columns that are neighbours. What is read
outside of the matrix is 0: it has as many rows and columns as the mask of the load lets through, or, where none does,
as the loop or the grid has that go over them. Rows beyond the grid, for which tiling reads the last row, read 0 too:
they store nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import walk
from teenyc.ir.masks import Condition, Masks, moved, shape_of
from teenyc.ir.nodes import Call, Constant, Copy, ExpandDims, Kernel, Let, Literal, Offset, Operand, Value
from teenyc.ir.polynomials import Factors, Polynomial, difference, product, total
from teenyc.passes.indices import NOTHING, SINGLE, Indices, Rows, indices_of, quotient
from teenyc.record import field, record, state
from teenyc.types import I32, ONE, Extent, Shape, scalar

ROW, COLUMN = -2, -1
"""The axes of a block, counted from the last."""

READ = frozenset({"pointer", "mask", "other"})
"""What a load may be told, if a descriptor is to do it."""


@record
class Matrix:
    """A matrix that begins at `root + base`, with rows `stride` elements apart, read in blocks of a shape."""

    root: Value
    base: Polynomial
    stride: Polynomial
    rows: Polynomial
    columns: Polynomial
    shape: Shape

    @property
    def key(self) -> Hashable:
        """What equal matrices share."""
        sizes = (self.base, self.stride, self.rows, self.columns)
        return self.root.id, self.shape, *(frozenset(each.items()) for each in sizes)


@record
class Window:
    """A block of a matrix: the indices of its first row and column, and names for those that are of the grid.

    What is loaded is the block, or where it `is_transposed` the block with its axes exchanged.
    """

    matrix: Matrix
    row: Polynomial
    column: Polynomial
    names: tuple[str, str]
    is_transposed: bool


def matrices(kernel: Kernel) -> Matrices:
    """The matrices of a tiled kernel."""
    facts = indices_of(kernel)
    found = Matrices(facts)
    calls = (s.operation for _, s in walk.statements_of(kernel.body) if isinstance(s, Let))
    for call in calls:
        if isinstance(call, Call) and TABLE[call.intrinsic].effects & {Effect.WRITES, Effect.ATOMIC}:
            pointer = call.operand("pointer")
            root = found.address(pointer, 0) if pointer is not None else None
            found.written.add(root[0].id if root is not None else None)
    return found


@state
class Matrices:
    """One kernel; `written` are the pointers through which it writes, None where that is not known.

    What a program wrote is not certainly seen by what copies blocks.
    """

    facts: Indices
    written: set[int | None] = field(default_factory=set)

    # ---- blocks -----------------------------------------------------------------------------------------------------

    def window(self, load: Call, result: Value) -> Window | None:
        """The block that a load reads, if it is one of a matrix and nothing but 0 is read outside of that."""
        pointer, mask, other = (load.operand(name) for name in ("pointer", "mask", "other"))
        is_zero = mask is None or (isinstance(other, Literal) and other.value == 0)
        shape = shape_of(result)
        found = self.address(pointer, len(shape) - 1) if pointer is not None else None
        if found is None or load.attributes or not is_zero or len(shape) != 2:
            return None
        root, address = found
        if not {name for name, _ in load.operands} <= READ or not self.written.isdisjoint({root.id, None}):
            return None
        address, rows = self.unclamped(address)
        parts = self.parts(address, shape)
        if parts is None:
            return None
        conditions = self.facts.masks.conditions(mask) if mask is not None else frozenset()
        axes, starts = tuple(parts.starts), tuple(parts.starts.values())
        if any(self.axis_of(each) not in axes for each in conditions) or not all(map(self.facts.is_counted, starts)):
            return None
        last_row, last_column = (self.end(n, shape[n], parts.starts[n], conditions, rows.get(n)) for n in axes)
        if last_row is None or last_column is None:
            return None
        matrix = Matrix(root, parts.base, parts.stride, last_row, last_column, tuple(shape[n] for n in axes))
        row, column = (self.facts.firsts.get(frozenset(start.items()), "") for start in starts)
        return Window(matrix, starts[0], starts[1], (row, column), axes == (COLUMN, ROW))

    def address(self, pointer: Operand, rank: int) -> tuple[Value, Polynomial] | None:
        """The parameter that a pointer starts from, and what is added to that."""
        let = self.facts.made.get(pointer.id) if isinstance(pointer, Value) else None
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.address(inner, rank)
            case Offset(pointer=inner, offset=offset):
                found = self.address(inner, rank)
                return None if found is None else (found[0], total(found[1], self.facts.of(offset)))
            case ExpandDims(operand=inner, axes=axes):
                found = self.address(inner, rank)
                return None if found is None else (found[0], _moved(found[1], axes, len(shape_of(pointer))))
        is_parameter = any(p.value == pointer for p in self.facts.kernel.parameters)
        return (pointer, NOTHING) if is_parameter and isinstance(pointer, Value) else None

    def unclamped(self, address: Polynomial) -> tuple[Polynomial, Mapping[int, Rows]]:
        """An address with rows as if there were no last one, and those by their axis."""
        found: dict[int, Rows] = {}
        whole: Polynomial = NOTHING
        for factors, c in address.items():
            term: Polynomial | None = {tuple(f for f in factors if f[0] not in self.facts.rows): c}
            for number, positions in factors:
                if number in self.facts.rows and term is not None:
                    found.update((at, self.facts.rows[number]) for at in positions)
                    term = product(term, _placed(self.facts.rows[number].indices, positions))
            if term is None:
                return address, {}
            whole = total(whole, term)
        return whole, found

    def parts(self, address: Polynomial, shape: Shape) -> _Parts | None:
        """An address taken apart: each axis has lanes, and along one of them those are neighbours."""
        strides: dict[int, dict[Factors, int]] = {ROW: {}, COLUMN: {}}
        numbers: dict[Factors, int] = {}
        for factors, c in address.items():
            lanes = [f for f in factors if f[1]]
            rest = tuple(f for f in factors if not f[1])
            if not lanes:
                numbers[factors] = c
                continue
            (number, positions), *more = lanes
            axis = positions[0]
            if more or len(positions) > 1 or axis not in strides or self.facts.lanes.get(number) != shape[axis]:
                return None
            strides[axis][rest] = strides[axis].get(rest, 0) + c
        rows, columns = (COLUMN, ROW) if strides[ROW] == SINGLE else (ROW, COLUMN)
        if strides[columns] != SINGLE or len(strides[rows]) != 1 or self.facts.extent(strides[rows]) in (None, ONE):
            return None
        return self.placed(numbers, strides[rows], {rows: NOTHING, columns: NOTHING})

    def placed(self, numbers: Polynomial, stride: Polynomial, starts: dict[int, Polynomial]) -> _Parts:
        """The numbers of an address as the first row and column of a block, and what is the same for all blocks."""
        found = _Parts(stride, starts)
        rows, columns = starts
        for factors, c in numbers.items():
            divided = quotient(factors, c, stride)
            row = divided if divided is not None and self.is_start(divided[0]) else None
            if row is not None:
                found.starts[rows] = total(found.starts[rows], {row[0]: row[1]})
            elif divided is None and self.is_start(factors):
                found.starts[columns] = total(found.starts[columns], {factors: c})
            else:
                found.base = total(found.base, {factors: c})
        return found

    def is_start(self, factors: Factors) -> bool:
        """Whether a product says where a block begins: by the counter of a loop, or by the size of blocks."""
        return any(number in self.facts.sizes or self.facts.masks.loops[number] for number, _ in factors)

    # ---- ends -------------------------------------------------------------------------------------------------------

    def end(
        self, axis: int, extent: Extent, start: Polynomial, conditions: frozenset[Condition], rows: Rows | None
    ) -> Polynomial | None:
        """Where a matrix ends along an axis; None where that is not known."""
        ends = [self.masked_end(each, start) for each in conditions if self.axis_of(each) == axis]
        if rows is not None:
            own = {factors: c for factors, c in rows.indices.items() if not any(at for _, at in factors)}
            ends.append(rows.count if own == start else None)
        if not ends:
            ends.append(self.facts.loop_end(start, extent) if start else _extent(extent, self.facts.masks))
        return ends[0] if all(end is not None and end == ends[0] for end in ends) else None

    def axis_of(self, condition: Condition) -> int:
        """The axis that a condition is about; 0 for what is none of one axis."""
        return condition[2][0] if len(condition[2]) == 1 else 0

    def masked_end(self, condition: Condition, start: Polynomial) -> Polynomial | None:
        """Where a condition lets nothing more through."""
        holds, number, _ = condition
        if holds and number in self.facts.padding and not start:
            return self.facts.of(Constant(self.facts.padding[number], scalar(I32)))
        if not holds or number not in self.facts.below:
            return None
        indices, limit = (self.facts.of(operand) for operand in self.facts.below[number])
        lanes = [factors for factors in indices if any(at for _, at in factors)]
        if len(lanes) != 1 or len(lanes[0]) != 1 or indices[lanes[0]] != 1 or lanes[0][0][0] not in self.facts.lanes:
            return None
        before = {factors: c for factors, c in indices.items() if factors != lanes[0]}
        return total(difference(limit, before), start)


def multiplied(kernel: Kernel) -> frozenset[int]:
    """The values that products of matrices read, as they are or transposed."""
    found: set[int] = set()
    for _, statement in reversed([*walk.statements_of(kernel.body)]):
        call = statement.operation if isinstance(statement, Let) else None
        if not isinstance(statement, Let) or not isinstance(call, Call):
            continue
        is_read = call.intrinsic == "trans" and statement.results[0].id in found
        if call.intrinsic == "dot" or is_read:
            found.update(o.id for name, o in call.operands if name != "acc" and isinstance(o, Value))
    return frozenset(found)


@state
class _Parts:
    """An address: how far rows are apart, the first row and column by the axis of each, what all blocks begin with."""

    stride: Polynomial
    starts: dict[int, Polynomial]
    base: Polynomial = field(default_factory=dict)


def _placed(polynomial: Polynomial, positions: tuple[int, ...]) -> Polynomial:
    """A polynomial over the lanes of one axis, as one over an axis at another position."""
    return {tuple(sorted((n, positions if at else ()) for n, at in fs)): c for fs, c in polynomial.items()}


def _moved(polynomial: Polynomial, axes: tuple[int, ...], rank: int) -> Polynomial:
    """A polynomial over lanes to which axes are added."""
    return {tuple(sorted((n, moved(at, axes, rank)) for n, at in factors)): c for factors, c in polynomial.items()}


def _extent(extent: Extent, masks: Masks) -> Polynomial | None:
    """An extent that is a number or a constant."""
    if extent.known is not None:
        return {(): extent.known}
    ((monomial, c), *more) = extent.terms
    (atom, *others) = monomial
    if more or others or c != 1 or not isinstance(atom, str):
        return None
    return {(masks.view(Constant(atom, scalar(I32))),): 1}
