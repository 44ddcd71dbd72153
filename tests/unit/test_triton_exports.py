"""The table covers what `triton.language` exports: what is missing is named, what is no function is listed."""

from __future__ import annotations

import inspect

import pytest

from teenyc.intrinsics import find, find_operator
from teenyc.intrinsics.methods import METHODS, RENAMED
from teenyc.types import DTYPES

tl = pytest.importorskip("triton.language")

MODULES = {
    "extra": "libdevice and functions of one vendor, see below",
    "math": "the same functions as in `triton.language` itself",
    "target_info": "its functions are below",
    "core": "",
    "random": "",
    "semantic": "",
    "standard": "",
}

TYPES = {
    **dict.fromkeys(["PropagateNan"], 'the choice `propagate_nan = "all"`'),
    **dict.fromkeys(["dtype", "pi32_t", "pointer_type", "void"], "types: `i32`, `Pointer<f32>`"),
    **dict.fromkeys(["block_type", "tensor", "tensor_descriptor", "tensor_descriptor_type"], "types of values"),
    **dict.fromkeys(["tuple", "tuple_type", "slice"], "tuples and indices are syntax"),
    **dict.fromkeys(["constexpr", "constexpr_type", "const"], "`const NAME: i32`, and pointers that are only read"),
    **dict.fromkeys(["TRITON_MAX_TENSOR_NUMEL"], "a number: the checker knows it"),
}

SYNTAX = {
    **dict.fromkeys(["range", "static_range"], "iterators: `for i in range(0, n, num_stages = 3)`"),
    "condition": "around what a loop tests: `while condition(c, disable_licm = true)`",
    "aggregate_replace": "builds a Python class, which kernels have none of",
    "str_to_ty": "reads the text of a type for Triton's launcher",
}

WITH_FUNCTIONS = {"reduce", "associative_scan", "map_elementwise"}
"""These take a function; the checker knows them by name."""

DROPPED = {"advance"}
"""What Triton 3.6 to 3.8 export and 3.9 does not."""

SINCE = {"squeeze", "unsqueeze", "to_tensor", "expect_zero", "atomic_load", "atomic_store", "atomic_poll"}
"""What Triton 3.6 lacks and a later one exports, so that the installed one may lack it."""

TARGETS = {"is_cuda", "is_hip", "is_hip_cdna3", "is_hip_cdna4", "is_hip_gfx1250", "cuda_capability_geq"}
NOT_FOR_KERNELS = {"current_target", "driver", "constexpr_function"}
"""What `target_info` holds beside them: objects of the host."""

VENDOR = {"globaltimer", "smid", "num_threads", "num_warps", "gdc_wait", "gdc_launch_dependents"}
CUSTOM_CASTS = {"convert_custom_float8_sm70", "convert_custom_float8_sm80"}
"""What Triton's own casts from and to `float8e4b15` call."""

PARTS = {"T": "`trans(x)`", "item": "`sum(x)` of one element"}
"""Attributes of a tensor that are no methods of the language; `item` has no meaning for typed extents of 1."""


def is_known(name: str) -> bool:
    """Whether kernels may call a function of that name."""
    return bool(find(name) or find_operator(name)) or name in WITH_FUNCTIONS


def public(module: object) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")}


def test_every_function_of_the_language_is_known() -> None:
    types = {dtype.triton for dtype in DTYPES.values()}
    exported = set(tl.__all__) | public(tl) | DROPPED | SINCE
    assert sorted(n for n in exported - types - {*MODULES, *TYPES, *SYNTAX} if not is_known(n)) == []


def test_every_element_type_is_known() -> None:
    exported = {name for name in tl.__all__ if isinstance(getattr(tl, name), tl.dtype)}
    assert exported - {dtype.triton for dtype in DTYPES.values()} - {"pi32_t", "void"} == set()


def test_every_method_of_a_tensor_is_known() -> None:
    methods = public(tl.tensor) - PARTS.keys() - {"dtype", "shape", "type", "numel", "handle"}
    assert sorted(n for n in methods if not is_known(n) and n not in {*METHODS, *RENAMED}) == []


def test_every_method_of_a_descriptor_is_known() -> None:
    parts = {"block_shape", "block_type", "dtype", "handle", "shape", "strides", "type"}
    assert sorted(n for n in public(tl.tensor_descriptor) - parts if not is_known(n)) == []


def test_every_function_of_the_modules_is_known() -> None:
    from triton.language.extra import cuda

    assert public(tl.target_info) <= TARGETS | NOT_FOR_KERNELS
    assert public(cuda) <= VENDOR | CUSTOM_CASTS | {"libdevice", "gdc", "utils"}
    of_math = {n for n, f in vars(tl.math).items() if not n.startswith("_") and getattr(f, "__triton_builtin__", False)}
    assert sorted(n for n in TARGETS | VENDOR | of_math if not is_known(n)) == []


@pytest.mark.parametrize("name", sorted(MODULES | TYPES | SYNTAX))
def test_what_is_no_function_is_none_in_the_table(name: str) -> None:
    assert not is_known(name)
    exported = getattr(tl, name, None)
    assert name in SYNTAX or exported is None or not inspect.isfunction(exported)
