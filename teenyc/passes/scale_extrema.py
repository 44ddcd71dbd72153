"""Takes extrema in the loops of tiled kernels before scaling: `max(x * s)` becomes `max(x) * s`, where `s >= 0`.

That holds to the last bit, since rounding keeps the order of numbers. The sign of a scale is rarely known; where `x` is
a product of matrices of which one side is made before the loop, the sign goes to that side, which is exact as well:
`(-a) b * |s|` is `a b * s`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    For,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    Program,
    Statement,
    Value,
)
from teenyc.record import record, replace
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.types import BOOL, DType, Element, TensorType, TypeVar, compute_type, is_float, scalar


def scale_extrema(program: Program) -> Program:
    """The program whose tiled kernels scale what an extremum gives, not each element that it is taken of."""
    ids = count(walk.next_id(program))
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    lets = {r.id: s for _, s in walk.statements_of(kernel.body) if isinstance(s, Let) for r in s.results}
    top = {r.id for s in kernel.body.statements for r in walk.results_of(s)}
    scaling = _Scaling(lets, _live_uses(kernel.body), top, ids)
    for statement in kernel.body.statements:
        if isinstance(statement, For):
            scaling.choose(statement)
    if not scaling.extrema:
        return kernel
    body = walk.map_statements(kernel.body, scaling.statement)
    return replace(kernel, body=replace(body, statements=tuple(scaling.with_sides(body.statements))))


def _live_uses(body: Block) -> Counter[int]:
    """How often each value is read, but for conversions that nobody reads."""
    uses = walk.uses(body)
    for _, statement in walk.statements_of(body):
        if isinstance(statement, Let) and isinstance(statement.operation, Cast) and not uses[statement.results[0].id]:
            uses.subtract(o.id for o in walk.operands_of(statement) if isinstance(o, Value))
    return uses


@record(order=True)
class _Scale:
    """A scale of products of matrices, by id, and the side of theirs that is made before the loops, likewise."""

    factor: int
    side: int


@dataclass(slots=True, eq=False)
class _Scaling:
    """One kernel; `extrema` are those that are taken before scaling, `scaled` the products of each scale chosen."""

    lets: Mapping[int, Let]
    uses: Mapping[int, int]
    top: set[int]
    ids: Iterator[int]
    extrema: dict[int, Binary] = field(default_factory=dict)
    scaled: dict[int, _Scale] = field(default_factory=dict)
    sides: dict[_Scale, tuple[Value, Value]] = field(default_factory=dict)

    def choose(self, loop: For) -> None:
        """Finds the extrema of a loop that can be taken before scaling, and what that asks for."""
        for statement in loop.body.statements:
            match statement:
                case Let(operation=Call(intrinsic="max") as call, results=(result,)):
                    source = call.operands[0][1]
                    product = self.product(source)
                    scale = self.scale(source) if product is not None else None
                    if product is None or (scale is None and not _is_positive(product.right)):
                        continue
                    if scale is not None and not self.takes(scale):
                        continue
                    self.extrema[result.id] = product

    def product(self, operand: Operand) -> Binary | None:
        """`x * s`, with a number `s` from outside of all loops."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) else None
        operation = let.operation if let is not None else None
        if not isinstance(operation, Binary) or operation.operator != "mul" or not _is_float(operand):
            return None
        for x, s in ((operation.left, operation.right), (operation.right, operation.left)):
            is_outside = isinstance(s, Literal) or (isinstance(s, Value) and s.id in self.top)
            if is_outside and x.type == operand.type and isinstance(s.type, TensorType) and not s.type.shape:
                return Binary(operator="mul", left=x, right=s)
        return None

    def scale(self, operand: Operand) -> _Scale | None:
        """The scale of a product of matrices that nothing else reads, and its side from outside of all loops."""
        product = self.product(operand)
        if product is None or not isinstance(product.left, Value) or not isinstance(product.right, Value):
            return None
        let = self.lets.get(product.left.id)
        call = let.operation if let is not None else None
        if not isinstance(call, Call) or call.intrinsic != "dot" or call.operand("acc") is not None:
            return None
        if self.uses[product.left.id] != 1:
            return None
        sides = (o for n, o in call.operands if n in ("input", "other"))
        side = next((o for o in sides if isinstance(o, Value) and o.id in self.top), None)
        if side is None or _computed(_element(side)) != _element(product.right):
            return None
        return _Scale(product.right.id, side.id)

    def takes(self, scale: _Scale) -> bool:
        """Whether all that reads the side is scaled so; then those products are noted."""
        if scale in self.sides:
            return True
        found = [id for id in self.lets if self.scale(self.lets[id].results[0]) == scale] if scale else []
        if len(found) != self.uses[scale.side]:
            return False
        factor, side = (self.value(id) for id in (scale.factor, scale.side))
        self.sides[scale] = (replace(factor, id=next(self.ids)), replace(side, id=next(self.ids)))
        self.scaled.update(dict.fromkeys(found, scale))
        return True

    def value(self, id: int) -> Value:
        return next(v for v in self.lets[id].results if v.id == id)

    # ---- the rewrite ------------------------------------------------------------------------------------------------

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, Let) or len(statement.results) != 1:
            return (statement,)
        (result,) = statement.results
        if result.id in self.extrema:
            return self.extremum(statement, self.extrema[result.id])
        if result.id in self.scaled:
            factor, _ = self.sides[self.scaled[result.id]]
            product = self.product(result)
            assert product is not None, "it was one before"
            return (replace(statement, operation=replace(product, right=factor)),)
        scale = next((self.scaled[s] for s in self.scaled if self.is_under(result, s)), None)
        if scale is not None:
            _, side = self.sides[scale]

            def signed(operand: Operand) -> Operand:
                return side if isinstance(operand, Value) and operand.id == scale.side else operand

            return (replace(statement, operation=walk.map_operation(statement.operation, signed)),)
        return (statement,)

    def is_under(self, value: Value, scaled: int) -> bool:
        """Whether a value is the product of matrices that a scaled value is made of."""
        product = self.product(self.value(scaled))
        return product is not None and product.left == value

    def extremum(self, let: Let, product: Binary) -> tuple[Statement, ...]:
        """The extremum of what is not scaled, scaled then."""
        (result,) = let.results
        assert isinstance(let.operation, Call), "extrema are calls"
        ((name, source),) = let.operation.operands
        scale = self.scaled.get(source.id) if isinstance(source, Value) else None
        factor = self.sides[scale][0] if scale is not None else product.right
        plain = Value(next(self.ids), result.type)
        call = replace(let.operation, operands=((name, product.left),))
        return (
            Let(results=(plain,), operation=call, span=let.span),
            replace(let, operation=Binary(operator="mul", left=plain, right=factor)),
        )

    def with_sides(self, statements: tuple[Statement, ...]) -> Iterator[Statement]:
        """The statements with scales made positive and their signs given to sides, as soon as both are there."""
        waiting = dict(self.sides)
        known: set[int] = set()
        for statement in statements:
            yield statement
            known.update(r.id for r in walk.results_of(statement))
            for scale in [s for s in waiting if {s.factor, s.side} <= known]:
                yield from self.signed(scale, *waiting.pop(scale), statement.span)

    def signed(self, scale: _Scale, factor: Value, side: Value, span: Span) -> Iterator[Statement]:
        old_factor, old_side = self.value(scale.factor), self.value(scale.side)
        element = _element(old_factor)
        zero, one, minus = (Literal(n, scalar(element)) for n in (0.0, 1.0, -1.0))
        is_negative, sign = Value(next(self.ids), scalar(BOOL)), Value(next(self.ids), scalar(element))
        name, of = old_factor.name or "the scale", old_side.name or "one side"
        comments = Comments(leading=(f" The sign of {name} goes to {of}, so that maxima may be taken before scaling.",))
        yield _let(is_negative, Compare(operator="lt", left=old_factor, right=zero), span, comments)
        choice = (("condition", is_negative), ("x", minus), ("y", one))
        yield _let(sign, Call(intrinsic="where", operands=choice), span)
        assert isinstance(side.type, TensorType), "sides are matrices"
        wide = TensorType(element, side.type.shape)
        if wide == side.type:
            yield _let(side, Binary(operator="mul", left=old_side, right=sign), span)
        else:
            widened, signed = Value(next(self.ids), wide), Value(next(self.ids), wide)
            yield _let(widened, Cast(operand=old_side), span)
            yield _let(signed, Binary(operator="mul", left=widened, right=sign), span)
            yield _let(side, Cast(operand=signed), span)
        yield _let(factor, Call(intrinsic="abs", operands=(("x", old_factor),)), span)


def _let(value: Value, operation: Operation, span: Span, comments: Comments = NO_COMMENTS) -> Let:
    return Let(results=(value,), operation=operation, span=span, comments=comments)


def _computed(element: Element) -> Element:
    return compute_type(element) if isinstance(element, DType | TypeVar) else element


def _is_positive(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value >= 0


def _is_float(operand: Operand) -> bool:
    return isinstance(operand.type, TensorType) and is_float(operand.type.element)


def _element(operand: Operand) -> Element:
    assert isinstance(operand.type, TensorType), "scales are numbers"
    return operand.type.element
