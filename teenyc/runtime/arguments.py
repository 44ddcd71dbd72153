"""Arguments of a run: what a caller gives goes in; buffers, numbers, dtypes, constants and the grid come out.

The attributes `shape` and `grid` of a kernel say how large tensors are: numbers that are not given follow from the
shapes of those that are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from operator import index

from teenyc.diagnostics.catalog import running
from teenyc.diagnostics.model import Diagnostic
from teenyc.diagnostics.suggest import closest
from teenyc.evaluate.launch import Grid, pointed, scope_of
from teenyc.evaluate.memory import Buffer
from teenyc.evaluate.scope import solved
from teenyc.ir.nodes import Kernel, Parameter, Program
from teenyc.record import record
from teenyc.runtime.arrays import NotAnArrayError, axes_of, buffer_of, described, is_array
from teenyc.types import F32, Compute, DType, Kind, Shape, TensorType, TypeVar, compute_type, is_integer
from teenyc.types import Bound as Trait

Make = Callable[[str, "tuple[int, ...]", str], object]
"""Makes a tensor of a name, a shape and an element type."""


class MistakeError(Exception):
    """An argument that does not fit, as a report."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message())
        self.diagnostic = diagnostic


@record
class Bound:
    """What a launch is made of. `shapes` are those of the arrays, as they were given or made."""

    grid: Grid
    arguments: Mapping[str, Buffer | int | float | bool]
    constants: Mapping[str, int]
    elements: Mapping[str, DType]
    shapes: Mapping[str, tuple[int, ...]]


def kernel_of(program: Program, name: str, path: str) -> Kernel:
    """The kernel of that name."""
    known = tuple(k.name for k in program.kernels)
    found = next((k for k in program.kernels if k.name == name), None)
    if found is None:
        raise MistakeError(running.UnknownKernel(name=name, path=path, known=known, similar=closest(name, known)))
    return found


def bind(
    kernel: Kernel,
    grid: int | Sequence[int] | None,
    arguments: Mapping[str, object] | Sequence[object],
    set: Mapping[str, int | bool],
    make: Make | None = None,
) -> Bound:
    """Everything that a launch needs, or a `MistakeError`."""
    binding = _Binding(kernel, _named(kernel, arguments), _constants(kernel, set))
    binding.infer()
    for parameter in kernel.parameters:
        binding.parameter(parameter, make)
    scope = scope_of(kernel, binding.bound, binding.constants, binding.elements)
    for parameter in kernel.parameters:
        binding.check_shape(parameter)
    return Bound(binding.grid(grid), binding.bound, binding.constants, scope.elements, binding.shapes)


def _named(kernel: Kernel, arguments: Mapping[str, object] | Sequence[object]) -> dict[str, object]:
    """Arguments by name; in order, they are those of the kernel's first parameters."""
    names = tuple(p.name for p in kernel.parameters)
    if not isinstance(arguments, Mapping):
        if len(arguments) > len(names):
            why = f"{len(arguments)} arguments, and it has {len(names)} parameters"
            raise MistakeError(running.UnknownArgument(kernel=kernel.name, name=why, known=names))
        return dict(zip(names, arguments, strict=False))
    for name in arguments:
        if name not in names:
            is_constant = any(c.name == name for c in kernel.constants)
            similar = closest(name, names)
            raise MistakeError(
                running.UnknownArgument(
                    kernel=kernel.name, name=name, known=names, similar=similar, is_constant=is_constant
                )
            )
    return dict(arguments)


def _constants(kernel: Kernel, set: Mapping[str, int | bool]) -> dict[str, int]:
    known = {c.name: int(c.known) for c in kernel.constants if c.known is not None}
    known |= {c.name: int(set[c.name]) for c in kernel.constants if c.name in set}
    for constant in kernel.constants:
        if constant.name not in known:
            raise MistakeError(running.UnsetConstant(span=constant.span, kernel=kernel.name, name=constant.name))
    return known


@dataclass(slots=True)
class _Binding:
    """What is known so far: `sizes` are numbers by the names that shapes use."""

    kernel: Kernel
    given: dict[str, object]
    constants: dict[str, int]
    sizes: dict[str, int] = field(default_factory=dict)
    bound: dict[str, Buffer | int | float | bool] = field(default_factory=dict)
    elements: dict[str, DType] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def infer(self) -> None:
        """Finds numbers from the shapes of arrays, as far as these have the axes that the attribute states."""
        self.sizes |= self.constants
        self.sizes |= {n: v for n, v in self.given.items() if isinstance(v, int) and not isinstance(v, bool)}
        for name, shape in self.kernel.attributes.shapes:
            given = tuple(getattr(self.given.get(name), "shape", ()))
            if len(given) == len(shape):
                for extent, size in zip(shape, given, strict=True):
                    found = solved(extent, int(size), self.sizes)
                    self.sizes |= {name: number for name, number in found.items() if isinstance(name, str)}

    def known_shape(self, name: str) -> tuple[int, ...] | None:
        """The shape that the attribute states for a tensor, where all in it is known."""
        stated: Shape | None = dict(self.kernel.attributes.shapes).get(name)
        extents = [e.substitute(self.sizes).known for e in stated] if stated is not None else [None]
        return None if None in extents else tuple(e for e in extents if e is not None)

    # ---- parameters -------------------------------------------------------------------------------------------------

    def parameter(self, parameter: Parameter, make: Make | None) -> None:
        name, is_pointer = parameter.name, pointed(parameter.value.type) is not None
        if name not in self.given:
            self.given[name] = self.missing(parameter, make)
        given = self.given[name]
        if is_pointer != is_array(given):
            need = "an array" if is_pointer else "a number"
            raise self.wrong(parameter, need, described(given))
        self.bound[name] = self.buffer(parameter, given) if is_pointer else self.number(parameter, given)

    def missing(self, parameter: Parameter, make: Make | None) -> object:
        """What follows for a parameter that was given nothing."""
        name, target = parameter.name, pointed(parameter.value.type)
        if target is None and name in self.sizes:
            return self.sizes[name]
        shape = self.known_shape(name) if target is not None else None
        if shape is not None and make is not None:
            return make(name, shape, self.element_name(target))
        extents = ", ".join(map(str, shape or (64,)))
        example = f"{name}=zeros({extents})" if target is not None else f"{name}=64"
        type = str(parameter.value.type)
        raise MistakeError(
            running.MissingArgument(
                span=parameter.span, kernel=self.kernel.name, name=name, type=type, example=f"--arg '{example}'"
            )
        )

    def element_name(self, target: object) -> str:
        """The element type of a tensor that is made."""
        element = self.needed(target)
        return (element or F32).name

    def buffer(self, parameter: Parameter, given: object) -> Buffer:
        try:
            buffer = buffer_of(parameter.name, given)
        except NotAnArrayError as reason:
            raise self.wrong(parameter, "an array of NumPy, or a CPU tensor", str(reason)) from None
        self.shapes[parameter.name] = tuple(int(n) for n in given.shape)  # type: ignore[attr-defined]
        self.check_element(parameter, buffer.element)
        return buffer

    def number(self, parameter: Parameter, given: object) -> int | float | bool:
        """A number that the parameter's type holds."""
        type = parameter.value.type
        assert isinstance(type, TensorType), "what is no pointer is a number"
        element = type.element
        assert isinstance(element, DType), "numbers have a named type"
        value: object = given.item() if hasattr(given, "item") else given
        if isinstance(value, bool | int) and element.kind is Kind.BOOL and value in (0, 1):
            return bool(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and element.kind is Kind.FLOAT:
            return float(value)
        if isinstance(value, int) and not isinstance(value, bool) and _holds(element, value):
            return value
        raise self.wrong(parameter, f"a number of `{element}`", described(given))

    # ---- types and shapes -------------------------------------------------------------------------------------------

    def needed(self, target: object) -> DType | None:
        """The element type that a pointer has, as far as it is known."""
        fixed = {n: e for n, e in self.kernel.elements if isinstance(e, DType)}
        match target:
            case DType():
                return target
            case TypeVar():
                return fixed.get(target.name) or self.elements.get(target.name)
            case Compute():
                stored = self.needed(target.of)
                computed = compute_type(stored) if stored is not None else None
                return computed if isinstance(computed, DType) else None
            case _:
                return None

    def check_element(self, parameter: Parameter, found: DType) -> None:
        target = pointed(parameter.value.type)
        needed = self.needed(target)
        if needed is None and isinstance(target, TypeVar):
            if target.bound is Trait.FLOAT and found.kind is not Kind.FLOAT:
                raise self.other_element(parameter, "f32", found, f"`{target}` is a float")
            self.elements[target.name] = found
            return
        is_named = isinstance(target, DType)
        if needed is None or found == needed or (not is_named and _is_wider(found, needed)):
            return
        because = "" if is_named else f"`{target}` is `{needed}`"
        raise self.other_element(parameter, str(needed), found, because)

    def other_element(self, parameter: Parameter, need: str, found: DType, because: str) -> MistakeError:
        return MistakeError(
            running.WrongDtype(
                span=parameter.span,
                kernel=self.kernel.name,
                name=parameter.name,
                need=need,
                found=str(found),
                because=because,
            )
        )

    def check_shape(self, parameter: Parameter) -> None:
        """An array needs as many elements as the attribute states, and where it has the same axes, those."""
        given, stated = self.shapes.get(parameter.name), self.known_shape(parameter.name)
        self.sizes |= {n: v for n, v in self.bound.items() if isinstance(v, int) and not isinstance(v, bool)}
        if given is None or stated is None or given == stated:
            return
        buffer = self.bound[parameter.name]
        if isinstance(buffer, Buffer) and prod(given) == prod(stated) and buffer.axes == axes_of(given):
            buffer.axes = axes_of(stated)
        if len(given) == len(stated) or prod(given) < prod(stated):
            need = f"{list(stated)} is needed"
            raise MistakeError(
                running.WrongShape(
                    span=parameter.span,
                    kernel=self.kernel.name,
                    name=parameter.name,
                    need=need,
                    found=str(list(given)),
                )
            )

    def wrong(self, parameter: Parameter, need: str, found: str) -> MistakeError:
        return MistakeError(
            running.WrongArgument(
                span=parameter.span, kernel=self.kernel.name, name=parameter.name, need=need, found=found
            )
        )

    # ---- the grid ---------------------------------------------------------------------------------------------------

    def grid(self, grid: int | Sequence[int] | None) -> Grid:
        stated = self.kernel.attributes.grid
        if grid is None and stated is not None:
            known = [e.substitute(self.sizes).known for e in stated]
            if None not in known:
                grid = [n for n in known if n is not None]
        if grid is None:
            raise MistakeError(running.WrongGrid(why="no grid is given, and the kernel does not say it"))
        try:
            axes = [index(n) for n in (grid if isinstance(grid, Sequence) else (grid,))]
        except TypeError:
            axes = []
        if not 1 <= len(axes) <= 3 or min(axes) < 0:
            raise MistakeError(running.WrongGrid(why=f"`{grid}` is no grid"))
        x, y, z = (*axes, 1, 1)[:3]
        return x, y, z


def _holds(element: DType, value: int) -> bool:
    return is_integer(element) and element.minimum <= value <= element.maximum


def _is_wider(found: DType, needed: DType) -> bool:
    return found.kind is needed.kind is Kind.FLOAT and found.bits > needed.bits
