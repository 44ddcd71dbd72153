"""Emit: a checked program, after the passes, goes in; the Python module with its source map and metadata comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from teenyc.codegen.comments import comment, comment_lines, docstring
from teenyc.codegen.helpers import (
    ASKED,
    CONSTANT,
    INTERPRETED,
    ROUND_TO,
    SATURATING,
    TEMPLATES,
    saturation,
    template_of,
    with_called,
)
from teenyc.codegen.host import host_view
from teenyc.codegen.inline import function_effects
from teenyc.codegen.kernel import Unit, function_view, kernel_view
from teenyc.codegen.libdevice import LibraryView, library_view
from teenyc.codegen.metadata import Names, metadata
from teenyc.codegen.names import AMBIGUOUS, module_names, number_names, origin_of, outer_names
from teenyc.codegen.render import render
from teenyc.codegen.views import KernelView, ModuleView, unmarked
from teenyc.ir.certificates import certificate_lines
from teenyc.ir.nodes import Apply, Call, Function, Kernel, Let, Program
from teenyc.ir.walk import combine_names, statements_of
from teenyc.record import record, replace
from teenyc.source import SourceFile
from teenyc.version import __version__


@record
class Generated:
    """A generated module: its text, pairs of output line and source line (from 1), and metadata as plain data."""

    text: str
    source_map: tuple[tuple[int, int], ...]
    metadata: dict[str, object]


def emit(program: Program, *, source: SourceFile) -> Generated:
    """The module for a program."""
    name = source.name.replace("\\", "/").rpartition("/")[2]
    names = module_names(program)
    certificates = {k.name: (*certificate_lines(k.certificate, source),) for k in program.kernels if k.certificate}
    facts = metadata(program, source=name, version=__version__, names=names, certificates=certificates, file=source)
    host = host_view(program, facts, names)
    module = module_view(program, source, names, name, host.imports)
    text, source_map = unmarked(render(module, host))
    return Generated(text, source_map, facts)


def module_view(program: Program, source: SourceFile, names: Names, name: str, imports: tuple[str, ...]) -> ModuleView:
    """Everything that the template of a module prints, but for the host part, which needs `imports`."""
    numbers = number_names(program, names)
    unit = Unit(
        source=source,
        reserved=outer_names(program, names) | set(numbers.values()),
        effects=function_effects(program),
        combines=combine_names(program),
        callees={},
        helpers={},
        spelled=set(),
        numbers=numbers,
        used={},
    )
    functions = _functions(program, unit, names)
    kernels = tuple(_kernel(k, unit, names) for k in program.kernels)
    helpers = with_called(unit.helpers)
    library = library_view(helpers)
    return ModuleView(
        doc=tuple(docstring(program.doc, "")),
        origin=tuple(_origin(name, unit)),
        imports=imports,
        triton=tuple(_imports((*functions, *kernels), library)),
        rounds=ROUND_TO in helpers,
        numbers=tuple(_numbers(numbers, unit.used, dict(program.docs))),
        interprets=not helpers.isdisjoint({*INTERPRETED, ASKED}),
        library=library,
        helpers=tuple(template_of(h) for h in sorted(helpers) if h in TEMPLATES),
        casts=tuple(saturation(dtype) for helper, dtype in SATURATING.items() if helper in unit.helpers),
        functions=functions,
        kernels=kernels,
    )


def _numbers(spelled: Mapping[tuple[str, str], str], used: Mapping[str, str], docs: Mapping[str, str]) -> Iterator[str]:
    """The constants of the source that are used, each below what its doc comment says."""
    for (origin, _), name in spelled.items():
        if name in used:
            yield from comment_lines(docs[origin], "") if origin in docs else ()
            yield f"{name} = {CONSTANT}({used[name]})"


def _functions(program: Program, unit: Unit, names: Names) -> tuple[KernelView, ...]:
    """The device functions in the order of the program.

    Those that came from one function of the source and read alike are one: Triton's functions are generic too.
    """
    free: dict[str, list[str]] = {}
    for function in program.functions:
        free.setdefault(origin_of(function.name), []).append(names.item(function.name))
    written: dict[str, KernelView] = {}
    known: dict[tuple[object, ...], str] = {}
    for function in _callees_first(program):
        origin = origin_of(function.name)
        view = function_view(function, unit, names.item(origin))
        key = (origin, view.signature, view.doc, view.body)
        if key not in known:
            known[key] = free[origin].pop(0)
            written[function.name] = function_view(function, unit, known[key])
        unit.callees[function.name] = replace(unit.callees[function.name], name=known[key])
    return tuple(written[f.name] for f in program.functions if f.name in written)


def _origin(name: str, unit: Unit) -> Iterator[str]:
    """Where the file comes from, and what a linter must let pass: the author's names, also those like 1 and 0."""
    shown = re.sub(r"coding(?=[:=])", "coding ", name)  # or Python would take it for the encoding of this file
    yield comment(f" Generated by teenyc {__version__} from {shown}: edit that file, not this one.")
    if unit.spelled & AMBIGUOUS:
        yield "# ruff: noqa: E741"


def _imports(views: tuple[KernelView, ...], library: LibraryView | None) -> Iterator[str]:
    """Triton, and its language, which a kernel must see even if it names nothing of it."""
    if views:
        yield "import triton"
        is_used = library is not None or any("tl." in line for view in views for line in (*view.signature, *view.body))
        yield "import triton.language as tl" if is_used else "import triton.language as tl  # noqa: F401"
        if library is not None:
            yield "from triton.language.extra import libdevice"


def _kernel(kernel: Kernel, unit: Unit, names: Names) -> KernelView:
    given = (*(p.name for p in kernel.parameters), *(c.name for c in kernel.constants))
    return kernel_view(kernel, unit, names.function(kernel.name), {n: names.local(kernel.name, n) for n in given})


def _callees_first(program: Program) -> list[Function]:
    """Device functions in an order in which each stands behind those that it calls."""
    functions = {f.name: f for f in program.functions}
    ordered: dict[str, Function] = {}

    def visit(function: Function) -> None:
        if function.name not in ordered:
            for name in _called(function):
                if name in functions:
                    visit(functions[name])
            ordered[function.name] = function

    for function in program.functions:
        visit(function)
    return list(ordered.values())


def _called(function: Function) -> Iterator[str]:
    """The functions that one applies, or names to an intrinsic."""
    for _, statement in statements_of(function.body):
        if isinstance(statement, Let) and isinstance(statement.operation, Apply):
            yield statement.operation.function
        elif isinstance(statement, Let) and isinstance(statement.operation, Call):
            yield from (a for _, a in statement.operation.attributes if isinstance(a, str))
