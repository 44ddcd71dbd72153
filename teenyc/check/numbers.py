"""Expressions under construction: Python's operators on numbers go in, the syntax of the language comes out."""

from __future__ import annotations

from collections.abc import Callable

from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DType, Element, Kind, is_float


@record
class Number:
    """An expression under construction: Python's operators build the language's. `of` is the receiver's type.

    `keep` checks an expression where it stands and gives a name for its value. Functions are looked up under `trait`,
    where no function of a file hides them.
    """

    node: ast.Expression
    of: Element
    keep: Callable[[ast.Expression], ast.Expression]
    trait: str = ""

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
        return replace(self, node=node)

    def once(self) -> Number:
        """The value, computed here; what is written several times is computed so often."""
        return self.made(self.keep(self.node))

    def cast(self, type: str) -> Number:
        target = ast.PathType(segments=(_segment(type, self.node.span),), span=self.node.span)
        return self.made(ast.Cast(operand=self.node, target=target, span=self.node.span))

    def call(self, name: str, *others: Operand, **choices: str) -> Number:
        """`name(self, others, choice = "text")`."""
        given = [_argument(n.node) for n in (self, *map(self.like, others))]
        chosen = [_argument(ast.StringLiteral(value=t, span=self.node.span), n) for n, t in choices.items()]
        return self._called(name, (*given, *chosen))

    def bits(self, type: str) -> Number:
        """The bits as another type of the same width."""
        target = ast.PathExpression(segments=(_segment(type, self.node.span),), span=self.node.span)
        return self._called("bitcast", (_argument(self.node), _argument(target, "dtype")))

    def _called(self, name: str, arguments: tuple[ast.Argument, ...]) -> Number:
        span = self.node.span
        callee = ast.PathExpression(segments=(_segment(self.trait, span), _segment(name, span)), span=span)
        return self.made(ast.Call(callee=callee, arguments=arguments, span=span))

    def __invert__(self) -> Number:
        return self.made(ast.Unary(operator="!", operand=self.node, span=self.node.span))

    def __rsub__(self, other: Operand) -> Number:
        return self.infix("-", other, swap=True)

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

    def paired(self, first: Number, second: Number) -> Number:
        """A tuple of two."""
        return self.made(ast.Tuple(items=(first.node, second.node), span=self.node.span))

    def wrapped(self) -> Number:
        """The same bits by way of the other signedness: what reaches an address is computed exactly from here on."""
        if not isinstance(self.of, DType) or self.of.bits >= 64:
            return self
        return self.cast(other_sign(self.of)).cast(self.of.name)

    def one(self) -> Number:
        """1 in the shape and type of the number: a literal would take the type of what it meets."""
        return self.call("zeros_like") + (1.0 if is_float(self.of) else 1)

    def integer(self, value: int, type: str) -> Number:
        """A literal of a stated type."""
        return self.made(ast.IntegerLiteral(value=value, suffix=type, span=self.node.span))


Operand = Number | int | float


def _argument(value: ast.Expression, name: str = "") -> ast.Argument:
    return ast.Argument(value=value, name=ast.Name(name, value.span) if name else None, span=value.span)


def _segment(name: str, span: Span) -> ast.Segment:
    return ast.Segment(name=ast.Name(name, span))


def other_sign(dtype: DType) -> str:
    return ("i" if dtype.kind is Kind.UNSIGNED else "u") + str(dtype.bits)


def dtype_of(number: Number) -> DType:
    assert isinstance(number.of, DType), "integers have a type of their own"
    return number.of
