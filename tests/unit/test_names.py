"""Names: the author's stay, what cannot is told apart by `_`, `_2`, `_3`, and the mapping is in the metadata."""

from __future__ import annotations

import keyword
from pathlib import Path
from types import ModuleType

import pytest
from emitted import body_text, generated, kernel_text
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import B, constant, lit

import teenyc
from teenyc.codegen.names import LAUNCH, RESERVED, identifier, variants
from teenyc.ir.nodes import Kernel
from teenyc.record import replace
from teenyc.types import F32, I32, I64


def loaded(source: str, folder: Path) -> ModuleType:
    path = folder / "named.tk"
    path.write_text(source)
    return teenyc.load(path)


def renamed(kernel: Kernel) -> object:
    kernels = generated(kernel).metadata["kernels"]
    assert isinstance(kernels, dict)
    (facts,) = kernels.values()
    return facts.get("renamed", {})


@pytest.mark.parametrize("name", ["lambda", "tl", "triton", "range", "None", "interpreter_semantic", "_round_to"])
def test_a_parameter_with_a_name_that_is_taken(name: str) -> None:
    b = B()
    b.store(b.pointer("out", I32), b.param(name, I32))
    assert f"tl.store(out, {name}_)" in body_text(b.kernel(variables=()))
    assert renamed(b.kernel(variables=())) == {name: f"{name}_"}


def test_a_launch_finds_every_argument_whatever_it_is_called(tmp_path: Path) -> None:
    """Triton binds arguments in a function of its own, whose names a kernel's must not be."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import make_backend
    from triton.runtime import jit

    names = sorted(LAUNCH | {"num_warps", "stream", "device", "kwargs"})
    given = "".join(f", {name}: i32" for name in names)
    total = " + ".join([*names, "N"])
    source = f"#[kernel]\nfn k<const N: i32>(o: Pointer<i32>{given}) {{ store(o + program_id(0), {total}); }}"
    kernel = jit.JITFunction(loaded(source, tmp_path).k.fn)
    binder = jit.create_function_from_signature(
        kernel.signature, kernel.params, make_backend(GPUTarget("cuda", 90, 32))
    )
    options = {"debug": True, "instrumentation_mode": "", "fpsan_homomorphic_casts": False}
    bound, _, rest = binder(*range(2, len(names) + 3), N=4, **options)
    assert list(bound.values()) == [*range(2, len(names) + 3), 4]
    assert rest == options


@pytest.mark.parametrize("name", ["_1", "__file__", "__builtins__", "__getattr__", "__spec__", "r#match", "Ⅷ"])
def test_a_kernel_and_its_class_whatever_they_are_called(name: str, tmp_path: Path) -> None:
    """Names that Python cannot have, would read alike, or knows its modules by."""
    module = loaded(f"#[kernel]\nfn {name}(o: Pointer<i32>) {{ store(o + program_id(0), 1); }}", tmp_path)
    ((kernel, facts),) = module.TEENYC["kernels"].items()
    assert hasattr(getattr(module, kernel), "arg_names")
    assert getattr(module, facts["class"]).__name__.isidentifier()


def test_suffixes_skip_what_the_author_uses() -> None:
    b = B()
    out = b.pointer("out", I32)
    for name in ("tl_", "tl", "tl_2"):
        b.store(out, b.binary("add", b.load(out), lit(1), name=name))
    assert [line for line in body_text(b.kernel(variables=())).split("\n") if " = " in line] == [
        "tl_ = tl.load(out) + 1",
        "tl_3 = tl.load(out) + 1",
        "tl_2 = tl.load(out) + 1",
    ]


def test_a_name_is_used_again_for_the_same_type_only() -> None:
    b = B()
    out = b.pointer("out", I64)
    first = b.load(out, name="x")
    second = b.binary("add", first, lit(1, I64), name="x")
    third = b.cast(second, I32, name="x")
    b.store(out, third)
    assert body_text(b.kernel(variables=())) == (
        "x = tl.load(out)\nx = x + 1\nx_ = x.to(tl.int32)\ntl.store(out, x_)\n"
    )


def test_a_name_is_not_used_again_while_its_old_value_is_needed() -> None:
    b = B()
    out = b.pointer("out", I64)
    first = b.load(out, name="x")
    second = b.binary("add", first, lit(1, I64), name="x")
    b.store(out, second)
    b.store(out, first)
    assert "x_ = x + 1" in body_text(b.kernel(variables=()))


def test_names_that_python_would_merge() -> None:
    b = B()
    out = b.pointer("out", I32)
    one, two = b.load(out, name="ﬁt"), b.load(out, name="fit")
    b.store(out, b.binary("add", one, two))
    assert "tl.store(out, fit + fit_)" in body_text(b.kernel(variables=()))


def test_kernel_names_are_ascii_and_hide_nothing() -> None:
    b = B("größe")
    b.store(b.pointer("out", I32), lit(1))
    assert "def grou00dfe(out" in generated(b.kernel(variables=())).text
    module = generated(replace(b.kernel(variables=()), name="TEENYC"))
    assert "def TEENYC_(out" in module.text


def test_a_local_name_does_not_hide_a_kernel() -> None:
    b = B("scale")
    out = b.pointer("out", I32)
    value = b.load(out, name="scale")
    b.store(out, value)
    b.store(out, value)
    assert "scale_ = tl.load(out)" in body_text(b.kernel(variables=()))


def test_raw_identifiers() -> None:
    b = B()
    b.store(b.pointer("out", I32), b.param("r#match", I32))
    assert "tl.store(out, match)" in body_text(b.kernel(variables=()))
    assert renamed(b.kernel(variables=())) == {"r#match": "match"}


def test_a_name_that_linters_warn_of_stays_and_they_are_told() -> None:
    b = B()
    b.store(b.pointer("out", I32), b.param("l", I32))
    text = generated(b.kernel(variables=())).text
    assert "tl.store(out, l)" in text
    assert "\n# ruff: noqa: E741\n" in text


def test_compute_makes_room_for_the_author() -> None:
    b = B()
    out = b.pointer("out", F32)
    value = b.load(out, name="COMPUTE")
    b.store(out, b.binary("add", value, value))
    assert "COMPUTE = tl.load(out)" in body_text(b.kernel())


def test_constants_keep_their_names() -> None:
    b = B()
    b.store(b.pointer("out", I32), constant("tl"))
    text = kernel_text(generated(b.kernel(constants=("tl",), variables=())), "k")
    assert "tl_: tl.constexpr" in text
    assert "tl.store(out, tl_)" in text


def test_temporaries_are_called_what_they_are() -> None:
    b = B()
    out = b.pointer("out", I32)
    product = b.binary("mul", b.load(out), b.load(out))
    b.store(out, b.binary("add", product, product))
    assert "product = tl.load(out) * tl.load(out)" in body_text(b.kernel(variables=()))


@given(st.text(min_size=1))
def test_every_name_becomes_an_identifier(name: str) -> None:
    options = variants(identifier(name) or "_")
    found = next(n for n in options if n not in RESERVED)
    assert found.isidentifier()
    assert not keyword.iskeyword(found)
