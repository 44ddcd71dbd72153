"""The functions of libdevice on integers and on the bits of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from teenyc.intrinsics.arrays.makers import unsigned


def clz(x: Any) -> Any:
    return numpy.vectorize(lambda v: x.dtype.itemsize * 8 - int(v).bit_length(), otypes="i")(unsigned(x))


def popc(x: Any) -> Any:
    return numpy.vectorize(lambda v: int(v).bit_count(), otypes="i")(unsigned(x))


def ffs(x: Any) -> Any:
    return numpy.vectorize(lambda v: (int(v) & -int(v)).bit_length(), otypes="i")(x)


def swapped(x: Any, count: int) -> Any:
    """Groups of `count` bits that stand side by side, exchanged."""
    word = unsigned(x)
    ones = (1 << word.dtype.itemsize * 8) - 1
    low = word.dtype.type(ones // ((1 << count) + 1))
    return (((word >> word.dtype.type(count)) & low) | ((word & low) << word.dtype.type(count))).view(x.dtype)


def brev(x: Any) -> Any:
    count = 1
    while count < x.dtype.itemsize * 8:
        x = swapped(x, count)
        count *= 2
    return x


def byte_perm(x: Any, y: Any, s: Any) -> Any:
    def one(x: int, y: int, s: int) -> int:
        eight = (int(y) & 0xFFFFFFFF) << 32 | int(x) & 0xFFFFFFFF
        picked = [eight >> 8 * (int(s) >> 4 * n & 7) & 0xFF for n in range(4)]
        return int.from_bytes(bytes(picked), "little", signed=True)

    return numpy.vectorize(one, otypes="i")(x, y, s)


def exactly(function: Callable[..., int]) -> Callable[..., Any]:
    """A function of Python's integers on arrays, cut to their type."""

    def apply(*arrays: Any) -> Any:
        kind = numpy.asarray(arrays[0]).dtype
        wide = numpy.asarray(function(*(numpy.asarray(a).astype(object) for a in arrays)))
        low = numpy.vectorize(lambda v: v & (1 << kind.itemsize * 8) - 1, otypes=[f"u{kind.itemsize}"])(wide)
        return low.view(kind)

    return apply


def mulhi(x: Any, y: Any) -> Any:
    return exactly(lambda a, b: (a * b) >> x.dtype.itemsize * 8)(x, y)


def mul24(x: Any, y: Any) -> Any:
    cut = 1 << 23 if x.dtype.kind == "i" else 0
    return exactly(lambda a, b: (((a + cut) & 0xFFFFFF) - cut) * (((b + cut) & 0xFFFFFF) - cut))(x, y)


hadd = exactly(lambda x, y: (x + y) >> 1)
rhadd = exactly(lambda x, y: (x + y + 1) >> 1)


def sad(x: Any, y: Any, z: Any) -> Any:
    return exactly(lambda c, a, b: abs(a - b) + c)(z, x, y)


def hiloint2double(hi: Any, lo: Any) -> Any:
    return (unsigned(hi).astype("uint64") << numpy.uint64(32) | unsigned(lo)).view("float64")


def double2loint(x: Any) -> Any:
    return x.view("uint64").astype("uint32").view("int32")


def double2hiint(x: Any) -> Any:
    return (x.view("uint64") >> numpy.uint64(32)).astype("uint32").view("int32")


def int_as_float(x: Any) -> Any:
    return x.view("float32")


def float_as_int(x: Any) -> Any:
    return x.view("int32")


def uint_as_float(x: Any) -> Any:
    return x.view("float32")


def float_as_uint(x: Any) -> Any:
    return x.view("uint32")


def longlong_as_double(x: Any) -> Any:
    return x.view("float64")


def double_as_longlong(x: Any) -> Any:
    return x.view("int64")
