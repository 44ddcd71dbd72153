"""Lowers descriptors: a program goes in, one comes out in which blocks of memory are masked loads, stores and atomics.

What takes their place is made by `without_descriptors`, for programs that have any.
"""

from __future__ import annotations

from teenyc.ir.nodes import Program
from teenyc.ir.walk import bodies_of, values_of
from teenyc.types import DescriptorType


def lower_descriptors(program: Program) -> Program:
    """The program without descriptors."""
    if not any(isinstance(v.type, DescriptorType) for body in bodies_of(program) for v in values_of(body)):
        return program
    from teenyc.passes.without_descriptors import without_descriptors

    return without_descriptors(program)
