"""The host part of a generated module: a program goes in, plain strings for `host.py.jinja` come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from teenyc.codegen.described import with_descriptors
from teenyc.codegen.layout import STEP
from teenyc.codegen.limits import grid_method, guards_method, returned_lines, solution_lines, tuple_text
from teenyc.codegen.literals import WIDTH, argument_lines, bracketed, docstring_lines, filled, literal, literal_lines
from teenyc.codegen.metadata import (
    KEPT,
    Names,
    assumes_contiguous,
    class_names,
    conditions_of,
    constants_of,
    described_kernels,
    distinct_requirements,
    free_name,
    launched_kernels,
    like,
    pointee,
    prologue_kernels,
    source_kernels,
    split_kernels,
    tiled_kernels,
    uneven_kernels,
)
from teenyc.codegen.sizes import SizeCheck, extent_text, size_checks
from teenyc.ir.nodes import Kernel, OpClass, OpField, Program
from teenyc.record import record
from teenyc.types import DType, Extent, Kind, TensorType, Type

CHECKING = ("numbers", "os")
"""What the host part imports."""

LAUNCHING = ("concurrent.futures", "contextlib", "functools", "hashlib", "json", "math", "operator", "warnings")
"""What it imports beside, where there are launchers."""

DESCRIBING = ("contextvars",)
"""What it imports beside, where kernels load by descriptors."""

RESERVED = frozenset(
    "AttributeError Exception KeyError OSError RuntimeError TEENYC TypeError ValueError ZeroDivisionError abs all any"
    " bool callable dict enumerate filter float frozenset getattr hasattr int isinstance len list map max min next open"
    " property range repr set sorted staticmethod str sum tl triton tuple type zip".split()
) | {name.partition(".")[0] for name in (*CHECKING, *LAUNCHING, *DESCRIBING)}
"""Names that the host part reads: the kernels and functions of a module must not take them."""


@record
class BoundView:
    """One kernel as a class with its constants bound; lines come without the indentation that the template gives."""

    name: str
    kernel: str
    doc: str
    rules: tuple[str, ...]
    rules_head: tuple[str, ...]
    sizes: tuple[str, ...]
    sizes_head: tuple[str, ...]
    solutions: tuple[str, ...]
    key: tuple[str, ...]
    key_head: tuple[str, ...]
    methods: tuple[tuple[str, ...], ...]
    solved: tuple[str, ...]


@record
class LauncherView:
    """What stands for a kernel of the source in the place of a function: the statement that makes it."""

    lines: tuple[str, ...]


@record
class OpView:
    """One Op struct as a class; `fields` are assignments to what `self` has."""

    name: str
    doc: tuple[str, ...]
    parameters: str
    given: str
    fields: tuple[str, ...]


@record
class HostView:
    """What the template prints. `imports` are lines for the head of the module, before Triton's."""

    imports: tuple[str, ...]
    metadata: tuple[str, ...]
    takes_dtypes: bool
    launchers: tuple[LauncherView, ...]
    has_rows: bool
    has_parts: bool
    has_scratch: bool
    has_descriptors: bool
    has_uneven: bool
    chooses: bool
    is_limited: bool
    guards: bool
    solves: bool
    kernels: tuple[BoundView, ...]
    ops: tuple[OpView, ...]


def host_view(program: Program, facts: Mapping[str, object], names: Names = KEPT) -> HostView:
    """The host part of `program`, of which `facts` are the metadata."""
    classes = class_names(program, names)
    kernels = {k.name: k for k in source_kernels(program)}
    tiled, launched, rows = tiled_kernels(program), launched_kernels(program), prologue_kernels(program)
    described, split, uneven = described_kernels(program), split_kernels(program), uneven_kernels(program)
    bound = tuple(_bound_view(k, classes[k.name], names, k in launched) for k in kernels.values())
    imported = (*CHECKING, *(LAUNCHING if launched else ()), *(DESCRIBING if described else ()))
    return HostView(
        imports=tuple(f"import {name}" for name in sorted(imported)) if kernels else (),
        metadata=tuple(literal_lines(dict(facts), "TEENYC = ")),
        takes_dtypes=any(fact["type"] == "dtype" for k in kernels.values() for fact in constants_of(k, names)),
        launchers=tuple(
            _launcher_view(
                k,
                tiled.get(k.name),
                rows.get(k.name),
                described.get(k.name),
                split.get(k.name),
                uneven.get(k.name),
                names,
            )
            for k in launched
        ),
        has_rows=bool(rows),
        has_parts=bool(split),
        has_scratch=bool(rows or split),
        has_descriptors=bool(described),
        has_uneven=bool(uneven),
        chooses=any(k.attributes.chooses for k in launched),
        is_limited=any(view.methods for view in bound),
        guards=any(kernel.guards for kernel in kernels.values()),
        solves=any("_solved(" in line for view in bound for line in view.solved),
        kernels=bound,
        ops=tuple(_op_view(op, kernels, classes, names) for op in program.ops),
    )


# ---- kernels --------------------------------------------------------------------------------------------------------


def _launcher_view(
    kernel: Kernel,
    tiled: Kernel | None,
    rows: Kernel | None,
    described: Kernel | None,
    split: tuple[Kernel, Kernel] | None,
    uneven: Kernel | None,
    names: Names,
) -> LauncherView:
    name = names.item(kernel.name)
    blocked = ["None" if tiled is None else names.item(tiled.name)]
    if uneven is not None and uneven.tiling is not None:
        given = [*blocked, names.item(uneven.name), literal(names.local(uneven.name, uneven.tiling.uneven))]
        blocked = bracketed("_WithUneven(", given, ")", 17)
    if described is not None:
        blocked = [*with_descriptors(blocked, described, names)]
    if rows is not None:
        blocked = [*_with_rows(kernel, rows, blocked, names)]
    if split is not None:
        blocked = [*_with_parts(kernel, split, blocked, names)]
    functions = [names.function(kernel.name), "\n    ".join(blocked)]
    lines = [f"{name} = _Launcher(", *(f"    {text}," for text in (literal(name), *functions))]
    lines += _facts_of(kernel, names)
    allows = "" if tiled is None else _allows(kernel, [tiled, *([] if rows is None else [rows])], names)
    lines += [f"    {allows},"] if allows else []
    lines += [] if tiled is None else _suits(kernel, tiled, names)
    return LauncherView((*lines, ")"))


def _facts_of(kernel: Kernel, names: Names) -> Iterator[str]:
    """A function of the arguments, 4 columns in, that tells launches apart.

    It gives three tuples: where tensors are; how many bytes each has, below 0 where it skips some; and what else.
    """
    local = {p.name: names.local(kernel.name, p.name) for p in kernel.parameters}
    pointers = [local[p.name] for p in kernel.parameters if pointee(p.value.type) is not None]
    sizes = [f"{p}.nbytes if {p}.is_contiguous() else -{p}.nbytes" for p in pointers]
    kind = [*(f"{p}.device" for p in pointers[:1]), *(f"{p}.dtype" for p in pointers)]
    kind += [local[p.name] for p in kernel.parameters if _is_integer(p.value.type)]
    kind += [f"type({local[p.name]})" for p in kernel.parameters if pointee(p.value.type) is None]
    yield from _filled("    lambda ", [*local.values()], ": (")
    for items in ([f"{p}.data_ptr()" for p in pointers], sizes, kind):
        yield from _filled("        (", items, ",)," if len(items) == 1 else "),")
    yield "    ),"


def _filled(opening: str, items: list[str], closing: str) -> list[str]:
    """`opening items closing` on one line, or with the items between on lines of their own, as many a line as fit."""
    line = opening + ", ".join(items) + closing
    if len(line) <= WIDTH:
        return [line]
    indent = len(opening) - len(opening.lstrip())
    return [opening.rstrip(), *filled(items, ", ", indent + 4), " " * indent + closing]


def _is_integer(type: Type) -> bool:
    element = type.element if isinstance(type, TensorType) else None
    return isinstance(element, DType) and element.kind in (Kind.SIGNED, Kind.UNSIGNED)


def _with_rows(kernel: Kernel, rows: Kernel, blocked: Sequence[str], names: Names) -> Iterator[str]:
    """The lines of a blocked kernel behind the one that runs before."""
    yield "_WithRows("
    yield from (f"{STEP}{text}," for text in (literal(names.item(kernel.name)), names.item(rows.name)))
    yield from argument_lines(blocked)
    yield from (line.removeprefix(STEP) for line in _before(kernel, rows, names))
    yield ")"


def _with_parts(kernel: Kernel, split: tuple[Kernel, Kernel], blocked: Sequence[str], names: Names) -> Iterator[str]:
    """The lines of a blocked kernel with those in which programs share a loop."""
    parts, _ = split
    yield "_WithParts("
    yield f"{STEP}{literal(names.item(kernel.name))},"
    yield from argument_lines(blocked)
    yield from (f"{STEP}{names.item(each.name)}," for each in split)
    assert parts.tiling is not None, "it takes blocks"
    assert parts.tiling.split is not None, "its programs share a loop"
    constants = [str(fact["name"]) for fact in constants_of(kernel, names)]
    local = {name: names.local(kernel.name, name) for name in _constant_names(kernel)}
    for padded in parts.padded:
        power = f"triton.next_power_of_2({local.get(padded.of, padded.of)})"
        local[padded.name] = power if padded.minimum == 1 else f"max({power}, {padded.minimum})"
    shapes = (shape for _, _, shape in parts.tiling.split.scratch)
    sizes = [" * ".join(extent_text(extent, local) for extent in shape) or "1" for shape in shapes]
    head = f"lambda {', '.join(constants)}: (" if constants else "lambda: ("
    yield from (STEP + line for line in _filled(head, sizes, ",)," if len(sizes) == 1 else "),"))
    yield ")"


def _before(kernel: Kernel, rows: Kernel, names: Names) -> Iterator[str]:
    """A function of the grid, what is given by name, and arguments, 8 columns in, for a launch of what runs before.

    It gives three tuples: how many numbers that computes along each axis; what it is given; and the tensors whose
    dtypes tell what the numbers are.
    """
    assert rows.tiling is not None, "it takes blocks"
    assert rows.tiling.prologue is not None, "it runs before"
    prologue = rows.tiling.prologue
    local = {p.name: names.local(kernel.name, p.name) for p in kernel.parameters}
    grid, named = (free_name(name, local.values()) for name in ("grid", "named"))
    sizes = {name: local.get(name) or f'{named}["{names.local(kernel.name, name)}"]' for name in prologue.extent.names}
    entries = [f"{grid}[{axis}]" if axis in prologue.axes else "1" for axis in range(3)]
    entries[prologue.axis] = f"max({extent_text(prologue.extent, sizes)}, 0)"
    scratch = {name for name, _ in prologue.scratch} | {name for _, name in rows.tiling.counts}
    given = [local[p.name] for p in rows.parameters if p.name not in scratch]
    likes = [local[like(element, kernel)] for _, element in prologue.scratch]
    yield from _filled("        lambda ", [grid, named, *local.values()], ": (")
    for items in (entries, given, likes):
        yield from _filled("            (", items, ",)," if len(items) == 1 else "),")
    yield "        ),"


def _allows(kernel: Kernel, blocked: Sequence[Kernel], names: Names) -> str:
    """A function of the constants: whether they satisfy what only blocks ask of them; empty where that is nothing."""
    local = {n: names.local(kernel.name, n) for n in _constant_names(kernel)}
    known = set(distinct_requirements(kernel))
    conditions: dict[str, None] = {}
    for requirement in (r for each in blocked for r in distinct_requirements(each)):
        if requirement not in known and requirement.extent.names <= set(local):
            value, least = extent_text(requirement.extent, local), requirement.rule.removeprefix("at-least:")
            assert least.isdigit(), "blocks ask for extents of some size"
            conditions[f"{value} >= {least}"] = None
    if not conditions:
        return ""
    return f"lambda {', '.join(str(fact['name']) for fact in constants_of(kernel, names))}: {' and '.join(conditions)}"


def _suits(kernel: Kernel, tiled: Kernel, names: Names) -> Iterator[str]:
    """A function of arguments, constants and counts, 4 columns in: whether a launch is one that takes blocks."""
    conditions = conditions_of(tiled, names)
    if not conditions:
        return
    assert tiled.tiling is not None, "it takes blocks"
    if len(conditions) > 1:
        conditions = [f"({text})" if " or " in text else text for text in conditions]
    given = [*(names.local(kernel.name, p.name) for p in kernel.parameters)]
    given += [str(fact["name"]) for fact in constants_of(kernel, names)]
    given += [names.local(tiled.name, name) for _, name in tiled.tiling.counts]
    yield from _filled("    suits=lambda ", given, f": {' and '.join(conditions)},")


def _bound_view(kernel: Kernel, name: str, names: Names, is_launched: bool) -> BoundView:
    local = {n: names.local(kernel.name, n) for n in (*(p.name for p in kernel.parameters), *_constant_names(kernel))}
    constants = constants_of(kernel, names)
    fields = dict(zip(_constant_names(kernel), (str(fact["field"]) for fact in constants), strict=False))
    bound = [str(fact["name"]) for fact in constants]
    arguments = [*bound, *(local[p.name] for p in kernel.parameters)]
    sizes = size_checks(kernel.attributes.shapes, local, local)
    return BoundView(
        name=name,
        kernel=names.item(kernel.name),
        doc=_doc(name, kernel, [str(fact["field"]) for fact in constants]),
        rules=returned_lines([*_rules(kernel, local, fields)]),
        rules_head=tuple(bracketed("def _rules(", bound, "):", 4)),
        sizes=returned_lines([f'("{s.tensor}", {s.tensor}, f"{s.shown}", {tuple_text(s.extents)})' for s in sizes]),
        sizes_head=tuple(bracketed("def _sizes(", arguments, "):", 4)),
        solutions=tuple(f"{s.symbol} = {s.solution}" for s in sizes if s.symbol),
        solved=tuple(line for s in sizes for line in solution_lines(s)),
        methods=tuple(
            method
            for method in (grid_method(kernel, arguments, local, sizes), guards_method(kernel, arguments, local, sizes))
            if method
        ),
        key=() if is_launched else tuple(_key(kernel, local, sizes)),  # a launcher has its own
        key_head=tuple(bracketed("def _key(", arguments, "):", 4)),
    )


def _constant_names(kernel: Kernel) -> tuple[str, ...]:
    return tuple(c.name for c in kernel.constants)


def _doc(name: str, kernel: Kernel, fields: list[str]) -> str:
    """The docstring: how to launch, as briefly as the names allow."""
    text = f'"""`{kernel.name}`, checked: `{name}({", ".join(fields)})[grid](...)`."""'
    return text if len(text) + 4 <= WIDTH else '"""The checked form of its kernel."""'


def _rules(kernel: Kernel, local: Mapping[str, str], fields: Mapping[str, str]) -> Iterator[str]:
    """Rows `(how the user calls it, value, rule, what for)`."""
    for requirement in distinct_requirements(kernel):
        shown, value = extent_text(requirement.extent, fields), extent_text(requirement.extent, local)
        yield f"({literal(shown)}, {value}, {literal(requirement.rule)}, {literal(requirement.what)})"


def _key(kernel: Kernel, local: Mapping[str, str], sizes: tuple[SizeCheck, ...]) -> Iterator[str]:
    """Lines of one condition, 12 columns in; its last conjunct is the tuple that decides about dtypes and device."""
    pointers = [local[p.name] for p in kernel.parameters if pointee(p.value.type) is not None]
    conjuncts = _equal([f"{p}.get_device()" for p in pointers])
    if assumes_contiguous(kernel):
        conjuncts += [f"{p}.is_contiguous()" for p in pointers]
    extents = {extent for _, shape in kernel.attributes.shapes for extent in shape if extent.known is None}
    for parameter in kernel.parameters:
        is_extent = Extent.of(parameter.name) in extents
        conjuncts += _scalar_conditions(local[parameter.name], parameter.value.type, is_extent)
    plain = {Extent.of(p.name) for p in kernel.parameters}
    conjuncts += sorted(
        f"0 <= {extent_text(extent, local)}" for extent in extents - plain if _may_be_negative(extent, kernel)
    )
    for needed in dict.fromkeys(size.needed for size in sizes):
        conjuncts += _equal([needed, *(f"{size.tensor}.numel()" for size in sizes if size.needed == needed)])
    yield from (conjunct if i == 0 else f"and {conjunct}" for i, conjunct in enumerate(conjuncts))
    items = [f"{pointers[0]}.device", *(f"{p}.dtype" for p in pointers)] if pointers else ["True", "True"]
    yield from bracketed("and (" if conjuncts else "(", items, ")", 12)


def _equal(expressions: list[str]) -> list[str]:
    """Comparisons of all expressions with the first one, as chains that fit a line."""
    if len(expressions) < 2:
        return []
    first, *others = expressions
    lines = filled(others, " == ", 16 + len(first) + 4)
    return [f"{first} == {line.strip().removesuffix(' ==')}" for line in lines]


def _may_be_negative(extent: Extent, kernel: Kernel) -> bool:
    """Whether an extent is more than a constant of which a rule says so, or a number of elements by others."""
    ruled = {requirement.extent for requirement in kernel.requirements}
    return extent not in ruled and bool(extent.names & {*_constant_names(kernel), *(p.name for p in kernel.parameters)})


def _scalar_conditions(name: str, type: Type, is_extent: bool = False) -> list[str]:
    """What makes a scalar argument plainly right; a pointer has no such conditions."""
    if not isinstance(type, TensorType) or pointee(type) is not None:
        return []
    element = type.element
    if isinstance(element, DType) and element.kind is Kind.BOOL:
        return [f"type({name}) is bool"]
    if isinstance(element, DType) and element.kind is not Kind.FLOAT:
        low = "0" if is_extent or element.kind is Kind.UNSIGNED else f"-(2**{element.bits - 1})"
        return [f"type({name}) is int", f"{low} <= {name} < 2**{(element.maximum + 1).bit_length() - 1}"]
    return [f"type({name}) is float"]


# ---- Op structs -----------------------------------------------------------------------------------------------------


def _op_view(op: OpClass, kernels: Mapping[str, Kernel], classes: Mapping[str, str], names: Names) -> OpView:
    parameters: dict[str, str] = {}
    for name in op.parameters:
        parameters[name] = free_name(name, {"self", *parameters.values()})
    return OpView(
        name=op.name,
        doc=tuple(docstring_lines(op.doc or "Kernels of one operator with their constants bound.", 4)),
        parameters="".join(f", {p}" for p in parameters.values()),
        given="{" + ", ".join(f"{literal(p)}: {p}" for p in parameters.values()) + "}",
        fields=tuple(_op_field(f, kernels[f.kernel], classes[f.kernel], parameters, names) for f in op.fields),
    )


def _op_field(field: OpField, kernel: Kernel, name: str, parameters: Mapping[str, str], names: Names) -> str:
    given = dict(field.arguments)
    arguments = []
    for constant, fact in zip(kernel.constants, constants_of(kernel, names), strict=False):
        if constant.name in given:
            value = extent_text(given[constant.name], parameters)
            if str(constant.type) == "bool" and value in ("0", "1"):
                value = str(value == "1")
            arguments.append(f"{fact['field']}={value}")
    return f"{free_name(field.name, ())} = {name}({', '.join(arguments)})"
