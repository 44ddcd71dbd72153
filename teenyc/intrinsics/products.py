"""Products of matrices of f32 on NumPy, in each precision that Triton knows: how operands are cut or taken apart.

`tf32` cuts an operand to the 10 bits of fraction that NVIDIA's matrix units read of a register: Triton rounds nothing
for it. `tf32x3`, `bf16x3` and `bf16x6` multiply the parts of operands as Triton's pass F32DotTC does, the small
products first; their sum counts as zero where it is NaN, so that infinite operands give what they should.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from teenyc.intrinsics.reference import numpy

Parts = list[Any]


def multiplied(left: Any, right: Any, precision: str) -> Any:
    """The product of matrices of f32."""
    np = numpy()
    apart = PARTS.get(precision)
    if apart is None:
        return np.matmul(left, right)
    split, small = apart
    with np.errstate(all="ignore"):
        ours, theirs = split(left), split(right)
        big = np.matmul(ours[0], theirs[0])
        if not small:
            return big
        rest = sum(np.matmul(ours[a], theirs[b]) for a, b in small)
        return np.where(np.isnan(rest), np.float32(0), rest) + big


# ---- parts ----------------------------------------------------------------------------------------------------------


def _cut(numbers: Any) -> Any:
    """The numbers as matrix units read them that take tf32: without their lowest 13 bits."""
    np = numpy()
    return (np.ascontiguousarray(numbers).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def _to_tf32(numbers: Any) -> Any:
    """The nearest numbers of tf32, of two the one further from zero: `cvt.rna.tf32.f32`."""
    np = numpy()
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    nearest = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(numbers), nearest, bits).astype(np.uint32).view(np.float32)


def _to_bf16(numbers: Any) -> Any:
    """The nearest numbers of bf16, of two the even one."""
    np = numpy()
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isfinite(numbers), nearest, bits).astype(np.uint32).view(np.float32)


def _whole(numbers: Any) -> Parts:
    return [_cut(numbers)]


def _in_two(numbers: Any) -> Parts:
    """A number of tf32, and what is left, which the units cut."""
    big = _to_tf32(numbers)
    return [big, _cut(numbers - big)]


def _in_three(numbers: Any) -> Parts:
    """Three numbers of bf16, which have the bits of an f32 together."""
    high = _to_bf16(numbers)
    rest = numbers - high
    middle = _to_bf16(rest)
    return [high, middle, _to_bf16(rest - middle)]


PARTS: Mapping[str, tuple[Callable[[Any], Parts], Sequence[tuple[int, int]]]] = {
    "tf32": (_whole, ()),
    "tf32x3": (_in_two, ((1, 0), (0, 1))),
    "bf16x3": (_in_three, ((1, 0), (0, 1))),
    "bf16x6": (_in_three, ((1, 1), (2, 0), (0, 2), (1, 0), (0, 1))),
}
"""How operands are taken apart, and which products of their parts are small, in the order in which they are summed."""
