"""Blocking: a kernel and its plan go in, the kernel whose programs and iterations each take a block comes out.

Every value of the source becomes a tile: the blocked axes along which it varies, in the plan's order, and behind them
the axes of its own. Axes along which all elements are equal are left out. A value that would vary along more axes than
two is not made: where it is summed, its factors are multiplied as matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.axes import Axis, AxisInfo
from teenyc.ir.lanes import Lanes, lanes_of
from teenyc.ir.nodes import (
    Attribute,
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    For,
    If,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import operands_of
from teenyc.record import record, replace
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.tiling.plan import BlockedAxis, Extremum, Law, Sum, Term, Unchanged
from teenyc.tiling.products import multiplied, terms_of
from teenyc.types import (
    BOOL,
    I32,
    ONE,
    Compute,
    DType,
    Element,
    Extent,
    Kind,
    Pointer,
    Shape,
    TensorType,
    TypeVar,
    broadcast,
    is_float,
    scalar,
)


class Refused(Exception):
    """The plan cannot be carried out; the reason is for people."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


@record
class Tile:
    """What a value has become: `lead` are its blocked axes, the first of its axes; `rank` counts those behind them."""

    operand: Operand
    lead: tuple[BlockedAxis, ...] = ()
    rank: int = 0


Key: TypeAlias = "BlockedAxis | int"
"""An axis of a sum: a blocked one, or an axis of the value's own by its place counted from the last."""


@record
class LoopPlan:
    """How one loop is blocked: its axis, and the law of each value that it carries."""

    axis: BlockedAxis
    laws: tuple[Law, ...]


@record
class Rows:
    """A blocked program axis and the operand that holds how many programs the source has along it."""

    axis: BlockedAxis
    count: Operand


@dataclass(slots=True, eq=False)
class Blocking:
    """The rewriting of one kernel. `tiles` grows as values get theirs; `valid` says which lanes of blocks are real."""

    rows: Sequence[Rows]
    loops: Mapping[int, LoopPlan]
    infos: Mapping[int, AxisInfo]
    lets: Mapping[int, Let]
    ids: Iterator[int]
    tiles: dict[int, Tile] = field(default_factory=dict)
    valid: tuple[Tile, ...] = ()
    statements: list[Statement] = field(default_factory=list)

    # ---- emission ---------------------------------------------------------------------------------------------------

    def fresh(self, element: Element, shape: Shape, name: str = "") -> Value:
        return Value(next(self.ids), TensorType(element, shape), name)

    def let(
        self,
        operation: Operation,
        element: Element,
        shape: Shape,
        span: Span,
        name: str = "",
        comments: Comments = NO_COMMENTS,
    ) -> Value:
        result = self.fresh(element, shape, name)
        self.statements.append(Let(results=(result,), operation=operation, span=span, comments=comments))
        return result

    def call(
        self,
        intrinsic: str,
        operands: Sequence[tuple[str, Operand]],
        attributes: Sequence[tuple[str, Attribute]],
        element: Element,
        shape: Shape,
        span: Span,
        name: str = "",
    ) -> Value:
        call = Call(intrinsic=intrinsic, operands=tuple(operands), attributes=tuple(attributes))
        return self.let(call, element, shape, span, name)

    # ---- tiles ------------------------------------------------------------------------------------------------------

    @property
    def order(self) -> list[BlockedAxis]:
        """The blocked axes in the order that all tiles keep."""
        return [*(r.axis for r in self.rows), *(p.axis for p in self.loops.values())]

    def tile(self, operand: Operand, span: Span) -> Tile:
        """The tile of an operand of the source."""
        if not isinstance(operand, Value):
            return Tile(operand)
        if operand.id not in self.tiles:
            self.make(self.lets[operand.id])
        return self.tiles[operand.id]

    def aligned(self, tile: Tile, lead: Sequence[BlockedAxis], rank: int, span: Span) -> Operand:
        """A tile with an axis of extent 1 for each that it lacks, so that it meets others element by element."""
        if not tile.lead and (tile.rank == rank or not _shape(tile.operand)):
            return tile.operand
        axes = [n for n, axis in enumerate(lead) if axis not in tile.lead]
        axes += range(len(lead), len(lead) + rank - tile.rank)
        if not axes or not _shape(tile.operand):
            return tile.operand
        if not tile.lead and axes == list(range(len(axes))):
            return tile.operand  # they meet at the last axes
        shape = list(_shape(tile.operand))
        for n in axes:
            shape.insert(n, ONE)
        expanded = ExpandDims(operand=tile.operand, axes=tuple(axes))
        return self.let(expanded, _element(tile.operand), tuple(shape), span)

    def met(self, tiles: Sequence[Tile], span: Span) -> tuple[list[Operand], tuple[BlockedAxis, ...], int, Shape]:
        """Tiles aligned to meet: operands, their axes together, and their shape."""
        lead = tuple(a for a in self.order if any(a in t.lead for t in tiles))
        rank = max((t.rank for t in tiles), default=0)
        operands = [self.aligned(t, lead, rank, span) for t in tiles]
        shape: Shape = ()
        for operand in operands:
            met = broadcast(shape, _shape(operand))
            assert met is not None, "tiles of one kernel meet"
            shape = met
        return operands, lead, rank, shape

    def elementwise(self, let: Let, operands: Sequence[Operand], rebuild: Mapping[int, Operand]) -> None:
        raise NotImplementedError

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                if not self.is_late(statement):
                    self.make(statement)
            case For():
                plan = self.loops.get(statement.counter.id)
                if plan is not None:
                    self.blocked_loop(statement, plan)
                else:
                    self.sequential(statement)
            case If():
                self.branch(statement)
            case While():
                raise Refused("a `while` that does not count stays as it is", statement.span)
            case Return():
                raise Refused("a return in a branch", statement.span)

    def is_late(self, let: Let) -> bool:
        """Whether a value is made where it is used, if ever: products that would vary along three axes."""
        if isinstance(let.operation, Call) and TABLE[let.operation.intrinsic].effects - {Effect.READS}:
            return False
        return any(self.width(v) > 2 for v in let.results)

    def width(self, value: Value) -> int:
        """Along how many axes a value varies when it is blocked."""
        info = self.infos[value.id]
        return len(self.lead_of(info)) + sum(1 for a in info.lanes if a)

    def lead_of(self, info: AxisInfo) -> tuple[BlockedAxis, ...]:
        return tuple(a for a in self.order if Axis(a.kind, a.id) in info.outer)

    def make(self, let: Let) -> None:
        """Writes the definition of a value as a tile."""
        operation = let.operation
        match operation:
            case Call():
                self.make_call(let, operation)
            case ExpandDims():
                self.expand(let, operation)
            case Copy() | Unary() | Binary() | Compare() | Cast() | Offset():
                self.lane_by_lane(let, operation)
            case _:
                raise Refused("a call of a function", let.span)

    def lane_by_lane(self, let: Let, operation: Operation) -> None:
        """An operation that makes each lane of the same lanes of its operands."""
        (result,) = let.results
        tiles = [self.tile(o, let.span) for o in operands_of(operation)]
        if isinstance(operation, Copy) and isinstance(operation.operand, Value) and tiles[0].lead:
            self.tiles[result.id] = tiles[0]
            return
        operands, lead, rank, shape = self.met(tiles, let.span)
        value = self.let(_with(operation, operands), _element(result), shape, let.span, result.name, let.comments)
        self.tiles[result.id] = Tile(value, lead, rank)
        if isinstance(operation, Cast) and isinstance(operation.operand, Value) and operation.operand.id in self.raw:
            self.loaded[value.id] = tiles[0]

    def expand(self, let: Let, operation: ExpandDims) -> None:
        """New axes: those to the left of all along which the value varies stay out of the tile."""
        (result,) = let.results
        tile = self.tile(operation.operand, let.span)
        total = len(_shape(result))
        kept = total - tile.rank - len(operation.axes)
        own = [a for a in range(total) if a not in operation.axes][kept:]  # places of the tile's own axes
        first = min(own, default=total)
        new = [a for a in operation.axes if a > first]
        if not new or not tile.rank:
            self.tiles[result.id] = tile
            return
        axes = tuple(len(tile.lead) + a - first for a in new)
        shape = list(_shape(tile.operand))
        for axis in axes:
            shape.insert(axis, ONE)
        value = self.let(
            ExpandDims(operand=tile.operand, axes=axes), _element(result), tuple(shape), let.span, result.name
        )
        self.tiles[result.id] = Tile(value, tile.lead, tile.rank + len(new))

    # ---- calls ------------------------------------------------------------------------------------------------------

    def make_call(self, let: Let, call: Call) -> None:
        match call.intrinsic:
            case "program_id":
                self.program_id(let, call)
            case "zeros" | "full" | "broadcast_to":
                self.spread(let, call)
            case "arange" | "num_programs":
                self.statements.append(let)
                rank = len(_shape(let.results[0]))
                self.tiles[let.results[0].id] = Tile(let.results[0], (), rank)
            case "sum" | "max" | "min":
                self.reduction(let, call)
            case "load":
                self.load(let, call)
            case "store":
                self.store(let, call)
            case name if lanes_of(name) is Lanes.SAME and not TABLE[name].effects:
                self.lane_by_lane_call(let, call)
            case name:
                self.other(let, call, name)

    def other(self, let: Let, call: Call, name: str) -> None:
        """Anything else is as it was, if it has no blocked axis."""
        tiles = [self.tile(o, let.span) for _, o in call.operands]
        ranks = [len(_shape(o)) for _, o in call.operands]
        if any(t.lead for t in tiles) or any(t.rank != r for t, r in zip(tiles, ranks, strict=True)):
            raise Refused(f"`{name}` of a blocked value", let.span)
        if TABLE[name].effects and self.valid:
            raise Refused(f"`{name}` happens once a program", let.span)
        operands = tuple((n, t.operand) for (n, _), t in zip(call.operands, tiles, strict=True))
        self.statements.append(replace(let, operation=replace(call, operands=operands)))
        for value in let.results:
            self.tiles[value.id] = Tile(value, (), len(_shape(value)))

    def lane_by_lane_call(self, let: Let, call: Call) -> None:
        tiles = [self.tile(o, let.span) for _, o in call.operands]
        operands, lead, rank, shape = self.met(tiles, let.span)
        given = tuple((n, o) for (n, _), o in zip(call.operands, operands, strict=True))
        results = tuple(self.fresh(_element(v), shape, v.name) for v in let.results)
        self.statements.append(replace(let, results=results, operation=replace(call, operands=given)))
        for value, result in zip(let.results, results, strict=True):
            self.tiles[value.id] = Tile(result, lead, rank)

    def program_id(self, let: Let, call: Call) -> None:
        (result,) = let.results
        rows = next((r for r in self.rows if r.axis.id == call.attribute("axis", 0)), None)
        if rows is None:
            self.statements.append(let)
            self.tiles[result.id] = Tile(result)
            return
        (block,) = shape = (Extent.of(rows.axis.block),)
        pid = self.call("program_id", (), (("axis", rows.axis.id),), I32, (), let.span)
        first = self.let(
            Binary(operator="mul", left=pid, right=Constant(rows.axis.block, scalar(I32))), I32, (), let.span
        )
        lanes = self.call("arange", (), (("start", Extent.of(0)), ("end", block)), I32, shape, let.span)
        row = self.let(Binary(operator="add", left=first, right=lanes), I32, shape, let.span)
        valid = self.let(
            Compare(operator="lt", left=row, right=rows.count), BOOL, shape, let.span, f"is_{rows.axis.name}"
        )
        last = self.let(Binary(operator="sub", left=rows.count, right=Literal(1, scalar(I32))), I32, (), let.span)
        inside = self.call("minimum", (("x", row), ("y", last)), (), I32, shape, let.span, result.name)
        self.valid = (*self.valid, Tile(valid, (rows.axis,)))
        self.tiles[result.id] = Tile(inside, (rows.axis,))

    def spread(self, let: Let, call: Call) -> None:
        """A value whose elements are all equal is one element, until something makes them differ."""
        (result,) = let.results
        if call.intrinsic == "zeros":
            self.tiles[result.id] = Tile(Literal(_zero(_element(result)), scalar(_element(result))))
            return
        operand = call.operand("value") if call.intrinsic == "full" else call.operands[0][1]
        assert operand is not None, "what is spread is given"
        tile = self.tile(operand, let.span)
        if _element(tile.operand) != _element(result):
            cast = Cast(operand=tile.operand)
            tile = replace(tile, operand=self.let(cast, _element(result), _shape(tile.operand), let.span, result.name))
        self.tiles[result.id] = tile

    # ---- reductions -------------------------------------------------------------------------------------------------

    def reduction(self, let: Let, call: Call) -> None:
        """A reduction over an axis of the source: of a product over blocked axes, a product of matrices."""
        (result,) = let.results
        source = call.operands[0][1]
        rank = len(_shape(source))
        axis = call.attribute("axis")
        if axis is None and rank == 1:
            axis = 0
        if not isinstance(axis, int) or len(let.results) != 1 or not isinstance(source, Value):
            raise Refused(f"`{call.intrinsic}` over several axes", let.span)
        place = rank - 1 - axis % rank  # counted from the last
        keeps = len(_shape(result)) == rank
        if not self.infos[source.id].lanes[axis % rank]:
            self.uniform_reduction(let, call, source, axis % rank)
        elif call.intrinsic == "sum" and self.width(source) > 2:
            if rank != 1:
                raise Refused("a sum of products over one of several axes", let.span)
            self.tiles[result.id] = self.contracted(self.terms(source), place, None, let.span, result.name)
        else:
            self.tiles[result.id] = self.reduced(let, call, self.tile(source, let.span), place, keeps)

    def reduced(self, let: Let, call: Call, tile: Tile, place: int, keeps: bool) -> Tile:
        (result,) = let.results
        shape = list(_shape(tile.operand))
        axis = len(shape) - 1 - place
        is_first = place == tile.rank - 1
        shape[axis : axis + 1] = [ONE] if keeps and not is_first else []
        attributes = (("axis", axis), *((("keep_dims", True),) if keeps and not is_first else ()))
        operands = (("input", tile.operand),)
        name = call.intrinsic
        value = self.call(name, operands, attributes, _element(result), tuple(shape), let.span, result.name)
        rank = tile.rank if keeps and not is_first else tile.rank - 1
        return Tile(value, tile.lead, rank)

    def uniform_reduction(self, let: Let, call: Call, source: Value, axis: int) -> None:
        """Of equal elements, the extremum is each of them, and the sum their number times one."""
        (result,) = let.results
        tile = self.tile(source, let.span)
        if tile.rank:
            raise Refused(f"`{call.intrinsic}` over equal elements of several axes", let.span)
        if call.intrinsic == "sum" and _shape(source)[axis] != ONE:
            count = self.extent(_shape(source)[axis], _element(result), let.span)
            product = Binary(operator="mul", left=tile.operand, right=count)
            value = self.let(product, _element(result), _shape(tile.operand), let.span, result.name)
            tile = replace(tile, operand=value)
        self.tiles[result.id] = tile

    def extent(self, extent: Extent, element: Element, span: Span) -> Operand:
        """An extent as a number of a type."""
        if extent.known is not None:
            return Literal(float(extent.known) if is_float(element) else extent.known, scalar(element))
        names = sorted(extent.names)
        if extent != Extent.of(names[0]):
            raise Refused("a sum over equal elements whose number is computed", span)
        return self.let(Cast(operand=Constant(names[0], scalar(I32))), element, (), span)

    # ---- sums of products -------------------------------------------------------------------------------------------

    def terms(self, operand: Operand) -> tuple[Term, ...]:
        """The terms of a value that is not made."""
        return terms_of(operand, self.lets, lambda v: v.id in self.lets and self.width(v) > 2)

    def opened(self, term: Term) -> tuple[Term, ...]:
        """A term whose factors are all made, or sums of those."""
        parts = [self.terms(f) for f in term.factors]
        return multiplied(parts, term.is_negative)

    def contracted(
        self, terms: Sequence[Term], key: Key, acc: Tile | None, span: Span, name: str, valid: Tile | None = None
    ) -> Tile:
        """The sum of terms over one axis, added to `acc`. `valid` says which of its lanes count."""
        total = acc
        for n, term in enumerate(terms):
            label = name if n == len(terms) - 1 else ""
            total = self.summed(term, key, total, span, label, valid)
        assert total is not None, "a sum has terms"
        return total

    def summed(self, term: Term, key: Key, acc: Tile | None, span: Span, name: str, valid: Tile | None) -> Tile:
        tiles = [self.tile(f, span) for f in term.factors]
        outside = [t for t in tiles if key not in self.keys(t)]
        inside = [t for t in tiles if key in self.keys(t)]
        if not inside:
            inside = [self.ones(key, valid, term, span)]
            valid = None
        groups = self.groups(inside, key, span)
        element = _computed(term.factors)
        is_last = not outside and not term.is_negative
        if len(groups) == 2:
            if is_last and acc is not None:
                return self.product(groups, key, element, span, name, valid, acc)
            total = self.product(groups, key, element, span, "" if outside or acc else name, valid, None)
        else:
            total = self.total(groups[0], key, element, span, "" if outside or acc else name, valid)
        for tile in outside:
            total = self.binary("mul", total, tile, element, span, "" if acc else name)
        if acc is None:
            return self.negative(total, element, span) if term.is_negative else total
        return self.binary("sub" if term.is_negative else "add", acc, total, element, span, name)

    def negative(self, tile: Tile, element: Element, span: Span) -> Tile:
        value = self.let(Unary(operator="neg", operand=tile.operand), element, _shape(tile.operand), span)
        return replace(tile, operand=value)

    def keys(self, tile: Tile) -> frozenset[Key]:
        """The axes along which a tile varies."""
        own = _shape(tile.operand)[len(tile.lead) :]
        return frozenset([*tile.lead, *(len(own) - 1 - n for n, extent in enumerate(own) if extent != ONE)])

    def groups(self, tiles: Sequence[Tile], key: Key, span: Span) -> list[Tile]:
        """Factors multiplied where they vary along the same axes: one tile, or two that share only the summed axis."""
        groups: list[Tile] = []
        for tile in sorted(tiles, key=lambda t: -len(self.keys(t))):
            for n, group in enumerate(groups):
                if self.keys(tile) <= self.keys(group):
                    groups[n] = self.binary("mul", group, tile, _computed((group.operand, tile.operand)), span)
                    break
            else:
                groups.append(tile)
        if len(groups) > 2 or (len(groups) == 2 and self.keys(groups[0]) & self.keys(groups[1]) != {key}):
            raise Refused("a factor of the sum varies along three axes", span)
        if any(len(self.keys(g)) > 2 for g in groups):
            raise Refused("a factor of the sum varies along three axes", span)
        return groups

    def binary(self, operator: str, left: Tile, right: Tile, element: Element, span: Span, name: str = "") -> Tile:
        (a, b), lead, rank, shape = self.met([self.computed(left, span), self.computed(right, span)], span)
        return Tile(self.let(Binary(operator=operator, left=a, right=b), element, shape, span, name), lead, rank)

    def computed(self, tile: Tile, span: Span) -> Tile:
        return tile

    def ones(self, key: Key, valid: Tile | None, term: Term, span: Span) -> Tile:
        """A factor of 1 along an axis that no factor has."""
        assert isinstance(key, BlockedAxis), "the factors of a sum over lanes have them"
        element = _computed(term.factors)
        shape = (Extent.of(key.block),)
        one = Literal(1.0 if is_float(element) else 1, scalar(element))
        if valid is None:
            return Tile(self.call("full", (("value", one),), (("shape", shape), ("dtype", element)), element, shape, span), (key,))
        zero = Literal(_zero(element), scalar(element))
        chosen = (("condition", valid.operand), ("x", one), ("y", zero))
        return Tile(self.call("where", chosen, (), element, _shape(valid.operand), span), valid.lead, valid.rank)

    def masked(self, tile: Tile, valid: Tile | None, other: Operand, span: Span) -> Tile:
        """A tile with another number in the lanes that do not count."""
        if valid is None:
            return tile
        (flags, value), lead, rank, shape = self.met([valid, tile], span)
        element = _element(tile.operand)
        chosen = (("condition", flags), ("x", value), ("y", other))
        return Tile(self.call("where", chosen, (), element, shape, span), lead, rank)

    def total(self, tile: Tile, key: Key, element: Element, span: Span, name: str, valid: Tile | None) -> Tile:
        """A plain sum over one axis of a tile."""
        tile = self.masked(tile, valid, Literal(_zero(element), scalar(element)), span)
        shape = list(_shape(tile.operand))
        axis = tile.lead.index(key) if isinstance(key, BlockedAxis) else len(shape) - 1 - key
        del shape[axis]
        operands = (("input", tile.operand),)
        value = self.call("sum", operands, (("axis", axis),), element, tuple(shape), span, name)
        if isinstance(key, BlockedAxis):
            return Tile(value, tuple(a for a in tile.lead if a != key), tile.rank)
        return Tile(value, tile.lead, tile.rank - 1)

    def product(
        self,
        groups: Sequence[Tile],
        key: Key,
        element: Element,
        span: Span,
        name: str,
        valid: Tile | None,
        acc: Tile | None,
    ) -> Tile:
        """The product of two matrices, its axes in the order of all tiles."""
        if valid is not None:
            n = 0 if self.keys(valid) <= self.keys(groups[0]) else 1
            zero = Literal(_zero(element), scalar(element))
            groups = [self.masked(g, valid, zero, span) if m == n else g for m, g in enumerate(groups)]
        others = [next(iter(self.keys(g) - {key})) for g in groups]
        if self.place(others[1]) < self.place(others[0]):
            groups, others = groups[::-1], others[::-1]
        left, right = self.stored(groups, span)
        a = self.matrix(left, (others[0], key), span)
        b = self.matrix(right, (key, others[1]), span)
        shape = (_shape(a)[0], _shape(b)[1])
        lead = tuple(k for k in others if isinstance(k, BlockedAxis))
        rank = max((k + 1 for k in others if not isinstance(k, BlockedAxis)), default=0)
        if rank > 1:
            raise Refused("a product of matrices over axes that are not the last", span)
        operands = [("input", a), ("other", b)]
        if acc is not None:
            operands.append(("acc", self.filled(acc, lead, rank, shape, element, span).operand))
        attributes = (("input_precision", "ieee"), ("out_dtype", element))
        return Tile(self.call("dot", operands, attributes, element, shape, span, name), lead, rank)

    def place(self, key: Key) -> int:
        """Where an axis stands in the order that all tiles keep."""
        return self.order.index(key) if isinstance(key, BlockedAxis) else 100 - key

    def matrix(self, tile: Tile, keys: tuple[Key, Key], span: Span) -> Operand:
        """A tile of two axes in the order asked for."""
        if len(_shape(tile.operand)) != 2:
            raise Refused("a factor of a product of matrices has axes of extent 1", span)
        if self.place(keys[0]) < self.place(keys[1]):
            return tile.operand
        rows, columns = _shape(tile.operand)
        operands = (("input", tile.operand),)
        return self.call("trans", operands, (), _element(tile.operand), (columns, rows), span)

    def stored(self, groups: Sequence[Tile], span: Span) -> tuple[Tile, Tile]:
        """The operands of a product: what comes from memory as it is there, the other rounded to that type."""
        raw = [self.source_of(g) for g in groups]
        types = {_element(r.operand) for r in raw if r is not None}
        if len(types) != 1:
            left, right = groups
            return left, right
        (element,) = types
        left, right = (
            r if r is not None else replace(g, operand=self.let(Cast(operand=g.operand), element, _shape(g.operand), span))
            for r, g in zip(raw, groups, strict=True)
        )
        return left, right

    def source_of(self, tile: Tile) -> Tile | None:
        """The tile as it was loaded, where it is that and no more."""
        return self.loaded.get(tile.operand.id) if isinstance(tile.operand, Value) else None

    loaded: dict[int, Tile] = field(default_factory=dict)

    def filled(
        self, tile: Tile, lead: Sequence[BlockedAxis], rank: int, shape: Shape, element: Element, span: Span
    ) -> Tile:
        """A tile of exactly a shape."""
        operand = self.aligned(tile, lead, rank, span)
        if _shape(operand) == shape:
            return Tile(operand, tuple(lead), rank)
        if isinstance(operand, Literal):
            given = (("value", operand),)
            is_zero = operand.value == 0
            made = "zeros" if is_zero else "full"
            attributes = (("shape", shape), ("dtype", element))
            value = self.call(made, () if is_zero else given, attributes, element, shape, span)
        else:
            value = self.call("broadcast_to", (("input", operand),), (("shape", shape),), element, shape, span)
        return Tile(value, tuple(lead), rank)

    # ---- memory -----------------------------------------------------------------------------------------------------

    def load(self, let: Let, call: Call) -> None:
        (result,) = let.results
        given = {n: self.tile(o, let.span) for n, o in call.operands}
        valid = self.counting(given["pointer"])
        if valid is not None:
            given["mask"] = self.both(given.get("mask"), valid, let.span)
            given.setdefault("other", Tile(Literal(_zero(_element(result)), scalar(_element(result)))))
        names = [n for n in ("pointer", "mask", "other") if n in given]
        operands, lead, rank, shape = self.met([given[n] for n in names], let.span)
        if _shape(operands[0]) != shape:
            operands[0] = self.filled(given["pointer"], lead, rank, shape, _element(operands[0]), let.span).operand
        value = self.fresh(_element(result), shape, result.name)
        operation = replace(call, operands=tuple(zip(names, operands, strict=True)))
        self.statements.append(replace(let, results=(value,), operation=operation))
        self.tiles[result.id] = Tile(value, lead, rank)
        self.raw.add(result.id)

    raw: set[int] = field(default_factory=set)

    def counting(self, pointer: Tile) -> Tile | None:
        """Which lanes of the blocked iterations count, where an address varies along them."""
        valid = self.iterations
        return valid if valid is not None and set(valid.lead) & set(pointer.lead) else None

    iterations: Tile | None = None

    def both(self, mask: Tile | None, other: Tile, span: Span) -> Tile:
        return other if mask is None else self.binary("and", mask, other, BOOL, span)

    def store(self, let: Let, call: Call) -> None:
        given = {n: self.tile(o, let.span) for n, o in call.operands}
        lacking = [r.axis for r in self.rows if r.axis not in given["pointer"].lead]
        if lacking or self.iterations is not None:
            raise Refused("a store that several rows make", let.span)
        for valid in self.valid:
            given["mask"] = self.both(given.get("mask"), valid, let.span)
        names = [n for n in ("pointer", "value", "mask") if n in given]
        operands, lead, rank, shape = self.met([given[n] for n in names], let.span)
        for n, name in enumerate(names):
            if name == "value" and _shape(operands[n]) and _shape(operands[n]) != shape:
                element = _element(operands[n])
                operands[n] = self.filled(given["value"], lead, rank, shape, element, let.span).operand
        operation = replace(call, operands=tuple(zip(names, operands, strict=True)))
        self.statements.append(replace(let, operation=operation))

    # ---- control ----------------------------------------------------------------------------------------------------

    def branch(self, statement: If) -> None:
        raise Refused("a branch", statement.span)

    def sequential(self, loop: For) -> None:
        raise Refused("a loop that stays sequential", loop.span)

    def initial(self, carried: Carried, span: Span) -> Tile:
        """What a loop starts with, of the shape that it will have."""
        info = self.infos[carried.inside.id]
        element = _element(carried.inside)
        lead = tuple(a for a in self.lead_of(info) if a.kind == "program")
        lanes = [n for n, a in enumerate(info.lanes) if a]
        rank = len(info.lanes) - min(lanes, default=len(info.lanes))
        own = _shape(carried.inside)[len(info.lanes) - rank :]
        own = tuple(e if info.lanes[len(info.lanes) - rank + n] else ONE for n, e in enumerate(own))
        shape = (*(Extent.of(a.block) for a in lead), *own)
        return self.filled(self.tile(carried.initial, span), lead, rank, shape, element, span)

    def blocked_loop(self, loop: For, plan: LoopPlan) -> None:
        """Full blocks without masks, then what is left, masked."""
        span, step = loop.span, Constant(plan.axis.block, scalar(I32))
        start, stop = (self.tile(o, span) for o in (loop.start, loop.stop))
        if start.lead or stop.lead:
            raise Refused("bounds that differ from row to row", span)
        if loop.step != Literal(1, loop.step.type) or _element(loop.counter) != I32:
            raise Refused("a loop with a step", span)
        count = self.let(Binary(operator="sub", left=stop.operand, right=start.operand), I32, (), span)
        blocks = self.let(Binary(operator="div", left=count, right=step), I32, (), span)
        whole = self.let(Binary(operator="mul", left=blocks, right=step), I32, (), span)
        full = self.let(Binary(operator="add", left=start.operand, right=whole), I32, (), span, f"full_{plan.axis.name}")
        carried = [self.initial(c, span) for c in loop.carried]
        carried = self.blocks(loop, plan, carried, (start.operand, full), None)
        carried = self.blocks(loop, plan, carried, (full, stop.operand), stop.operand)
        for each, tile in zip(loop.carried, carried, strict=True):
            self.tiles[each.result.id] = tile

    def blocks(
        self, loop: For, plan: LoopPlan, carried: Sequence[Tile], bounds: tuple[Operand, Operand], stop: Operand | None
    ) -> list[Tile]:
        """One loop over blocks; with `stop`, iterations from there on do not count."""
        span, block = loop.span, Constant(plan.axis.block, scalar(I32))
        counter = self.fresh(I32, (), f"{loop.counter.name}_start" if loop.counter.name else "")
        insides = [self.fresh(_element(t.operand), _shape(t.operand), c.inside.name) for t, c in zip(carried, loop.carried, strict=True)]
        results = [self.fresh(_element(t.operand), _shape(t.operand), c.result.name) for t, c in zip(carried, loop.carried, strict=True)]
        outer, kept = self.statements, dict(self.tiles)
        self.statements = []
        shape = (Extent.of(plan.axis.block),)
        lanes = self.call("arange", (), (("start", Extent.of(0)), ("end", shape[0])), I32, shape, span)
        iteration = self.let(Binary(operator="add", left=counter, right=lanes), I32, shape, span, loop.counter.name)
        self.tiles[loop.counter.id] = Tile(iteration, (plan.axis,))
        if stop is not None:
            left = self.let(Binary(operator="sub", left=stop, right=counter), I32, (), span)
            valid = self.let(Compare(operator="lt", left=lanes, right=left), BOOL, shape, span, f"is_{plan.axis.name}")
            self.iterations = Tile(valid, (plan.axis,))
        for c, inside, tile in zip(loop.carried, insides, carried, strict=True):
            self.tiles[c.inside.id] = replace(tile, operand=inside)
        ends = self.body(loop, plan, carried)
        body = Block(statements=tuple(self.statements), yields=tuple(ends))
        self.statements, self.tiles, self.iterations = outer, kept, None
        made = tuple(
            Carried(initial=t.operand, inside=i, result=r) for t, i, r in zip(carried, insides, results, strict=True)
        )
        self.statements.append(
            For(
                counter=counter,
                start=bounds[0],
                stop=bounds[1],
                step=block,
                carried=made,
                body=body,
                span=span,
                comments=loop.comments if stop is None else NO_COMMENTS,
            )
        )
        return [replace(t, operand=r) for t, r in zip(carried, results, strict=True)]

    def body(self, loop: For, plan: LoopPlan, carried: Sequence[Tile]) -> list[Operand]:
        """The statements of an iteration, where the next value of what is carried is that after a block."""
        nexts = {y.id: n for n, y in enumerate(map(self.named, loop.body.yields)) if isinstance(y, Value)}
        for statement in loop.body.statements:
            assert isinstance(statement, Let), "laws are for loops without branches"
            n = next((nexts[v.id] for v in statement.results if v.id in nexts), None)
            if n is not None and not isinstance(plan.laws[n], Unchanged):
                (result,) = statement.results
                self.tiles[result.id] = self.step(loop, n, plan, statement)
            elif not self.is_late(statement):
                self.make(statement)
        return [
            self.filled(self.tile(y, loop.span), t.lead, t.rank, _shape(t.operand), _element(t.operand), loop.span).operand
            for y, t in zip(loop.body.yields, carried, strict=True)
        ]

    def named(self, operand: Operand) -> Operand:
        """What an operand is another name of."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        return self.named(let.operation.operand) if let is not None and isinstance(let.operation, Copy) else operand

    def step(self, loop: For, n: int, plan: LoopPlan, let: Let) -> Tile:
        """What a carried value is after a block of iterations."""
        law, inside = plan.laws[n], self.tile(loop.carried[n].inside, let.span)
        (result,) = let.results
        match law:
            case Extremum():
                tile = self.tile(law.operand, let.span)
                return self.extremum(law.intrinsic, inside, tile, plan.axis, let)
            case Sum():
                kept = self.factor_product(law.kept, let.span)
                opened = [t for term in law.terms for t in self.opened(term)]
                return self.contracted(opened, plan.axis, kept, let.span, result.name, self.iterations)
            case Unchanged():
                return inside

    def factor_product(self, term: Term, span: Span) -> Tile:
        tiles = [self.tile(f, span) for f in term.factors]
        product = tiles[0]
        for tile in tiles[1:]:
            product = self.binary("mul", product, tile, _computed(term.factors), span)
        return product

    def extremum(self, intrinsic: str, inside: Tile, tile: Tile, axis: BlockedAxis, let: Let) -> Tile:
        (result,) = let.results
        element = _element(result)
        if axis in tile.lead:
            worst = Literal(_worst(element, intrinsic), scalar(element))
            tile = self.masked(tile, self.iterations, worst, let.span)
            shape = list(_shape(tile.operand))
            place = tile.lead.index(axis)
            del shape[place]
            operands = (("input", tile.operand),)
            name = "max" if intrinsic == "maximum" else "min"
            value = self.call(name, operands, (("axis", place),), element, tuple(shape), let.span)
            tile = Tile(value, tuple(a for a in tile.lead if a != axis), tile.rank)
        (a, b), lead, rank, shape_met = self.met([inside, tile], let.span)
        value = self.call(intrinsic, (("x", a), ("y", b)), (), element, shape_met, let.span, result.name)
        return Tile(value, lead, rank)


def _with(operation: Operation, operands: Sequence[Operand]) -> Operation:
    """An operation with other operands, in order."""
    given = iter(operands)
    from teenyc.ir.walk import map_operation

    return map_operation(operation, lambda _: next(given))


def _element(operand: Operand) -> Element:
    assert isinstance(operand.type, TensorType), "tiles are of numbers and addresses"
    return operand.type.element


def _shape(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def _zero(element: Element) -> int | float | bool:
    return False if element == BOOL else 0.0 if is_float(element) else 0


def _worst(element: Element, intrinsic: str) -> int | float:
    """The number that an extremum is never changed by."""
    if is_float(element):
        return float("-inf") if intrinsic == "maximum" else float("inf")
    assert isinstance(element, DType) and element.kind is not Kind.BOOL, "extrema are of numbers"
    return element.minimum if intrinsic == "maximum" else element.maximum


def _computed(factors: Sequence[Operand]) -> Element:
    """The type in which a product is computed."""
    return _element(factors[0])
