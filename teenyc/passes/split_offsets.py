"""Splits addresses in the loops of tiled kernels: what changes from block to block is one number, lanes are outside.

A load at `p + (base + (start + lanes) * stride)[:, None] + lane` becomes one at `p + offset + offset_lanes`, where the
number `offset` is `base + start * stride`, in 64 bits, and the tile `offset_lanes` is made before the loop, in 32 bits
where a tensor of its extents is proven to have so few elements. Sums and products of 32 bits that reach an address do
not wrap here (pass `widen-offsets`), but for iterations that do not count, whose accesses are masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Constant,
    Copy,
    ExpandDims,
    For,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Program,
    Statement,
    Unary,
    Value,
)
from teenyc.record import field, record, replace, state
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.types import I32, I64, ONE, Element, Extent, Shape, TensorType, broadcast, scalar

MOST_TERMS = 12
"""Offsets of more terms than this stay as they are."""

MOST_ELEMENTS = 20
"""No tensor has more than two to this power elements."""


def split_offsets(program: Program) -> Program:
    """The program with addresses in the loops of its tiled kernels taken apart."""
    ids = walk.fresh_ids(program)
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    lets = {r.id: s for _, s in walk.statements_of(kernel.body) if isinstance(s, Let) for r in s.results}
    shapes = {v.type.shape for v in walk.values_of(kernel) if isinstance(v.type, TensorType)}
    padded = {p.of: p.name for p in kernel.padded}

    def inside(block: Block) -> Block:
        tiles: dict[tuple[_Term, ...], Value] = {}
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, For):
                splitting = _Splitting(lets, _Extents(shapes, padded), ids, _own(statement), tiles)
                statement = replace(statement, body=splitting.body(statement.body))
                statements.extend(splitting.before)
            statements.append(walk.map_blocks(statement, inside))
        return replace(block, statements=tuple(statements))

    return replace(kernel, body=inside(kernel.body))


def _own(loop: For) -> frozenset[int]:
    """The values that a loop defines, inside."""
    inner = (v.id for _, s in walk.statements_of(loop.body) for v in walk.definitions(s))
    return frozenset((loop.counter.id, *(c.inside.id for c in loop.carried), *inner))


# ---- terms ----------------------------------------------------------------------------------------------------------


@record
class _Factor:
    """A value of an offset, and the axes that were added to it, step by step."""

    operand: Operand
    added: tuple[tuple[int, ...], ...] = ()


@record
class _Term:
    """A product, with a sign."""

    factors: tuple[_Factor, ...]
    is_negative: bool = False

    @property
    def is_number(self) -> bool:
        return not any(_shape(f.operand) for f in self.factors)


@record
class _Address:
    """A pointer to one element, and what is added to it; the name that the author gave to that, if it is one value."""

    root: Operand
    terms: tuple[_Term, ...]
    name: str = ""
    comments: Comments = NO_COMMENTS


@record
class _Extents:
    """What is known of extents: the shapes of tensors, and the padded constant that is no less than a constant."""

    shapes: set[Shape]
    padded: Mapping[str, str]

    def hold(self, factors: tuple[_Factor, ...], lets: Mapping[int, Let]) -> bool:
        """Whether a product of lanes, constants and literals stays below the number of elements of some tensor."""
        names: list[str] = []
        number = 1
        for factor in factors:
            let = lets.get(factor.operand.id) if isinstance(factor.operand, Value) else None
            if isinstance(factor.operand, Literal):
                number *= abs(int(factor.operand.value))
            elif isinstance(factor.operand, Constant):
                names.append(self.padded.get(factor.operand.name, factor.operand.name))
            elif let is not None and _is_arange(let):
                assert isinstance(let.operation, Call)
                names.extend(str(n) for n in [let.operation.attribute("end")])
            else:
                return False
        return number <= 1 << (27 - MOST_ELEMENTS) and any(self.covers(shape, names) for shape in self.shapes)

    def covers(self, shape: Shape, names: list[str]) -> bool:
        rest = [str(extent) for extent in shape]
        for name in names:
            if name not in rest:
                return False
            rest.remove(name)
        return True


def _is_arange(let: Let) -> bool:
    operation = let.operation
    return (
        isinstance(operation, Call) and operation.intrinsic == "arange" and operation.attribute("start") == Extent.of(0)
    )


# ---- the rewrite ----------------------------------------------------------------------------------------------------


@state
class _Splitting:
    """One loop: what it defines, tiles of lanes that are made before it, and the numbers made in it so far."""

    lets: Mapping[int, Let]
    extents: _Extents
    ids: Iterator[int]
    own: frozenset[int]
    tiles: dict[tuple[_Term, ...], Value]
    numbers: dict[tuple[_Term, ...], Value] = field(default_factory=dict)
    before: list[Statement] = field(default_factory=list)

    def body(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Let) and isinstance(statement.operation, Call):
                statement = self.access(statement, statement.operation, statements)
            statements.append(statement)
        return replace(block, statements=tuple(statements))

    def access(self, let: Let, call: Call, to: list[Statement]) -> Let:
        """A load or store whose address is taken apart, if it is an offset that varies in the way meant here."""
        pointer = call.operand("pointer")
        if call.intrinsic not in ("load", "store") or pointer is None or not _shape(pointer):
            return let
        address = self.address(pointer)
        if address is None or len(address.terms) > MOST_TERMS:
            return let
        numbers = tuple(t for t in address.terms if t.is_number)
        lanes = tuple(t for t in address.terms if not t.is_number)
        varies = any(self.varies(f) for t in numbers for f in t.factors)
        if not varies or not lanes or any(self.varies(f) for t in lanes for f in t.factors):
            return let
        if not self.spans(lanes, _shape(pointer)):
            return let
        number = self.number(numbers, address, let.span, to)
        root = address.root.name.removesuffix("_ptr") if isinstance(address.root, Value) else ""
        tile = self.tile(lanes, address.name or root, let.span)
        element = _element(pointer)
        writer = _Writer(self, let.span, to)
        base = writer.let(Offset(pointer=address.root, offset=number), TensorType(element))
        whole = writer.let(Offset(pointer=base, offset=tile), TensorType(element, _shape(tile)))
        operands = tuple((n, whole if n == "pointer" else o) for n, o in call.operands)
        return replace(let, operation=replace(call, operands=operands))

    def varies(self, factor: _Factor) -> bool:
        let = self.lets.get(factor.operand.id) if isinstance(factor.operand, Value) else None
        if let is not None and _is_arange(let):
            return False
        return isinstance(factor.operand, Value) and factor.operand.id in self.own

    def spans(self, terms: tuple[_Term, ...], shape: Shape) -> bool:
        """Whether the lanes together have the whole shape of the access."""
        met: Shape | None = ()
        for term in terms:
            for factor in term.factors:
                met = None if met is None else broadcast(met, _expanded(factor))
        return met == shape

    # ---- taking apart -----------------------------------------------------------------------------------------------

    def address(self, pointer: Operand) -> _Address | None:
        if not _shape(pointer) and not self.is_own_offset(pointer):
            return _Address(pointer, ())
        let = self.lets.get(pointer.id) if isinstance(pointer, Value) else None
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.address(inner)
            case ExpandDims(operand=inner, axes=axes):
                address = self.address(inner)
                return None if address is None else replace(address, terms=_expand(address.terms, axes))
            case Offset(pointer=inner, offset=offset):
                address = self.address(inner)
                if address is None:
                    return None
                name, comments = self.named(offset) if not address.terms else ("", NO_COMMENTS)
                return _Address(address.root, (*address.terms, *self.terms(offset)), name, comments)
        return None

    def is_own_offset(self, pointer: Operand) -> bool:
        return isinstance(pointer, Value) and pointer.id in self.own

    def named(self, operand: Operand) -> tuple[str, Comments]:
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        is_own = isinstance(operand, Value) and operand.id in self.own
        return (
            (operand.name, let.comments)
            if is_own and let is not None and isinstance(operand, Value)
            else ("", NO_COMMENTS)
        )

    def is_open(self, operand: Operand) -> bool:
        """Whether a conversion is taken apart: the author's of values from outside stay as they are."""
        return isinstance(operand, Value) and (operand.id in self.own or not operand.name)

    def terms(self, operand: Operand) -> tuple[_Term, ...]:
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        match let.operation if let is not None else None:
            case Cast(operand=inner) if _element(inner) == I32 and _element(operand) == I64 and self.is_open(operand):
                return self.terms(inner)
            case _ if not isinstance(operand, Value) or operand.id not in self.own:
                pass
            case Copy(operand=inner):
                return self.terms(inner)
            case ExpandDims(operand=inner, axes=axes):
                return _expand(self.terms(inner), axes)
            case Unary(operator="neg", operand=inner):
                return tuple(replace(t, is_negative=not t.is_negative) for t in self.terms(inner))
            case Binary(operator="add" | "sub" as operator, left=left, right=right):
                rest = self.terms(right)
                if operator == "sub":
                    rest = tuple(replace(t, is_negative=not t.is_negative) for t in rest)
                return (*self.terms(left), *rest)
            case Binary(operator="mul", left=left, right=right):
                pairs = ((a, b) for a in self.terms(left) for b in self.terms(right))
                return tuple(_Term((*a.factors, *b.factors), a.is_negative != b.is_negative) for a, b in pairs)
        return (_Term((_Factor(operand),)),)

    # ---- putting together -------------------------------------------------------------------------------------------

    def number(self, terms: tuple[_Term, ...], address: _Address, span: Span, to: list[Statement]) -> Value:
        """What changes from block to block, under the author's name of the whole."""
        if terms not in self.numbers:
            ordered = sorted(terms, key=lambda t: any(self.varies(f) for f in t.factors))
            writer = _Writer(self, span)
            self.numbers[terms] = writer.named(writer.total(ordered, I64), address.name, address.comments)
            to.extend(writer.made)
        return self.numbers[terms]

    def tile(self, terms: tuple[_Term, ...], name: str, span: Span) -> Value:
        """The lanes, made before the loop, once for all loops of a block."""
        key = tuple(_keyed(t, self.lets) for t in terms)
        if key not in self.tiles:
            is_short = all(self.extents.hold(t.factors, self.lets) for t in terms)
            writer = _Writer(self, span)
            total = writer.total(terms, I32 if is_short else I64)
            self.tiles[key] = writer.named(total, f"{name}_lanes" if name else "", NO_COMMENTS)
            self.before.extend(writer.made)
        return self.tiles[key]


def _keyed(term: _Term, lets: Mapping[int, Let]) -> _Term:
    """A term that is equal to those of other loops that mean the same: lanes without their identity."""

    def keyed(factor: _Factor) -> _Factor:
        let = lets.get(factor.operand.id) if isinstance(factor.operand, Value) else None
        if let is None or not _is_arange(let) or not isinstance(factor.operand, Value):
            return factor
        assert isinstance(let.operation, Call)
        return replace(factor, operand=replace(factor.operand, id=-1, name=str(let.operation.attributes)))

    return replace(term, factors=tuple(map(keyed, term.factors)))


def _expand(terms: tuple[_Term, ...], axes: tuple[int, ...]) -> tuple[_Term, ...]:
    """Terms with axes added to their tiles."""

    def expanded(factor: _Factor) -> _Factor:
        return replace(factor, added=(*factor.added, axes)) if _shape(factor.operand) else factor

    return tuple(replace(t, factors=tuple(map(expanded, t.factors))) for t in terms)


def _expanded(factor: _Factor) -> Shape:
    """The shape of a factor with its new axes."""
    shape = list(_shape(factor.operand))
    for axes in factor.added:
        for axis in axes:
            shape.insert(axis, ONE)
    return tuple(shape)


@record
class _Writer:
    """Writes sums of terms to the end of `made`."""

    splitting: _Splitting
    span: Span
    made: list[Statement] = field(default_factory=list)

    def let(self, operation: Operation, type: TensorType) -> Value:
        value = Value(next(self.splitting.ids), type)
        self.made.append(Let(results=(value,), operation=operation, span=self.span))
        return value

    def named(self, value: Value, name: str, comments: Comments) -> Value:
        """The value that was made last, under a name; one that was there before keeps its own."""
        last = self.made[-1] if self.made else None
        if not isinstance(last, Let) or last.results != (value,):
            return value
        value = replace(value, name=name)
        self.made[-1] = replace(last, results=(value,), comments=comments)
        return value

    def total(self, terms: Sequence[_Term], element: Element) -> Value:
        """The sum of terms."""
        total: Operand | None = None
        for term in sorted(terms, key=lambda t: t.is_negative):
            product = self.product(term, element)
            if total is None:
                negative = Unary(operator="neg", operand=product)
                total = self.let(negative, _type(product)) if term.is_negative else product
            else:
                total = self.binary("sub" if term.is_negative else "add", total, product)
        if not isinstance(total, Value):
            assert total is not None, "a sum has terms"
            total = self.let(Copy(operand=total), _type(total))
        return total

    def product(self, term: _Term, element: Element) -> Operand:
        """The product of factors: numbers meet a tile before it gets its new axes."""
        tiles = [f for f in term.factors if _shape(f.operand)]
        numbers = [f for f in term.factors if not _shape(f.operand)]
        product: Operand | None = None
        for factor in (*tiles[:1], *numbers):
            operand = self.typed(factor.operand, element)
            product = operand if product is None else self.binary("mul", product, operand)
        assert product is not None, "a product has factors"
        product = self.with_axes(product, tiles[0].added if tiles else ())
        for factor in tiles[1:]:
            product = self.binary("mul", product, self.with_axes(self.typed(factor.operand, element), factor.added))
        return product

    def typed(self, operand: Operand, element: Element) -> Operand:
        """An integer in a type; lanes of the loop are made anew."""
        let = self.splitting.lets.get(operand.id) if isinstance(operand, Value) else None
        if let is not None and _is_arange(let) and isinstance(operand, Value) and operand.id in self.splitting.own:
            operand = self.let(let.operation, _type(operand))
        if _element(operand) == element:
            return operand
        if isinstance(operand, Literal):
            return replace(operand, type=scalar(element))
        return self.let(Cast(operand=operand), TensorType(element, _shape(operand)))

    def with_axes(self, operand: Operand, added: tuple[tuple[int, ...], ...]) -> Operand:
        for axes in added:
            shape = _expanded(_Factor(operand, (axes,)))
            operand = self.let(ExpandDims(operand=operand, axes=axes), TensorType(_element(operand), shape))
        return operand

    def binary(self, operator: str, left: Operand, right: Operand) -> Value:
        shape = broadcast(_shape(left), _shape(right))
        assert shape is not None, "the parts of an offset meet"
        return self.let(Binary(operator=operator, left=left, right=right), TensorType(_element(left), shape))


def _type(operand: Operand) -> TensorType:
    assert isinstance(operand.type, TensorType), "offsets are numbers"
    return operand.type


def _shape(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def _element(operand: Operand) -> Element:
    return _type(operand).element
