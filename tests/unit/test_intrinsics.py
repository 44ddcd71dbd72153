"""The table of intrinsics: records are sound, rules give types and report mistakes where they are."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from intrinsic_site import Judged, judge, pointer, shape, tensor

from teenyc.diagnostics.catalog import find as find_code
from teenyc.diagnostics.explain import explanation
from teenyc.diagnostics.model import Diagnostic
from teenyc.intrinsics import HELPERS, OPERATORS, TABLE, find, find_operator
from teenyc.intrinsics.docs import PAGE, page
from teenyc.intrinsics.spec import REQUIRED, Effect, Facts, Intrinsic, Operator, Role
from teenyc.resources import template_text
from teenyc.types import (
    BF16,
    BOOL,
    F8E4M3,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U32,
    U64,
    Bound,
    Compute,
    Extent,
    Quotient,
    TensorType,
    TypeVar,
)

D = TypeVar("D", Bound.FLOAT)
W = TypeVar("W", Bound.NUM)
PHILOX = ("c0", "c1", "c2", "c3", "k0", "k1")
HALF_N = Extent.of(Quotient(Extent.of("N"), Extent.of(2)))

SQUARE = {"input": tensor(F32, 16, 16), "other": tensor(F32, 16, 16)}
BYTES = {"lhs": tensor(U8, 16, 64), "lhs_format": "e4m3", "rhs": tensor(U8, 64, 32), "rhs_format": "e5m2"}
SCALES = {"lhs_scale": tensor(U8, 16, 2), "rhs_scale": tensor(U8, 32, 2)}


def scaled(**changed: object) -> Judged:
    """A `dot_scaled` of `[16, 64]` by `[64, 32]`, but for what is said."""
    return judge("dot_scaled", **{n: a for n, a in {**BYTES, **SCALES, **changed}.items() if a is not None})


records = pytest.mark.parametrize("record", TABLE.values(), ids=lambda record: record.name)


# ---- records --------------------------------------------------------------------------------------------------------


@records
def test_a_record_is_sound(record: Intrinsic | Operator) -> None:
    names = [name for p in record.params for name in (p.name, *p.aliases)]
    assert len(names) == len(set(names)), "two parameters share a name"
    ordered = [p for p in record.params if not p.name.endswith("_scale") and p.name != "combine_fn"]  # Triton's order
    required = [p.default is REQUIRED for p in ordered]
    assert required == sorted(required, reverse=True), "a parameter with a default comes before one without"
    for param in record.params:
        assert (param.role is Role.CHOICE) == bool(param.choices)
        assert param.meets in (None, *(p.name for p in record.params))
        assert param.counts in (None, *(p.name for p in record.params))
        assert param.default in (None, REQUIRED, *param.choices) or param.role is not Role.CHOICE
    assert record.summary[0].isupper() or record.summary[0] in "`12"
    assert record.summary.endswith(".")


@records
def test_forms_name_parameters(record: Intrinsic) -> None:
    names = {p.name for p in record.params}
    for form in (record.triton, *(v.triton for v in record.variants)):
        places = set(re.findall(r"\{(\w+)\}", form))
        assert places <= names
        assert "{" in form or form.endswith(")") or re.fullmatch(r"tl(\.\w+)+|libdevice\.\w+|_\w+", form)
    assert record.first_by_name in (None, *names)
    assert record.stored <= names


@records
def test_what_touches_memory_has_no_reference(record: Intrinsic) -> None:
    is_pure = record.is_pure and record.family not in ("program", "device", "descriptors")
    assert (record.reference is not None) == is_pure


def test_names_and_aliases_are_unique() -> None:
    names = [n for r in (*TABLE.values(), *OPERATORS.values()) for n in (r.name, *r.aliases)]
    assert sorted(names) == sorted({*names, "cast"} | {"cast"}) or names.count("cast") == 2
    assert len(names) == len(set(names)) + 1, "only `cast` is in both tables"


def test_find_takes_aliases() -> None:
    assert find("where_") is find("where") is TABLE["where"]
    assert find("frobnicate") is None
    operator = find_operator("lt_scalar")
    assert operator is not None
    assert (operator.node, operator.operator) == ("compare", "lt")
    assert find_operator("to") is OPERATORS["cast"]


def test_parameters_are_found_by_the_names_of_the_trait() -> None:
    names = {"load": "ptr", "store": "src", "clamp": "lo", "sum": "x", "dot": "a", "rand": "offsets", "cat": "b"}
    for name, alias in names.items():
        assert TABLE[name].param(alias) is not None


def test_choices_are_found_by_text_and_by_enum() -> None:
    param = TABLE["load"].param("eviction_policy")
    assert param is not None
    assert param.choice("EvictFirst") == param.choice("evict_first") == "evict_first"
    assert param.choice("never") is None
    precision = TABLE["dot"].param("input_precision")
    assert precision is not None
    assert [precision.choice(t) for t in ("IEEE", "TF32", "TF32x3")] == ["ieee", "tf32", "tf32x3"]


@pytest.mark.parametrize("helper", HELPERS)
def test_a_helper_has_a_text(helper: str) -> None:
    text = template_text(f"helpers/{helper.removeprefix('_')}.py.jinja")
    assert text.startswith(f"@triton.jit\ndef {helper}(")
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 120
    compile(text, helper, "exec")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m teenyc.intrinsics.docs"


@pytest.mark.parametrize("module", ["calls", "shapes", "memory", "descriptors"])
def test_every_report_has_its_code_and_explanation(module: str) -> None:
    kinds = vars(import_module(f"teenyc.diagnostics.catalog.{module}")).values()
    codes = [k.code for k in kinds if isinstance(k, type) and issubclass(k, Diagnostic) and k.code]
    assert len(codes) == len(set(codes))
    for code in codes:
        kind = find_code(code)
        assert kind is not None
        assert "\n    " in explanation(kind), f"{code} shows no example"
        assert code.startswith("E04") if module in ("memory", "descriptors") else "E0320" <= code <= "E0369"


# ---- calls that are right -------------------------------------------------------------------------------------------

GOOD: list[tuple[Judged, str]] = [
    (judge("program_id", axis=1), "i32"),
    (judge("arange", start=0, end="N"), "Tensor<i32, [N]>"),
    (judge("arange", start=8, end=16), "Tensor<i32, [8]>"),
    (judge("zeros", generics=(D,), shape=shape("N", 4)), "Tensor<D, [N, 4]>"),
    (judge("zeros", shape=shape(8), dtype=F32), "Tensor<f32, [8]>"),
    (judge("full", shape=shape("N"), value=tensor(D)), "Tensor<D, [N]>"),
    (judge("full", shape=shape(), value=tensor(I32)), "i32"),
    (judge("zeros_like", input=tensor(BOOL, 8)), "Tensor<bool, [8]>"),
    (judge("cat", input=tensor(D, "N", 2), other=tensor(D, "N", 2)), "Tensor<D, [2 * N, 2]>"),
    (judge("exp", x=tensor(D, "N")), "Tensor<D, [N]>"),
    (judge("exp", x=tensor(Compute(D))), "D::Compute"),
    (judge("abs", x=tensor(W, "N")), "Tensor<W, [N]>"),
    (judge("maximum", x=tensor(F32), y=tensor(F32, "N")), "Tensor<f32, [N]>"),
    (judge("clamp", x=tensor(I32, 4, 1), min=tensor(I32), max=tensor(I32, 8)), "Tensor<i32, [4, 8]>"),
    (judge("where", condition=tensor(BOOL, "N", 1), x=tensor(D, "M"), y=tensor(D)), "Tensor<D, [N, M]>"),
    (judge("where", condition=tensor(BOOL), x=pointer(D), y=pointer(D)), "Pointer<D>"),
    (judge("swizzle2d", **{n: tensor(I32) for n in ("i", "j", "size_i", "size_j", "size_g")}), "i32, i32"),
    (judge("sum", input=tensor(D, "M", "N"), axis=-1), "Tensor<D, [M]>"),
    (judge("sum", input=tensor(D, "M", "N"), axis=0, keep_dims=True), "Tensor<D, [1, N]>"),
    (judge("sum", input=tensor(D, "M", "N")), "D"),
    (judge("sum", input=tensor(D, "M", "N"), keep_dims=True), "Tensor<D, [1, 1]>"),
    (judge("sum", input=tensor(I8, 8), axis=0), "i32"),
    (judge("sum", input=tensor(U8, 8), axis=0), "i32"),
    (judge("sum", input=tensor(I16, 8), dtype=I64), "i64"),
    (judge("max", input=tensor(I16, 8), axis=0), "i16"),
    (judge("max", input=tensor(D, 4, 8), axis=1, return_indices=True), "Tensor<D, [4]>, Tensor<i32, [4]>"),
    (judge("min_with_indices", input=tensor(D, 8), axis=0, keep_dims=True), "Tensor<D, [1]>, Tensor<i32, [1]>"),
    (judge("argmin", input=tensor(F64, 8), axis=0), "i32"),
    (judge("xor_sum", input=tensor(I64, 8)), "i64"),
    (judge("cumsum", input=tensor(I16, 8)), "Tensor<i32, [8]>"),
    (judge("sort", x=tensor(D, 4, "N"), descending=True), "Tensor<D, [4, N]>"),
    (judge("histogram", input=tensor(I32, "N"), num_bins=16, mask=tensor(BOOL, "N")), "Tensor<i32, [16]>"),
    (judge("softmax", x=tensor(D, 4, "N")), "Tensor<D, [4, N]>"),
    (judge("broadcast", input=tensor(D, "N"), other=tensor(D)), "Tensor<D, [N]>, Tensor<D, [N]>"),
    (judge("broadcast_to", input=tensor(D, "M", 1), shape=shape("M", "N")), "Tensor<D, [M, N]>"),
    (judge("reshape", input=tensor(D, "N"), shape=(HALF_N, Extent.of(2))), "Tensor<D, [N / 2, 2]>"),
    (judge("reshape", input=tensor(D, "M", "N"), shape=shape("N", "M")), "Tensor<D, [N, M]>"),
    (judge("ravel", x=tensor(D, "M", 4)), "Tensor<D, [4 * M]>"),
    (judge("permute", input=tensor(D, "M", 4, 2), dims=(2, 0, -2)), "Tensor<D, [2, M, 4]>"),
    (judge("trans", input=tensor(D, 2, "M", "N")), "Tensor<D, [2, N, M]>"),
    (judge("flip", x=tensor(D, "M", "N"), dim=-1), "Tensor<D, [M, N]>"),
    (judge("join", a=tensor(D, "N"), b=tensor(D, "N")), "Tensor<D, [N, 2]>"),
    (judge("interleave", a=tensor(D), b=tensor(D)), "Tensor<D, [2]>"),
    (judge("split", a=tensor(D, "N", 2)), "Tensor<D, [N]>, Tensor<D, [N]>"),
    (judge("gather", src=tensor(D, 4, 8), index=tensor(I32, 4, "N"), axis=1), "Tensor<D, [4, N]>"),
    (judge("dot", input=tensor(D, "M", "K"), other=tensor(D, "K", "N")), "Tensor<D, [M, N]>"),
    (judge("dot", input=tensor(F16, 16, 16), other=tensor(F16, 16, 16)), "Tensor<f32, [16, 16]>"),
    (judge("dot", input=tensor(I8, 16, 32), other=tensor(I8, 32, 16)), "Tensor<i32, [16, 16]>"),
    (
        judge("dot", input=tensor(D, 2, 16, "K"), other=tensor(D, 2, "K", 8), acc=tensor(F32, 2, 16, 8)),
        "Tensor<f32, [2, 16, 8]>",
    ),
    (judge("cast", input=tensor(F32, 8), dtype=F16, fp_downcast_rounding="rtz"), "Tensor<f16, [8]>"),
    (judge("topk", x=tensor(D, 4, "N"), k="K"), "Tensor<D, [4, K]>"),
    (judge("dot", **SQUARE, allow_tf32=True), "Tensor<f32, [16, 16]>"),
    (scaled(), "Tensor<f32, [16, 32]>"),
    (scaled(lhs=tensor(F8E4M3, 16, 64), lhs_scale=None, acc=tensor(F32, 16, 32)), "Tensor<f32, [16, 32]>"),
    (scaled(lhs=tensor(U8, 16, 32), lhs_format="e2m1", lhs_scale=tensor(F8E4M3, 16, 4)), "Tensor<f32, [16, 32]>"),
    (scaled(rhs=tensor(U8, 64, 16), rhs_format="e2m1", rhs_k_pack=False), "Tensor<f32, [16, 32]>"),
    (scaled(rhs=tensor(F16, 64, 32), rhs_format="fp16"), "Tensor<f32, [16, 32]>"),
    (judge("bitonic_merge", x=tensor(I8, 8)), "Tensor<i8, [8]>"),
    (judge("reduce_or", input=tensor(BOOL, 4, "N"), axis=1), "Tensor<bool, [4]>"),
    (judge("reduce_and", input=tensor(BOOL, 4, "N"), axis=1), "Tensor<bool, [4]>"),
    (judge("prod", input=tensor(I8, 4, "N"), axis=0, keep_dims=True), "Tensor<i32, [1, N]>"),
    (judge("squeeze", x=pointer(D, 4, 1, "N"), dim=-2), "Tensor<Pointer<D>, [4, N]>"),
    (judge("item", x=tensor(D, 1, 1)), "D"),
    (judge("expect_zero", x=tensor(D, 4, 8), mask=tensor(BOOL, 8)), "Tensor<D, [4, 8]>"),
    (judge("logical_or", x=tensor(BOOL, 4, 1), y=tensor(BOOL, 8)), "Tensor<bool, [4, 8]>"),
    (judge("philox_impl", **dict.fromkeys(PHILOX, tensor(U64, 2))), ", ".join(["Tensor<u64, [2]>"] * 4)),
    (judge("atomic_load", pointer=pointer(D, "N")), "Tensor<D, [N]>"),
    (judge("atomic_store", pointer=pointer(F64), val=tensor(F64)), ""),
    (judge("atomic_poll", pointer=pointer(I64, 8), expected_value=tensor(I64)), "Tensor<bool, [8]>"),
    (judge("cuda_capability_geq", major=9), "bool"),
    (judge("globaltimer"), "i64"),
    (
        judge(
            "inline_asm_elementwise",
            generics=(F32, I8),
            asm="",
            constraints="",
            is_pure=True,
            pack=4,
            args=tensor(D, 8),
        ),
        "Tensor<f32, [8]>, Tensor<i8, [8]>",
    ),
    (judge("bitcast", input=tensor(F32, 8), dtype=I32), "Tensor<i32, [8]>"),
    (judge("expand_dims", input=tensor(D, "N"), axis=-1), "Tensor<D, [N, 1]>"),
    (judge("load", pointer=pointer(D, "N")), "Tensor<D, [N]>"),
    (judge("load", pointer=pointer(D), mask=tensor(BOOL), other=tensor(D)), "D"),
    (
        judge("load", pointer=pointer(D, "M", "N"), mask=tensor(BOOL, "N"), other=tensor(Compute(D), "M", 1)),
        "Tensor<D, [M, N]>",
    ),
    (judge("load", pointer=pointer(D, "M", 1), mask=tensor(BOOL, "N")), "Tensor<D, [M, N]>"),
    (judge("load", pointer=pointer(D, 8), boundary_check=(), padding_option=None), "Tensor<D, [8]>"),
    (judge("store", pointer=pointer(D, "N"), value=tensor(D), mask=tensor(BOOL, 1)), ""),
    (judge("store", pointer=pointer(D, 1), value=tensor(D)), ""),
    (judge("atomic_add", pointer=pointer(F16, 8), val=tensor(F16)), "Tensor<f16, [8]>"),
    (judge("atomic_cas", pointer=pointer(I32), cmp=tensor(I32), val=tensor(I32)), "i32"),
    (judge("randint4x", seed=tensor(I32), offset=tensor(I32, 8)), ", ".join(["Tensor<i32, [8]>"] * 4)),
    (judge("rand", seed=tensor(U32), offset=tensor(U32, 8), n_rounds=7), "Tensor<f32, [8]>"),
    (judge("static_assert", cond=tensor(BOOL), msg="equal"), ""),
    (judge("device_assert", cond=tensor(BOOL, 8), mask=tensor(BOOL)), ""),
    (judge("device_print", prefix="x", args=tensor(D, 8)), ""),
    (judge("assume", cond=tensor(BOOL)), ""),
    (judge("multiple_of", input=tensor(I32, "N"), values=shape(16)), "Tensor<i32, [N]>"),
    (judge("multiple_of", input=pointer(D), values=shape(16)), "Pointer<D>"),
]


@pytest.mark.parametrize(("judged", "expected"), GOOD)
def test_a_good_call_has_its_types(judged: Judged, expected: str) -> None:
    assert judged.codes == []
    assert judged.text == expected


# ---- calls that are wrong -------------------------------------------------------------------------------------------

BAD: list[tuple[Judged, str, str]] = [
    (judge("exp", x=tensor(I32, 8)), "E0320", "x"),
    (judge("exp", x=tensor(W, 8)), "E0320", "x"),
    (judge("exp", x=pointer(D)), "E0346", "x"),
    (judge("sum", input=tensor(BOOL, 8), axis=0), "E0320", "input"),
    (judge("maximum", x=tensor(F32), y=tensor(I32)), "E0321", "y"),
    (judge("maximum", x=tensor(I32), y=tensor(I32), propagate_nan="all"), "E0339", "propagate_nan"),
    (judge("maximum", x=tensor(F32, "M"), y=tensor(F32, "N")), "E0302", ""),
    (judge("where", condition=tensor(I32), x=tensor(D), y=tensor(D)), "E0402", "condition"),
    (judge("umulhi", x=tensor(I32), y=tensor(I32)), "E0320", "x"),
    (judge("full", shape=shape(8), value=tensor(F32, 8)), "E0322", "value"),
    (judge("full", generics=(F32,), shape=shape(8), value=tensor(I32)), "E0303", "value"),
    (judge("full", shape=shape(96), value=tensor(F32)), "E0311", "shape"),
    (judge("zeros", shape=shape(8)), "E0333", ""),
    (judge("zeros", generics=(F32,), shape=shape(2048, 1024)), "E0332", "shape"),
    (judge("arange", start=0, end=96), "E0311", "start"),
    (judge("arange", start=8, end=0), "E0331", "start"),
    (judge("arange", start=0, end=1 << 32), "E0340", "end"),
    (judge("arange", start=0, end=1 << 21), "E0332", "start"),
    (judge("sum", input=tensor(D)), "E0323", "input"),
    (judge("sum", input=tensor(D, 4, 8), axis=2), "E0324", "axis"),
    (judge("sum", generics=(F32,), input=tensor(F64, 8)), "E0345", ""),
    (judge("max", input=tensor(D, 8), return_indices=True), "E0326", ""),
    (judge("xor_sum", input=tensor(F32, 8)), "E0320", "input"),
    (judge("cumsum", input=tensor(D, 8), axis=1), "E0324", "axis"),
    (judge("sort", x=tensor(D, 4, 8), dim=0), "E0335", "dim"),
    (judge("histogram", input=tensor(I64, 8), num_bins=16), "E0320", "input"),
    (judge("histogram", input=tensor(I32, 8), num_bins=10), "E0311", "num_bins"),
    (judge("histogram", input=tensor(I32, 8), num_bins=16, mask=tensor(BOOL, 4)), "E0329", "mask"),
    (judge("permute", input=tensor(D, 4, 8), dims=(0, 0)), "E0325", "dims"),
    (judge("permute", input=tensor(D, 4, 8), dims=(0,)), "E0325", "dims"),
    (judge("trans", input=tensor(D, 8)), "E0323", "input"),
    (judge("broadcast_to", input=tensor(D, "M"), shape=shape("M", "N")), "E0327", "shape"),
    (judge("reshape", input=tensor(D, "N"), shape=shape("N", 2)), "E0328", "shape"),
    (judge("reshape", input=tensor(D, 8), shape=shape(4)), "E0328", "shape"),
    (judge("cat", input=tensor(D, "M"), other=tensor(D, "N")), "E0329", "other"),
    (judge("split", a=tensor(D, "N")), "E0330", "a"),
    (judge("gather", src=tensor(D, 4, 8), index=tensor(I32, 2, 8), axis=1), "E0329", "index"),
    (judge("gather", src=tensor(D, 8), index=tensor(F32, 8), axis=0), "E0320", "index"),
    (judge("program_id", axis=3), "E0334", "axis"),
    (judge("dot", input=tensor(I32, 16, 16), other=tensor(I32, 16, 16)), "E0341", "input"),
    (judge("dot", input=tensor(F16, 16, 16), other=tensor(BF16, 16, 16)), "E0341", "other"),
    (judge("dot", input=tensor(D, "M", "K"), other=tensor(D, "N", "K")), "E0342", ""),
    (judge("dot", input=tensor(D, 16), other=tensor(D, 16)), "E0342", ""),
    (judge("dot", input=tensor(F16, 8, 8), other=tensor(F16, 8, 8)), "E0343", ""),
    (judge("dot", input=tensor(I8, 16, 16), other=tensor(I8, 16, 16)), "E0343", ""),
    (judge("dot", input=tensor(F32, 16, 16), other=tensor(F32, 16, 16), acc=tensor(F16, 16, 16)), "E0344", "acc"),
    (judge("dot", input=tensor(D, 16, 16), other=tensor(D, 16, 8), acc=tensor(D, 8, 16)), "E0344", "acc"),
    (judge("cast", input=tensor(F32), dtype=D, fp_downcast_rounding="rtz"), "E0339", "fp_downcast_rounding"),
    (judge("bitcast", input=tensor(F32), dtype=I64), "E0376", "input"),
    (judge("expand_dims", input=tensor(D, "N"), axis=2), "E0324", "axis"),
    (judge("load", pointer=tensor(I32, 8)), "E0401", "pointer"),
    (judge("load", pointer=pointer(D, 8), mask=tensor(I32, 8)), "E0402", "mask"),
    (judge("load", pointer=pointer(D), mask=tensor(BOOL, 8)), "E0403", "mask"),
    (judge("load", pointer=pointer(D, "M"), mask=tensor(BOOL, "N")), "E0403", "mask"),
    (judge("load", pointer=pointer(D, 8), other=tensor(D)), "E0404", "other"),
    (judge("load", pointer=pointer(D, 8), mask=tensor(BOOL, 8), other=tensor(D, 4, 8)), "E0403", "other"),
    (judge("load", pointer=pointer(D, 8), mask=tensor(BOOL, 8), other=tensor(I32)), "E0406", "other"),
    (judge("load", pointer=pointer(D, 8), boundary_check=(0,)), "E0407", "boundary_check"),
    (judge("store", pointer=pointer(D), value=tensor(D, "N")), "E0405", "value"),
    (judge("store", pointer=pointer(D, 1), value=tensor(D, "N")), "E0405", "value"),
    (judge("store", pointer=pointer(F32), value=tensor(I32)), "E0406", "value"),
    (judge("store", pointer=pointer(D, 8), value=tensor(D), mask=tensor(BOOL, 4, 8)), "E0403", "mask"),
    (judge("atomic_add", pointer=pointer(BOOL), val=tensor(BOOL)), "E0408", "pointer"),
    (judge("atomic_max", pointer=pointer(F16), val=tensor(F16)), "E0408", "pointer"),
    (judge("atomic_and", pointer=pointer(F32), val=tensor(F32)), "E0408", "pointer"),
    (judge("atomic_add", pointer=pointer(I32, 4, 8), val=tensor(I32, 8)), "E0409", "val"),
    (judge("atomic_store", pointer=pointer(I8), val=tensor(I8)), "E0408", "pointer"),
    (judge("atomic_load", pointer=pointer(F16)), "E0408", "pointer"),
    (judge("atomic_poll", pointer=pointer(F32), expected_value=tensor(F32)), "E0408", "pointer"),
    (
        judge("atomic_poll", pointer=pointer(I32), expected_value=tensor(I32), timeout_ns=tensor(F32)),
        "E0320",
        "timeout_ns",
    ),
    (
        judge("atomic_poll", pointer=pointer(I32), expected_value=tensor(I32), timeout_ns=tensor(I32, 8)),
        "E0322",
        "timeout_ns",
    ),
    (judge("topk", x=tensor(D, 8), k=16), "E0350", "k"),
    (judge("dot", **SQUARE, input_precision="tf32", allow_tf32=True), "E0339", "allow_tf32"),
    (scaled(lhs=tensor(I8, 16, 64)), "E0352", "lhs"),
    (scaled(rhs_format="bf16"), "E0352", "rhs"),
    (scaled(lhs=tensor(U8, 16, 32)), "E0342", ""),
    (scaled(lhs=tensor(U8, 2, 16, 64)), "E0342", ""),
    (scaled(lhs_scale=tensor(U8, 16, 4)), "E0353", "lhs_scale"),
    (scaled(lhs_scale=tensor(I8, 16, 2)), "E0353", "lhs_scale"),
    (scaled(rhs_scale=tensor(U8, 2, 32)), "E0353", "rhs_scale"),
    (scaled(lhs_k_pack=False), "E0339", "lhs_k_pack"),
    (scaled(acc=tensor(F16, 16, 32)), "E0344", "acc"),
    (scaled(out_dtype=F16), "E0344", "out_dtype"),
    (judge("topk", x=tensor(D, 8), k=3), "E0311", "k"),
    (judge("topk", x=tensor(D, 8, 4), k=2, dim=0), "E0335", "dim"),
    (judge("bitonic_merge", x=tensor(BOOL, 8)), "E0320", "x"),
    (judge("reduce_or", input=tensor(F32, 8)), "E0320", "input"),
    (judge("reduce_and", input=tensor(F32, 8)), "E0320", "input"),
    (judge("prod", input=tensor(BOOL, 8)), "E0320", "input"),
    (judge("squeeze", x=tensor(D, 1, 8), dim=1), "E0351", "dim"),
    (judge("squeeze", x=tensor(D, 1, 8), dim=2), "E0324", "dim"),
    (judge("item", x=tensor(D, 1, 8)), "E0351", "x"),
    (judge("item", x=tensor(D)), "E0323", "x"),
    (judge("expect_zero", x=tensor(D, 8), mask=tensor(BOOL, 4, 8)), "E0329", "mask"),
    (judge("logical_and", x=tensor(BOOL), y=tensor(I32)), "E0402", "y"),
    (judge("philox_impl", **dict.fromkeys(PHILOX, tensor(I32, 8))), "E0320", "c0"),
    (judge("cuda_capability_geq", major="N"), "E0310", ""),
    (judge("inline_asm_elementwise", asm="", constraints="", is_pure=True, pack=1), "E0333", ""),
    (judge("inline_asm_elementwise", generics=(F32,), asm="", constraints="", is_pure=True, pack=0), "E0340", "pack"),
    (judge("rand", seed=tensor(I32, 8), offset=tensor(I32, 8)), "E0322", "seed"),
    (judge("rand", seed=tensor(I32), offset=tensor(I64, 8)), "E0320", "offset"),
    (judge("rand", seed=tensor(I32), offset=tensor(I32, 8), n_rounds=0), "E0340", "n_rounds"),
    (judge("static_assert", cond=False, msg="no"), "E0337", "cond"),
    (judge("device_print", prefix="größe", args=tensor(D)), "E0338", "prefix"),
    (judge("assume", cond=tensor(BOOL, 8)), "E0322", "cond"),
    (judge("multiple_of", input=tensor(I32, 8), values=shape(16, 1)), "E0336", "values"),
    (judge("max_contiguous", input=tensor(F32, 8), values=shape(8)), "E0320", "input"),
]


@pytest.mark.parametrize(("judged", "code", "place"), BAD)
def test_a_bad_call_is_reported_at_its_argument(judged: Judged, code: str, place: str) -> None:
    assert judged.results is None
    assert judged.codes == [code]
    (report,) = judged.reports
    if place:
        assert report.span is not None
        assert report.span.start == judged.spans[place].start
    words = [report.message(), report.label(), report.help() or "", *(label.text for label in report.secondary())]
    assert not any("`None`" in word or word.endswith(".") for word in words if word)
    assert report.message()[0].islower() or report.message()[0] == "`"


def test_advice_depends_on_the_type() -> None:
    helps = [judge("exp", x=tensor(e)).reports[0].help() for e in (I32, BOOL, W)]
    assert helps == [
        "convert it: `as f32`",
        "convert masks on purpose: `as i32`, then `as f32`",
        "bound the dtype parameter: `W: Float`",
    ]
    assert judge("arange", start=0, end=96).reports[0].help() == "the next power of two is 128"


def test_open_extents_are_required() -> None:
    assert judge("arange", start=0, end="N").requirements == (("N", "power-of-two"),)
    assert judge("zeros", generics=(F32,), shape=shape("M", 4)).requirements == (("M", "power-of-two"),)
    dot = judge("dot", input=tensor(D, "M", "K"), other=tensor(D, "K", "N"))
    assert dot.requirements == (("K", "at-least:16"),)


# ---- what the call holds --------------------------------------------------------------------------------------------


def test_attributes_leave_defaults_out_and_count_axes_from_the_front() -> None:
    x = tensor(D, 4, 8)
    assert judge("sum", input=x, axis=-1, keep_dims=False).attributes == {"axis": 1}
    assert judge("sum", input=x, keep_dims=True).attributes == {"keep_dims": True}
    assert judge("softmax", x=x).attributes == {"dim": 1}
    assert judge("softmax", x=x, dim=0, keep_dims=True).attributes == {"dim": 0}
    assert judge("permute", input=x, dims=(-1, 0)).attributes == {"dims": (1, 0)}
    assert judge("sort", x=x, dim=-1).attributes == {}
    assert judge("flip", x=x).attributes == {}
    assert judge("flip", x=tensor(D, 8)).attributes == {"dim": 0}
    assert judge("rand", seed=tensor(I32), offset=tensor(I32), n_rounds=10).attributes == {}
    options = judge("load", pointer=pointer(D, 8), boundary_check=(), eviction_policy="no_evict", cache_modifier=".cg")
    assert options.attributes == {"cache_modifier": ".cg"}


def test_attributes_say_what_triton_must_be_told() -> None:
    assert judge("zeros", generics=(D,), shape=shape(8)).attributes == {"shape": shape(8), "dtype": D}
    assert judge("full", shape=shape(8), value=tensor(Compute(D))).attributes["dtype"] == Compute(D)
    half, wide = tensor(F16, 16, 16), tensor(F64, 16, 16)
    assert judge("dot", input=half, other=half).attributes == {}
    assert judge("dot", input=half, other=half, acc=tensor(F32, 16, 16)).attributes == {}
    assert judge("dot", input=wide, other=wide, acc=wide).attributes == {"out_dtype": F64}
    generic = tensor(D, 16, 16)
    assert judge("dot", input=generic, other=generic).attributes == {"input_precision": "ieee"}
    fast = judge("dot", input=generic, other=generic, acc=generic, input_precision="tf32")
    assert fast.attributes == {"input_precision": "tf32", "out_dtype": D}


def test_variants_depend_on_types_and_attributes() -> None:
    def form(name: str, *types: TensorType, known: str = "", **attributes: object) -> tuple[str, str | None]:
        operands = [p.name for p in TABLE[name].params if p.role is Role.VALUE]
        facts = Facts(dict(zip(operands, types, strict=False)), attributes, frozenset(known.split()))
        return TABLE[name].form(facts)

    assert form("sqrt_rn", tensor(F32, 8)) == ("tl.sqrt_rn", None)
    assert form("sqrt_rn", tensor(Compute(D), 8)) == ("_sqrt_rn", "_sqrt_rn")
    assert form("clamp", *[tensor(F32)] * 3) == ("tl.clamp", None)
    assert form("clamp", *[tensor(Compute(D))] * 3)[0].startswith("tl.minimum(")
    assert form("clamp", *[tensor(I32)] * 3)[0].startswith("tl.minimum(")
    assert form("max", tensor(I8, 8), axis=0) == ("_max", "_max")
    assert form("max", tensor(I8, 8), axis=0, return_indices=True) == ("tl.max", None)
    assert form("max", tensor(F32, 8), axis=0, return_indices=True)[1] == "_max_with_indices"
    assert form("argmin", tensor(Compute(D), 8), axis=0) == ("_argmin", "_argmin")
    assert form("argmin", tensor(I32, 8), axis=0) == ("tl.argmin", None)
    assert form("sum", tensor(I8, 8)) == ("tl.sum", None)
    assert form("sum", tensor(W, 8)) == ("_sum", "_sum")
    assert form("flip", tensor(F32, 4, 8)) == ("_flip", "_flip")
    assert form("flip", tensor(F32, 4, 8), dim=1) == ("tl.flip", None)
    assert form("softmax", tensor(F32, 8), dim=0) == ("tl.softmax({x})", None)
    assert form("softmax", tensor(F32, 4, 8), dim=1) == ("_softmax", "_softmax")
    assert form("cdiv", tensor(I32), tensor(I32)) == ("_cdiv", "_cdiv")
    assert form("cdiv", tensor(I32), tensor(I32), known="x div") == ("tl.cdiv", None)


def test_effects_say_what_must_stay() -> None:
    effects = {name: record.effects for name, record in TABLE.items() if record.effects}
    assert effects["load"] == {Effect.READS}
    assert effects["store"] == {Effect.WRITES}
    assert {n for n, e in effects.items() if Effect.ATOMIC in e} == {n for n in TABLE if "atomic_" in n}
    assert all(record.is_pure for name, record in TABLE.items() if name not in effects)
