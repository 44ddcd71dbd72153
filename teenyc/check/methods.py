"""Rust's methods of numbers: a method that is no function of the language becomes the expression that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from teenyc.check import expressions
from teenyc.check.context import INVALID, Checked, Context, Invalid, Symbol
from teenyc.check.infer import is_bool
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DType, Element, Kind, is_float, is_generic_number, is_integer

RENAMED = {"ln": "log", "powf": "pow", "mul_add": "fma", "add": "add_offsets"}
"""Methods whose function has another name here."""

MOST_FACTORS = 64
"""The greatest exponent of `pow` and `powi`, which are written as products."""


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """An expression under construction: Python's operators build the language's. `of` is the receiver's type."""

    node: ast.Expression
    of: Element

    def infix(self, sign: str, other: Operand, *, swap: bool = False) -> Number:
        left, right = (self.like(other), self) if swap else (self, self.like(other))
        span = self.node.span
        return self.made(ast.Binary(operator=sign, left=left.node, right=right.node, operator_span=span, span=span))

    def like(self, other: Operand) -> Number:
        """A Python number as a literal of the type of what it meets."""
        if isinstance(other, Number):
            return other
        span = self.node.span
        is_float = isinstance(other, float)
        literal = (
            ast.FloatLiteral(value=other, span=span) if is_float else ast.IntegerLiteral(value=int(other), span=span)
        )
        return self.made(literal)

    def made(self, node: ast.Expression) -> Number:
        return Number(node, self.of)

    def cast(self, type: str) -> Number:
        target = ast.PathType(segments=(_segment(type, self.node.span),), span=self.node.span)
        return self.made(ast.Cast(operand=self.node, target=target, span=self.node.span))

    def call(self, name: str, *others: Operand) -> Number:
        """`name(self, others)`."""
        given = (self, *map(self.like, others))
        arguments = tuple(ast.Argument(value=n.node, span=n.node.span) for n in given)
        callee = ast.PathExpression(segments=(_segment(name, self.node.span),), span=self.node.span)
        return self.made(ast.Call(callee=callee, arguments=arguments, span=self.node.span))

    def __add__(self, other: Operand) -> Number:
        return self.infix("+", other)

    def __sub__(self, other: Operand) -> Number:
        return self.infix("-", other)

    def __mul__(self, other: Operand) -> Number:
        return self.infix("*", other)

    def __truediv__(self, other: Operand) -> Number:
        return self.infix("/", other)

    def __rtruediv__(self, other: Operand) -> Number:
        return self.infix("/", other, swap=True)

    def __mod__(self, other: Operand) -> Number:
        return self.infix("%", other)

    def __and__(self, other: Operand) -> Number:
        return self.infix("&", other)

    def __or__(self, other: Operand) -> Number:
        return self.infix("|", other)

    def __xor__(self, other: Operand) -> Number:
        return self.infix("^", other)

    def __lshift__(self, other: Operand) -> Number:
        return self.infix("<<", other)

    def __rshift__(self, other: Operand) -> Number:
        return self.infix(">>", other)

    def __lt__(self, other: Operand) -> Number:
        return self.infix("<", other)

    def __gt__(self, other: Operand) -> Number:
        return self.infix(">", other)

    def __ge__(self, other: Operand) -> Number:
        return self.infix(">=", other)

    def is_equal(self, other: Operand) -> Number:
        return self.infix("==", other)

    def differs(self, other: Operand) -> Number:
        return self.infix("!=", other)

    def negative(self) -> Number:
        """Below zero from zero, which unsigned integers have too; they wrap."""
        return self.like(0) - self

    def then(self, first: Operand, second: Operand) -> Number:
        """`first` where this holds, else `second`."""
        return self.call("where_", first, second)

    def wrapped(self) -> Number:
        """The same bits by way of the other signedness: what reaches an address is computed exactly from here on."""
        if not isinstance(self.of, DType) or self.of.bits >= 64:
            return self
        return self.cast(_other_sign(self.of)).cast(self.of.name)


Operand = Number | int | float


def _segment(name: str, span: Span) -> ast.Segment:
    return ast.Segment(name=ast.Name(name, span))


def _other_sign(dtype: DType) -> str:
    return ("i" if dtype.kind is Kind.UNSIGNED else "u") + str(dtype.bits)


def _dtype(number: Number) -> DType:
    assert isinstance(number.of, DType), "integers have a type of their own"
    return number.of


# ---- the methods ----------------------------------------------------------------------------------------------------


def _rem_euclid(x: Number, y: Number) -> Number:
    rest = x % y
    zero = 0.0 if is_float(x.of) else 0
    return (rest < zero).then(rest + (y if _is_unsigned(x) else y.call("abs")), rest)


def _div_euclid(x: Number, y: Number) -> Number:
    quotient = x / y
    if _is_unsigned(x):
        return quotient
    return (x % y < 0).then((y > 0).then(quotient - 1, quotient + 1), quotient)


def _abs_diff(x: Number, y: Number) -> Number:
    size = (x < y).then(y - x, x - y)
    return size if is_float(x.of) or _is_unsigned(x) else size.cast(_other_sign(_dtype(x)))


def _trunc(x: Number) -> Number:
    return (x < 0.0).then(x.call("ceil"), x.call("floor"))


def _round(x: Number) -> Number:
    """Halves away from zero."""
    whole = _trunc(x)
    return ((x - whole).call("abs") >= 0.5).then(whole + (x < 0.0).then(-1.0, x.like(1.0)), whole)


def _saturating_add(x: Number, y: Number) -> Number:
    total, dtype = x + y, _dtype(x)
    if _is_unsigned(x):
        return (total < x).then(dtype.maximum, total)
    overflows = ((total ^ x) & (total ^ y)) < 0
    return overflows.then((x < 0).then(dtype.minimum, x.like(dtype.maximum)), total)


def _saturating_sub(x: Number, y: Number) -> Number:
    rest, dtype = x - y, _dtype(x)
    if _is_unsigned(x):
        return (x < y).then(0, rest)
    overflows = ((x ^ y) & (rest ^ x)) < 0
    return overflows.then((x < 0).then(dtype.minimum, x.like(dtype.maximum)), rest)


def _rotate(x: Number, count: Number, *, left: bool) -> Number:
    dtype = _dtype(x)
    bits = x if _is_unsigned(x) else x.cast(_other_sign(dtype))
    by = count.cast(_other_sign(dtype) if not _is_unsigned(x) else dtype.name)
    back = by.negative()
    turned = (bits << by) | (bits >> back) if left else (bits >> by) | (bits << back)
    return turned if _is_unsigned(x) else turned.cast(dtype.name)


def _signum(x: Number) -> Number:
    if is_integer(x.of):
        return (x > 0).then(1, (x < 0).then(-1, x.like(0)) if not _is_unsigned(x) else x.like(0))
    return (x > 0.0).then(1.0, (x < 0.0).then(-1.0, x))


def _unsigned_abs(x: Number) -> Number:
    return x.call("abs").cast(_other_sign(_dtype(x)))


def _is_unsigned(number: Number) -> bool:
    return isinstance(number.of, DType) and number.of.kind is Kind.UNSIGNED


INTEGER: Mapping[str, Callable[..., Number]] = {
    "wrapping_add": lambda x, y: (x + y).wrapped(),
    "wrapping_sub": lambda x, y: (x - y).wrapped(),
    "wrapping_mul": lambda x, y: (x * y).wrapped(),
    "wrapping_div": lambda x, y: (x / y).wrapped(),
    "wrapping_rem": lambda x, y: x % y,
    "wrapping_neg": lambda x: x.negative().wrapped(),
    "wrapping_abs": lambda x: x.call("abs").wrapped(),
    "wrapping_shl": lambda x, y: (x << y).wrapped(),
    "wrapping_shr": lambda x, y: x >> y,
    "saturating_add": _saturating_add,
    "saturating_sub": _saturating_sub,
    "div_ceil": lambda x, y: x.call("cdiv", y),
    "div_euclid": _div_euclid,
    "unsigned_abs": _unsigned_abs,
    "rotate_left": lambda x, n: _rotate(x, n, left=True),
    "rotate_right": lambda x, n: _rotate(x, n, left=False),
    "is_positive": lambda x: x > 0,
    "is_negative": lambda x: x < 0,
    "is_power_of_two": lambda x: (x & (x - 1)).is_equal(0) & (x > 0),
}
FLOAT: Mapping[str, Callable[..., Number]] = {
    "is_nan": lambda x: x.differs(x),
    "is_infinite": lambda x: x.call("abs").is_equal(float("inf")),
    "is_finite": lambda x: x.call("abs") < float("inf"),
    "trunc": _trunc,
    "round": _round,
    "fract": lambda x: x - _trunc(x),
    "recip": lambda x: 1.0 / x,
    "exp_m1": lambda x: x.call("expm1"),
    "ln_1p": lambda x: x.call("log1p"),
    "to_radians": lambda x: x * 0.017453292519943295,
    "to_degrees": lambda x: x * 57.29577951308232,
}
NUMBER: Mapping[str, Callable[..., Number]] = {
    "rem_euclid": _rem_euclid,
    "abs_diff": _abs_diff,
    "signum": _signum,
    "max": lambda x, y: x.call("maximum", y),
    "min": lambda x, y: x.call("minimum", y),
    "clone": lambda x: x,
}
EXTREMA: Mapping[str, Callable[..., Number]] = {
    "max": lambda x, axis: x.call("max", axis),
    "min": lambda x, axis: x.call("min", axis),
}
"""`x.max(1)` on a tensor, where a whole number is an axis."""
POWERS = ("pow", "powi")
NAMES = frozenset({*INTEGER, *FLOAT, *NUMBER, *POWERS})


# ---- calls ----------------------------------------------------------------------------------------------------------


def number_method(context: Context, node: ast.MethodCall) -> Checked | None:
    """The value of a method of numbers; None where the receiver has no such method, or for another method."""
    receiver = expressions.operand(context, node.receiver)
    if isinstance(receiver, Invalid):
        return INVALID
    type = context.tensor_of(receiver)
    element = context.inference.final(type.element) if type is not None else None
    name = node.method.name.text
    if element is None or is_bool(element) or any(a.name is not None for a in node.arguments):
        return None
    form = _form(name, element)
    if name in EXTREMA and type is not None and type.shape and _is_axis(node.arguments[0].value):
        form = EXTREMA[name]
    given = [expressions.operand(context, a.value) for a in node.arguments]
    if any(isinstance(g, Invalid) for g in given):
        return INVALID
    if name in POWERS:
        return _power(context, node, receiver, element, given)
    if form is None or form.__code__.co_argcount != 1 + len(given):
        return None
    return _evaluated(context, node, form, element, (receiver, *given))


def _is_axis(node: ast.Expression) -> bool:
    return isinstance(node.operand if isinstance(node, ast.Unary) else node, ast.IntegerLiteral)


def _form(name: str, element: Element) -> Callable[..., Number] | None:
    number = is_integer(element) or is_float(element) or is_generic_number(element)
    table = INTEGER if is_integer(element) else FLOAT if is_float(element) else {}
    return table.get(name) or (NUMBER.get(name) if number else None)


def _evaluated(
    context: Context,
    node: ast.MethodCall,
    form: Callable[..., Number],
    element: Element,
    operands: tuple[Checked, ...],
) -> Checked:
    """The expression of a form, checked with the operands under names that no source has."""
    spans = (node.receiver.span, *(a.value.span for a in node.arguments))
    spans = spans[: len(operands)]
    names = [f"operand {index}" for index in range(len(operands))]
    scope = {n: Symbol(n, s, o, is_read=True) for n, s, o in zip(names, spans, operands, strict=True)}
    paths = [ast.PathExpression(segments=(_segment(n, s),), span=s) for n, s in zip(names, spans, strict=True)]
    context.scopes.append(scope)
    try:
        return expressions.expression(context, form(*(Number(path, element) for path in paths)).node)
    finally:
        context.scopes.pop()


def _power(
    context: Context, node: ast.MethodCall, receiver: ir.Operand, element: Element, given: list[ir.Operand | Invalid]
) -> Checked | None:
    """`x.pow(3)` and `x.powi(-2)` for an exponent known at compile time: products by squaring."""
    exponent = context.extent_of(given[0]) if len(given) == 1 and not isinstance(given[0], Invalid) else None
    known = exponent.known if exponent is not None else None
    is_right = is_float(element) if node.method.name.text == "powi" else is_integer(element)
    if known is None or not is_right or abs(known) > MOST_FACTORS or (known < 0 and is_integer(element)):
        return None

    def product(x: Number) -> Number:
        one = x.like(1.0 if is_float(x.of) else 1)
        result = _product(x, abs(known))
        power = one if result is None else result
        return one / power if known < 0 else power

    return _evaluated(context, node, product, element, (receiver,))


def _product(x: Number, count: int) -> Number | None:
    result: Number | None = None
    while count:
        if count & 1:
            result = x if result is None else result * x
        count >>= 1
        x = x * x if count else x
    return result
