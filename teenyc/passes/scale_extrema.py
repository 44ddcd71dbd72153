"""Takes extrema in the loops of tiled kernels before scaling: `max(x * s)` becomes `max(x) * s`, or `min(x) * s`.

Rounding keeps the order of numbers, so that holds to the last bit: with `max` where `s >= 0`, else with `min`. One of
the two runs, as the sign of the number `s` says. That pays where nothing reads the product but extrema and exponents,
which take its factors into one multiply-add (pass `fold-exponentials`). The sides of a product of matrices stay as they
were loaded: a side that is computed, if only to give it the sign, is held in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    For,
    If,
    Kernel,
    Let,
    Literal,
    Operand,
    Program,
    Statement,
    Value,
)
from teenyc.passes.fold_exponentials import BASES
from teenyc.record import field, replace, state
from teenyc.types import BOOL, Shape, TensorType, is_float, scalar

_OPPOSITE = {"max": "min", "min": "max"}


def scale_extrema(program: Program) -> Program:
    """The program whose tiled kernels scale what an extremum gives, not each element that it is taken of."""
    ids = count(walk.next_id(program))
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    statements = [s for _, s in walk.statements_of(kernel.body)]
    lets = {r.id: s for s in statements if isinstance(s, Let) for r in s.results}
    readers = _readers(statements, walk.uses(kernel.body))

    def inside(block: Block) -> Block:
        made: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, For):
                scaling = _Scaling(lets, readers, ids, _own(statement))
                statement = replace(statement, body=scaling.body(statement.body))
                made.extend(scaling.before)
            made.append(walk.map_blocks(statement, inside))
        return replace(block, statements=tuple(made))

    return replace(kernel, body=inside(kernel.body))


def _readers(statements: list[Statement], uses: Mapping[int, int]) -> dict[int, list[Statement]]:
    """The statements that read each value, but for conversions that nobody reads."""
    readers: dict[int, list[Statement]] = {}
    for statement in statements:
        if isinstance(statement, Let) and isinstance(statement.operation, Cast) and not uses[statement.results[0].id]:
            continue
        for operand in walk.operands_of(statement):
            if isinstance(operand, Value):
                readers.setdefault(operand.id, []).append(statement)
    return readers


def _own(loop: For) -> frozenset[int]:
    """The values that a loop defines, inside."""
    inner = (v.id for _, s in walk.statements_of(loop.body) for v in walk.definitions(s))
    return frozenset((loop.counter.id, *(c.inside.id for c in loop.carried), *inner))


@state
class _Scaling:
    """One loop: what it defines, and what says of each scale that it is not negative, made before the loop."""

    lets: Mapping[int, Let]
    readers: Mapping[int, list[Statement]]
    ids: Iterator[int]
    own: frozenset[int]
    signs: dict[int, Value] = field(default_factory=dict)
    before: list[Statement] = field(default_factory=list)

    def body(self, block: Block) -> Block:
        return replace(block, statements=tuple(s for each in block.statements for s in self.statement(each)))

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Let(operation=Call(intrinsic="max" | "min") as call, results=(result,)) if _is_float(result):
                product = self.product(call.operands[0][1])
                if product is not None and self.pays(call.operands[0][1]):
                    return self.extremum(statement, call, product)
        return (statement,)

    def product(self, operand: Operand) -> Binary | None:
        """`x * s`, with a number `s` from outside of the loop."""
        let = self.lets.get(operand.id) if isinstance(operand, Value) and operand.id in self.own else None
        operation = let.operation if let is not None else None
        if not isinstance(operation, Binary) or operation.operator != "mul":
            return None
        for x, s in ((operation.left, operation.right), (operation.right, operation.left)):
            is_outside = isinstance(s, Literal) or (isinstance(s, Value) and s.id not in self.own)
            if is_outside and x.type == operand.type and not _shape(s):
                return replace(operation, left=x, right=s)
        return None

    def pays(self, operand: Operand) -> bool:
        """Whether all that reads a value are extrema and exponents."""
        assert isinstance(operand, Value), "products are made"
        return all(_is_extremum(s) or self.is_exponent(s, operand) for s in self.readers[operand.id])

    def is_exponent(self, statement: Statement, operand: Value) -> bool:
        """Whether a statement is an exponential, or a difference that nothing but an exponential reads."""
        match statement:
            case Let(operation=Call(intrinsic=name)) if name in BASES:
                return True
            case Let(operation=Binary(operator="add" | "sub"), results=(result,)) if result.type == operand.type:
                readers = self.readers.get(result.id, [])
                return len(readers) == 1 and self.is_exponent(readers[0], result)
        return False

    def extremum(self, let: Let, call: Call, product: Binary) -> tuple[Statement, ...]:
        """The extremum of what is not scaled, scaled then."""
        (result,) = let.results
        unscaled = replace(result, id=next(self.ids), name="extreme")
        scaled = replace(let, operation=Binary(operator="mul", left=unscaled, right=product.right))
        operands = tuple((n, product.left if n == "input" else o) for n, o in call.operands)
        of = {n: replace(call, intrinsic=n, operands=operands) for n in (call.intrinsic, _OPPOSITE[call.intrinsic])}
        if isinstance(product.right, Literal):
            kept = call.intrinsic if product.right.value >= 0 else _OPPOSITE[call.intrinsic]
            return Let(results=(unscaled,), operation=of[kept], span=let.span), scaled
        sides = [self.side(operation, unscaled, let) for operation in of.values()]
        condition = self.sign(product.right, let)
        choice = If(condition=condition, then=sides[0], otherwise=sides[1], results=(unscaled,), span=let.span)
        return choice, scaled

    def side(self, call: Call, like: Value, let: Let) -> Block:
        value = replace(like, id=next(self.ids), name="")
        return Block(statements=(Let(results=(value,), operation=call, span=let.span),), yields=(value,))

    def sign(self, scale: Operand, let: Let) -> Value:
        """Whether a scale is not negative."""
        assert isinstance(scale, Value), "the sign of a literal is known"
        if scale.id not in self.signs:
            name = f"is_{scale.name}_positive" if scale.name else "is_positive"
            self.signs[scale.id] = sign = Value(next(self.ids), scalar(BOOL), name)
            assert isinstance(scale.type, TensorType), "scales are numbers"
            compare = Compare(operator="ge", left=scale, right=Literal(0.0, scale.type))
            self.before.append(Let(results=(sign,), operation=compare, span=let.span))
        return self.signs[scale.id]


def _is_extremum(statement: Statement) -> bool:
    return (
        isinstance(statement, Let)
        and isinstance(statement.operation, Call)
        and statement.operation.intrinsic in _OPPOSITE
    )


def _is_float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and is_float(value.type.element)


def _shape(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()
