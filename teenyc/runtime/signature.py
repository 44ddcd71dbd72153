"""Signatures for ahead-of-time compilation: a kernel with known constants and dtypes becomes Triton's types by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, assert_never

from teenyc.codegen.parameters import annotation
from teenyc.diagnostics.model import Reporter
from teenyc.ir.nodes import OPTIONS, Kernel, Parameter
from teenyc.record import field, record, replace
from teenyc.source import Span
from teenyc.types import (
    BOOL,
    DTYPES,
    I64,
    Compute,
    DType,
    Element,
    Kind,
    Pointer,
    TensorType,
    TypeVar,
    Unsuffixed,
    compute_type,
)

ALIGNMENT = 16
"""What the first byte of every tensor must be a multiple of: as allocators give it, and as wide loads need it."""

_FLOATS = {"f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5", "f8e4m3fnuz": "fp8e4b8", "f8e5m2fnuz": "fp8e5b16"}
_FLOATS |= {"f8e4m3b15": "fp8e4b15", "bf16": "bf16"}


@record
class Argument:
    """One run-time argument: emitted name, Triton's type (`*bf16`, `i32`), element type by its name here, size."""

    name: str
    type: str
    element: str
    size: int
    role: str

    @property
    def is_pointer(self) -> bool:
        return self.type.startswith("*")


@record
class Signature:
    """All that Triton must know of a kernel. `constants` maps emitted names to numbers, or to `DType`s."""

    kernel: Kernel
    name: str
    arguments: tuple[Argument, ...]
    constants: Mapping[str, int | bool | DType]
    dtypes: Mapping[str, str]
    form: str = ""
    """`tiled` or `plain` where a launcher has both; `rows` of what runs before the first"""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """what the metadata says of the blocked kernel, or of the one before, where it is that"""
    config: Mapping[str, int] = field(default_factory=dict)
    """what a launch would choose: constants and options, by emitted names"""
    place: Span | None = None
    """where the source states that configuration"""
    is_told: bool = False
    """whether what it takes is told, also where another one is chosen"""
    is_likely: bool = True
    """whether a launch would try it, and not only where nothing else fits"""

    @property
    def source_name(self) -> str:
        """The kernel of the source, of which blocks may be made."""
        return self.kernel.tiling.of if self.kernel.tiling is not None else self.kernel.name

    @property
    def configuration(self) -> str:
        """The configuration in words, empty without one."""
        return ", ".join(f"{name}={value}" for name, value in self.config.items())

    @property
    def span(self) -> Span:
        """What a report points at: the configuration of the source, or else the kernel's name."""
        return self.place or self.kernel.span

    @property
    def file_stem(self) -> str:
        """How the names of files begin; a kernel that has blocks is what goes by its name."""
        return self.name if self.form in ("", "tiled") else f"{self.name}_{self.form}"


def signature_of(kernel: Kernel, name: str, facts: Mapping[str, Any], reporter: Reporter) -> Signature | None:
    """The signature of a kernel that is emitted as `name` with these facts; None after reports of what is not known."""
    elements = {variable: element for variable, element in kernel.elements if isinstance(element, DType)}
    _report_missing(kernel, elements, reporter)
    if reporter.has_errors:
        return None
    chosen = dict(kernel.attributes.configs[0]) if kernel.attributes.chooses else {}
    values: list[int | bool | DType] = [chosen[c.name] if c.known is None else c.known for c in kernel.constants]
    values += [elements[v.name] for v in kernel.type_variables if v.name in _dtype_constants(facts)]
    return Signature(
        kernel=kernel,
        name=name,
        arguments=tuple(
            _argument(fact, parameter, elements)
            for fact, parameter in zip(facts["parameters"], kernel.parameters, strict=True)
        ),
        constants={fact["name"]: value for fact, value in zip(facts["constants"], values, strict=True)},
        dtypes={variable: str(element) for variable, element in elements.items()},
    )


def tuned_signatures(written: Signature, facts: Mapping[str, Any] | None) -> tuple[Signature, ...]:
    """A signature for each configuration of a kernel as written: `facts` is what the metadata says of them, if any."""
    if facts is None:
        return (written,)
    kernel = written.kernel
    return tuple(
        replace(
            written,
            kernel=_with_options(kernel, {**dict(kernel.attributes.options), **config}),
            constants={**written.constants, **{n: v for n, v in config.items() if n in written.constants}},
            config=config,
            place=place,
            is_told=place is not None,
        )
        for config, place in zip(facts["configs"], kernel.attributes.config_spans, strict=True)
    )


@record
class Blocks:
    """The blocked kernel of one of the source, the one that runs before it, and what the metadata says of them."""

    tiled: Kernel
    rows: Kernel | None
    facts: Mapping[str, Any]


def tiled_signature(
    plain: Signature, blocks: Blocks, config: Mapping[str, int], place: Span | None = None
) -> Signature:
    """The signature of a blocked kernel in one configuration, from that of the kernel as written."""
    facts, tiled = blocks.facts, blocks.tiled
    return replace(
        plain,
        kernel=_with_options(tiled, config),
        arguments=(*plain.arguments, *_scratch(plain, blocks), *_counts(facts["counts"].values())),
        constants={**plain.constants, **_chosen(facts, config)},
        form="tiled",
        facts=facts,
        config=config,
        place=place,
        is_told=place is not None,
    )


def _chosen(facts: Mapping[str, Any], config: Mapping[str, int]) -> dict[str, int]:
    """What a configuration says of constants, and what those are of which it says nothing."""
    defaults: dict[str, int] = facts.get("defaults", {})
    stated = {**defaults, **config}
    return {name: stated[name] for name in (*facts["constants"], *defaults)}


def rows_signature(plain: Signature, blocks: Blocks) -> Signature:
    """The signature of the kernel that runs before a blocked one."""
    rows, facts = blocks.rows, blocks.facts["rows"]
    assert rows is not None, "one runs before"
    given = {argument.name: argument for argument in plain.arguments}
    return replace(
        plain,
        kernel=_with_options(rows, facts["config"]),
        arguments=(
            *(given[name] for name in facts["parameters"]),
            *_scratch(plain, blocks),
            *_counts(facts["counts"].values()),
        ),
        constants={
            **{name: plain.constants[name] for name in facts["constants"]},
            **{name: facts["config"][name] for name in facts["blocks"].values()},
        },
        form="rows",
        facts=facts,
    )


def _with_options(kernel: Kernel, config: Mapping[str, int]) -> Kernel:
    options = tuple((name, value) for name, value in config.items() if name in OPTIONS)
    return replace(kernel, attributes=replace(kernel.attributes, options=options))


def _counts(names: Iterable[str]) -> Iterator[Argument]:
    return (Argument(name, "i32", "i32", 4, "count") for name in names)


def _scratch(plain: Signature, blocks: Blocks) -> Iterator[Argument]:
    """The pointers to what one kernel computes for the other."""
    tiling = blocks.rows.tiling if blocks.rows is not None else None
    if tiling is None or tiling.prologue is None:
        return
    elements = {v: e for v, e in plain.kernel.elements if isinstance(e, DType)}
    for name, (_, stored) in zip(blocks.facts["rows"]["scratch"], tiling.prologue.scratch, strict=True):
        element = _known(stored, elements)
        yield Argument(name, f"*{_triton(element)}", element.name, 8, "rows")


def allows_blocks(plain: Signature, blocks: Blocks) -> bool:
    """Whether the constants satisfy what blocked kernels ask of them beside the kernel as written."""
    known = {c.name: c.known for c in plain.kernel.constants if c.known is not None}
    rows = blocks.rows.requirements if blocks.rows is not None else ()
    asked = (r for r in (*blocks.tiled.requirements, *rows) if r not in plain.kernel.requirements)
    return all((r.extent.substitute(known).known or 0) >= int(r.rule.removeprefix("at-least:")) for r in asked)


def _report_missing(kernel: Kernel, elements: Mapping[str, DType], reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.target import ConstantNotSet, DtypeNotSet

    for constant in kernel.constants:
        if constant.known is None and constant.name not in kernel.attributes.chooses:
            facts = {"kernel": kernel.name, "constant": constant.name, "type": str(constant.type)}
            reporter.report(ConstantNotSet(span=constant.span, **facts))
    for variable in kernel.type_variables:
        if variable.name not in elements:
            reporter.report(DtypeNotSet(span=kernel.span, kernel=kernel.name, variable=variable.name))


def _dtype_constants(facts: Mapping[str, Any]) -> set[str]:
    """The dtype parameters that no pointer binds, which the kernel takes as constants."""
    return {fact["name"] for fact in facts["constants"] if fact["type"] == "dtype"}


def _argument(fact: Mapping[str, str], parameter: Parameter, elements: Mapping[str, DType]) -> Argument:
    type = parameter.value.type
    assert isinstance(type, TensorType), "a parameter is a scalar or a pointer"
    if isinstance(type.element, Pointer):
        element = _known(type.element.to, elements)
        return Argument(fact["name"], f"*{_triton(element)}", element.name, 8, fact["role"])
    annotated = annotation(parameter).removeprefix("tl.")
    element = next((d for d in DTYPES.values() if d.triton == annotated), None) or _known(type.element, elements)
    return Argument(fact["name"], _triton(element), element.name, max(element.bits // 8, 1), fact["role"])


def _known(element: Element, elements: Mapping[str, DType]) -> DType:
    match element:
        case DType():
            return element
        case TypeVar():
            return elements[element.name]
        case Compute():
            known = compute_type(elements[element.of.name])
            assert isinstance(known, DType)
            return known
        case Pointer():
            return I64  # addresses in memory
        case Unsuffixed():
            raise AssertionError("a parameter has a literal's type")
        case _:
            assert_never(element)


def _triton(element: DType) -> str:
    """Triton's short name of a type, as its signatures have it."""
    if element == BOOL:
        return "u1"
    if element.kind is Kind.FLOAT:
        return _FLOATS.get(element.name, f"fp{element.bits}")
    return element.name
