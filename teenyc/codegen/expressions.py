"""Expressions: an operand of the IR goes in, the Python expression that computes it comes out.

Conversions that Triton does by itself are left out; every other one is written so that Triton's compiler and its
interpreter, where loop counters and constants are Python numbers, give what the IR says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from teenyc.codegen import terms
from teenyc.codegen.calls import Calls, spread
from teenyc.codegen.casts import cast, does_itself, to_number
from teenyc.codegen.dtypes import DTypeNames
from teenyc.codegen.helpers import DIVIDED, QUOTIENT, REMAINDER, WRAPPED
from teenyc.codegen.inline import Inlining
from teenyc.codegen.numbers import SMALLEST_GREATEST, full, is_default, literal_term, stands_alone
from teenyc.codegen.static import EXACT, Statics
from teenyc.codegen.terms import ATOM, COMPARISON, UNARY, Kind, Term, atom
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Unary,
    Value,
)
from teenyc.record import record, replace
from teenyc.types import BOOL, F64, I32, DType, Element, TensorType, is_generic_number, is_integer, scalar
from teenyc.types import Kind as ElementKind

BINARY: Mapping[str, tuple[str, int]] = {
    "add": ("+", terms.SUM),
    "sub": ("-", terms.SUM),
    "mul": ("*", terms.PRODUCT),
    "div": ("/", terms.PRODUCT),
    "rem": ("%", terms.PRODUCT),
    "and": ("&", terms.AND),
    "or": ("|", terms.OR),
    "xor": ("^", terms.XOR),
    "shl": ("<<", terms.SHIFT),
    "shr": (">>", terms.SHIFT),
}
GREATEST = 2**31 - 1
"""The greatest size of a negative literal that is subtracted instead of added."""

WRAPPING = ("add", "sub", "mul", "shl")
"""The operators whose result may need more bits than their operands."""

COMPARE: Mapping[str, str] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPPOSITE: Mapping[str, str] = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
"""What holds where a comparison does not; in order only of numbers that are no NaN."""


@record
class Expressions:
    """Everything that the text of an operand depends on.

    `helpers` and `dtypes.used` grow with what is written. `written` keeps the terms of inlined values, and from the
    start those of parameters that are converted wherever they are used.
    """

    inlining: Inlining
    statics: Statics
    names: Mapping[int, str]
    kinds: Mapping[int, Kind]
    constants: Mapping[str, str]
    dtypes: DTypeNames
    calls: Calls
    helpers: dict[str, None]
    written: dict[int, Term]
    numbers: Mapping[tuple[str, str], str]
    used: dict[str, str]

    # ---- operands ---------------------------------------------------------------------------------------------------

    def term(self, operand: Operand) -> Term:
        """The expression of an operand, of the type that the IR gives it."""
        match operand:
            case Literal():
                return self.number(operand) if is_generic_number(operand.type.element) else self.literal(operand)
            case Constant():
                is_nonnegative = self.statics.is_nonnegative(operand)
                return atom(
                    self.constants[operand.name], Kind.STATIC, operand.type.element, is_nonnegative=is_nonnegative
                )
            case Value():
                definition = self.inlining.definitions.get(operand.id)
                if definition is None:
                    return self.variable(operand)
                if operand.id not in self.written:
                    self.written[operand.id] = self.operation(definition)
                return self.written[operand.id]
            case _:
                assert_never(operand)

    def literal(self, literal: Literal) -> Term:
        """A number, under the name of the constant that it is in the source."""
        term = literal_term(literal)
        spelled = self.numbers.get(number_key(literal)) if literal.name else None
        if spelled is None:
            return term
        self.used[spelled] = term.text
        return replace(term, text=spelled, binding=ATOM)

    def variable(self, value: Value) -> Term:
        if value.id in self.written:
            return self.written[value.id]
        kind = self.kinds.get(value.id, Kind.TENSOR)
        return atom(self.names[value.id], kind, element_of(value), is_nonnegative=value.id in self.statics.nonnegative)

    def tensor(self, operand: Operand) -> Term:
        """The operand as a tensor of its type, in the compiler and in the interpreter."""
        return self.settled(self.term(operand))

    def number(self, literal: Literal) -> Term:
        """A literal of a `D: Num`: small integers are written alike for every type, others become what `D` holds."""
        value = literal.value
        if value in range(SMALLEST_GREATEST + 1):
            return literal_term(Literal(int(value), literal.type))
        exact = full(literal_term(Literal(float(value), scalar(F64))), "tl.float64")
        return to_number(self, exact, literal.type.element)

    def settled(self, term: Term) -> Term:
        """A term as a tensor of its type."""
        if term.kind is Kind.TENSOR or term.element is None:
            return term
        dtype = self.dtypes.text(term.element)
        if term.kind is Kind.STATIC:
            return full(term, dtype)
        return terms.tensor(f"tl.cast({term.text}, {dtype})", term.element)

    def assigned(self, operand: Operand) -> Term:
        """The operand as the right side of an assignment, which makes a tensor of a Python number."""
        term = self.term(operand)
        return self.assignable(term) if self.is_bare(operand) else self.settled(term)

    def assignable(self, term: Term) -> Term:
        """A term on the right side of an assignment, where Triton gives a number its default type."""
        return term if term.kind >= Kind.ARGUMENT or is_default(term.element) else self.settled(term)

    def passed(self, operand: Operand) -> Term:
        """The operand as an argument beside others that decide its type."""
        term = self.term(operand)
        return term if term.kind is not Kind.STATIC or self.is_bare(operand) else self.settled(term)

    def is_bare(self, operand: Operand) -> bool:
        """Whether a bare number does for an operand; a value that is no number is left alone."""
        if isinstance(operand, Literal):
            return stands_alone(operand)
        element = element_of(operand)
        return is_default(element) or (isinstance(element, DType) and is_integer(element) and element.bits >= 32)

    def condition(self, operand: Operand) -> Term:
        """The operand where `if` or `while` tests it."""
        definition = self.inlining.definitions.get(operand.id) if isinstance(operand, Value) else None
        if definition is not None and isinstance(definition.operation, Unary):
            inner = self.condition(definition.operation.operand)
            return Term(f"not {inner.within(terms.NOT)}", terms.NOT, inner.kind, BOOL)
        return self.term(operand)

    def opposite(self, operand: Operand) -> Term:
        """The opposite of a condition: `a != b` for `a == b`, `a >= b` for integers `a < b`, otherwise `not …`."""
        definition = self.inlining.definitions.get(operand.id) if isinstance(operand, Value) else None
        compare = definition.operation if definition is not None else None
        if isinstance(compare, Compare) and compare.operator in OPPOSITE:
            element = element_of(compare.left)
            if compare.operator in ("eq", "ne") or (element is not None and is_integer(element)):
                return self.compare(replace(compare, operator=OPPOSITE[compare.operator]))
        condition = self.condition(operand)
        if condition.binding == terms.NOT:
            return replace(condition, text=condition.text.removeprefix("not "))
        return Term(f"not {condition.within(terms.NOT)}", terms.NOT, condition.kind, condition.element)

    # ---- operations -------------------------------------------------------------------------------------------------

    def operation(self, let: Let) -> Term:
        """The expression of an operation that gives one value, or none or several for a call."""
        element = element_of(let.results[0]) if len(let.results) == 1 else None
        operation: Operation = let.operation
        match operation:
            case Copy():
                return self.term(operation.operand)
            case Unary():
                return self.unary(operation)
            case Binary():
                return self.binary(operation, element)
            case Compare():
                return self.compare(operation)
            case Cast():
                return cast(self, operation, element)
            case Offset():
                return self.offset(operation, element)
            case ExpandDims():
                return self.expand(operation, let.results[0])
            case Call():
                return self.calls.call(self, operation, let.results)
            case Apply():
                return self.calls.apply(self, operation, let.results)
            case _:
                assert_never(operation)

    def unary(self, operation: Unary) -> Term:
        term = self.term(operation.operand)
        if term.kind < Kind.ARGUMENT and is_integer_element(term.element) and term.element not in EXACT:
            term = self.settled(term)
        if operation.operator == "neg":
            negative = Term(f"-{(term.unwrapped or term).within(UNARY)}", UNARY, term.kind, term.element)
            may_wrap = term.kind is Kind.STATIC and term.element == I32
            return self.wrapped(negative) if may_wrap and self.statics.limit_of(operation) is None else negative
        if term.element == BOOL and term.kind < Kind.ARGUMENT:
            return Term(f"not {term.within(terms.NOT)}", terms.NOT, term.kind, BOOL)
        if isinstance(term.element, DType) and term.element.kind is ElementKind.UNSIGNED:
            ones = f"0x{term.element.maximum:X}"  # Triton 3.6's interpreter has no `~` for these
            return Term(f"{term.within(terms.XOR)} ^ {ones}", terms.XOR, term.kind, term.element)
        return Term(f"~{term.within(UNARY)}", UNARY, term.kind, term.element)

    def binary(self, operation: Binary, element: Element | None) -> Term:
        opposite = self.negated(operation.right) if operation.operator == "add" else None
        if opposite is not None:
            return self.binary(Binary(operator="sub", left=operation.left, right=opposite), element)
        left, right = self.pair(operation.left, operation.right)
        match operation.operator:
            case "div" | "rem":
                return self.quotient(operation.operator, left, right, element)
            case "shl" | "shr":
                left, right = self.shift(left, right)
            case "mul" if Kind.LOOSE is max(left.kind, right.kind) and is_integer_element(element):
                if element != I32 or not self.statics.has_product(operation.left, operation.right):
                    left, right = self.bounded(left, right)
            case _ if max(left.kind, right.kind) < Kind.ARGUMENT and element not in EXACT:
                left = self.settled(left)
        return self.flags(operation, left, right) if element == BOOL else self.ring(operation, left, right, element)

    def flags(self, operation: Binary, left: Term, right: Term) -> Term:
        """Flags joined. Where one meets many, Triton's interpreter stretches it to a tensor of what it compares.

        That is no mask and has another `~`; and of floats it cannot be joined to flags at all.
        """
        sides = [(operation.left, left, operation.right), (operation.right, right, operation.left)]
        single = [_is_scalar(own) and not _is_scalar(other) and term.kind > Kind.STATIC for own, term, other in sides]
        if not any(single):
            return self.ring(operation, left, right, BOOL)
        flag, _, many = sides[single.index(True)]
        if not self.compares_integers(flag):
            left, right = (
                spread(term, many, self.constants) if is_single else term
                for is_single, term in zip(single, (left, right), strict=True)
            )
            return self.ring(operation, left, right, BOOL)
        ring = self.ring(operation, left, right, BOOL)
        return Term(f"({ring.text}) != 0", terms.COMPARISON, ring.kind, BOOL)

    def compares_integers(self, flag: Operand) -> bool:
        """Whether a flag is made of comparisons of integers alone, as far as its text shows."""
        let = self.inlining.definitions.get(flag.id) if isinstance(flag, Value) else None
        match let.operation if let is not None else None:
            case Compare(left=left):
                return is_integer_element(element_of(left))
            case Binary(left=left, right=right):
                return self.compares_integers(left) and self.compares_integers(right)
            case _:
                return False

    def ring(self, operation: Binary, left: Term, right: Term, element: Element | None) -> Term:
        """An operator that Python has too; what constants alone may make too large is wrapped, as late as can be."""
        symbol, binding = BINARY[operation.operator]
        kind = max(left.kind, right.kind)
        may_wrap = kind is Kind.STATIC and element == I32 and operation.operator in WRAPPING
        if may_wrap:
            left, right = left.unwrapped or left, right.unwrapped or right
        is_nonnegative = left.is_nonnegative and right.is_nonnegative and operation.operator != "sub"
        text = f"{left.within(binding)} {symbol} {right.within(binding + 1)}"
        term = Term(text, binding, kind, element, is_nonnegative)
        return term if not may_wrap or self.statics.limit_of(operation) is not None else self.wrapped(term)

    def wrapped(self, term: Term) -> Term:
        """A Python number of 32 bits."""
        self.helpers[WRAPPED] = None
        return Term(f"{WRAPPED}({term.text})", ATOM, term.kind, term.element, unwrapped=term)

    def bounded(self, left: Term, right: Term) -> tuple[Term, Term]:
        """A product with a loop counter, which must wrap where the interpreter's Python numbers do not."""
        if left.kind is Kind.LOOSE:
            return self.settled(left), right
        return left, self.settled(right)

    def shift(self, left: Term, right: Term) -> tuple[Term, Term]:
        """The count of a shift is taken modulo the width."""
        is_number = left.kind is Kind.STATIC and left.element in EXACT
        if left.kind < Kind.ARGUMENT and not (is_number and _is_count(right, left.element)):
            left = self.settled(left)
        if not _is_count(right, left.element):
            assert isinstance(left.element, DType)
            mask = str(left.element.bits - 1)
            right = Term(f"{right.within(terms.AND)} & {mask}", terms.AND, right.kind, right.element)
        return left, right

    def quotient(self, operator: str, left: Term, right: Term, element: Element | None) -> Term:
        """Division and remainder: Triton truncates integers as the IR does, Python floors them."""
        binding = terms.PRODUCT
        if element is not None and is_generic_number(element) and operator == "div":
            self.helpers[QUOTIENT] = None
            return terms.tensor(f"{QUOTIENT}({self.settled(left).text}, {self.settled(right).text})", element)
        is_floor = max(left.kind, right.kind) < Kind.ARGUMENT
        if max(left.kind, right.kind) is Kind.STATIC and element in EXACT:
            return self.static_quotient(operator, left, right, element)
        is_nonnegative = left.is_nonnegative and right.is_nonnegative
        if is_floor and not (is_nonnegative and is_integer_element(element)):
            left = self.settled(left)
        symbol = "%" if operator == "rem" else "//" if is_integer_element(element) else "/"
        text = f"{left.within(binding)} {symbol} {right.within(binding + 1)}"
        return Term(text, binding, max(left.kind, right.kind), element, is_nonnegative)

    def static_quotient(self, operator: str, left: Term, right: Term, element: Element | None) -> Term:
        """A quotient that stays known when Triton compiles."""
        assert isinstance(element, DType), "numbers that Python may stand in for"
        if left.is_nonnegative and right.is_nonnegative:
            symbol = "%" if operator == "rem" else "//"
            text = f"{left.within(terms.PRODUCT)} {symbol} {right.within(terms.PRODUCT + 1)}"
            return Term(text, terms.PRODUCT, Kind.STATIC, element, is_nonnegative=True)
        helper = REMAINDER if operator == "rem" else DIVIDED
        self.helpers[helper] = None
        width = "" if operator == "rem" else f", {element.bits}"
        return Term(f"{helper}({left.text}, {right.text}{width})", ATOM, Kind.STATIC, element)

    def compare(self, operation: Compare) -> Term:
        for side, other in ((operation.left, operation.right), (operation.right, operation.left)):
            if isinstance(side, Literal) and isinstance(side.value, bool):
                return self.is_true(other, side.value == (operation.operator == "eq"))
        left, right = self.pair(operation.left, operation.right)
        if left.kind is Kind.TENSOR and right.kind is Kind.STATIC and right.element not in EXACT:
            right = self.passed(operation.right)
        elif right.kind is Kind.TENSOR and left.kind is Kind.STATIC and left.element not in EXACT:
            left = self.passed(operation.left)
        binding = COMPARISON + 1
        text = f"{left.within(binding)} {COMPARE[operation.operator]} {right.within(binding)}"
        return Term(text, COMPARISON, max(left.kind, right.kind), BOOL)

    def is_true(self, operand: Operand, wanted: bool) -> Term:
        return self.term(operand) if wanted else self.unary(Unary(operator="not", operand=operand))

    def pair(self, left: Operand, right: Operand) -> tuple[Term, Term]:
        """Two operands that meet, without the cast that Triton does by itself where the other has the type."""
        bare_left, bare_right = self.uncast(left), self.uncast(right)
        if bare_left is not None and (bare_right is None or bare_left.kind is Kind.STATIC):
            second = self.term(right)
            return (bare_left if second.kind is Kind.TENSOR else self.term(left)), second
        first = self.term(left)
        return first, bare_right if bare_right is not None and first.kind is Kind.TENSOR else self.term(right)

    def uncast(self, operand: Operand) -> Term | None:
        """The operand of a cast that Triton does by itself where a tensor of the result's type is met."""
        definition = self.inlining.definitions.get(operand.id) if isinstance(operand, Value) else None
        if definition is None or not isinstance(definition.operation, Cast):
            return None
        term = self.term(definition.operation.operand)
        return term if does_itself(term, element_of(definition.results[0])) else None

    def offset(self, operation: Offset, element: Element | None) -> Term:
        pointer = self.term(operation.pointer)
        opposite = self.negated(operation.offset)
        if opposite is not None:
            term, symbol = self.term(opposite), "-"
        else:
            term, symbol = self.uncast(operation.offset) or self.term(operation.offset), "+"
        text = f"{pointer.within(terms.SUM)} {symbol} {term.within(terms.SUM + 1)}"
        return Term(text, terms.SUM, Kind.TENSOR, element)

    def negated(self, operand: Operand) -> Operand | None:
        """What an operand is the negative of, where it is written so: subtracting that is the same."""
        if isinstance(operand, Literal):
            is_safe = not isinstance(operand.value, bool) and -_greatest(operand) <= operand.value < 0
            return Literal(-operand.value, operand.type) if is_safe else None
        definition = self.inlining.definitions.get(operand.id) if isinstance(operand, Value) else None
        if definition is None or not isinstance(definition.operation, Unary) or definition.operation.operator != "neg":
            return None
        return definition.operation.operand

    def expand(self, operation: ExpandDims, result: Value) -> Term:
        term = self.tensor(operation.operand)
        rank = len(result.type.shape) if isinstance(result.type, TensorType) else 0
        slices = ", ".join("None" if axis in operation.axes else ":" for axis in range(rank))
        return atom(f"{term.within(ATOM)}[{slices}]", Kind.TENSOR, term.element)


def _greatest(literal: Literal) -> int:
    """The greatest number whose negative and itself the type of a literal has, whatever `D` is."""
    element = literal.type.element
    return element.maximum if isinstance(element, DType) and is_integer(element) else GREATEST


def number_key(literal: Literal) -> tuple[str, str]:
    """What tells constants of the source apart: two of one name may be different numbers."""
    return literal.name, repr(literal.value)


def element_of(operand: Operand) -> Element | None:
    """The element type of an operand; None for a descriptor."""
    return operand.type.element if isinstance(operand.type, TensorType) else None


def _is_scalar(operand: Operand) -> bool:
    return isinstance(operand.type, TensorType) and not operand.type.shape


def is_integer_element(element: Element | None) -> bool:
    return element is not None and is_integer(element)


def _is_count(count: Term, element: Element | None) -> bool:
    """Whether a shift count is a literal below the width."""
    return isinstance(element, DType) and count.text.isdecimal() and int(count.text) < element.bits
