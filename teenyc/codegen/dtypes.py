"""Element types and extents as a kernel's text names them: `tl.float32`, `D`, `COMPUTE`, `HEAD_DIM // 2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from teenyc.codegen.sizes import extent_text
from teenyc.codegen.terms import ATOM, PRODUCT, SUM, Kind, Term
from teenyc.ir.nodes import Function, Kernel
from teenyc.record import record
from teenyc.types import (
    I32,
    Bound,
    Compute,
    DType,
    Element,
    Extent,
    Pointer,
    Quotient,
    TensorType,
    TypeVar,
    Unsuffixed,
)


@record
class DTypeNames:
    """The names that stand for dtype parameters in one body, and for their compute types; `used` grows with each use.

    `sources` tells, by parameter, the expression that gives the type; one without is an argument of its own.
    """

    storage: Mapping[str, str]
    compute: Mapping[str, str]
    sources: Mapping[str, str]
    variables: Mapping[str, TypeVar]
    used: dict[str, None]

    def text(self, element: Element) -> str:
        """The text of an element type."""
        match element:
            case DType():
                return f"tl.{element.triton}"
            case TypeVar():
                self.used[element.name] = None
                return self.storage[element.name]
            case Compute():
                self.used[element.of.name] = None
                self.used[self.compute[element.of.name]] = None
                return self.compute[element.of.name]
            case Pointer():
                return f"tl.pointer_type({self.text(element.to)})"
            case Unsuffixed():
                raise AssertionError(f"an unsuffixed literal's type reaches the emitter: {element}")
            case _:
                assert_never(element)

    def free(self) -> tuple[str, ...]:
        """The dtype parameters that no other parameter tells, by source name."""
        return tuple(name for name in self.storage if name not in self.sources)

    def arguments(self) -> tuple[str, ...]:
        """Those of them that the body uses."""
        return tuple(name for name in self.free() if name in self.used)

    def preamble(self) -> Iterator[str]:
        """The lines that define what is used."""
        for name, spelled in self.storage.items():
            if name in self.used and name in self.sources:
                yield f"{spelled}: tl.constexpr = {self.sources[name]}"
            compute = self.compute[name]
            if compute in self.used:
                yield f"{compute}: tl.constexpr = {_compute_text(self.variables[name], spelled)}"


def _compute_text(variable: TypeVar, name: str) -> str:
    if variable.bound is Bound.FLOAT:
        return f"tl.float64 if {name} == tl.float64 else tl.float32"
    return f"tl.float32 if {name}.is_floating() and {name}.primitive_bitwidth < 32 else {name}"


def binding_pointer(body: Kernel | Function, variable: TypeVar) -> str | None:
    """The parameter whose element type is the dtype parameter: the first pointer over it."""
    for parameter in body.parameters:
        if isinstance(parameter.value.type, TensorType) and parameter.value.type.element == Pointer(variable):
            return parameter.name
    return None


def extent_term(extent: Extent, names: Mapping[str, str]) -> Term:
    """An extent as a Python integer; what it divides is not negative."""
    text = extent_text(extent, names)
    binding = ATOM
    if len(extent.terms) > 1:
        binding = SUM
    elif extent.terms and extent.known is None:
        monomial, coefficient = extent.terms[0]
        binding = ATOM if coefficient == 1 and len(monomial) == 1 else PRODUCT
        if binding is ATOM and isinstance(monomial[0], Quotient):
            return Term(text.removeprefix("(").removesuffix(")"), PRODUCT, Kind.STATIC, I32, True)
    return Term(text, binding, Kind.STATIC, I32, True)


def shape_text(shape: tuple[Extent, ...], names: Mapping[str, str]) -> str:
    """`[BLOCK, 4]`."""
    return "[" + ", ".join(extent_term(extent, names).text for extent in shape) + "]"
