"""What blocks ask of constants: a blocked kernel goes in, and comes out with its requirements stated."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.ir.nodes import Call, Constant, For, Kernel, Let, Requirement
from teenyc.ir.walk import statements_of
from teenyc.record import replace
from teenyc.tiling.plan import Plan
from teenyc.types import Extent, TensorType

LEAST = 16
"""The least extent of a matrix along any axis."""


def with_minima(kernel: Kernel, plan: Plan, source: Kernel) -> Kernel:
    """The kernel with what its constants must be; numbers that it makes of constants become large enough.

    `plan` is that by which it was made of `source`.
    """
    found = {extent: let for let, extent in _extents(kernel)}
    made = tuple(p.name for p in kernel.padded)
    padded = tuple(
        replace(p, minimum=max(p.minimum, LEAST)) if Extent.of(p.name) in found else p for p in kernel.padded
    )
    asked = (
        Requirement(extent=e, rule=f"at-least:{LEAST}", what="a product of matrices", span=let.span)
        for e, let in found.items()
        if e.names <= {c.name for c in kernel.constants} - {*made} and (e.known or 0) < LEAST
    )
    return replace(kernel, padded=padded, requirements=(*kernel.requirements, *asked, *_steps(kernel, plan, source)))


def _steps(kernel: Kernel, plan: Plan, source: Kernel) -> Iterator[Requirement]:
    """Steps and strides of loops in blocks are no less than 1, which lengths of an axis are anyway."""
    loops = {s.counter.id: s for _, s in statements_of(source.body) if isinstance(s, For)}
    known = {e for r in kernel.requirements if r.rule in ("positive", "power-of-two") for e in r.extent.names}
    for loop in plan.loops:
        step = loops[loop.axis.id].step
        names = [step.name] if isinstance(step, Constant) else []
        names += [name for stored in loop.stores for name in stored.constants]
        for name in sorted({*names} & {c.name for c in kernel.constants} - known):
            known.add(name)
            what = "the step of a loop in blocks"
            yield Requirement(extent=Extent.of(name), rule="at-least:1", what=what, span=loop.axis.span)


def _extents(kernel: Kernel) -> Iterator[tuple[Let, Extent]]:
    """The extents of all matrices that are multiplied, but for blocks, which are chosen large enough."""
    blocks = set(kernel.tiling.constants if kernel.tiling is not None else ())
    for _, let in statements_of(kernel.body):
        if isinstance(let, Let) and isinstance(let.operation, Call) and let.operation.intrinsic == "dot":
            for _, operand in let.operation.operands:
                shape = operand.type.shape if isinstance(operand.type, TensorType) else ()
                yield from ((let, extent) for extent in shape if not extent.names & blocks)
