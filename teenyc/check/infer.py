"""Types of unsuffixed literals: a small union-find from literals to the element types that they meet."""

from __future__ import annotations

from teenyc.record import field, replace, state
from teenyc.types import F32, I32, Element, Kind, TensorType, Type, TypeVar, Unsuffixed, is_float, is_integer
from teenyc.types import DType as DType


@state
class Inference:
    """What is known of the literals of one kernel. An open literal ends as i32 or f32."""

    bound: dict[int, Element] = field(default_factory=dict)
    count: int = 0

    def literal(self, is_float: bool) -> TensorType:
        """The scalar type of a new unsuffixed literal."""
        self.count += 1
        return TensorType(Unsuffixed(self.count, is_float))

    def resolve(self, element: Element) -> Element:
        """The element as far as it is known now."""
        while isinstance(element, Unsuffixed) and element.id in self.bound:
            element = self.bound[element.id]
        return element

    def final(self, element: Element) -> Element:
        """The element at the end, where open literals take their default."""
        element = self.resolve(element)
        if isinstance(element, Unsuffixed):
            return F32 if element.is_float else I32
        return element

    def type(self, type: Type) -> Type:
        """A type with its element resolved as far as known."""
        return replace(type, element=self.resolve(type.element)) if isinstance(type, TensorType) else type

    def unify(self, a: Element, b: Element) -> Element | None:
        """The one element type of two that meet, binding literals; None where they differ."""
        a, b = self.resolve(a), self.resolve(b)
        if a == b:
            return a
        if isinstance(a, Unsuffixed):
            return self._bind(a, b)
        if isinstance(b, Unsuffixed):
            return self._bind(b, a)
        return None

    def _bind(self, literal: Unsuffixed, element: Element) -> Element | None:
        if not fits_kind(literal, element):
            return None
        self.bound[literal.id] = element
        return element


def fits_kind(literal: Unsuffixed, element: Element) -> bool:
    """Whether a literal of this kind may take the type: floats meet floats, integers meet integers, `Num` either."""
    if isinstance(element, TypeVar) and element.bound.value == "Num":
        return True
    return is_float(element) if literal.is_float else is_integer(element)


def is_bool(element: Element) -> bool:
    """Whether an element is the type of masks."""
    return isinstance(element, DType) and element.kind is Kind.BOOL
