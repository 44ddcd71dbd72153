"""What `teenyc run` is given as words, as arrays and numbers of the types of a kernel's parameters."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.diagnostics.catalog.running import UnreadableArgument
from teenyc.diagnostics.model import RunError
from teenyc.evaluate.launch import pointed
from teenyc.ir.nodes import Kernel, Parameter, Program
from teenyc.runtime.arrays import NotAnArrayError
from teenyc.runtime.forms import UnreadableError, array_of, element_of_file, number_of
from teenyc.types import DTYPES, F32, Compute, DType, Element, TypeVar, compute_type


class Given:
    """The arguments of the command line as arrays and numbers of the types of a kernel's parameters."""

    def __init__(
        self, program: Program, kernel: str, texts: Mapping[str, str], dtypes: Mapping[str, str], seed: int
    ) -> None:
        self.kernel = next((k for k in program.kernels if k.name == kernel), None)
        self.texts = texts
        self.seed = seed
        self.elements = {name: DTYPES[dtype] for name, dtype in dtypes.items()}
        for parameter in self.kernel.parameters if self.kernel is not None else ():
            self.note_file(parameter)

    def note_file(self, parameter: Parameter) -> None:
        """A file says what the dtype parameter is that it is the first over."""
        variable, text = pointed(parameter.value.type), self.texts.get(parameter.name, "")
        if isinstance(variable, TypeVar) and text.endswith(".npy") and variable.name not in self.elements:
            element = element_of_file(text)
            if element is not None:
                self.elements[variable.name] = element

    def all(self) -> dict[str, object]:
        """The arguments by name."""
        return {name: self.one(name, text) for name, text in self.texts.items()}

    def one(self, name: str, text: str) -> object:
        """A number, or an array of the type that the parameter points to."""
        number = number_of(text)
        if number is not None:
            return number
        parameter = _parameter(self.kernel, name)
        target = pointed(parameter.value.type) if parameter is not None else None
        try:
            return array_of(text, name, self.element(target), self.seed)
        except (UnreadableError, NotAnArrayError) as reason:
            span = parameter.span if parameter is not None else None
            report = UnreadableArgument(span=span, name=name, text=text, why=str(reason))
            raise RunError((report,), report.message()) from None

    def made(self, name: str, shape: tuple[int, ...], element: str) -> object:
        """A tensor that was not given, without contents: for what a kernel only writes."""
        return array_of(f"empty({', '.join(map(str, shape))})", name, DTYPES[element], self.seed)

    def element(self, target: Element | None) -> DType:
        """The element type of an array for a pointer: f32 where nothing decides."""
        match target:
            case DType():
                return target
            case TypeVar():
                return self.elements.get(target.name, F32)
            case Compute():
                computed = compute_type(self.elements.get(target.of.name, F32))
                assert isinstance(computed, DType), "a known type is computed in a known one"
                return computed
            case _:
                return F32


def _parameter(kernel: Kernel | None, name: str) -> Parameter | None:
    parameters = kernel.parameters if kernel is not None else ()
    return next((p for p in parameters if p.name == name), None)
