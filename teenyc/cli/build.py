"""`teenyc build` and `teenyc check`: sources in; reports, generated modules and an exit status out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from teenyc.cli import DIAGNOSTICS, OK
from teenyc.cli.inputs import Input, Places, collect, read
from teenyc.cli.settings import Settings
from teenyc.cli.shared_options import unshared, without
from teenyc.cli.terminal import progress
from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.diagnostics.render import Report, render
from teenyc.driver import Compiled, Options, compile_source
from teenyc.source import SourceFile


def build(settings: Settings) -> int:
    """Runs `build` or `check` once, or again and again under `--watch`, and returns the exit status."""
    if settings.watch:
        from teenyc.cli.watch import watch

        return watch(settings.files, lambda: build_once(settings))
    return build_once(settings)


def build_once(settings: Settings) -> int:
    """Compiles every source, delivers those without errors, shows all reports; whether one failed is the status."""
    inputs, problems = collect(settings.files)
    if settings.writes and not settings.prints:
        problems += _collisions(inputs, settings.output)
    reports = [Report(problem) for problem in problems]
    whole: list[Compiled] = []
    if not problems:
        sources = [read(each) for each in inputs]
        places = Places.of(inputs)
        for each, source, lacking in zip(inputs, sources, unshared(sources, settings), strict=True):
            with progress(f"compiling {each.name}"):
                reports += _process(each, source, settings, lacking, whole, places)
    if settings.explains:
        _explain(whole, settings)
    show(reports, settings)
    return DIAGNOSTICS if fails(reports, settings) else OK


def _process(
    each: Input,
    source: SourceFile | Diagnostic,
    settings: Settings,
    lacking: frozenset[str],
    whole: list[Compiled],
    places: Places,
) -> list[Report]:
    """Compiles one source with the options that it does not lack, and delivers it, or leaves it to be explained."""
    if isinstance(source, Diagnostic):
        return [Report(source)]
    compiled = compile_source(source, options=options_for(settings, lacking))
    if each.below is not None and compiled.is_host_code:
        return []
    reports = [Report(diagnostic, source) for diagnostic in compiled.diagnostics]
    if settings.explains:
        whole += [compiled] if compiled.checked is not None else []
    elif settings.writes and not fails(reports, settings):
        from teenyc.cli.deliver import deliver

        problems = deliver(each, compiled, settings, places)
        reports += [Report(problem, source if problem.span is not None else None) for problem in problems]
    return reports


def options_for(settings: Settings, lacking: frozenset[str]) -> Options:
    """What the compiler is to do with a source that lacks some of the names that options fix."""
    return Options(
        set=without(settings.constants, lacking),
        dtype=without(settings.dtypes, lacking),
        tile=settings.tile,
        verify_ir=settings.verify_ir,
        generate=settings.writes,
    )


def _explain(sources: list[Compiled], settings: Settings) -> None:
    """Prints what is asked of the kernels: for people, or as one document of all sources."""
    from teenyc.cli import effects, safety, tiling

    explained = safety if settings.safety else tiling if settings.explain_tiling else effects
    if settings.machine_readable:
        print(explained.explanation_document(sources))
    else:
        print("\n".join(map(explained.explanation_text, sources)), end="")


def fails(reports: list[Report], settings: Settings) -> bool:
    """Whether the reports are such that the exit status says so."""
    return any(settings.deny_warnings or r.diagnostic.severity is Severity.ERROR for r in reports)


def show(reports: list[Report], settings: Settings) -> None:
    """Reports for people go to standard error; a document for programs to standard output, unless code is there."""
    text = render(reports, format=settings.format, color=settings.color)
    if text:
        on_stdout = settings.machine_readable and not settings.code_on_stdout
        print(text, file=sys.stdout if on_stdout else sys.stderr)


def _collisions(inputs: list[Input], folder: Path | None) -> Iterator[Diagnostic]:
    """A report for each source that would write what another one writes."""
    seen: dict[str, Input] = {}
    for each in inputs:
        output = each.output(folder)
        if output is None or seen.setdefault(os.path.realpath(output), each) is each:
            continue
        from teenyc.diagnostics.catalog.inputs import SameOutput

        yield SameOutput(output=str(output), first=seen[os.path.realpath(output)].name, second=each.name)
