"""Indices taken apart: a kernel that divides the index of a program goes in; out comes one of two indices.

`pid / n` and `pid % n` are two axes of the grid that lie in one, such as heads and rows. In the kernel that comes out
they are: `pid` is `outer * n + inner`, and what divides it further is made of the two. Indices count from 0, and `n` is
positive, so that quotients and remainders are those of natural numbers. Turned, `pid` is `inner * n + outer`: rows that
lie apart are neighbours, where a grid has as many of them for each `outer`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from math import prod

from teenyc.ir.nodes import (
    Binary,
    Call,
    Cast,
    Constant,
    Copy,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    Statement,
    Value,
)
from teenyc.ir.walk import map_statements, statements_of, values_of
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.tiling.plan import inner_of, outer_of
from teenyc.types import I32, I64, Extent, TensorType, scalar

FEWEST = 16
"""A remainder of fewer rows than this is not worth blocks."""

FAR = 1 << 30
"""No grid that is launched in blocks has as many programs."""

_INTEGERS = (scalar(I32), scalar(I64))


@record
class Product:
    """A divisor: parameters and constants multiplied, and a number."""

    factors: tuple[Operand, ...]
    number: int = 1

    def over(self, other: Product) -> Product | None:
        """What it is times another product; None where that is not known to divide it."""
        rest = Counter(self.factors)
        rest.subtract(Counter(other.factors))
        if min(rest.values(), default=0) < 0 or self.number % other.number:
            return None
        return Product(tuple(rest.elements()), self.number // other.number)

    @property
    def extent(self) -> Extent:
        """The product as a number that a launch knows."""
        names = (f.name for f in self.factors if isinstance(f, Value | Constant))
        return prod(map(Extent.of, names), start=Extent.of(self.number))

    @property
    def is_one(self) -> bool:
        return not self.factors and self.number == 1


@record
class Found:
    """An axis of the grid and a divisor of its index, with the names of quotient and remainder; None where unused."""

    axis: int
    divisor: Product
    outer: str | None = None
    inner: str | None = None

    def and_also(self, other: Found) -> Found:
        """The same, where both are found."""
        outer, inner = (
            a or b if b is not None else a for a, b in ((self.outer, other.outer), (self.inner, other.inner))
        )
        return replace(self, outer=outer, inner=inner)

    @property
    def has_rows(self) -> bool:
        """Whether both parts are used, and the remainder may have rows enough for blocks."""
        is_long = bool(self.divisor.factors) or self.divisor.number >= FEWEST
        return self.outer is not None and self.inner is not None and is_long


@record
class Taken:
    """A kernel over two indices in the place of one; `turned` is the divisor where its inner one is the quotient."""

    kernel: Kernel
    turned: Extent | None = None


def splits(kernel: Kernel) -> Iterator[Taken]:
    """The kernel over two indices in the place of one, for each way in which it takes one apart.

    Those of few factors come first, and those with quotients inside last.
    """
    lets = {v.id: s for _, s in statements_of(kernel.body) if isinstance(s, Let) for v in s.results}
    if not any(isinstance(s.operation, Binary) and s.operation.operator in ("div", "rem") for s in lets.values()):
        return
    found: dict[tuple[int, Product], Found] = {}
    for each in _found(kernel, lets):
        found[each.axis, each.divisor] = found.get((each.axis, each.divisor), each).and_also(each)
    ordered = sorted(found.values(), key=lambda f: len(f.divisor.factors))
    yield from (Taken(_Splitting(kernel, lets, each).kernel()) for each in ordered if each.has_rows)
    for each in ordered:
        if each.outer is not None and each.inner is not None:
            yield Taken(_Splitting(kernel, lets, each, is_turned=True).kernel(), each.divisor.extent)


def _found(kernel: Kernel, lets: Mapping[int, Let]) -> Iterator[Found]:
    """The divisions of an index, and of its remainders."""
    derived: dict[int, int] = {}
    quotients = Quotients(lets)
    for _, let in statements_of(kernel.body):
        if not isinstance(let, Let) or len(let.results) != 1:
            continue
        (result,), operation = let.results, let.operation
        match operation:
            case Call(intrinsic="program_id") as call:
                axis = call.attribute("axis", 0)
                assert isinstance(axis, int), "axes of the grid have numbers"
                derived[result.id] = axis
            case Copy(operand=Value(id=id)) | Cast(operand=Value(id=id)) if id in derived and result.type in _INTEGERS:
                derived[result.id] = derived[id]
            case Binary(operator="div" | "rem" as operator, left=Value(id=id), right=right) if id in derived:
                divisor = product_of(right, lets)
                if operator == "rem":
                    derived[result.id] = derived[id]
                if divisor is not None and all(_is_fixed(f, kernel) for f in divisor.factors):
                    names = (result.name, None) if operator == "div" else (None, result.name)
                    yield Found(derived[id], divisor, *names)
            case Binary(operator="sub", left=Value(id=id) as left, right=right) if id in derived:
                taken = quotients.divisor(left, right)
                divisor = product_of(taken, lets) if taken is not None else None
                if divisor is not None:
                    derived[result.id] = derived[id]
                if divisor is not None and all(_is_fixed(f, kernel) for f in divisor.factors):
                    yield Found(derived[id], divisor, None, result.name)


@record
class Quotients:
    """Remainders that are written as `x - x / n * n`."""

    lets: Mapping[int, Let]

    def divisor(self, whole: Operand, product: Operand) -> Operand | None:
        """The `n` where a product is `whole / n * n`."""
        let = self.lets.get(product.id) if isinstance(product, Value) else None
        if let is None or not isinstance(let.operation, Binary) or let.operation.operator != "mul":
            return None
        for one, other in ((let.operation.left, let.operation.right), (let.operation.right, let.operation.left)):
            quotient = self.definition(one)
            if not isinstance(quotient, Binary) or quotient.operator != "div":
                continue
            is_whole = self.plain(quotient.left) == self.plain(whole)
            if is_whole and product_of(other, self.lets) == product_of(quotient.right, self.lets) is not None:
                return other
        return None

    def definition(self, operand: Operand) -> Operation | None:
        plain = self.plain(operand)
        let = self.lets.get(plain.id) if isinstance(plain, Value) else None
        return let.operation if let is not None else None

    def plain(self, operand: Operand) -> Operand:
        """What an integer is another name of, or a conversion."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        match let.operation if let is not None else None:
            case Copy(operand=inner):
                return self.plain(inner)
            case Cast(operand=inner) if inner.type in _INTEGERS and operand.type in _INTEGERS:
                return self.plain(inner)
        return operand


def product_of(operand: Operand, lets: Mapping[int, Let]) -> Product | None:
    """An integer as a product; None where it is not positive."""
    if isinstance(operand, Literal):
        return Product((), int(operand.value)) if operand.value > 0 else None
    let = lets.get(operand.id) if isinstance(operand, Value) else None
    match let.operation if let is not None else None:
        case Copy(operand=inner):
            return product_of(inner, lets)
        case Cast(operand=inner) if inner.type in _INTEGERS:
            return product_of(inner, lets)
        case Binary(operator="mul", left=left, right=right):
            one, other = product_of(left, lets), product_of(right, lets)
            if one is None or other is None:
                return None
            return Product(tuple(sorted((*one.factors, *other.factors), key=str)), one.number * other.number)
    return Product((operand,))


def _is_fixed(operand: Operand, kernel: Kernel) -> bool:
    """Whether an operand is known before the kernel begins, in 32 bits."""
    if isinstance(operand, Constant):
        return True
    return operand.type == scalar(I32) and any(p.value == operand for p in kernel.parameters)


class _Splitting:
    """The rewriting of one kernel: `parts` are, by id, the `q` of values of the form `q * n + remainder`."""

    def __init__(self, kernel: Kernel, lets: Mapping[int, Let], found: Found, is_turned: bool = False) -> None:
        self.source, self.lets, self.found = kernel, lets, found
        self.ids = count(max((v.id for v in values_of(kernel)), default=0) + 1)
        self.quotient = Value(next(self.ids), scalar(I32), found.outer or "outer")
        self.remainder = Value(next(self.ids), scalar(I32), found.inner or "inner")
        self.is_turned = is_turned
        self.parts: dict[int, Operand] = {}
        self.quotients = Quotients(lets)
        self.made: list[Let] = []

    def kernel(self) -> Kernel:
        span = next(let.span for let in self.lets.values() if self.is_index(let.operation))
        self.divisor = self.number(span)
        extent, values = self.divisor, (self.quotient, self.remainder)
        if self.is_turned:
            programs = Call(intrinsic="num_programs", attributes=(("axis", self.found.axis),))
            programs_of_one = Binary(operator="div", left=self.let(programs, scalar(I32), span), right=self.divisor)
            name = f"{self.quotient.name}s_of_{self.remainder.name}"
            extent = self.let(programs_of_one, scalar(I32), span, name)
            values = (self.remainder, self.quotient)
        for value, axis in zip(values, (outer_of(self.found.axis), inner_of(self.found.axis)), strict=True):
            call = Call(intrinsic="program_id", operands=(("divisor", extent),), attributes=(("axis", axis),))
            self.made.append(Let(results=(value,), operation=call, span=span))
        first = tuple(self.made)
        body = map_statements(self.source.body, self.statement)
        return replace(self.source, body=replace(body, statements=(*first, *body.statements)))

    def number(self, span: Span) -> Operand:
        """The divisor in 32 bits; one that is greater than any index may be any such."""
        divisor = self.found.divisor
        if len(divisor.factors) == 1 and divisor.number == 1:
            return divisor.factors[0]
        if not divisor.factors:
            return Literal(min(divisor.number, FAR), scalar(I32))
        wide = self.product(divisor, scalar(I64), span)
        least = (("x", wide), ("y", Literal(FAR, scalar(I64))))
        return self.cast(self.let(Call(intrinsic="minimum", operands=least), scalar(I64), span), scalar(I32), span)

    def is_index(self, operation: Operation) -> bool:
        if not isinstance(operation, Call) or operation.intrinsic != "program_id":
            return False
        return operation.attribute("axis", 0) == self.found.axis

    # ---- statements -------------------------------------------------------------------------------------------------

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, Let) or len(statement.results) != 1:
            return (statement,)
        self.made = []
        operation = self.operation(statement, statement.results[0])
        return (*self.made, statement if operation is None else replace(statement, operation=operation))

    def operation(self, let: Let, result: Value) -> Operation | None:
        """What a value is made of; None where that stays."""
        match let.operation:
            case Call() as call if self.is_index(call):
                self.parts[result.id] = self.quotient
                return self.composed(self.quotient, result, let.span)
            case Copy(operand=Value(id=id)) | Cast(operand=Value(id=id)) if id in self.parts:
                if result.type in _INTEGERS:
                    self.parts[result.id] = self.parts[id]
            case Binary(operator="div" | "rem", left=Value(id=id)) as binary if id in self.parts:
                return self.divided(binary, self.parts[id], result, let.span)
            case Binary(operator="sub", left=Value(id=id) as left, right=right) if id in self.parts:
                divisor = self.quotients.divisor(left, right)
                if divisor is not None:
                    remainder = Binary(operator="rem", left=left, right=divisor)
                    return self.divided(remainder, self.parts[id], result, let.span)
        return None

    def divided(self, binary: Binary, part: Operand, result: Value, span: Span) -> Operation | None:
        """A quotient or a remainder, by the divisor or by a multiple of it."""
        divisor, is_quotient = product_of(binary.right, self.lets), binary.operator == "div"
        rest = divisor.over(self.found.divisor) if divisor is not None else None
        if rest is None:
            return None
        if rest.is_one:
            return self.copy(part if is_quotient else self.remainder, result, span)
        assert isinstance(result.type, TensorType), "indices are integers"
        factor = self.product(rest, result.type, span)
        made = Binary(operator=binary.operator, left=self.cast(part, result.type, span), right=factor)
        if is_quotient:
            return made
        self.parts[result.id] = self.let(made, result.type, span)
        return self.composed(self.parts[result.id], result, span)

    # ---- new definitions --------------------------------------------------------------------------------------------

    def composed(self, part: Operand, result: Value, span: Span) -> Operation:
        """A part times the divisor, and the remainder."""
        assert isinstance(result.type, TensorType), "indices are integers"
        part, divisor, remainder = (self.cast(o, result.type, span) for o in (part, self.divisor, self.remainder))
        whole = self.let(Binary(operator="mul", left=part, right=divisor), result.type, span)
        return Binary(operator="add", left=whole, right=remainder)

    def copy(self, operand: Operand, result: Value, span: Span) -> Operation:
        return Copy(operand=operand) if operand.type == result.type else Cast(operand=operand)

    def product(self, product: Product, type: TensorType, span: Span) -> Operand:
        total: Operand | None = Literal(product.number, type) if product.number != 1 or not product.factors else None
        for factor in product.factors:
            one = self.cast(factor, type, span)
            total = one if total is None else self.let(Binary(operator="mul", left=total, right=one), type, span)
        assert total is not None, "a product has a factor"
        return total

    def cast(self, operand: Operand, type: TensorType, span: Span) -> Operand:
        if operand.type == type:
            return operand
        return self.let(Cast(operand=operand), type, span)

    def let(self, operation: Operation, type: TensorType, span: Span, name: str = "") -> Value:
        value = Value(next(self.ids), type, name)
        self.made.append(Let(results=(value,), operation=operation, span=span))
        return value
