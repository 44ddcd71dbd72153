"""Checked launches: what is right runs, what is wrong raises before launch and says which argument and why."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl
from host_module import ATTENTION, MULTIPLY, NINE, attention_program, module_of, program_of
from ir_builder import B

from teenyc.ir.nodes import Program
from teenyc.record import replace
from teenyc.types import BOOL, DTYPES, F16, F32, I32, I64, Bound, TypeVar


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(tmp_path_factory.mktemp("attention"), attention_program(), ATTENTION)


@pytest.fixture(scope="module")
def multiply(tmp_path_factory: pytest.TempPathFactory) -> Any:
    program = program_of("multiply", ("x", "*f32"), ("y", "*f32"), ("n", I32), ("factor", F32))
    return module_of(tmp_path_factory.mktemp("multiply"), program, MULTIPLY).Multiply()


@pytest.fixture
def xy(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(4, dtype=torch.float32, device=device), torch.zeros(4, device=device)


class Arguments:
    """Right arguments of `attention` for `[2, 3, 16]` queries and 5 keys, of which a test makes one wrong."""

    def __init__(self, device: str, dtype: torch.dtype = torch.float32) -> None:
        self.tensors = {
            name: torch.zeros(2, rows, 16, dtype=dtype, device=device)
            for name, rows in zip("qkvo", (3, 5, 5, 3), strict=True)
        }
        log_sum_type = torch.float64 if dtype == torch.float64 else torch.float32
        self.tensors["l"] = torch.zeros(2, 3, dtype=log_sum_type, device=device)

    def __call__(self, **changed: Any) -> tuple[Any, ...]:
        scalars: dict[str, Any] = {"n_q": 3, "n_k": 5, "scale": 0.25}
        return tuple({**self.tensors, **scalars, **changed}.values())


@pytest.fixture
def arguments(device: str) -> Arguments:
    return Arguments(device)


# ---- constants ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("construct", "error", "words"),
    [
        (lambda k: k(), TypeError, ["`head_dim`", "i32"]),
        (lambda k: k(16, 32), TypeError, ["takes 1", "2 were given", "head_dim"]),
        (lambda k: k(16, head_dim=16), TypeError, ["`head_dim`", "twice"]),
        (lambda k: k(headdim=16), TypeError, ["`headdim`", "did you mean `head_dim`"]),
        (lambda k: k(x=16), TypeError, ["`x`", "head_dim"]),
        (lambda k: k(head_dim=32.0), TypeError, ["`head_dim`", "i32", "32.0 (float)"]),
        (lambda k: k(head_dim=True), TypeError, ["`head_dim`", "i32", "True (bool)"]),
        (lambda k: k(head_dim="64"), TypeError, ["`head_dim`", "i32", "'64' (str)"]),
        (lambda k: k(head_dim=2**31), ValueError, ["`head_dim`", "2147483648", "2147483647"]),
        (lambda k: k(head_dim=96), ValueError, ["`head_dim` is 96", "power of two", "128", "`arange`"]),
        (lambda k: k(head_dim=0), ValueError, ["`head_dim` is 0", "power of two", "next one is 1"]),
        (lambda k: k(head_dim=-8), ValueError, ["`head_dim` is -8", "power of two"]),
    ],
)
def test_wrong_constants_raise_when_they_are_bound(
    attention: ModuleType, construct: Callable[[Any], object], error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        construct(attention.Attention)
    assert_says(caught, "Attention", *words)


def test_constants_bind_by_position_by_name_and_as_numpy_integers(attention: ModuleType) -> None:
    for bound in (attention.Attention(64), attention.Attention(head_dim=64), attention.Attention(np.int64(64))):
        assert bound.head_dim == 64
        assert type(bound.head_dim) is int


def test_an_op_binds_its_kernels_through_its_polynomials(attention: ModuleType) -> None:
    op = attention.AttentionOp(half=16)
    assert op.forward.head_dim == 32
    assert repr(op) == "AttentionOp(half=16)"
    assert attention.AttentionOp.__doc__ == "Both halves."
    with pytest.raises(ValueError, match="head_dim"):
        attention.AttentionOp(half=3)
    with pytest.raises(TypeError, match="half"):
        attention.AttentionOp()


def test_bound_kernels_copy_pickle_and_print(attention: ModuleType, arguments: Arguments) -> None:
    bound = attention.Attention(head_dim=16, check=False)
    assert repr(bound) == "Attention(head_dim=16)"
    for other in (copy.copy(bound), copy.deepcopy(bound), pickle.loads(pickle.dumps(bound))):
        assert repr(other) == repr(bound)
        assert other.check is False
        other[3, 2](*arguments())
    op = pickle.loads(pickle.dumps(attention.AttentionOp(half=8)))
    assert repr(op) == "AttentionOp(half=8)"
    op.forward[3, 2](*arguments())


# ---- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launch", "error", "words"),
    [
        (lambda k, x, y: k(x, y, 4, 2.0, 7), TypeError, ["takes 4", "5 were given"]),
        (lambda k, x, y: k(x, y, 4), TypeError, ["`factor` (f32)"]),
        (lambda k, x, y: k(), TypeError, ["`x`", "`y`", "`n`", "`factor`"]),
        (lambda k, x, y: k(x, y, 4, factr=2.0), TypeError, ["`factr`", "did you mean `factor`"]),
        (lambda k, x, y: k(x, y, 4, 2.0, x=x), TypeError, ["`x`", "twice"]),
        (lambda k, x, y: k(x, y, 2.5, 4), TypeError, ["`n`", "i32", "2.5 (float)"]),
        (lambda k, x, y: k(x, y, 4.0, 4.0), TypeError, ["`n`", "i32", "4.0 (float)"]),
        (lambda k, x, y: k(x, y, True, 4.0), TypeError, ["`n`", "i32", "True (bool)"]),
        (lambda k, x, y: k(x, y, x, 4.0), TypeError, ["`n`", "i32", "tensor of shape (4,)"]),
        (lambda k, x, y: k(x, y, 2**31, 4.0), ValueError, ["`n`", "i32", "2147483648"]),
        (lambda k, x, y: k(x, y, -(2**31) - 1, 4.0), ValueError, ["`n`", "i32", "-2147483649"]),
        (lambda k, x, y: k(x, y, 4, "2"), TypeError, ["`factor`", "f32", "'2' (str)"]),
        (lambda k, x, y: k(x, y, 4, False), TypeError, ["`factor`", "f32", "False (bool)"]),
        (lambda k, x, y: k(x, y, 4, y), TypeError, ["`factor`", "f32", "tensor"]),
        (lambda k, x, y: k(x, 3, 4, 2.0), TypeError, ["`y`", "tensor", "3 (int)"]),
        (lambda k, x, y: k(None, y, 4, 2.0), TypeError, ["`x`", "tensor", "None"]),
        (lambda k, x, y: k(x, np.zeros(4), 4, 2.0), TypeError, ["`y`", "tensor", "ndarray"]),
        (lambda k, x, y: k(x.double(), y, 4, 2.0), TypeError, ["`x`", "Pointer<f32>", "f32", "torch.float64"]),
        (lambda k, x, y: k(x, y.int(), 4, 2.0), TypeError, ["`y`", "f32", "torch.int32"]),
    ],
)
def test_wrong_arguments_raise_before_launch(
    multiply: Any,
    xy: tuple[torch.Tensor, torch.Tensor],
    launch: Callable[..., object],
    error: type[Exception],
    words: list[str],
) -> None:
    with pytest.raises(error) as caught:
        launch(multiply[(4,)], *xy)
    assert_says(caught, "Multiply", *words)
    assert not xy[1].any()


@pytest.mark.parametrize("factor", [3, 3.0, np.float32(3), np.int32(3)])
@pytest.mark.parametrize("n", [4, np.int64(4)])
def test_arguments_go_by_position_and_by_name(
    multiply: Any, xy: tuple[torch.Tensor, torch.Tensor], n: object, factor: object
) -> None:
    x, y = xy
    multiply[(4,)](x, y, n, factor)
    assert torch.equal(y, x * 3)
    y.zero_()
    multiply[4](x, factor=factor, n=n, y=y)
    assert torch.equal(y, x * 3)


def test_booleans_and_wide_integers_have_their_own_rules(tmp_path: Path) -> None:
    program = program_of("flags", ("flag", BOOL), ("count", I64))
    module = module_of(tmp_path, program, "@triton.jit\ndef flags(flag: tl.int1, count: tl.int64):\n    pass\n")
    launch = module.Flags()[(1,)]
    launch(True, 2**40)
    launch(np.bool_(False), -(2**63))
    for flag in (1, 0.0, None):
        with pytest.raises(TypeError, match="`flag` has type bool"):
            launch(flag, 1)
    with pytest.raises(ValueError, match="`count` has type i64"):
        launch(True, 2**63)


# ---- dtypes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_first_pointer_binds_the_dtype(attention: ModuleType, device: str, dtype: torch.dtype) -> None:
    right = Arguments(device, dtype)
    bound = attention.Attention(16)
    bound[3, 2](*right())
    wider = {torch.float16: torch.float32, torch.bfloat16: torch.float64, torch.float32: torch.float64}
    if dtype in wider:
        bound[3, 2](*right(o=right.tensors["o"].to(wider[dtype])))
    for wrong in (torch.int32, torch.bool, torch.complex64):
        with pytest.raises(TypeError, match="`k` is a Pointer<D> and needs"):
            bound[3, 2](*right(k=right.tensors["k"].to(wrong)))
    with pytest.raises(TypeError, match="`q` is a Pointer<D> and needs a float"):
        bound[3, 2](*right(q=right.tensors["q"].to(torch.int32)))


def test_a_narrower_or_equally_wide_float_is_no_substitute(attention: ModuleType, device: str) -> None:
    right = Arguments(device, torch.float16)
    with pytest.raises(TypeError) as caught:
        attention.Attention(16)[3, 2](*right(v=right.tensors["v"].bfloat16()))
    assert_says(caught, "`v`", "needs f16 or a wider float", "torch.bfloat16", "(2, 5, 16)")
    with pytest.raises(TypeError, match="`l` is a Pointer<D::Compute> and needs f32 or a wider float"):
        attention.Attention(16)[3, 2](*right(l=right.tensors["l"].half()))


def test_every_element_type_is_known_from_torch_and_triton(attention: ModuleType) -> None:
    of_torch = {"bool": torch.bool, "bf16": torch.bfloat16}
    of_torch |= {n: getattr(torch, n.replace("f8", "float8_")) for n in ("f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz")}
    of_torch |= {"f8e4m3": torch.float8_e4m3fn, "f8e4m3b15": tl.float8e4b15}  # torch has no such
    for dtype in DTYPES.values():
        assert attention._element(of_torch.get(dtype.name, getattr(torch, dtype.triton, None))) == dtype.name
        assert attention._element(getattr(tl, dtype.triton)) == dtype.name


def test_a_fixed_dtype_is_the_only_one(tmp_path: Path, device: str) -> None:
    program = attention_program()
    kernel = replace(program.kernels[0], elements=(("D", F16),))
    bound = module_of(tmp_path, replace(program, kernels=(kernel,)), ATTENTION).Attention(16)
    half = Arguments(device, torch.float16)
    bound[3, 2](*half(o=half.tensors["o"].float()))
    with pytest.raises(TypeError, match="`q` is a Pointer<D> and needs f16, got"):
        bound[3, 2](*Arguments(device)())


def test_a_number_may_be_an_integer(tmp_path: Path, device: str) -> None:
    number = TypeVar("T", Bound.NUM)
    b = B("numbers")
    b.pointer("x", number)
    b.pointer("y", number)
    program = Program(doc="", kernels=(b.kernel(constants=(), variables=(number,)),))
    bound = module_of(tmp_path, program, "@triton.jit\ndef numbers(x, y):\n    pass\n").Numbers()
    x = torch.zeros(4, dtype=torch.int64, device=device)
    bound[1](x, x)
    bound[1](x.half(), x.float())
    for wrong in (x.int(), x.double()):
        with pytest.raises(TypeError, match="`y` is a Pointer<T> and needs i64, got"):
            bound[1](x, wrong)
    with pytest.raises(TypeError, match="`x` is a Pointer<T> and needs a float or an integer, got"):
        bound[1](x.bool(), x)


def test_a_known_constant_has_its_value(tmp_path: Path, device: str) -> None:
    program = attention_program()
    kernel = program.kernels[0]
    kernel = replace(kernel, constants=(replace(kernel.constants[0], known=16),))
    module = module_of(tmp_path, replace(program, kernels=(kernel,)), ATTENTION)
    for bound in (module.Attention(), module.Attention(16), module.AttentionOp(8).forward):
        bound[3, 2](*Arguments(device)())
    with pytest.raises(ValueError, match="the build fixed `head_dim` to 16, got 32"):
        module.Attention(32)


# ---- memory ---------------------------------------------------------------------------------------------------------


def test_a_tensor_that_is_not_contiguous_is_refused(attention: ModuleType, arguments: Arguments) -> None:
    turned = arguments.tensors["k"].transpose(1, 2).contiguous().transpose(1, 2)
    with pytest.raises(ValueError, match="not contiguous") as caught:
        attention.Attention(16)[3, 2](*arguments(k=turned))
    assert_says(caught, "`k`", "shape (2, 5, 16)", "strides (80, 1, 5)", "`k.contiguous()`")


def test_a_kernel_with_strides_takes_any_memory(tmp_path: Path, device: str) -> None:
    program = program_of("strided", ("x", "*f32"), ("x_stride", I32))
    module = module_of(tmp_path, program, "@triton.jit\ndef strided(x, x_stride: tl.int32):\n    pass\n")
    module.Strided()[(1,)](torch.zeros(4, 4, device=device).t(), 4)


def test_tensors_are_on_one_device(attention: ModuleType, arguments: Arguments) -> None:
    with pytest.raises(ValueError, match="`v` is on meta, but `q` is on"):
        attention.Attention(16)[3, 2](*arguments(v=arguments.tensors["v"].to("meta")))


def test_a_cpu_tensor_is_refused_where_kernels_run_on_a_gpu(
    attention: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "_INTERPRETED", False)
    monkeypatch.setattr(attention.Attention, "_seen", set())
    with pytest.raises(ValueError, match="`q` is on cpu, the kernel needs it on a GPU"):
        attention.Attention(16)[3, 2](*Arguments("cpu")())


def test_sizes_follow_the_shapes_that_the_source_states(attention: ModuleType, arguments: Arguments) -> None:
    launch = attention.Attention(16)[3, 2]
    launch(*arguments())
    launch(*arguments(q=arguments.tensors["q"].view(6, 16)))
    with pytest.raises(ValueError, match="`k`") as caught:
        launch(*arguments(n_k=4))
    assert_says(caught, "shape (2, 5, 16)", "[bh=2, n_k=4, HEAD_DIM=16]", "bh from `l`", "needs 128 elements")
    with pytest.raises(ValueError, match="`o`"):
        launch(*arguments(o=arguments.tensors["o"][:1]))
    with pytest.raises(ValueError, match="`l`"):
        launch(*arguments(n_q=4))


def test_sizes_that_nothing_determines_are_not_checked(attention: ModuleType, arguments: Arguments) -> None:
    empty = {name: arguments.tensors[name][:, :0] for name in ("q", "o", "l")}
    attention.Attention(16)[0, 2](*arguments(**empty, n_q=0))


# ---- the grid -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [0, (0,), (0, 1, 1), (4, 0, 1), [4, 1, 0], lambda c: (0,), (0, 65535, 65535)])
def test_a_zero_in_the_grid_launches_nothing(
    multiply: Any, xy: tuple[torch.Tensor, torch.Tensor], grid: object
) -> None:
    assert multiply[grid](*xy, 4, 2.0) is None
    assert not xy[1].any()


@pytest.mark.parametrize(
    ("grid", "error", "words"),
    [
        ((1, 65536), ValueError, ["65536 programs along y", "65535"]),
        ((1, 1, 65536), ValueError, ["65536 programs along z", "65535"]),
        ((2**31,), ValueError, ["2147483648 programs along x", "2147483647"]),
        ((0, 65536), ValueError, ["along y"]),
        ((-1,), ValueError, ["-1 programs along x"]),
        (-1, ValueError, ["-1 programs along x"]),
        ((1, 1, 1, 1), ValueError, ["one to three extents", "(1, 1, 1, 1)"]),
        ((), ValueError, ["one to three extents"]),
        ((1.0,), TypeError, ["grid along x", "1.0 (float)"]),
        ((1, True), TypeError, ["grid along y", "True"]),
        ("x", TypeError, ["grid along x", "'x' (str)"]),
        (None, TypeError, ["grid along x", "None"]),
    ],
)
def test_a_grid_that_the_hardware_cannot_launch_raises(
    multiply: Any, xy: tuple[torch.Tensor, torch.Tensor], grid: object, error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        multiply[grid](*xy, 4, 2.0)
    assert_says(caught, "Multiply", *words)
    assert not xy[1].any()


def test_a_grid_may_be_a_function_of_the_configuration(attention: ModuleType, arguments: Arguments) -> None:
    seen: dict[str, object] = {}

    def grid(configuration: dict[str, Any]) -> tuple[object, ...]:
        seen.update(configuration)
        return (configuration["n_q"], np.int64(2))

    attention.Attention(16)[grid](*arguments(), num_stages=1)
    assert seen["HEAD_DIM"] == 16
    assert seen["num_warps"] == 2
    assert seen["num_stages"] == 1


# ---- options and switches -------------------------------------------------------------------------------------------


class Recorder:
    """Stands in for a kernel and keeps what it is launched with."""

    def __init__(self) -> None:
        self.launches: list[tuple[object, tuple[object, ...], dict[str, object]]] = []

    def __getitem__(self, grid: object) -> Callable[..., None]:
        return lambda *args, **named: self.launches.append((grid, args, named))


def test_launch_options_pass_through(
    attention: ModuleType, arguments: Arguments, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    monkeypatch.setattr(attention.Attention, "_kernel", recorder)
    attention.Attention(16)[3, 2](*arguments())
    attention.Attention(16)[3, 2](*arguments(), num_warps=8, num_stages=3)
    assert [launch[2] for launch in recorder.launches] == [
        {"HEAD_DIM": 16, "num_warps": 2},
        {"HEAD_DIM": 16, "num_warps": 8, "num_stages": 3},
    ]
    with pytest.raises(TypeError, match="`num_wraps`"):
        attention.Attention(16)[3, 2](*arguments(), num_wraps=8)


def test_checks_can_be_turned_off(attention: ModuleType, arguments: Arguments, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(attention.Attention, "_kernel", recorder)
    attention.Attention(16, check=False)[1, 65536](1, 2)
    monkeypatch.setattr(attention._Bound, "check", False)
    attention.Attention(16)[5](3)
    assert recorder.launches[0][:2] == ((1, 65536), (1, 2))
    assert recorder.launches[1][:2] == ((5,), (3,))
    assert attention.Attention(16, check=False)[0, 2]() is None


def test_the_environment_turns_checks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_CHECK", "0")
    module = module_of(tmp_path, attention_program(), ATTENTION)
    assert not module.Attention(16).check
    assert module.Attention(16, check=True).check


def test_a_launch_seen_before_is_still_checked_in_full(attention: ModuleType, arguments: Arguments) -> None:
    launch = attention.Attention(16)[3, 2]
    launch(*arguments())
    for wrong in ({"n_q": 4}, {"scale": "x"}, {"k": arguments.tensors["k"].half()}, {"o": 1}):
        with pytest.raises((TypeError, ValueError)):
            launch(*arguments(**wrong))


def test_nine_tensors_take_the_fast_path_once_known(tmp_path: Path, device: str) -> None:
    program = program_of("nine", *((name, "*D") for name in "abcdefghi"), ("n", I32), ("m", I32), ("scale", F32))
    bound = module_of(tmp_path, program, NINE).Nine()
    arguments = (*(torch.zeros(4, device=device) for _ in range(9)), 1, 2, 0.5)
    assert bound._key(*arguments) not in bound._seen
    bound[0](*arguments)
    assert bound._key(*arguments) in bound._seen


def assert_says(caught: pytest.ExceptionInfo[Exception], *words: str) -> None:
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"
