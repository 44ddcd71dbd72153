"""Terms: pieces of Python expressions with what must be known to put them together."""

from __future__ import annotations

from enum import IntEnum

from teenyc.record import record, replace
from teenyc.types import Element

TERNARY, NOT, COMPARISON, OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(11)
"""How tightly Python's operators bind, from loose to tight."""


class Kind(IntEnum):
    """What a term is when the kernel runs; an operation on several kinds gives the greatest of them."""

    STATIC = 0  # a Python number in Triton's interpreter, a `constexpr` for its compiler
    LOOSE = 1  # a Python number in the interpreter, a tensor for the compiler: a loop counter
    ARGUMENT = 2  # a tensor, on which no method may be called: an integer parameter of a kernel
    TENSOR = 3  # a tensor


@record
class Term:
    """One expression. `element` is its element type by the IR; a STATIC one takes the type of what it meets."""

    text: str
    binding: int
    kind: Kind
    element: Element | None
    is_nonnegative: bool = False
    unwrapped: Term | None = None
    """the same before it was wrapped to 32 bits, for sums and products, which may be wrapped later"""

    def within(self, binding: int) -> str:
        """The text as an operand of an operator that binds like `binding`, in parentheses where needed."""
        return self.text if self.binding >= binding else f"({self.text})"

    def typed(self, element: Element | None) -> Term:
        return replace(self, element=element)


def atom(text: str, kind: Kind, element: Element | None, *, is_nonnegative: bool = False) -> Term:
    """A name, a call or another term that needs no parentheses anywhere."""
    return Term(text, ATOM, kind, element, is_nonnegative)


def tensor(text: str, element: Element | None) -> Term:
    """A call that gives a tensor."""
    return Term(text, ATOM, Kind.TENSOR, element)
