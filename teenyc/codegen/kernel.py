"""Kernels and device functions: one body of the IR goes in, a view of finished lines comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.codegen.calls import PASSED_ON, Callee, Calls
from teenyc.codegen.coalesce import Classes, classes_of
from teenyc.codegen.comments import comment, docstring
from teenyc.codegen.contents import Contents
from teenyc.codegen.dtypes import DTypeNames, binding_pointer
from teenyc.codegen.expressions import Expressions
from teenyc.codegen.inline import inlining_of
from teenyc.codegen.layout import STEP, WIDTH, columns
from teenyc.codegen.lines import Lines
from teenyc.codegen.liveness import interference_of
from teenyc.codegen.names import LocalNames, local_names
from teenyc.codegen.parameters import Arrival, annotation, arrival_of
from teenyc.codegen.statements import Statements
from teenyc.codegen.static import Statics, statics_of
from teenyc.codegen.terms import Kind
from teenyc.codegen.views import KernelView
from teenyc.intrinsics.spec import Effect
from teenyc.ir.nodes import Block, Copy, Function, Kernel, Let, Return, Value
from teenyc.record import record
from teenyc.source import Comments, SourceFile
from teenyc.types import Compute, TensorType, TypeVar


@record
class Unit:
    """What the bodies of one module share; all but the first four grow as they are written, functions first."""

    source: SourceFile
    reserved: frozenset[str]
    effects: Mapping[str, frozenset[Effect]]
    combines: frozenset[str]
    callees: dict[str, Callee]
    helpers: dict[str, None]
    spelled: set[str]
    """the names of all variables"""
    numbers: Mapping[tuple[str, str], str]
    """how the constants of the source are spelled, by name and number"""
    used: dict[str, str]
    """the number of each of them that is written"""


def kernel_view(kernel: Kernel, unit: Unit, name: str, spelled: Mapping[str, str]) -> KernelView:
    """A kernel under its Python name; `spelled` gives those of its parameters and constants."""
    writer = _Writer.of(kernel, unit, spelled)
    body = writer.body()
    parameters = [_parameter(writer.names.fixed[p.name], annotation(p), p.comments) for p in kernel.parameters]
    constants = [f"{text}," for text in _constants(kernel, writer.names)]
    dtypes = [f"{writer.names.fixed[v]}: tl.constexpr," for v in writer.dtypes.free()]
    lines = tuple(_signature(name, [*(line for p in parameters for line in p), *constants, *dtypes]))
    return KernelView(name, lines, tuple(docstring(kernel.doc, STEP)), body)


def function_view(function: Function, unit: Unit, name: str) -> KernelView:
    """A device function; its callers find in `unit` what they must pass."""
    writer = _Writer.of(function, unit, None)
    body = writer.body()
    used = writer.dtypes.arguments()
    variables = [v.name for v in function.type_variables]
    fixed = writer.names.fixed
    unit.callees[function.name] = Callee(
        name=name,
        dtypes=tuple((variables.index(v), fixed[v]) for v in used),
        constants={c.name: fixed[c.name] for c in function.constants},
    )
    given = [line for p in function.parameters for line in _parameter(fixed[p.name], "", p.comments)]
    given += [f"{fixed[n]}: tl.constexpr," for n in (*used, *(c.name for c in function.constants))]
    return KernelView(name, tuple(_signature(name, given)), tuple(docstring(function.doc, STEP)), body)


# ---- bodies ---------------------------------------------------------------------------------------------------------


@record
class _Writer:
    """One body with everything that is known about its names."""

    of_body: Kernel | Function
    unit: Unit
    names: LocalNames
    dtypes: DTypeNames
    statements: Statements
    arrival: Arrival | None

    @staticmethod
    def of(body: Kernel | Function, unit: Unit, spelled: Mapping[str, str] | None) -> _Writer:
        contents = Contents.of(body)
        statics = statics_of(contents)
        inlining = inlining_of(contents, statics, unit.effects)
        interference = interference_of(contents, inlining)
        classes = classes_of(contents, interference, {*inlining.definitions, *statics.named})
        names = local_names(contents, unit.reserved, (inlining, interference, classes, statics), spelled)
        unit.spelled.update(names.holders)
        dtypes = _dtype_names(body, names, unit)
        arrival = arrival_of(contents, names.of, classes, dtypes) if isinstance(body, Kernel) else None
        expressions = Expressions(
            inlining=inlining,
            statics=statics,
            names=names.of,
            kinds=_kinds(contents, arrival, statics, classes),
            constants=names.fixed,
            dtypes=dtypes,
            calls=Calls(callees=unit.callees, binding=_binding(body), lets=contents.lets),
            helpers=unit.helpers,
            written=dict(arrival.terms) if arrival is not None else {},
            numbers=unit.numbers,
            used=unit.used,
        )
        statements = Statements(expressions, names, _reads(contents, classes), unit.effects, Lines(unit.source))
        return _Writer(body, unit, names, dtypes, statements, arrival)

    def body(self) -> tuple[str, ...]:
        """The lines of the body: dtypes, conversions of parameters, then the statements."""
        lines = self.statements.lines
        with lines.inside(STEP, may_be_empty=True):
            if self.arrival is not None:
                self.unit.helpers.update(dict.fromkeys(self.arrival.helpers))
                for parameter, text in self.arrival.lines:
                    lines.code(text, STEP, parameter.span)
            lines.is_block_start = True
            self.statements.block(_without_last_return(self.of_body.body), STEP)
        written = (*(STEP + line for line in (*self.padded(), *self.dtypes.preamble())), *lines.written)
        return written if written or self.of_body.doc else (f"{STEP}pass",)

    def padded(self) -> Iterator[str]:
        """What the kernel makes of constants for its extents."""
        for padded in self.of_body.padded if isinstance(self.of_body, Kernel) else ():
            of, least = self.names.fixed[padded.of], padded.minimum
            text = f"triton.next_power_of_2({of})" + (f" if {of} > {least} else {least}" if least > 1 else "")
            if padded.is_part:
                text = f"triton.next_power_of_2({of} + 1) // 2"
            elif padded.beyond:
                left = f"{of} - {self.names.fixed[padded.beyond]}"
                text = f"triton.next_power_of_2(({left} + {least - 1}) // {least}) * {least}"
            yield f"{self.names.fixed[padded.name]}: tl.constexpr = {text}"


def _without_last_return(block: Block) -> Block:
    """The block without a return that ends it and gives nothing."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, Return) and not last.values:
        return Block(statements=block.statements[:-1])
    return block


def _kinds(contents: Contents, arrival: Arrival | None, statics: Statics, classes: Classes) -> dict[int, Kind]:
    """The values that are not tensors everywhere."""
    kinds = dict.fromkeys(contents.counters, Kind.LOOSE)
    for let in contents.lets.values():
        match let:
            case Let(results=(copy,), operation=Copy(operand=Value(id=id))) if id in kinds:
                kinds[copy.id] = Kind.LOOSE
    if arrival is not None:
        kinds.update(arrival.kinds)
    else:  # a caller passes on what it was given by a launch
        passed = (p.value for p in contents.body.parameters if p.value.type in PASSED_ON)
        kinds.update((v.id, Kind.ARGUMENT) for value in passed for v in classes.variable(value))
    return kinds | dict.fromkeys((*statics.named, *statics.counters), Kind.STATIC)


def _reads(contents: Contents, classes: Classes) -> dict[int, int]:
    """How often the variable of each value is read."""
    counts = contents.reads
    totals = {key: sum(counts[v.id] for v in members) for key, members in classes.members.items()}
    return {id: totals[key] for id, key in classes.of.items()}


# ---- dtypes ---------------------------------------------------------------------------------------------------------


def _binding(body: Kernel | Function) -> dict[TypeVar, str]:
    pairs = ((v, binding_pointer(body, v)) for v in body.type_variables)
    return {variable: name for variable, name in pairs if name is not None}


def _dtype_names(body: Kernel | Function, names: LocalNames, unit: Unit) -> DTypeNames:
    is_one = len(body.type_variables) == 1
    storage = {v.name: names.fixed[v.name] for v in body.type_variables}
    compute = {v: names.fresh("COMPUTE" if is_one else f"{spelled}_COMPUTE") for v, spelled in storage.items()}
    sources = {v.name: f"{names.fixed[p]}.dtype.element_ty" for v, p in _binding(body).items()}
    if body.name in unit.combines:
        sources = dict(_value_sources(body, names)) | sources
    return DTypeNames(storage, compute, sources, {v.name: v for v in body.type_variables}, {})


def _value_sources(body: Kernel | Function, names: LocalNames) -> Iterator[tuple[str, str]]:
    """Where a function that an intrinsic calls finds its dtypes: it is called with tensors and nothing else."""
    for parameter in reversed(body.parameters):
        element = parameter.value.type.element if isinstance(parameter.value.type, TensorType) else None
        variable = element.of if isinstance(element, Compute) else element
        if isinstance(variable, TypeVar):
            yield variable.name, f"{names.fixed[parameter.name]}.dtype"


# ---- signatures -----------------------------------------------------------------------------------------------------


def _parameter(name: str, annotation: str, comments: Comments) -> list[str]:
    """One parameter of a kernel with its comments, as lines without indentation."""
    line = f"{name}: {annotation}," if annotation else f"{name},"
    above = [comment(text) for text in comments.leading]
    if not comments.trailing:
        return [*above, line]
    behind = f"{line}  {comment(comments.trailing)}"
    return [*above, behind] if columns(STEP + behind) <= WIDTH else [*above, comment(comments.trailing), line]


def _constants(kernel: Kernel, names: LocalNames) -> Iterator[str]:
    """The constants; those at the end that `--set` fixed have that value as default."""
    known = [c.known for c in kernel.constants]
    for index, constant in enumerate(kernel.constants):
        default = f" = {constant.known}" if None not in known[index:] else ""
        yield f"{names.fixed[constant.name]}: tl.constexpr{default}"


def _signature(name: str, parameters: list[str]) -> Iterator[str]:
    """The lines of a definition's head: on one line where it fits, else one parameter a line."""
    line = f"def {name}({' '.join(parameters).removesuffix(',')}):"
    if columns(line) <= WIDTH and not any("#" in p for p in parameters) and len(parameters) < 6:
        yield line
        return
    yield f"def {name}("
    yield from (STEP + parameter for parameter in parameters)
    yield "):"
