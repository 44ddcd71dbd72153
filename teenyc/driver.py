"""The compiler on one screen: text goes in; a module, reports, a source map and metadata come out. No files, no GPU."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from teenyc.check import check
from teenyc.check.allow import Judged, unsilenced
from teenyc.diagnostics.model import Diagnostic, Reporter, Severity
from teenyc.ir.nodes import Attributes, Certificate, Kernel, Program
from teenyc.record import field, record, replace
from teenyc.source import SourceFile, Span
from teenyc.syntax import ast
from teenyc.syntax.parse import parse
from teenyc.types import DTYPES, DType

if TYPE_CHECKING:
    from teenyc.safety.verdicts import KernelSafety
    from teenyc.tiling.plan import Refusal
    from teenyc.tiling.tile import Tiled


@record
class Options:
    """What the command's flags of the same names say: constants and dtypes fixed, the IR verified between passes.

    `tile` asks for blocks in every kernel or in none; None leaves that to the kernels' attributes.
    Without `generate` the source is only checked, as `teenyc check` does: no pass runs and there is no module.
    """

    set: Mapping[str, int | bool] = field(default_factory=dict)
    dtype: Mapping[str, str] = field(default_factory=dict)
    tile: bool | None = None
    verify_ir: bool = False
    generate: bool = True


@record(kw_only=True)
class Compiled:
    """What became of one source. `source` is the generated module, None where the diagnostics hold an error."""

    file: SourceFile
    diagnostics: tuple[Diagnostic, ...]
    module: ast.Module
    checked: Program | None = None
    program: Program | None = None
    source: str | None = None
    source_map: tuple[tuple[int, int], ...] = ()
    metadata: dict[str, object] = field(default_factory=dict)
    is_host_code: bool = False
    """whether a Rust file without other mistakes has no kernel: of use to others, and nothing for this compiler"""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the source, after the passes."""
        return tuple(k for k in self.program.kernels if k.tiling is None) if self.program is not None else ()

    def plans(self) -> tuple[tuple[Kernel, Tiled | Refusal], ...]:
        """For each kernel, with what it calls written out, that in blocks or why not, whether it asks or not."""
        from teenyc.tiling.tile import planned

        assert self.checked is not None, "a source with errors has no plans"
        program = run_passes(self.checked, before="tile")
        return tuple(planned(kernel, program) for kernel in program.kernels)

    def certificates(self) -> tuple[tuple[Kernel, Certificate], ...]:
        """For each kernel as checked what is done with it in blocks, or would be, or why nothing."""
        assert self.checked is not None, "a source with errors has no kernels in blocks"
        kernels = self.checked.kernels
        asked = tuple(replace(k, attributes=replace(k.attributes, tile=k.attributes.tile or ())) for k in kernels)
        made = run_passes(replace(self.checked, kernels=asked), until="describe-blocks").kernels
        found = {kernel.name: kernel.certificate for kernel in made if kernel.tiling is None}
        return tuple((k, certificate) for k in kernels if (certificate := found[k.name]) is not None)

    def safety(self) -> tuple[KernelSafety, ...]:
        """For each kernel as checked what is proven of its accesses."""
        from teenyc.safety.judge import judge

        assert self.checked is not None, "a source with errors has no accesses"
        with deep_recursion():
            return judge(run_passes(self.checked, until="lower-descriptors"))

    def stages(self, after: str | None = None) -> str:
        """The IR as text: as checked, or after the pass of that name."""
        from teenyc.ir.printer import print_program

        assert self.checked is not None, "a source with errors has no IR"
        return print_program(run_passes(self.checked, until=after) if after is not None else self.checked)


def compile_source(text: str | SourceFile, *, name: str = "<source>", options: Options | None = None) -> Compiled:
    """Compiles one source. Mistakes in it are in `diagnostics`; no exception but for a bug in teenyc."""
    with deep_recursion():
        return _compiled(text, name, options or Options())


def _compiled(text: str | SourceFile, name: str, options: Options) -> Compiled:
    file = text if isinstance(text, SourceFile) else SourceFile(name, text.removeprefix("\ufeff"))
    reporter = Reporter()
    module = parse(file, reporter)
    dtypes = _dtypes(options.dtype, reporter)
    checked = check(module, reporter, constants=options.set, dtypes=dtypes)
    is_host_code = checked is not None and not checked.kernels and file.name.endswith(".rs")
    if checked is not None and not checked.kernels:
        from teenyc.diagnostics.catalog.inputs import NoKernel

        reporter.report(NoKernel(path=file.name))
        checked = None
    checked = _proven(checked, reporter) if checked is not None else None
    checked = _asked_to_tile(checked, options.tile) if checked is not None else None
    program = _passed(checked, reporter, options) if checked is not None else None
    diagnostics = unsilenced(reporter, module.allowances, _judged(file, module, checked, options))
    if reporter.has_errors:  # lints would speak of what the mistakes left unused
        diagnostics = tuple(d for d in diagnostics if d.severity is Severity.ERROR)
    if checked is None:
        return Compiled(file=file, diagnostics=diagnostics, module=module, is_host_code=is_host_code)
    if not options.generate or program is None or reporter.has_errors:
        return Compiled(file=file, diagnostics=diagnostics, module=module, checked=checked)
    from teenyc.codegen.emit import emit

    generated = emit(program, source=file)
    return Compiled(
        file=file,
        diagnostics=diagnostics,
        module=module,
        checked=checked,
        program=program,
        source=generated.text,
        source_map=generated.source_map,
        metadata=generated.metadata,
    )


def _judged(file: SourceFile, module: ast.Module, checked: Program | None, options: Options) -> Judged | None:
    """What is to be known to say that an `allow` silences nothing; None where options decide what is reported."""
    if not module.allowances or checked is None or options.set or options.dtype or options.tile is not None:
        return None
    return Judged(unchecked=checked.unchecked, is_rust=module.is_rust or file.name.endswith(".rs"))


def _proven(program: Program, reporter: Reporter) -> Program:
    """The program with what launches must check where kernels deny what is unproven; that is reported."""
    denying = tuple(kernel for kernel in program.kernels if "unproven" in kernel.attributes.deny)
    if not denying:
        return program
    from teenyc.safety.deny import report_unproven
    from teenyc.safety.judge import judge

    lowered = run_passes(replace(program, kernels=denying), until="lower-descriptors")
    guards = {}
    for safety in judge(lowered):
        report_unproven(safety, reporter)
        guards[safety.kernel] = safety.guards
    return replace(program, kernels=tuple(replace(k, guards=guards.get(k.name, ())) for k in program.kernels))


def _asked_to_tile(program: Program, tile: bool | None) -> Program:
    """The program with what an option says in the place of what its kernels ask for."""
    if tile is None:
        return program
    return replace(
        program, kernels=tuple(replace(k, attributes=_tiled_or_not(k.attributes, tile)) for k in program.kernels)
    )


def _tiled_or_not(stated: Attributes, tile: bool) -> Attributes:
    """Attributes that ask for blocks or for none. Configurations are of what the source asks for."""
    if stated.tile is not None:
        return stated if tile else replace(stated, tile=None, configs=())
    return stated if stated.configs or not tile else replace(stated, tile=())


def _passed(program: Program, reporter: Reporter, options: Options) -> Program | None:
    """The program after the passes, None where nothing is generated; with lints on kernels that ask for blocks."""
    asks = options.tile is None and any(kernel.attributes.tile is not None for kernel in program.kernels)
    if not options.generate:
        if asks:
            _lint_plans(run_passes(program, before="tile", verify=options.verify_ir), reporter)
        return None
    program = run_passes(program, verify=options.verify_ir)
    if asks:
        from teenyc.tiling.lints import lint_tiling

        for kernel in program.kernels:
            if kernel.certificate is not None:
                lint_tiling(kernel, kernel.certificate, reporter)
    return program


def _lint_plans(program: Program, reporter: Reporter) -> None:
    """The same lints where no pass has made a certificate: only what is asked for is planned."""
    from teenyc.tiling.tile import Tiled, first_tiled

    for kernel in program.kernels:
        found = first_tiled(kernel, program) if kernel.attributes.tile is not None else None
        if found is None or (isinstance(found, Tiled) and not kernel.attributes.tile):
            continue
        from teenyc.tiling.explain import certificate
        from teenyc.tiling.lints import lint_tiling

        lint_tiling(kernel, certificate(found), reporter)


def allowed(compiled: Compiled, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """What is found of a source later, in its order, without the lints that its `#[allow(…)]` silences."""
    kept = unsilenced(diagnostics, compiled.module.allowances)
    return tuple(sorted(kept, key=lambda d: (d.span or Span(0, 0), d.code)))


def generic_names(file: SourceFile) -> frozenset[str]:
    """The constants and dtype parameters of the kernels of a source, as far as it can be parsed."""
    from teenyc.check import kernels_of

    with deep_recursion():
        module = parse(file, Reporter())
    return frozenset(generic.name.text for kernel in kernels_of(module) for generic in kernel.generics)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for functions that walk over trees: the parser lets them be a thousand levels high."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def run_passes(
    program: Program, *, until: str | None = None, before: str | None = None, verify: bool = False
) -> Program:
    """The program after every pass, or after the one of that name, or just before one."""
    from teenyc.passes import PIPELINE

    assert {until, before} <= {None, *(p.name for p in PIPELINE)}, f"no pass is called {until or before!r}"
    _verify(program, verify)
    for each in PIPELINE:
        if each.name == before:
            break
        program = each.run(program)
        _verify(program, verify)
        if each.name == until:
            break
    return program


def _verify(program: Program, wanted: bool) -> None:
    if wanted:
        from teenyc.ir.verify import verify

        verify(program)


def _dtypes(names: Mapping[str, str], reporter: Reporter) -> dict[str, DType]:
    """The dtypes that options name; an unknown one is a mistake of the command line."""
    found: dict[str, DType] = {}
    for parameter, name in names.items():
        if name in DTYPES:
            found[parameter] = DTYPES[name]
            continue
        from teenyc.diagnostics.catalog.inputs import UnknownOption
        from teenyc.diagnostics.suggest import closest

        known = tuple(DTYPES)
        similar = closest(name, known)
        reporter.report(UnknownOption(option="--dtype", what="type", name=name, known=known, similar=similar))
    return found
