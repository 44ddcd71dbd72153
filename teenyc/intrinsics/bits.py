"""The bits of integers of every width: counted, and turned round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, elementwise
from teenyc.intrinsics.spec import Intrinsic, Param, Role
from teenyc.types import U32, Element

_X = (Param("x", Role.VALUE),)


def _counted(count: Callable[[int, int], int]) -> Callable[..., Any]:
    """A reference by a function of the bits, as a number without sign, and their width."""

    def reference(x: Any) -> Any:
        width = numpy().asarray(x).dtype.itemsize * 8
        return numpy().vectorize(lambda v: count(int(v) % (1 << width), width), otypes=["uint32"])(x)

    return reference


def _turned(size: int) -> Callable[..., Any]:
    """A reference that writes groups of `size` bits in reverse order."""

    def reference(x: Any) -> Any:
        x = numpy().asarray(x)
        width = x.dtype.itemsize * 8

        def one(value: int) -> int:
            groups = [int(value) % (1 << width) >> at & (1 << size) - 1 for at in range(0, width, size)]
            return sum(group << width - size - at for group, at in zip(groups, range(0, width, size), strict=True))

        return numpy().vectorize(one, otypes=[f"uint{width}"])(x).view(x.dtype)

    return reference


def _bits(
    name: str, form: str, summary: str, reference: Callable[..., Any], result: Element | None = None
) -> Intrinsic:
    helper = form.partition("(")[0]
    rule = elementwise("x", Need.INTEGER, element=result)
    return Intrinsic(name, _X, rule, form, summary, "bits", reference=reference, helper=helper, settles=True)


INTRINSICS = (
    _bits("count_ones", "_count_ones", "How many bits are one.", _counted(lambda v, _: v.bit_count()), U32),
    _bits(
        "leading_zeros",
        "_leading_zeros",
        "How many bits above the highest one are zero.",
        _counted(lambda v, width: width - v.bit_length()),
        U32,
    ),
    _bits("reverse_bits", "_reversed({x}, 1)", "The bits in reverse order.", _turned(1)),
    _bits("swap_bytes", "_reversed({x}, 8)", "The bytes in reverse order.", _turned(8)),
)
