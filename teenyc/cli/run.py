"""`teenyc run`: a kernel, a grid and arguments in; what the kernel wrote out, printed or as files of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teenyc.cli import DIAGNOSTICS, OK
from teenyc.cli.inputs import collect, read
from teenyc.cli.terminal import progress
from teenyc.diagnostics.catalog.running import NumpyMissing, WrongGrid
from teenyc.diagnostics.model import Diagnostic, RunError, Severity
from teenyc.diagnostics.render import Report, render
from teenyc.diagnostics.render.text import printable
from teenyc.record import record
from teenyc.runtime.files import write_atomically
from teenyc.source import SourceFile

if TYPE_CHECKING:
    from teenyc.evaluate import Buffer
    from teenyc.runtime.run import Finished


@record(kw_only=True)
class RunSettings:
    """The arguments of `run`, as values."""

    file: str
    kernel: str
    grid: tuple[int, ...] | None
    arguments: Mapping[str, str]
    constants: Mapping[str, int | bool]
    dtypes: Mapping[str, str]
    seed: int
    save: Path | None
    sanitize: bool
    color: bool


class ReportedError(Exception):
    """What ends the command: reports."""

    def __init__(self, *reports: Report) -> None:
        super().__init__()
        self.reports = list(reports)


def run(settings: RunSettings) -> int:
    """Runs a kernel and shows what it wrote, or the reports; the exit status."""
    try:
        source = _source(settings.file)
        finished = _finished(source, settings)
        _show(finished, settings.save)
    except ReportedError as error:
        return _fail(error.reports, settings)
    if not finished.findings:
        return OK
    _fail([Report(finding, source) for finding in finished.findings], settings)
    return DIAGNOSTICS if any(f.severity is Severity.ERROR for f in finished.findings) else OK


def _fail(reports: list[Report], settings: RunSettings) -> int:
    print(render(reports, format="human", color=settings.color), file=sys.stderr)
    return DIAGNOSTICS


def _source(file: str) -> SourceFile:
    inputs, problems = collect((file,))
    source = problems[0] if problems else read(inputs[0])
    if isinstance(source, Diagnostic):
        raise ReportedError(Report(source))
    return source


def _finished(source: SourceFile, settings: RunSettings) -> Finished:
    """The run, or a `ReportedError`."""
    if find_spec("numpy") is None:
        raise ReportedError(Report(NumpyMissing()))
    from teenyc.cli.run_arguments import Given
    from teenyc.runtime.run import checked, run_checked

    compiled = checked(source, settings.constants, settings.dtypes)
    if compiled.checked is None:
        raise ReportedError(*(Report(diagnostic, source) for diagnostic in compiled.diagnostics))
    grid, name = settings.grid, settings.kernel
    if grid is not None and min(grid) < 1:
        raise ReportedError(Report(WrongGrid(why=f"a grid of {', '.join(map(str, grid))} has no programs"), source))
    try:
        given = Given(compiled.checked, name, settings.arguments, settings.dtypes, settings.seed)
        with progress(f"running {name}"):
            arguments, constants, sanitize = given.all(), settings.constants, settings.sanitize
            return run_checked(compiled, name, grid, arguments, constants, make=given.made, sanitize=sanitize)
    except RunError as error:
        raise ReportedError(*(Report(diagnostic, source) for diagnostic in error.diagnostics)) from None


# ---- results --------------------------------------------------------------------------------------------------------


def _show(finished: Finished, folder: Path | None) -> None:
    """Prints each tensor that was written, or saves them."""
    from teenyc.evaluate import Buffer

    changed = [b for b in finished.bound.arguments.values() if isinstance(b, Buffer) and b.is_changed]
    if not changed:
        print("nothing was written")
    for buffer in changed:
        shape = finished.bound.shapes[buffer.name]
        if folder is None:
            print(f"{buffer.name}: {buffer.element} {list(shape)}\n{_text(_numbers(buffer, shape))}")
        else:
            _save(folder, buffer, shape)


def _numbers(buffer: Buffer, shape: tuple[int, ...]) -> Any:
    """The elements of a tensor that the command line made, which are in order; f32 where NumPy has no such type."""
    from teenyc.evaluate.numbers import decoded
    from teenyc.types import F16

    data = buffer.data if buffer.element == F16 else decoded(buffer.data, buffer.element)
    return data.reshape(shape)


def _text(numbers: Any) -> str:
    import numpy

    return numpy.array2string(numbers, threshold=100, edgeitems=3, max_line_width=100)


def _save(folder: Path, buffer: Buffer, shape: tuple[int, ...]) -> None:
    import numpy

    path, content = folder / f"{buffer.name}.npy", BytesIO()
    numpy.save(content, _numbers(buffer, shape))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content.getvalue())
    except OSError as error:
        from teenyc.diagnostics.catalog.inputs import OutputUnwritable, reason_of

        raise ReportedError(Report(OutputUnwritable(path=str(path), reason=reason_of(error)))) from None
    print(printable(f"wrote {path}: {buffer.element} {list(shape)}"))
