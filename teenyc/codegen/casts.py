"""Casts: how a conversion is written, and when Triton does it by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.codegen import terms
from teenyc.codegen.helpers import ROUND_TO, ROUND_WIDE, TO_F8, TO_NUMBER, saturation
from teenyc.codegen.static import only_widens
from teenyc.codegen.terms import ATOM, Kind, Term
from teenyc.ir.nodes import Cast, Literal, Operand, Value
from teenyc.types import (
    BF16,
    BOOL,
    F32,
    F64,
    I32,
    I64,
    U32,
    U64,
    Bound,
    Compute,
    DType,
    Element,
    TensorType,
    TypeVar,
    is_f8,
    is_float,
    is_generic_number,
    is_integer,
)
from teenyc.types import Kind as ElementKind

if TYPE_CHECKING:
    from teenyc.codegen.expressions import Expressions

WIDE = frozenset({F64, I32, I64, U32, U64})
"""Types of which f32 does not hold every number."""


def cast(expressions: Expressions, operation: Cast, target: Element | None) -> Term:
    """A conversion to the element type `target`. Memory of `D::Compute` may be wider than that."""
    assert isinstance(operation.operand.type, TensorType), "casts convert numbers"
    same = _reread(expressions, operation.operand, target)
    if same is not None:
        return same
    term = expressions.term(operation.operand)
    source = term.element
    if target is None or source is None:
        return term
    if source == target:
        is_loaded = isinstance(target, Compute) and operation.operand.type.element == target
        return converted(expressions, term, target) if is_loaded else term
    if term.kind is Kind.STATIC and only_widens(source, target):
        return term.typed(target)
    if is_float(source) and isinstance(target, DType) and is_integer(target):
        helper = saturation(target).name
        expressions.helpers[helper] = None
        return terms.tensor(f"{helper}({expressions.settled(term).text})", target)
    if is_float(source) and is_generic_number(target):
        return to_number(expressions, expressions.settled(term), target)
    if target == BF16 and source in WIDE:
        expressions.helpers.update(dict.fromkeys((ROUND_TO, ROUND_WIDE)))
        return terms.tensor(f"{ROUND_WIDE}({expressions.settled(term).text})", target)
    if needs_rounding(source, target):
        if isinstance(operation.operand, Literal):
            term = expressions.passed(operation.operand)
        return rounded(expressions, term, target, expressions.dtypes.text(target))
    return converted(expressions, term, target)


def to_number(expressions: Expressions, term: Term, target: Element) -> Term:
    """A float as a `D: Num`, of which only the launch says whether it is an integer."""
    if isinstance(target, TypeVar):
        number = to_number(expressions, term, Compute(target))
        return rounded(expressions, number, target, expressions.dtypes.text(target))
    expressions.helpers[TO_NUMBER] = None
    return terms.tensor(f"{TO_NUMBER}({term.text}, {expressions.dtypes.text(target)})", target)


def _reread(expressions: Expressions, operand: Operand, target: Element | None) -> Term | None:
    """What was cast to the other signedness and is cast back: a tensor, which wraps by itself."""
    let = expressions.inlining.definitions.get(operand.id) if isinstance(operand, Value) else None
    if let is None or not isinstance(let.operation, Cast):
        return None
    inner, between = let.operation.operand.type, operand.type
    if not isinstance(inner, TensorType) or inner.element != target or not isinstance(between, TensorType):
        return None
    if not isinstance(target, DType) or not is_integer(target) or not isinstance(between.element, DType):
        return None
    if not is_integer(between.element) or between.element.bits != target.bits:
        return None
    term = expressions.term(let.operation.operand)
    return term if term.kind is Kind.TENSOR else None


def converted(expressions: Expressions, term: Term, target: Element) -> Term:
    """A conversion that Triton's own cast does right."""
    dtype = expressions.dtypes.text(target)
    if term.kind is Kind.TENSOR:
        return terms.tensor(f"{term.within(ATOM)}.to({dtype})", target)
    if term.kind is Kind.STATIC and term.element is not None and is_float(term.element):
        return terms.tensor(f"tl.full([], {term.text}, {dtype})", target)
    return terms.tensor(f"tl.cast({term.text}, {dtype})", target)


def rounded(expressions: Expressions, term: Term, target: Element, dtype: str) -> Term:
    """A conversion that may be one to bf16 or to 8 bits, which Triton's interpreter does wrongly."""
    helper = TO_F8 if is_f8(target) else ROUND_TO
    expressions.helpers[helper] = None
    text = expressions.settled(term).text if is_f8(target) else term.text
    return terms.tensor(f"{helper}({text}, {dtype})", target)


def is_plain(source: Element | None, target: object) -> bool:
    """Whether Triton's own cast from a number to a float is right."""
    if source is None or not isinstance(target, DType | Compute) or needs_rounding(source, target):
        return False
    return is_float(target) and not isinstance(source, TypeVar)


def needs_rounding(source: Element | None, target: Element) -> bool:
    """Whether bits may be cut off on the way to bf16 or to an 8-bit float."""
    may_be_short = target == BF16 or isinstance(target, TypeVar) or is_f8(target)
    return may_be_short and source not in (target, BOOL)


def does_itself(term: Term, target: Element | None) -> bool:
    """Whether Triton converts a term to `target` by itself where it meets a tensor of that type."""
    source = term.element
    if source is None or target is None:
        return False
    if term.kind is Kind.STATIC:
        return is_float(target) and isinstance(source, DType) and is_integer(source)
    if _is_wider_integer(source, target):
        return True
    is_wide = target == F64 or (isinstance(target, Compute) and target.of.bound is Bound.FLOAT)
    return source == F32 and is_wide


def _is_wider_integer(source: Element, target: Element) -> bool:
    """Whether both are integers of one signedness and no bit is lost."""
    if not isinstance(source, DType) or not isinstance(target, DType) or source.kind is not target.kind:
        return False
    return source.kind in (ElementKind.SIGNED, ElementKind.UNSIGNED) and source.bits <= target.bits
