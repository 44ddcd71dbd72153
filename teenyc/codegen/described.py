"""Kernels that load by descriptors: one goes in; what a launcher calls in place of both forms comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teenyc.codegen.layout import STEP, WIDTH
from teenyc.codegen.literals import argument_lines
from teenyc.codegen.metadata import Names
from teenyc.codegen.sizes import extent_text
from teenyc.ir.nodes import Kernel

DEEP = 16
"""So many columns in stand the lines, at most."""


def with_descriptors(tiled: Sequence[str], described: Kernel, names: Names) -> Iterator[str]:
    """The lines of an expression: a kernel in blocks, itself an expression, with its other form, and when that runs."""
    yield "_WithDescriptors("
    yield from argument_lines(tiled)
    yield f"{STEP}{names.item(described.name)},"
    yield from (STEP + line for line in _condition(described, names))
    yield ")"


def _condition(kernel: Kernel, names: Names) -> Iterator[str]:
    """A function of a launch's arguments: whether tensors and strides are aligned."""
    asked = kernel.tiling.descriptors if kernel.tiling is not None else None
    assert asked is not None, "the kernel loads by descriptors"
    given = (*(p.name for p in kernel.parameters), *(c.name for c in kernel.constants))
    local = {name: names.local(kernel.name, name) for name in given}
    aligned: dict[str, list[str]] = {}
    used: set[str] = set()
    for pointer, extent in asked.aligned:
        aligned.setdefault(extent_text(extent, local), []).append(local[pointer])
        used |= {pointer, *extent.names}
    conditions = [f"_is_aligned({extent}, {', '.join(pointers)})" for extent, pointers in aligned.items()]
    last = max(n for n, p in enumerate(kernel.parameters) if p.name in used)
    places = [local[p.name] for p in kernel.parameters[: last + 1]]
    constants = [local[c.name] for c in kernel.constants if c.name in used]
    head = f"lambda {', '.join((*places, '*_', *constants, '**__'))}:"
    line = f"{head} {' and '.join(conditions)},"
    if len(line) + DEEP <= WIDTH:
        yield line
        return
    yield f"{head} ("
    yield from (f"{STEP}{'and ' if n else ''}{each}" for n, each in enumerate(conditions))
    yield "),"
