"""`teenyc run`: a kernel, a grid and arguments in; what the kernel wrote out, printed or as files of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teenyc.cli import DIAGNOSTICS, OK
from teenyc.cli.inputs import collect, read
from teenyc.cli.terminal import progress
from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.diagnostics.render import Report, render
from teenyc.ir.nodes import Kernel, Parameter
from teenyc.source import SourceFile
from teenyc.types import DTYPES, F32, Compute, DType, Element, TypeVar, compute_type

if TYPE_CHECKING:
    from teenyc.driver import Compiled
    from teenyc.evaluate import Buffer
    from teenyc.runtime.run import Finished


def run(
    file: str,
    kernel: str,
    *,
    grid: tuple[int, ...] | None,
    arguments: Mapping[str, str],
    constants: Mapping[str, int | bool],
    dtypes: Mapping[str, str],
    seed: int,
    save: Path | None,
    sanitize: bool,
    color: bool,
) -> int:
    """Runs a kernel and shows what it wrote, or the reports; the exit status."""
    source = _source(file)
    if isinstance(source, Diagnostic):
        return _fail([Report(source)], color)
    if find_spec("numpy") is None:
        from teenyc.diagnostics.catalog.running import NumpyMissing

        return _fail([Report(NumpyMissing())], color)
    from teenyc.runtime.run import checked, run_checked

    compiled = checked(source, constants, dtypes)
    if compiled.checked is None:
        return _fail([Report(d, source) for d in compiled.diagnostics], color)
    from teenyc.diagnostics.model import RunError

    try:
        if grid is not None and min(grid) < 1:
            return _fail([Report(_no_grid(grid), source)], color)
        given = _Given(compiled, kernel, arguments, dtypes, seed)
        with progress(f"running {kernel}"):
            finished = run_checked(compiled, kernel, grid, given.all(), constants, make=given.made, sanitize=sanitize)
    except RunError as error:
        return _fail([Report(d, source) for d in error.diagnostics], color)
    except UnreadableArgumentError as error:
        return _fail([Report(error.diagnostic, source)], color)
    status = _show(finished, save, color)
    if finished.findings:
        _fail([Report(d, source) for d in finished.findings], color)
    is_wrong = any(d.severity is Severity.ERROR for d in finished.findings)
    return DIAGNOSTICS if is_wrong else status


def _source(file: str) -> SourceFile | Diagnostic:
    inputs, problems = collect((file,))
    return problems[0] if problems else read(inputs[0])


def _no_grid(grid: tuple[int, ...]) -> Diagnostic:
    from teenyc.diagnostics.catalog.running import WrongGrid

    return WrongGrid(why=f"a grid of {', '.join(map(str, grid))} has no programs")


def _fail(reports: list[Report], color: bool) -> int:
    print(render(reports, format="human", color=color), file=sys.stderr)
    return DIAGNOSTICS


# ---- arguments ------------------------------------------------------------------------------------------------------


class UnreadableArgumentError(Exception):
    """The text of an argument is none of the forms."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message())
        self.diagnostic = diagnostic


class _Given:
    """The arguments of the command line as arrays and numbers of the types of a kernel's parameters."""

    def __init__(
        self, compiled: Compiled, kernel: str, texts: Mapping[str, str], dtypes: Mapping[str, str], seed: int
    ) -> None:
        assert compiled.checked is not None, "a source with errors does not run"
        self.kernel = next((k for k in compiled.checked.kernels if k.name == kernel), None)
        self.texts = texts
        self.seed = seed
        self.elements = {name: DTYPES[dtype] for name, dtype in dtypes.items()}
        for parameter in self.kernel.parameters if self.kernel is not None else ():
            self.note_file(parameter)

    def note_file(self, parameter: Parameter) -> None:
        """A file says what the dtype parameter is that it is the first over."""
        from teenyc.evaluate.launch import pointed
        from teenyc.runtime.forms import element_of_file

        variable, text = pointed(parameter.value.type), self.texts.get(parameter.name, "")
        if isinstance(variable, TypeVar) and text.endswith(".npy") and variable.name not in self.elements:
            element = element_of_file(text)
            if element is not None:
                self.elements[variable.name] = element

    def all(self) -> dict[str, object]:
        """The arguments by name."""
        return {name: self.one(name, text) for name, text in self.texts.items()}

    def one(self, name: str, text: str) -> object:
        from teenyc.evaluate.launch import pointed
        from teenyc.runtime.arrays import NotAnArrayError
        from teenyc.runtime.forms import UnreadableError, array_of, number_of

        number = number_of(text)
        if number is not None:
            return number
        parameter = _parameter(self.kernel, name)
        target = pointed(parameter.value.type) if parameter is not None else None
        try:
            return array_of(text, name, self.element(target), self.seed)
        except (UnreadableError, NotAnArrayError) as reason:
            from teenyc.diagnostics.catalog.running import UnreadableArgument

            span = parameter.span if parameter is not None else None
            raise UnreadableArgumentError(
                UnreadableArgument(span=span, name=name, text=text, why=str(reason))
            ) from None

    def made(self, name: str, shape: tuple[int, ...], element: str) -> object:
        """A tensor that was not given, without contents: for what a kernel only writes."""
        from teenyc.runtime.forms import array_of

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


# ---- results --------------------------------------------------------------------------------------------------------


def _show(finished: Finished, folder: Path | None, color: bool) -> int:
    """Prints each tensor that was written, or saves them."""
    from teenyc.evaluate import Buffer

    changed = [b for b in finished.bound.arguments.values() if isinstance(b, Buffer) and b.is_changed]
    if not changed:
        print("nothing was written")
    for buffer in changed:
        shape = finished.bound.shapes[buffer.name]
        if folder is None:
            print(f"{buffer.name}: {buffer.element} {list(shape)}\n{_text(_numbers(buffer, shape))}")
            continue
        problem = _save(folder, buffer, shape)
        if problem is not None:
            return _fail([Report(problem)], color)
    return OK


def _numbers(buffer: Buffer, shape: tuple[int, ...]) -> Any:
    """The elements of a tensor that the command line made, which are in order; f32 where NumPy has no such type."""
    from teenyc.evaluate.numbers import decoded
    from teenyc.types import F16

    data = buffer.data if buffer.element == F16 else decoded(buffer.data, buffer.element)
    return data.reshape(shape)


def _text(numbers: Any) -> str:
    import numpy

    return numpy.array2string(numbers, threshold=100, edgeitems=3, max_line_width=100)


def _save(folder: Path, buffer: Buffer, shape: tuple[int, ...]) -> Diagnostic | None:
    import numpy

    path = folder / f"{buffer.name}.npy"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        numpy.save(path, _numbers(buffer, shape))
    except OSError as error:
        from teenyc.diagnostics.catalog.inputs import OutputUnwritable, reason_of

        return OutputUnwritable(path=str(path), reason=reason_of(error))
    print(f"wrote {path}: {buffer.element} {list(shape)}")
    return None
