"""Takes exponentials of tiles in tiled kernels to base 2, which GPUs have, with all constant factors in one product.

`exp(x * s - m)`, with `m` of fewer axes, becomes `exp2(x * (s * LOG2_E) - m * LOG2_E)`: for each element one
multiply-add and one `exp2`, instead of two products and a difference. Infinite numbers and NaN give what they gave. A
difference of two values of the whole shape stays as it is: it is exact where they are near each other. In loops every
other `exp(x)` becomes `exp2(x * LOG2_E)` too, which is what Triton makes of it, without its care for results below the
least normal number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Binary,
    Block,
    Call,
    ExpandDims,
    For,
    Kernel,
    Let,
    Literal,
    Operand,
    Operation,
    Program,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.record import record, replace, state
from teenyc.source import Span
from teenyc.types import ONE, Element, Shape, TensorType, broadcast, scalar

LOG2_E = 1.4426950408889634

BASES: Mapping[str, float] = {"exp": LOG2_E, "exp2": 1.0}
"""The exponentials, and the factor that brings their argument to base 2."""


def fold_exponentials(program: Program) -> Program:
    """The program whose tiled kernels have such exponentials in base 2."""
    ids = walk.fresh_ids(program)
    return walk.map_program(program, lambda k: _kernel(k, ids) if k.tiling is not None else k, lambda f: f)


def _kernel(kernel: Kernel, ids: Iterator[int]) -> Kernel:
    lets = {r.id: s for _, s in walk.statements_of(kernel.body) if isinstance(s, Let) for r in s.results}
    folding = _Folding(lets, walk.uses(kernel.body), ids, _looped(kernel.body))
    return replace(kernel, body=walk.map_statements(kernel.body, folding.statement))


def _looped(body: Block) -> frozenset[int]:
    """The values that are defined in loops."""
    loops = [s for _, s in walk.statements_of(body) if isinstance(s, For | While)]
    inner = (s for loop in loops for block in walk.blocks_of(loop) for _, s in walk.statements_of(block))
    return frozenset(r.id for s in inner for r in walk.results_of(s))


@record
class _Term:
    """One of the terms that make an exponent: a value and its factors of fewer axes, added or subtracted."""

    value: Operand
    factors: tuple[Operand, ...]
    is_negative: bool


@state
class _Folding:
    """One kernel: definitions, how often each value is read, and what is defined in loops."""

    lets: Mapping[int, Let]
    uses: Mapping[int, int]
    ids: Iterator[int]
    looped: frozenset[int]

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Let(operation=Call(intrinsic="exp" | "exp2") as call, results=(result,)):
                if len(_shape(result)) > 1:
                    terms = self.terms(call.operands[0][1], result.type)
                    if self.is_better(terms, _shape(result)):
                        return self.folded(statement, call, terms)
                if call.intrinsic == "exp" and result.id in self.looped:
                    return self.folded(statement, call, (_Term(call.operands[0][1], (), is_negative=False),))
        return (statement,)

    def definition(self, operand: Operand) -> Operation | None:
        """What an operand is defined by, if nothing else reads it."""
        if not isinstance(operand, Value) or operand.id not in self.lets or self.uses[operand.id] != 1:
            return None
        return self.lets[operand.id].operation

    def terms(self, operand: Operand, whole: object, is_negative: bool = False) -> tuple[_Term, ...]:
        match self.definition(operand):
            case Binary(operator="add" | "sub" as operator, left=left, right=right):
                right_sign = is_negative != (operator == "sub")
                return (*self.terms(left, whole, is_negative), *self.terms(right, whole, right_sign))
            case Unary(operator="neg", operand=inner):
                return self.terms(inner, whole, not is_negative)
        value, factors = self.factors(operand)
        return (_Term(value, factors, is_negative),)

    def factors(self, operand: Operand) -> tuple[Operand, tuple[Operand, ...]]:
        """A value of as many axes as a product has, and the factors that have fewer."""
        match self.definition(operand):
            case Binary(operator="mul", left=left, right=right):
                for value, factor in ((left, right), (right, left)):
                    if value.type == operand.type and _count(factor) < _count(value):
                        inner, factors = self.factors(value)
                        return inner, (*factors, factor)
        return operand, ()

    def is_better(self, terms: tuple[_Term, ...], whole: Shape) -> bool:
        """Whether a factor goes into one that is there already, or into terms of fewer axes."""
        full = [t for t in terms if _axes(t.value) == _axes_of(whole)]
        return len(full) == 1 and (bool(full[0].factors) or len(terms) > 1)

    def folded(self, let: Let, call: Call, terms: tuple[_Term, ...]) -> tuple[Statement, ...]:
        element = _element(let.results[0])
        base = BASES[call.intrinsic]
        made: list[Statement] = []
        last = (Literal(base, scalar(element), name="LOG2_E"),) if base != 1.0 else ()
        writer = _Writer(self.ids, made, let.span)
        total: Operand | None = None
        for term in sorted(terms, key=lambda t: t.is_negative):
            value = writer.scaled(self.lets, term.value, (*term.factors, *last))
            if total is None:
                total = writer.negative(value) if term.is_negative else value
            else:
                total = writer.binary("sub" if term.is_negative else "add", total, value)
        assert total is not None, "an exponent has terms"
        made.append(replace(let, operation=Call(intrinsic="exp2", operands=(("x", total),))))
        return tuple(made)


@record
class _Writer:
    """Writes definitions to the end of `made`."""

    ids: Iterator[int]
    made: list[Statement]
    span: Span

    def let(self, operation: Operation, type: TensorType) -> Value:
        value = Value(next(self.ids), type)
        self.made.append(Let(results=(value,), operation=operation, span=self.span))
        return value

    def binary(self, operator: str, left: Operand, right: Operand) -> Operand:
        shape = broadcast(_shape(left), _shape(right))
        assert shape is not None, "the terms of a sum meet"
        return self.let(Binary(operator=operator, left=left, right=right), TensorType(_element(left), shape))

    def negative(self, operand: Operand) -> Operand:
        return self.let(Unary(operator="neg", operand=operand), TensorType(_element(operand), _shape(operand)))

    def scaled(self, lets: Mapping[int, Let], value: Operand, factors: tuple[Operand, ...]) -> Operand:
        """A value times factors, which meet each other first; before axes are added to it, if it has few."""
        if not factors:
            return value
        let = lets.get(value.id) if isinstance(value, Value) else None
        if let is not None and isinstance(let.operation, ExpandDims) and all(not _shape(f) for f in factors):
            inner = self.scaled(lets, let.operation.operand, factors)
            return self.let(replace(let.operation, operand=inner), TensorType(_element(value), _shape(value)))
        factor = factors[0]
        for other in factors[1:]:
            factor = self.binary("mul", factor, other)
        return self.binary("mul", value, factor)


def _axes(operand: Operand) -> tuple[bool, ...]:
    return _axes_of(_shape(operand))


def _axes_of(shape: Shape) -> tuple[bool, ...]:
    """Which axes are longer than 1."""
    return tuple(extent != ONE for extent in shape)


def _count(operand: Operand) -> int:
    return sum(_axes(operand))


def _shape(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def _element(operand: Operand) -> Element:
    assert isinstance(operand.type, TensorType), "exponents are numbers"
    return operand.type.element
