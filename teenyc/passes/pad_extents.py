"""Pads extents that are no powers of two: a program goes in; one with larger axes, masked where they grew, comes out.

Where a kernel states `pad(NAME)`, each axis whose extent names the constant gets the extent with `NAME_PADDED`, the
next power of two, in its place; scalars keep the true number. What is beyond the true extent is never seen: accesses
are masked there, and before an operation that would see such lanes they are filled with a number that changes nothing.
Which those are is `ir.pad`'s to say; it also refused, when the kernel was checked, what cannot be padded.

Where the constant is a power of two already, all masks are true when Triton compiles, and nothing is left of them.
"""

from __future__ import annotations

from teenyc.ir import walk
from teenyc.ir.nodes import Kernel, Program


def pad_extents(program: Program) -> Program:
    """The program with every kernel padded that asks for it."""
    if not any(kernel.attributes.pad for kernel in program.kernels):
        return program
    from teenyc.passes.pad_kernel import padded

    ids = walk.fresh_ids(program)

    def kernel(body: Kernel) -> Kernel:
        return padded(body, body.attributes.pad, ids) if body.attributes.pad else body

    return walk.map_program(program, kernel, lambda function: function)
