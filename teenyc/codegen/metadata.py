"""Facts about a compiled program as plain data: `TEENYC` of a generated module and `Compiled.metadata`."""

from __future__ import annotations

import builtins
import keyword
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence

from teenyc.codegen.effects import Effects, effects_of
from teenyc.codegen.footprint import footprint
from teenyc.codegen.repeats import repeat_facts
from teenyc.codegen.sizes import extent_text
from teenyc.ir.nodes import Call, Kernel, Let, OpClass, Program, Requirement, Tiling
from teenyc.ir.walk import statements_of
from teenyc.record import field, record
from teenyc.source import SourceFile
from teenyc.types import Compute, Element, Extent, Pointer, TensorType, Type

NOTHING: Mapping[str, str] = {}

AXES = "xyz"
"""The axes of a grid."""

OPTIONAL = frozenset(
    "fixed atomics nondeterministic provided requirements grid shapes options backward renamed".split()
)
"""Keys of a kernel that are left out where they say nothing."""

NO_CERTIFICATES: Mapping[str, Sequence[str]] = {}

FIELDS = frozenset({"check"})
"""Names that a bound class uses for itself, so no field may have them."""


@record
class Names:
    """How the emitter spells the author's names, where it cannot keep them.

    `items` maps kernels and device functions, `inside` maps a kernel to its parameters and constants; what is missing
    keeps its name.
    """

    items: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def item(self, name: str) -> str:
        return self.items.get(name, name)

    def function(self, kernel: str) -> str:
        """The `@triton.jit` function of a kernel: another than the kernel's name where a launcher has that."""
        return self.items.get(plain_key(kernel), self.item(kernel))

    def local(self, kernel: str, name: str) -> str:
        return self.inside.get(kernel, NOTHING).get(name, name)


KEPT = Names()


def plain_key(kernel: str) -> str:
    """What `Names.items` calls the function of a kernel as written, where the kernel's name is that of a launcher."""
    return f"{kernel}'plain"


def source_kernels(program: Program) -> tuple[Kernel, ...]:
    """The kernels that a host knows: those of the source."""
    return tuple(kernel for kernel in program.kernels if kernel.tiling is None)


def launched_kernels(program: Program) -> tuple[Kernel, ...]:
    """The kernels of the source that a launcher stands for."""
    tiled = tiled_kernels(program)
    return tuple(k for k in source_kernels(program) if k.name in tiled or k.attributes.chooses)


def tiled_kernels(program: Program) -> dict[str, Kernel]:
    """The blocked kernels by the names of those that they take the place of."""
    return _forms(program, lambda tiling: tiling.is_main)


def described_kernels(program: Program) -> dict[str, Kernel]:
    """The blocked kernels that load by descriptors, by the names of those that they take the place of."""
    return _forms(program, lambda tiling: tiling.descriptors is not None)


def uneven_kernels(program: Program) -> dict[str, Kernel]:
    """The blocked kernels that take an extent in two parts, by the names of those that they take the place of."""
    return _forms(program, lambda tiling: bool(tiling.uneven))


def prologue_kernels(program: Program) -> dict[str, Kernel]:
    """The kernels that run before a blocked one, by the names of those that this takes the place of."""
    return _forms(program, lambda tiling: tiling.prologue is not None)


def _forms(program: Program, is_one: Callable[[Tiling], bool]) -> dict[str, Kernel]:
    tilings = ((kernel.tiling, kernel) for kernel in program.kernels if kernel.tiling is not None)
    return {tiling.of: kernel for tiling, kernel in tilings if is_one(tiling)}


def split_kernels(program: Program) -> dict[str, tuple[Kernel, Kernel]]:
    """The kernels of parts of a loop with those that join them, by the names of those that they take the place of."""
    found: dict[str, list[Kernel]] = {}
    for kernel in program.kernels:
        if kernel.tiling is not None and kernel.tiling.split is not None:
            found.setdefault(kernel.tiling.of, []).append(kernel)
    return {of: (parts, joined) for of, (parts, joined) in found.items()}


def metadata(
    program: Program,
    *,
    source: str,
    version: str,
    names: Names = KEPT,
    certificates: Mapping[str, Sequence[str]] = NO_CERTIFICATES,
    file: SourceFile | None = None,
) -> dict[str, object]:
    """Everything a host can ask about the kernels of a program, as dicts, lists, strings, numbers and bools.

    By kernel: class of the checked form, parameters with type and role, constants with the field that binds them,
    dtype parameters, what is read, written and changed by atomics, whether two launches give the same bits and why not,
    what the source states, and what tiling did, as `certificates` says it by kernel. Keys with nothing to say are left
    out. Lines and columns are those of `file`.
    """
    effects = effects_of(program)
    classes = class_names(program, names)
    rows = prologue_kernels(program)
    tiled = {name: tiled_facts(k, rows.get(name), names) for name, k in tiled_kernels(program).items()}
    for name, kernel in described_kernels(program).items():
        tiled[name]["described"] = names.item(kernel.name)
    of = {k.name: k for k in source_kernels(program)}
    for name, pair in split_kernels(program).items():
        tiled[name]["split"] = split_facts(of[name], *pair, names)
    for name, kernel in uneven_kernels(program).items():
        tiled[name]["uneven"] = names.item(kernel.name)
    kernels = {
        names.item(k.name): _kernel(k, program, effects, classes[k.name], tiled.get(k.name), names, file)
        for k in source_kernels(program)
    }
    for name, lines in certificates.items():
        kernels[names.item(name)]["tiling"] = list(lines)
    facts: dict[str, object] = {"version": version, "source": source, "kernels": kernels}
    if program.ops:
        facts["ops"] = {op.name: _op(op, names) for op in program.ops}
    return facts


def _kernel(
    kernel: Kernel,
    program: Program,
    known: Mapping[str, Effects],
    class_name: str,
    tiled: Mapping[str, object] | None,
    names: Names,
    file: SourceFile | None,
) -> dict[str, object]:
    def spelled(name: str) -> str:
        return names.local(kernel.name, name)

    def listed(indices: Collection[int]) -> list[str]:
        return [spelled(kernel.parameters[i].name) for i in sorted(indices)]

    effects = known[kernel.name]
    forms = [kernel, *(k for k in program.kernels if k.tiling is not None and k.tiling.of == kernel.name)]
    facts: dict[str, object] = {
        "class": class_name,
        "parameters": [
            {
                "name": spelled(p.name),
                "type": str(p.value.type),
                "role": _role(i, p.value.type, effects),
            }
            for i, p in enumerate(kernel.parameters)
        ],
        "constants": constants_of(kernel, names),
        "dtypes": {v.name: v.bound.value for v in kernel.type_variables},
        "fixed": {name: str(element) for name, element in kernel.elements},
        "reads": listed(effects.reads),
        "writes": listed(effects.writes),
        "atomics": listed(effects.atomics),
        **repeat_facts([(each, known[each.name]) for each in forms], spelled, file),
        "contiguous": assumes_contiguous(kernel),
        **_stated(kernel, names),
    }
    if tiled is not None:
        facts |= {"options": {}, "tiled": tiled}
    elif kernel.attributes.chooses:
        facts |= {"options": {}, "tuned": tuned_facts(kernel, names)}
    return {key: value for key, value in facts.items() if value or key not in OPTIONAL}


def tiled_facts(kernel: Kernel, before: Kernel | None, names: Names) -> dict[str, object]:
    """What a launcher must know of a blocked kernel. The options that the source states are those of the plain one.

    `before` is the kernel that runs before, if one does.
    """
    tiling = kernel.tiling
    assert tiling is not None, "only blocked kernels have blocks"
    local = {c.name: names.local(kernel.name, c.name) for c in kernel.constants}
    return {
        "function": names.item(kernel.name),
        "blocks": {AXES[axis]: names.local(kernel.name, name) for axis, name in tiling.blocks},
        "counts": {AXES[axis]: names.local(kernel.name, name) for axis, name in tiling.counts},
        "constants": [names.local(kernel.name, name) for name in tiling.constants],
        **({"defaults": {local[name]: value for name, value in tiling.defaults}} if tiling.defaults else {}),
        "plain": dict(kernel.attributes.options),
        "dots": _has_dots(kernel) or (before is not None and _has_dots(before)),
        "configs": [{names.local(kernel.name, n): value for n, value in config} for config in tiling.configurations],
        **({"conditions": conditions} if (conditions := conditions_of(kernel, names)) else {}),
        **({} if kernel.attributes.configs else footprint(kernel, local)),
        **({"rows": rows_facts(before, names)} if before is not None else {}),
    }


def conditions_of(kernel: Kernel, names: Names) -> list[str]:
    """What must hold of a launch of a blocked kernel, as Python expressions over arguments, constants and counts."""
    assert kernel.tiling is not None, "it takes blocks"
    local = {name: names.local(kernel.name, name) for name in _source_names(kernel)}
    found: list[str] = []
    for apart in kernel.tiling.apart:
        orders = ([f"{extent_text(a.number, local)} >= {extent_text(a.least, local)}" for a in o] for o in apart)
        found.append(" or ".join(" and ".join(order) for order in orders))
    for count, divisor in kernel.tiling.whole:
        text = extent_text(divisor, local)
        is_positive = "" if divisor.known is not None else f"{text} > 0 and "
        found.append(f"{is_positive}{local[count]} % {f'({text})' if ' ' in text else text} == 0")
    return found


def rows_facts(kernel: Kernel, names: Names) -> dict[str, object]:
    """What a launcher must know of a kernel that runs before a blocked one.

    Its grid has along `axis` the `iterations`, in blocks, and along `axes` what the source's grid has. `scratch` are
    the types of what it writes for each entry of that grid, by the last parameters in front of the count, and
    `parameters` the arguments of a launch that it is given.
    """
    tiling = kernel.tiling
    assert tiling is not None, "it takes blocks"
    assert tiling.prologue is not None, "it runs before"
    prologue, (config,) = tiling.prologue, tiling.configurations
    ((axis, block),), ((_, count),) = tiling.blocks, tiling.counts
    scratch = {name for name, _ in prologue.scratch}
    spelled = {n: names.local(kernel.name, n) for n in _source_names(kernel)}
    local = {name: names.local(tiling.of, name) for name in sorted(prologue.extent.names)}
    pointers = {pointee(p.value.type) for p in kernel.parameters}
    return {
        "function": names.item(kernel.name),
        "parameters": [spelled[p.name] for p in kernel.parameters if p.name not in {*scratch, count}],
        "constants": [
            *(spelled[c.name] for c in kernel.constants if c.name != block),
            *(v.name for v in kernel.type_variables if v not in pointers),
        ],
        "scratch": {spelled[name]: str(element) for name, element in prologue.scratch},
        "iterations": extent_text(prologue.extent, local),
        "axis": AXES[axis],
        "axes": [AXES[n] for n in prologue.axes],
        "blocks": {AXES[axis]: spelled[block]},
        "counts": {AXES[axis]: spelled[count]},
        "config": {spelled.get(n, n): value for n, value in config},
    }


def split_facts(kernel: Kernel, parts: Kernel, joined: Kernel, names: Names) -> dict[str, object]:
    """What a launcher must know of the two kernels in which programs share a loop.

    Along `axis` the grid has as many programs as the constant `count` says. `scratch` are the types of what the first
    writes for each program of the source and each part, by the last parameters in front of the counts, `like` the
    tensors whose dtypes say what `D` is there, `given` and `constants` what of a launch each is given. `blocks`,
    `counts` and `config` are those of the second, if it takes some.
    """
    tiling, behind = parts.tiling, joined.tiling
    assert tiling is not None, "it takes blocks"
    assert tiling.split is not None, "its programs share a loop"
    assert behind is not None, "it joins parts"
    split = tiling.split
    memory = {name for name, _, _ in split.scratch} | {name for each in (tiling, behind) for _, name in each.counts}
    spelled = {n: names.local(joined.name, n) for n in _source_names(joined)}
    return {
        "parts": names.item(parts.name),
        "joined": names.item(joined.name),
        "axis": AXES[split.axis],
        "axes": [AXES[n] for n in split.axes],
        "count": names.local(parts.name, split.count),
        "scratch": {names.local(parts.name, name): str(element) for name, element, _ in split.scratch},
        "like": [names.local(kernel.name, like(element, kernel)) for _, element, _ in split.scratch],
        "given": [[names.local(k.name, p.name) for p in k.parameters if p.name not in memory] for k in (parts, joined)],
        "constants": [[names.local(k.name, name) for name in _constants_given(k)] for k in (parts, joined)],
        "blocks": {AXES[axis]: spelled[name] for axis, name in behind.blocks},
        "counts": {AXES[axis]: spelled[name] for axis, name in behind.counts},
        "config": {spelled.get(n, n): value for config in behind.configurations for n, value in config},
    }


def like(element: Element, kernel: Kernel) -> str:
    """The tensor whose dtype says what an element of memory between kernels is, and that is on the same device."""
    pointers = [p for p in kernel.parameters if pointee(p.value.type) is not None]
    of = element.of if isinstance(element, Compute) else element
    return next((p.name for p in pointers if pointee(p.value.type) == of), pointers[0].name)


def _constants_given(kernel: Kernel) -> tuple[str, ...]:
    """The constants of a kernel, and the dtypes that no pointer tells."""
    pointers = {pointee(p.value.type) for p in kernel.parameters}
    return (*(c.name for c in kernel.constants), *(v.name for v in kernel.type_variables if v not in pointers))


def _has_dots(kernel: Kernel) -> bool:
    """Whether a kernel multiplies matrices."""
    lets = (s.operation for _, s in statements_of(kernel.body) if isinstance(s, Let))
    return any(isinstance(operation, Call) and operation.intrinsic == "dot" for operation in lets)


def tuned_facts(kernel: Kernel, names: Names) -> dict[str, object]:
    """What a launcher must know of a kernel as written, of which it chooses constants."""
    return {
        "blocks": {},
        "counts": {},
        "constants": [names.local(kernel.name, name) for name in kernel.attributes.chooses],
        "plain": dict(kernel.attributes.options),
        "configs": [{names.local(kernel.name, n): value for n, value in c} for c in kernel.attributes.configs],
    }


def _stated(kernel: Kernel, names: Names) -> dict[str, object]:
    """What the source says about the kernel: in its attributes, its use of constants, its names."""
    stated = kernel.attributes
    spelled = {name: names.local(kernel.name, name) for name in _source_names(kernel)}
    spelled |= {kernel.name: names.item(kernel.name)}
    return {
        "requirements": [
            {"extent": str(r.extent), "rule": r.rule, "for": r.what} for r in distinct_requirements(kernel)
        ],
        "grid": [str(extent) for extent in stated.grid or ()],
        "shapes": {names.local(kernel.name, name): [str(e) for e in shape] for name, shape in stated.shapes},
        "options": dict(stated.options),
        "backward": stated.backward,
        "renamed": {name: new for name, new in spelled.items() if new != name},
    }


def _source_names(kernel: Kernel) -> tuple[str, ...]:
    return (*(p.name for p in kernel.parameters), *(c.name for c in kernel.constants))


def _role(index: int, type: Type, effects: Effects) -> str:
    if pointee(type) is None:
        return "scalar"
    match index in effects.reads, index in effects.writes:
        case True, True:
            return "input and output"
        case True, False:
            return "input"
        case False, True:
            return "output"
        case _:
            return "unused"


def _op(op: OpClass, names: Names) -> dict[str, object]:
    return {
        "parameters": list(op.parameters),
        "fields": {
            f.name: {"kernel": names.item(f.kernel), "constants": {name: str(e) for name, e in f.arguments}}
            for f in op.fields
        },
    }


def pointee(type: Type) -> Element | None:
    """The element type behind a pointer, None for any other type."""
    return type.element.to if isinstance(type, TensorType) and isinstance(type.element, Pointer) else None


def distinct_requirements(kernel: Kernel) -> tuple[Requirement, ...]:
    """What the constants must satisfy, each extent and rule once, for the first reason given."""
    found: dict[tuple[Extent, str], Requirement] = {}
    for requirement in kernel.requirements:
        found.setdefault((requirement.extent, requirement.rule), requirement)
    return tuple(found.values())


def assumes_contiguous(kernel: Kernel) -> bool:
    """Whether tensors must be contiguous: unless the kernel takes strides."""
    return not any("stride" in p.name.lower() for p in kernel.parameters)


def constants_of(kernel: Kernel, names: Names) -> list[dict[str, object]]:
    """The constants to bind, in order: emitted name, type, field of the bound class, and the value that `--set` fixed.

    A dtype parameter that no pointer binds is one of them, of type `dtype`.
    """
    bound = {pointee(p.value.type) for p in kernel.parameters}
    facts: list[dict[str, object]] = []
    taken = set(FIELDS)
    for constant in kernel.constants:
        known = {} if constant.known is None else {"known": constant.known}
        facts.append({"name": names.local(kernel.name, constant.name), "type": str(constant.type), **known})
    facts += [{"name": v.name, "type": "dtype"} for v in kernel.type_variables if v not in bound]
    for fact in facts:
        fact["field"] = free_name(str(fact["name"]).lower(), taken)
        taken.add(str(fact["field"]))
    return facts


def class_names(program: Program, names: Names) -> dict[str, str]:
    """The class of each kernel's checked form: `FlashAttention2Forward` for `flash_attention2_forward`.

    An Op keeps its own name; what would hide it, a kernel, a function or a builtin gets a suffix.
    """
    taken = {"TEENYC", *dir(builtins), *(op.name for op in program.ops)}
    taken |= {spelled(kernel.name) for kernel in program.kernels for spelled in (names.item, names.function)}
    taken |= {names.item(function.name) for function in program.functions}
    classes: dict[str, str] = {}
    for kernel in source_kernels(program):
        plain = unicodedata.normalize("NFKC", kernel.name.removeprefix("r#"))  # as Python reads it
        name = "".join(w[:1].upper() + w[1:] for w in plain.split("_"))
        classes[kernel.name] = free_name(name if name.isidentifier() else f"Kernel{name}", taken)
        taken.add(classes[kernel.name])
    return classes


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or where it is taken or a keyword, with `_`, `_2`, `_3`, … behind it."""
    if name not in taken and not keyword.iskeyword(name):
        return name
    suffixes = ("_", *(f"_{n}" for n in range(2, len(taken) + 4)))
    return next(name + suffix for suffix in suffixes if name + suffix not in taken)
