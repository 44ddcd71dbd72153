"""Runs a kernel of a source on the CPU: a path, a kernel, a grid and arguments go in; arrays are written in place."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from teenyc.diagnostics.model import Diagnostic, RunError, Severity
from teenyc.ir.nodes import Kernel
from teenyc.record import record
from teenyc.runtime.compiled import NO_CONSTANTS, NOTHING, failure, source_bytes
from teenyc.runtime.files import decode
from teenyc.source import SourceFile

if TYPE_CHECKING:
    from teenyc.driver import Compiled
    from teenyc.evaluate import Watcher
    from teenyc.runtime.arguments import Bound


@record
class Finished:
    """What a run was given, for who wants to see what it wrote, and what the sanitizer found."""

    bound: Bound
    kernel: Kernel
    findings: tuple[Diagnostic, ...] = ()


def run(
    path: str | os.PathLike[str],
    kernel: str,
    grid: int | Sequence[int] | None,
    arguments: Mapping[str, object] | Sequence[object],
    *,
    set: Mapping[str, int | bool] | None = None,
    dtype: Mapping[str, str] | None = None,
    sanitize: bool = False,
) -> None:
    """Runs a kernel of a kernel file without Triton or a GPU, as the language defines it.

    `grid` is one number or up to three, one program each; None takes that of the attribute `grid`. `arguments` are by
    name or in order: numbers, and arrays of NumPy or CPU tensors of torch, which are written in place. A number may be
    left out where the attribute `shape` gives it. `set` fixes constants and `dtype` dtype parameters.

    Raises `CompileError` for a source with errors, and `RunError` where the kernel cannot be run on its arguments or
    goes wrong: both show the report. With `sanitize` the run goes on to its end, and everything that was found is
    raised together; what is no error, such as integers that wrap, is a `RuntimeWarning`.
    """
    name = os.fsdecode(path)
    source = decode(source_bytes(name), name)
    if isinstance(source, Diagnostic):
        raise failure((source,), None)
    compiled = checked(source, set or NO_CONSTANTS, dtype or NOTHING)
    if compiled.checked is None:
        raise failure(compiled.diagnostics, source)
    finished = run_checked(compiled, kernel, grid, arguments, set or NO_CONSTANTS, sanitize=sanitize)
    if any(d.severity is Severity.ERROR for d in finished.findings):
        raise _error(finished.findings, source)
    if finished.findings:
        warnings.warn(_rendered(finished.findings, source), RuntimeWarning, stacklevel=2)


def checked(source: SourceFile, set: Mapping[str, int | bool], dtype: Mapping[str, str]) -> Compiled:
    """The source as the checker makes it, which is what runs."""
    from teenyc.driver import Options, compile_source

    return compile_source(source, options=Options(set=dict(set), dtype=dict(dtype), tile=False, generate=False))


def run_checked(
    compiled: Compiled,
    name: str,
    grid: int | Sequence[int] | None,
    arguments: Mapping[str, object] | Sequence[object],
    set: Mapping[str, int | bool],
    *,
    make: Callable[[str, tuple[int, ...], str], object] | None = None,
    say: Callable[[str], None] = print,
    sanitize: bool = False,
) -> Finished:
    """Runs a kernel of a checked source. `make` gives what is missing: an array of a name, shape and element type."""
    _need_numpy()
    from teenyc.driver import allowed
    from teenyc.evaluate.sanitize import Sanitizer
    from teenyc.runtime.arguments import MistakeError, bind, kernel_of
    from teenyc.runtime.findings import diagnostic_of

    program = compiled.checked
    assert program is not None, "a source with errors does not run"
    try:
        ran = kernel_of(program, name, compiled.file.name)
        bound = bind(ran, grid, arguments, set, make)
    except MistakeError as mistake:
        raise _error((mistake.diagnostic,), compiled.file) from None
    sanitizer = Sanitizer() if sanitize else None
    _launch(compiled, ran, bound, sanitizer, say)
    findings = sanitizer.findings.values() if sanitizer is not None else ()
    return Finished(bound, ran, allowed(compiled, [diagnostic_of(finding, ran) for finding in findings]))


def _launch(
    compiled: Compiled, kernel: Kernel, bound: Bound, watcher: Watcher | None, say: Callable[[str], None]
) -> None:
    """Runs all programs; a `RunError` where one cannot go on."""
    from teenyc.evaluate import FaultError, launch
    from teenyc.runtime.findings import diagnostic_of

    assert compiled.checked is not None, "a source with errors does not run"
    given = bound.arguments, bound.constants
    try:
        launch(compiled.checked, kernel.name, bound.grid, *given, elements=bound.elements, watcher=watcher, say=say)
    except FaultError as fault:
        raise _error((diagnostic_of(fault.what, kernel),), compiled.file) from None


def _need_numpy() -> None:
    try:
        import numpy  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        text = "running kernels on the CPU needs NumPy: install `numpy`, or `teenyc[run]`"
        raise ModuleNotFoundError(text, name="numpy") from None


def _error(diagnostics: tuple[Diagnostic, ...], source: SourceFile) -> RunError:
    return RunError(diagnostics, _rendered(diagnostics, source))


def _rendered(diagnostics: tuple[Diagnostic, ...], source: SourceFile) -> str:
    from teenyc.diagnostics.render import Report, render

    return render([Report(diagnostic, source) for diagnostic in diagnostics], format="human")
