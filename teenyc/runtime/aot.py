"""Ahead of time: a compiled program and targets go in, PTX, cubin or HSACO and a manifest for hosts come out.

Needs Triton, but neither torch nor a GPU.
"""

from __future__ import annotations

import linecache
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.ir.nodes import DESCRIPTORS
from teenyc.ir.walk import results_of, statements_of
from teenyc.record import record, replace
from teenyc.runtime.fitting import Compiler, Form, form_of
from teenyc.runtime.manifest import manifest
from teenyc.runtime.manifest import record as manifest_record
from teenyc.runtime.signature import (
    ALIGNMENT,
    Blocks,
    Signature,
    allows_blocks,
    rows_signature,
    signature_of,
    tiled_signature,
    tuned_signatures,
)
from teenyc.runtime.targets import TARGETS, Target
from teenyc.types import DTYPES, DType, Pointer, TensorType, TypeVar, is_f8

if TYPE_CHECKING:
    from teenyc.driver import Compiled


@record
class Artifact:
    """One file to write: its name without directories, and what is in it."""

    name: str
    content: bytes


def build(
    path: str | os.PathLike[str],
    *,
    targets: Sequence[str],
    constants: Mapping[str, int | bool] | None = None,
    dtypes: Mapping[str, str] | None = None,
) -> tuple[Artifact, ...]:
    """Every kernel of a file for every target (`cuda:90`, `hip:gfx942`), and a JSON manifest, the last artifact.

    `constants` and `dtypes` fix what launches from Python leave open: all constants and dtype parameters need a value.
    Raises `CompileError`, whose text is the report.
    """
    from teenyc.driver import Options, compile_source
    from teenyc.runtime.compiled import failure, source_bytes
    from teenyc.runtime.files import decode

    name = os.fsdecode(path)
    source = decode(source_bytes(name), name)
    if isinstance(source, Diagnostic):
        raise failure((source,), None)
    compiled = compile_source(source, options=Options(set=dict(constants or {}), dtype=dict(dtypes or {})))
    reporter = Reporter()
    artifacts = build_compiled(compiled, targets=targets, reporter=reporter) if compiled.source is not None else ()
    if compiled.source is None or reporter.has_errors:
        raise failure((*compiled.diagnostics, *reporter), source)
    return artifacts


def build_compiled(
    compiled: Compiled, *, targets: Sequence[str], reporter: Reporter, tells_all: bool = False
) -> tuple[Artifact, ...]:
    """The same for a source without errors; problems go to the reporter, and then nothing is returned.

    `tells_all` compiles every configuration that a launch would try, for the manifest to tell what each takes.
    """
    chosen = [target for name in targets if (target := _target(name, reporter)) is not None]
    facts: Any = compiled.metadata["kernels"]
    kernels = zip(compiled.kernels, facts.items(), strict=True)
    signatures = [signature_of(kernel, name, fact, reporter) for kernel, (name, fact) in kernels]
    if reporter.has_errors:
        return ()
    try:
        with _compiling_triton() as triton:
            job = _Job(compiled, triton, reporter, tells_all)
            return _build(job, chosen, [s for s in signatures if s is not None])
    except ImportError as error:
        from teenyc.diagnostics.catalog.target import TritonMissing

        reporter.report(TritonMissing(reason=str(error)))
        return ()


def _target(name: str, reporter: Reporter) -> Target | None:
    target = TARGETS.get(name)
    if target is None:
        from difflib import get_close_matches

        from teenyc.diagnostics.catalog.target import UnknownTarget

        similar = next(iter(get_close_matches(name, TARGETS, 1)), None)
        reporter.report(UnknownTarget(target=name, known=tuple(TARGETS), similar=similar))
    return target


@record
class _Job:
    """What is built of one source, and by which Triton."""

    compiled: Compiled
    triton: Any
    reporter: Reporter
    tells_all: bool

    def facts(self, name: str) -> Mapping[str, Any]:
        """The metadata of a kernel, by its emitted name."""
        kernels: Any = self.compiled.metadata["kernels"]
        facts: Mapping[str, Any] = kernels[name]
        return facts


def _build(job: _Job, targets: Sequence[Target], signatures: Sequence[Signature]) -> tuple[Artifact, ...]:
    if not isinstance(job.triton.language.softmax, job.triton.JITFunction):
        from teenyc.diagnostics.catalog.target import TritonInterprets

        job.reporter.report(TritonInterprets())
        return ()
    artifacts: list[Artifact] = []
    records: list[dict[str, object]] = []
    stem = Path(job.compiled.file.name).stem
    module = _module(stem, job.compiled.source or "")
    for signature in signatures:
        for target in dict.fromkeys(targets):
            if _lacks_format(signature, target, job.reporter):
                continue
            for form in _forms(getattr(module, signature.name), signature, target, job):
                files = _files(form.chosen.signature, target, form.chosen.result.asm)
                artifacts += [Artifact(name, content) for name, content in files.items()]
                records.append(manifest_record(form, target, _options(form.chosen.signature, target), files))
    if job.reporter.has_errors:
        return ()
    return (*artifacts, Artifact(f"{stem}.json", manifest(job.compiled.file, job.triton.__version__, records)))


def _forms(kernel: Any, signature: Signature, target: Target, job: _Job) -> Iterator[Form]:
    """What a host may launch in the place of a kernel, compiled: in blocks, where that is possible, and as written."""
    facts = job.facts(signature.name)
    blocks = _blocks(job.compiled, signature.kernel.name, facts)
    if blocks is not None:
        yield from _blocked(kernel, signature, blocks, target, job)
        signature = replace(signature, form="plain")
    written = getattr(kernel, "plain", kernel)
    signatures = tuned_signatures(signature, facts.get("tuned"))
    form = form_of(signatures, _compiler(written, target, job), target, job.reporter)
    if form is not None:
        yield form


def _blocks(compiled: Compiled, of: str, facts: Mapping[str, Any]) -> Blocks | None:
    """The blocked kernel of one of the source, and what runs before it."""
    assert compiled.program is not None, "only what has no errors is compiled"
    made = [k for k in compiled.program.kernels if k.tiling is not None and k.tiling.of == of]
    tiled = next((k for k in made if k.tiling and k.tiling.is_main), None)
    rows = next((k for k in made if k.tiling and k.tiling.prologue is not None), None)
    return Blocks(tiled, rows, facts["tiled"]) if tiled is not None else None


def _blocked(launcher: Any, signature: Signature, blocks: Blocks, target: Target, job: _Job) -> Iterator[Form]:
    """A kernel in blocks, in a configuration that the target has room for; a report where it has for none.

    Behind the kernel that runs before, if there is one. A target without the instructions is left to the kernel as
    written.
    """
    before = _before(launcher, signature, blocks, target, job) if allows_blocks(signature, blocks) else None
    if before is None:
        return
    kernel = launcher.tiled
    while hasattr(kernel, "tiled"):  # what a launch may have around it
        kernel = kernel.form(signature.constants) if hasattr(kernel, "uneven") else kernel.tiled
    signatures = _candidates(launcher, signature, blocks, target, tells_all=job.tells_all)
    form = form_of(signatures, _compiler(kernel, target, job), target, job.reporter, is_must=False)
    if form is not None:
        yield from before
        yield form


def _before(launcher: Any, signature: Signature, blocks: Blocks, target: Target, job: _Job) -> tuple[Form, ...] | None:
    """The kernel that runs before, if there is one; None where the target cannot run it."""
    if blocks.rows is None:
        return ()
    kernel, signatures = launcher.tiled.rows, (rows_signature(signature, blocks),)
    form = form_of(signatures, _compiler(kernel, target, job), target, Reporter())
    return (form,) if form is not None else None


def _candidates(
    launcher: Any, signature: Signature, blocks: Blocks, target: Target, *, tells_all: bool
) -> Iterator[Signature]:
    """The configurations that the source states; else as a launch would try them, and the others, the smallest first.

    All are those of the kernel that loads by pointers: descriptors are made in memory that a launcher gives.
    """
    configs, stated = map(_by_pointers, launcher._facts["configs"]), blocks.tiled.attributes
    made = blocks.tiled.tiling.configurations if blocks.tiled.tiling is not None else ()
    places = stated.config_spans
    if len(made) == len(places) and all({*a} <= {*b} for a, b in zip(made, stated.configs, strict=True)):
        for config, place in zip(configs, places, strict=True):
            yield tiled_signature(signature, blocks, config, place)
        return
    ranked = launcher._ranked(signature.constants, signature.dtypes, target.shared_memory, {})
    tried = {tuple(config.items()): tells_all for config in map(_by_pointers, ranked)}
    others = {tuple(config.items()): False for config in reversed([*configs])}
    for items, is_told in {**tried, **others, **tried}.items():  # each once, those that a launch would try in front
        form = tiled_signature(signature, blocks, dict(items))
        yield replace(form, is_told=is_told, is_likely=items in tried)


def _by_pointers(config: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in config.items() if name != DESCRIPTORS}


def _compiler(kernel: Any, target: Target, job: _Job) -> Compiler:
    return lambda signature, reporter: _compile(kernel, signature, target, job.triton, reporter)


def _module(stem: str, text: str) -> ModuleType:
    """The generated module, run from memory: the name of no folder gets into what is compiled."""
    path = f"{stem}.py".encode(errors="backslashreplace").decode()  # Triton takes no other text
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = ModuleType("teenyc_ahead_of_time")
    module.__file__ = path
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    return module


def _lacks_format(signature: Signature, target: Target, reporter: Reporter) -> bool:
    """Whether a kernel uses an 8-bit float that the target has not; reports the first place."""
    kernel = signature.kernel
    known = {variable: DTYPES[name] for variable, name in signature.dtypes.items()}
    places = [(p.value, p.span) for p in kernel.parameters]
    places += [(v, s.span) for _, s in statements_of(kernel.body) for v in results_of(s)]
    for value, span in places:
        element = value.type.element if isinstance(value.type, TensorType) else None
        element = element.to if isinstance(element, Pointer) else element
        element = known.get(element.name) if isinstance(element, TypeVar) else element
        if isinstance(element, DType) and is_f8(element) and element.name not in target.formats:
            from teenyc.diagnostics.catalog.target import LacksFormat

            facts = {"kernel": kernel.name, "target": target.name}
            reporter.report(LacksFormat(span=span, format=element.name, known=target.formats, **facts))
            return True
    return False


def _compile(kernel: Any, signature: Signature, target: Target, triton: Any, reporter: Reporter) -> Any:
    """What Triton makes of a kernel for a target; None after a report."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    constants = {n: _value(v, triton) for n, v in signature.constants.items() if n in kernel.arg_names}
    types = {a.name: a.type for a in signature.arguments} | dict.fromkeys(constants, "constexpr")
    aligned = [["tt.divisibility", ALIGNMENT]]
    source = ASTSource(
        fn=kernel,
        signature={name: types[name] for name in kernel.arg_names},
        constexprs=constants,
        attrs={(kernel.arg_names.index(a.name),): aligned for a in signature.arguments if a.is_pointer},
    )
    architecture: int | str = int(target.architecture) if target.backend == "cuda" else target.architecture
    chosen = GPUTarget(target.backend, architecture, target.warp_size)
    printed = StringIO()
    try:
        with _answering_for(chosen, triton), redirect_stdout(printed):
            result = triton.compile(source, target=chosen, options=_options(signature, target))
    except Exception as error:  # whatever Triton raises is about the kernel; all of its PTX, which it prints, says less
        reporter.report(_failed(signature, target, error))
        return None
    print(printed.getvalue(), end="")  # what `static_print` says
    return result


@contextmanager
def _answering_for(target: Any, triton: Any) -> Iterator[None]:
    """Lets `is_cuda()` and its kin, which ask the driver, answer for a target instead of the machine at hand."""
    driver = triton.runtime.driver
    before = getattr(driver, "_active", None)

    class Driver:
        def get_current_target(self) -> Any:
            return target

        def __getattr__(self, name: str) -> Any:
            return getattr(before or driver.default, name)

    driver.set_active(Driver())
    try:
        yield
    finally:
        driver._active = before


def _options(signature: Signature, target: Target) -> dict[str, object]:
    """How Triton compiles: what the source states, and that products and sums may be fused, as when it launches.

    Blocks of f64 are assembled with care, as the launcher does and says why.
    """
    is_wide = signature.form == "tiled" and any(a.type == "*fp64" for a in signature.arguments)
    careful = {"ptx_options": "--opt-level 1"} if is_wide and target.backend == "cuda" else {}
    return {"enable_fp_fusion": True, **dict(signature.kernel.attributes.options), **careful}


def _value(value: int | bool | DType, triton: Any) -> object:
    return getattr(triton.language, value.triton) if isinstance(value, DType) else value


def _failed(signature: Signature, target: Target, error: Exception) -> Diagnostic:
    from teenyc.diagnostics.catalog.target import TargetFailed

    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith("ptxas") and ("error" in line or "fatal" in line)]
    reason = next(iter([*fatal, *reversed(lines)]), type(error).__name__)
    facts = {"kernel": signature.source_name, "target": target.name, "configuration": signature.configuration}
    return TargetFailed(span=signature.span, reason=reason, **facts)


def _files(signature: Signature, target: Target, stages: Any) -> dict[str, bytes]:
    contents = ((stage, stages[stage]) for stage in target.stages)
    return {
        f"{signature.file_stem}.{target.backend}-{target.architecture}.{stage}": (
            content.encode() if isinstance(content, str) else bytes(content)
        )
        for stage, content in contents
    }


@contextmanager
def _compiling_triton() -> Iterator[Any]:
    """Triton as it compiles: not interpreting, with a cache of its own, so that nothing but the input decides."""
    interpret = os.environ.pop("TRITON_INTERPRET", None) if "triton" not in sys.modules else None
    try:
        import triton
    finally:
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret
    knobs = triton.knobs
    with (
        knobs.runtime.scope(),
        knobs.cache.scope(),
        knobs.compilation.scope(),
        tempfile.TemporaryDirectory(prefix="teenyc-") as place,
    ):
        knobs.runtime.interpret = False
        knobs.cache.dir = place
        knobs.compilation.disable_line_info = True  # it names folders of this machine
        yield triton
