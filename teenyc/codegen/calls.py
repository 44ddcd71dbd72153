"""Calls: an intrinsic or a device function with its arguments goes in, a Python call comes out.

Everything about an intrinsic is in its record: its Triton form, the order of its parameters, which go by keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, assert_never

from teenyc.codegen import terms
from teenyc.codegen.casts import does_itself, is_plain, needs_rounding, rounded
from teenyc.codegen.dtypes import extent_term, shape_text
from teenyc.codegen.literals import quoted
from teenyc.codegen.numbers import is_exact_bf16, is_exact_f8, literal_term
from teenyc.codegen.terms import ATOM, Kind, Term, atom
from teenyc.intrinsics import find
from teenyc.intrinsics.spec import LIBRARY, REQUIRED, Effect, Facts, Intrinsic, Param, Role
from teenyc.ir.nodes import Apply, Attribute, Call, Cast, Let, Literal, Offset, Operand, Value
from teenyc.ir.walk import operands_of
from teenyc.record import record
from teenyc.types import (
    BOOL,
    F32,
    I32,
    Compute,
    DescriptorType,
    DType,
    Element,
    Extent,
    Pointer,
    Shape,
    TensorType,
    TypeVar,
    Unsuffixed,
    is_f8,
    is_integer,
    scalar,
)

if TYPE_CHECKING:
    from teenyc.codegen.expressions import Expressions

_PLACE = re.compile(r"\{(\w+)\}")
TEXTS = frozenset({Role.CHOICE, Role.TEXT})


PASSED_ON = frozenset({scalar(I32), scalar(BOOL)})
"""Types of values that functions take and give as a launch may give them: constants may be among them."""


@record
class Callee:
    """A device function as its callers see it: its spelling, and the dtype parameters that they must pass."""

    name: str
    dtypes: tuple[tuple[int, str], ...]
    constants: Mapping[str, str]


@record
class Calls:
    """What calls refer to beside their operands: functions, the pointers that bind dtype parameters, let statements."""

    callees: Mapping[str, Callee]
    binding: Mapping[TypeVar, str]
    lets: Mapping[int, Let]

    def call(self, expressions: Expressions, call: Call, results: tuple[Value, ...]) -> Term:
        """A call of an intrinsic."""
        record = find(call.intrinsic)
        assert record is not None, f"there is no intrinsic `{call.intrinsic}`"
        form, helper, is_static = _form(record, call, expressions)
        if helper is not None:
            expressions.helpers[helper] = None
        is_library = helper is not None and helper.startswith(LIBRARY)
        arguments = _Arguments(self, expressions, record, call, is_static, is_library)
        type = results[0].type if len(results) == 1 else None
        element = type.element if isinstance(type, TensorType) else None
        kind = Kind.STATIC if is_static or record.is_known else Kind.TENSOR
        if "{" not in form and not form.endswith(")"):
            return Term(f"{form}({', '.join(arguments.listed())})", ATOM, kind, element)
        text = arguments.filled(form)
        return Term(text, ATOM if _is_closed(text) else terms.TERNARY, kind, element)

    def apply(self, expressions: Expressions, apply: Apply, results: tuple[Value, ...]) -> Term:
        """A call of a device function."""
        element = results[0].type.element if len(results) == 1 and isinstance(results[0].type, TensorType) else None
        callee = self.callees[apply.function]
        texts = [self.passed(expressions, o) for o in apply.operands]
        texts += [f"{name}={expressions.dtypes.text(apply.elements[index])}" for index, name in callee.dtypes]
        texts += [f"{callee.constants[name]}={_constant(expressions, given)}" for name, given in apply.constants]
        is_plain = len(results) == 1 and results[0].type in PASSED_ON
        return atom(f"{callee.name}({', '.join(texts)})", Kind.ARGUMENT if is_plain else Kind.TENSOR, element)

    def passed(self, expressions: Expressions, operand: Operand) -> str:
        """An argument as the function expects it: a tensor, or an `i32` or `bool` as a launch may give it."""
        term = expressions.term(operand)
        is_plain = term.kind is Kind.ARGUMENT and operand.type in PASSED_ON
        return term.text if is_plain else expressions.settled(term).text

    def base(self, pointer: Operand) -> Value | None:
        """The variable that a pointer expression starts from."""
        while isinstance(pointer, Value):
            let = self.lets.get(pointer.id)
            if let is None or pointer.name or not isinstance(let.operation, Offset):
                return pointer
            pointer = let.operation.pointer
        return None


@record
class _Arguments:
    """The arguments of one call as text; those of a static call stay Python numbers, a library takes its types only."""

    calls: Calls
    expressions: Expressions
    record: Intrinsic
    intrinsic: Call
    is_static: bool
    is_library: bool

    def listed(self) -> Iterator[str]:
        """Present arguments in the order of the record, by keyword from `first_by_name` or where one was left out."""
        by_name = False
        for param in self.record.params:
            by_name = by_name or param.name == self.record.first_by_name
            present = list(self.present(param))
            if not present:
                by_name = by_name or param.default is not REQUIRED
            for term in present:
                yield f"{param.name}={term.text}" if by_name else term.text

    def filled(self, form: str) -> str:
        """A template with its places filled."""

        def fill(match: re.Match[str]) -> str:
            term = self.of(match[1])
            before, after = form[: match.start()], form[match.end() :]
            is_separate = before.endswith(("(", ", ", "=", "[")) and after.startswith((")", ",", "]"))
            return term.text if is_separate else term.within(ATOM)

        return _PLACE.sub(fill, form)

    def of(self, name: str) -> Term:
        """The argument that fills a place of a template; what is absent has its default."""
        param = self.record.param(name)
        assert param is not None, f"the form of `{self.record.name}` names no parameter `{name}`"
        present = list(self.present(param))
        if not present:
            return _plain(self, param, _default(param))
        texts = ", ".join(term.text for term in present)
        return present[0] if len(present) == 1 else Term(texts, terms.TERNARY, Kind.TENSOR, None)

    def present(self, param: Param) -> Iterator[Term]:
        """The argument of a parameter, if there is one; several for a variadic parameter."""
        for name, operand in self.intrinsic.operands:
            if _names(name, param):
                yield self.operand(param, operand)
        for name, attribute in self.intrinsic.attributes:
            if _names(name, param):
                yield _plain(self, param, attribute)

    def operand(self, param: Param, operand: Operand) -> Term:
        if self.is_static:
            return self.expressions.term(operand)
        target = self.stored(param, operand)
        if target is not None:
            return target
        term = self.filling(param, operand) or self.expressions.passed(operand)
        if param.name == "mask" and term.kind is not Kind.STATIC:
            term = self.spread(operand, term)
        if param.name == "mask" and Effect.ATOMIC in self.record.effects and term.kind < Kind.ARGUMENT:
            return self.expressions.settled(term)  # Triton's atomics take no Python flag
        if self.record.settles and not self.is_library:
            return self.expressions.settled(term)
        is_typed = term.element in (F32, I32) if self.is_library else self.is_met(param)
        if term.kind >= Kind.ARGUMENT or is_typed:
            return term
        return self.expressions.settled(term)

    def spread(self, mask: Operand, term: Term) -> Term:
        """One flag for many addresses as that many flags: Triton's interpreter would make numbers of it."""
        pointer = self.intrinsic.operand("pointer")
        if pointer is None or not _shape(pointer) or _shape(mask):
            return term
        return spread(term, pointer, self.expressions.constants)

    def filling(self, param: Param, operand: Operand) -> Term | None:
        """What is converted to the dtype that the call names, which Triton does too."""
        dtype = self.record.param(param.meets or "")
        inner = self.uncast(operand)
        if dtype is None or dtype.role is not Role.DTYPE or inner is None:
            return None
        return inner if is_plain(inner.element, self.intrinsic.attribute(dtype.name)) else None

    def is_met(self, param: Param) -> bool:
        """Whether Triton takes a Python number for this argument: what it meets has a type, or the call names one."""
        dtypes = (p.name for p in self.record.params if p.role is Role.DTYPE)
        if param.role is not Role.VALUE or any(self.intrinsic.attribute(name) is not None for name in dtypes):
            return True
        group = {param.name, param.meets} | {p.name for p in self.record.params if p.meets == param.name}
        others = (self.intrinsic.operand(name) for name in group if name is not None and name != param.name)
        return any(o is not None and self.expressions.term(o).kind is Kind.TENSOR for o in others) or any(
            _is_address(o) for o in (self.intrinsic.operand(name or "") for name in group)
        )

    def stored(self, param: Param, operand: Operand) -> Term | None:
        """A value that goes to memory which may hold bf16: rounded to that memory's type. None for all others."""
        pointer = self.intrinsic.operand(param.meets or "")
        memory = _pointee(pointer)
        if pointer is None or memory is None or param.name not in self.record.stored:
            return None
        source = operand.type.element if isinstance(operand.type, TensorType) else None
        if isinstance(operand, Literal) and isinstance(memory, DType) and is_integer(memory):
            return self.expressions.term(operand)  # Triton converts it to the type of the memory
        if self.record.effects and source != memory and (narrow := self.widened(operand, memory)) is not None:
            return narrow
        if not self.record.effects or not needs_rounding(source, memory):
            return None
        is_exact = is_exact_f8 if is_f8(memory) else is_exact_bf16
        if isinstance(operand, Literal) and is_exact(operand):
            return _as_float(operand) if isinstance(memory, TypeVar) and type(operand.value) is int else None
        inner = self.uncast(operand)
        term = inner if inner is not None and does_itself(inner, source) else self.expressions.passed(operand)
        return rounded(self.expressions, term, memory, self.memory_type(pointer, memory))

    def widened(self, operand: Operand, memory: Element) -> Term | None:
        """What was just widened from the named type that the memory has."""
        inner = self.uncast(operand)
        return inner if inner is not None and inner.element == memory and isinstance(memory, DType) else None

    def uncast(self, operand: Operand) -> Term | None:
        """The operand of a cast that is written where it is used."""
        let = self.expressions.inlining.definitions.get(operand.id) if isinstance(operand, Value) else None
        is_cast = let is not None and isinstance(let.operation, Cast)
        return self.expressions.term(operands_of(let)[0]) if let is not None and is_cast else None

    def memory_type(self, pointer: Operand, memory: Element) -> str:
        """The type of memory over `D` is its pointer's own, which may be wider than `D`."""
        base = self.calls.base(pointer)
        if not isinstance(memory, TypeVar) or base is None or isinstance(base.type, DescriptorType):
            return self.expressions.dtypes.text(memory)
        if self.calls.binding.get(memory) == base.name:
            return self.expressions.dtypes.text(memory)
        return f"{self.expressions.term(base).within(ATOM)}.dtype.element_ty"


def _as_float(literal: Literal) -> Term:
    """A whole number for memory of any dtype, which may be that of 8-bit floats: Triton makes those of floats only."""
    return literal_term(Literal(float(literal.value), scalar(F32)))


def _constant(expressions: Expressions, given: Operand | Extent) -> str:
    """A constant argument, which Triton knows when it compiles."""
    if isinstance(given, Extent):
        return extent_term(given, expressions.constants).text
    return expressions.term(given).text


def _form(record: Intrinsic, call: Call, expressions: Expressions) -> tuple[str, str | None, bool]:
    """The Triton form, its helper, and whether the form is the one for numbers that are known when Triton compiles.

    Those are sizes, for which Python computes as the language does: a negative number is none.
    """
    types = {name: operand.type for name, operand in call.operands}
    sizes = ((n, o) for n, o in call.operands if not isinstance(o, Literal) or o.value >= 0)
    known = frozenset(name for name, operand in sizes if expressions.statics.holds(operand))
    plain = record.form(Facts(types, dict(call.attributes)))
    chosen = record.form(Facts(types, dict(call.attributes), known))
    return *chosen, chosen != plain


def _default(param: Param) -> Attribute:
    assert isinstance(param.default, int | float | bool | str | tuple | Extent | None), f"`{param.name}` has no default"
    return param.default


def _plain(arguments: _Arguments, param: Param, attribute: Attribute) -> Term:
    """An argument that is fixed at compile time."""
    expressions = arguments.expressions
    match attribute:
        case None | bool():
            return _static(str(attribute))
        case int():
            return Term(str(attribute), ATOM if attribute >= 0 else terms.UNARY, Kind.STATIC, None)
        case float():
            return literal_term(Literal(attribute, scalar(F32)))
        case str():
            callee = arguments.calls.callees.get(attribute)
            return _static(callee.name if callee is not None and param.role not in TEXTS else quoted(attribute))
        case Extent():
            return extent_term(attribute, expressions.constants)
        case DType() | TypeVar() | Compute() | Unsuffixed() | Pointer():
            return _static(expressions.dtypes.text(attribute))
        case tuple():
            extents = tuple(e if isinstance(e, Extent) else Extent.of(e) for e in attribute)
            return _static(shape_text(extents, expressions.constants))
        case _:
            assert_never(attribute)


def _static(text: str) -> Term:
    return Term(text, ATOM, Kind.STATIC, None)


def _pointee(operand: Operand | None) -> Element | None:
    """What memory behind a pointer or descriptor holds."""
    match operand.type if operand is not None else None:
        case TensorType(element=Pointer(to=element)):
            return element
        case DescriptorType(element=element):
            return element
        case _:
            return None


def spread(flag: Term, many: Operand, constants: Mapping[str, str]) -> Term:
    """One flag as many, of the shape of what it meets: Triton's interpreter would make numbers of it."""
    shape = shape_text(_shape(many), constants)
    return Term(f"tl.full({shape}, {flag.text}, tl.int1) != 0", terms.COMPARISON, Kind.TENSOR, flag.element)


def _shape(operand: Operand) -> Shape:
    return operand.type.shape if isinstance(operand.type, TensorType) else ()


def _is_address(operand: Operand | None) -> bool:
    return _pointee(operand) is not None


def _is_closed(text: str) -> bool:
    """Whether the text has no operator outside of brackets."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return False
    return text[:1] not in "-~"


def _names(name: str, param: Param) -> bool:
    """Whether an argument is one of a parameter: a variadic one has several, `x0`, `x1`, …"""
    return name == param.name or (name.startswith(param.name) and name[len(param.name) :].isdecimal())
