"""Expansion: a kernel that calls device functions goes in; it comes out with their bodies in the place of the calls.

For analyses that ask what a kernel does as a whole. Types and extents are the caller's then; names of values stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Constant,
    Copy,
    Function,
    Kernel,
    Let,
    Literal,
    Operand,
    Return,
    Statement,
    Value,
)
from teenyc.record import field, record, replace, state
from teenyc.source import Span
from teenyc.types import I32, Compute, Element, Extent, Pointer, Quotient, TensorType, TypeVar, scalar

MOST = 10_000
"""The most statements of a kernel with all that it calls for which that is written out."""

FOREIGN = "'"
"""Behind the names of a caller's constants inside of a function that has none for them."""


@record
class Expanded:
    """The kernel, and where a value comes from: the function, and the id that it has there, by its new id."""

    kernel: Kernel
    origins: Mapping[int, tuple[str, int]]


def expanded(kernel: Kernel, functions: Mapping[str, Function]) -> Expanded:
    """The kernel without calls of device functions; with them where it would have over `MOST` statements."""
    applied = (s.operation for _, s in walk.statements_of(kernel.body) if isinstance(s, Let))
    if not any(isinstance(operation, Apply) for operation in applied):
        return Expanded(kernel, {})
    last = max((v.id for v in walk.values_of(kernel)), default=0)
    if _size(kernel, functions, {}) > MOST:
        return Expanded(kernel, {})
    expansion = _Expansion(functions, count(last + 1), {})
    return Expanded(replace(kernel, body=expansion.block(kernel.body, _Scope())), expansion.origins)


def _size(body: Kernel | Function, functions: Mapping[str, Function], known: dict[str, int]) -> int:
    """How many statements a body has with those of what it calls."""
    if body.name not in known or isinstance(body, Kernel):
        total = 0
        for _, statement in walk.statements_of(body.body):
            operation = statement.operation if isinstance(statement, Let) else None
            inner = functions[operation.function] if isinstance(operation, Apply) else None
            total += 1 if inner is None else _size(inner, functions, known)
        known[body.name] = total
    return known[body.name]


@state
class _Scope:
    """What names of one body mean at one call: the kernel's own mean themselves."""

    function: str = ""
    operands: dict[int, Operand] = field(default_factory=dict)
    constants: Mapping[str, Operand | Extent] = field(default_factory=dict)
    elements: Mapping[str, Element] = field(default_factory=dict)
    results: tuple[Operand, ...] = ()

    def extent(self, extent: Extent) -> Extent:
        if not self.function:
            return extent
        names: dict[str, int | Extent] = {n: e for n, e in self.constants.items() if isinstance(e, Extent)}
        names |= {n: Extent.of(n.removesuffix(FOREIGN)) for n in extent.names if n.endswith(FOREIGN)}
        return extent.substitute(names)

    def element(self, element: Element) -> Element:
        match element:
            case Pointer():
                return Pointer(self.element(element.to))
            case TypeVar():
                return self.elements.get(element.name, element)
            case Compute():
                found = self.elements.get(element.of.name, element.of)
                return Compute(found) if isinstance(found, TypeVar) else found
            case _:
                return element

    def inner(self, node: Any) -> Any:
        """A type, extent or attribute, in the kernel's terms."""
        match node:
            case TensorType():
                return TensorType(self.element(node.element), tuple(map(self.extent, node.shape)))
            case Extent():
                return self.extent(node)
            case tuple():
                return tuple(map(self.inner, node))
            case Pointer() | TypeVar() | Compute():
                return self.element(node)
            case _:
                return node


@state
class _Expansion:
    functions: Mapping[str, Function]
    ids: Iterator[int]
    origins: dict[int, tuple[str, int]]

    def block(self, block: Block, scope: _Scope) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            self.statement(statement, scope, statements)
        yields = tuple(self.operand(o, scope, statements, Span(0, 0)) for o in block.yields)
        return Block(statements=tuple(statements), yields=yields)

    def statement(self, statement: Statement, scope: _Scope, to: list[Statement]) -> None:
        span = statement.span
        mapped = walk.map_operands(statement, lambda o: self.operand(o, scope, to, span))
        if isinstance(mapped, Let) and isinstance(mapped.operation, Apply):
            self.apply(mapped, mapped.operation, scope, to)
        elif isinstance(mapped, Return) and scope.function:
            scope.results = mapped.values
        else:
            mapped = walk.map_definitions(mapped, lambda v: self.define(v, scope))
            if isinstance(mapped, Let) and isinstance(mapped.operation, Call) and scope.function:
                attributes = tuple((n, scope.inner(a)) for n, a in mapped.operation.attributes)
                mapped = replace(mapped, operation=replace(mapped.operation, attributes=attributes))
            to.append(walk.map_blocks(mapped, lambda b: self.block(b, scope)))

    def apply(self, let: Let, apply: Apply, scope: _Scope, to: list[Statement]) -> None:
        """The body of a function, then copies that are the results of its call."""
        function = self.functions[apply.function]
        variables = (v.name for v in function.type_variables)
        inner = _Scope(
            function.name,
            {p.value.id: o for p, o in zip(function.parameters, apply.operands, strict=True)},
            {n: scope.extent(o) if isinstance(o, Extent) else o for n, o in apply.constants},
            dict(zip(variables, map(scope.element, apply.elements), strict=True)),
        )
        to.extend(self.block(function.body, inner).statements)
        for result, operand in zip(let.results, inner.results, strict=True):
            value = self.define(result, scope)
            to.append(replace(let, results=(value,), operation=Copy(operand=operand)))

    # ---- values -----------------------------------------------------------------------------------------------------

    def define(self, value: Value, scope: _Scope) -> Value:
        if not scope.function:
            return value
        known = scope.operands.get(value.id)
        if isinstance(known, Value):
            return known  # the condition and the body of a `while` share what it carries
        new = replace(value, id=next(self.ids), type=scope.inner(value.type))
        scope.operands[value.id] = new
        self.origins[new.id] = (scope.function, value.id)
        return new

    def operand(self, operand: Operand, scope: _Scope, to: list[Statement], span: Span) -> Operand:
        if not scope.function:
            return operand
        if isinstance(operand, Value):
            return scope.operands[operand.id]
        if isinstance(operand, Literal):
            return replace(operand, type=scope.inner(operand.type))
        given = scope.constants[operand.name]
        return given if not isinstance(given, Extent) else self.number(given, to, span)

    def number(self, extent: Extent, to: list[Statement], span: Span) -> Operand:
        """An extent as an operand; sums, products and quotients are computed in front of it."""
        if extent.known is not None:
            return Literal(extent.known, scalar(I32))
        total: Operand | None = None
        for monomial, coefficient in extent.terms:
            term: Operand | None = Literal(coefficient, scalar(I32)) if coefficient != 1 or not monomial else None
            for atom in monomial:
                factor = self.atom(atom, to, span)
                term = factor if term is None else self.binary("mul", term, factor, to, span)
            assert term is not None, "a term has a factor"
            total = term if total is None else self.binary("add", total, term, to, span)
        assert total is not None, "only a number has no terms"
        return total

    def atom(self, atom: str | Quotient, to: list[Statement], span: Span) -> Operand:
        if isinstance(atom, str):
            return Constant(atom, scalar(I32))
        numerator, denominator = (self.number(e, to, span) for e in (atom.numerator, atom.denominator))
        return self.binary("div", numerator, denominator, to, span)

    def binary(self, operator: str, left: Operand, right: Operand, to: list[Statement], span: Span) -> Operand:
        result = Value(next(self.ids), scalar(I32))
        to.append(Let(results=(result,), operation=Binary(operator=operator, left=left, right=right), span=span))
        return result
