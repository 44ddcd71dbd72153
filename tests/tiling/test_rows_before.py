"""What a kernel computes before a blocked one: numbers against float64, with memory between the two poisoned."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from attention import Attention, attention
from blocked import agreed, close, poisoned_memory
from meaning import module_of
from memory import Guarded

from teenyc.resources import kernels_directory

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 3e-3}
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda d: str(d).removeprefix("torch."))

WEIGHTED = """
#[kernel(tile)]
fn weighted<const N: i32>(w: Pointer<i32>, x: Pointer<i64>, a: Pointer<f64>, b: Pointer<f64>, c: Pointer<f64>, k: i64) {
    let row = program_id(1) as i64;
    let n = N as i64;
    let end = k * 2 - n;
    let lane = arange(0, N);
    let mut acc = zeros::<f64>(&[N]);
    for at in 3i64..end {
        let few = sum(load(w + at * n + lane), axis = 0);
        let most = max(load(x + at * n + lane), axis = 0);
        let weight = ((few + (row as i32)) as f64) + ((most * row) as f64);
        acc += weight * load(a + row * end + at) * load(b + at * n + lane);
    }
    store(c + row * n + lane, acc);
}
"""


CAUSAL = """
#[kernel(tile(k_row, q_row))]
fn backward_dkv<const N: i32>(
    q: Pointer<f32>, k: Pointer<f32>, v: Pointer<f32>, o: Pointer<f32>, d_o: Pointer<f32>, l: Pointer<f32>,
    dk: Pointer<f32>, dv: Pointer<f32>, rows: i32, first: i32,
) {
    let k_row = program_id(0);
    let lane = arange(0, N);
    let own_k = load(k + k_row * N + lane);
    let own_v = load(v + k_row * N + lane);
    let mut acc_k = zeros::<f32>(&[N]);
    let mut acc_v = zeros::<f32>(&[N]);
    for q_row in BOUNDS {
        let query = load(q + q_row * N + lane);
        let row_do = load(d_o + q_row * N + lane);
        let d = sum(load(o + q_row * N + lane) * row_do, axis = 0);
        let p = exp(sum(query * own_k, axis = 0) - load(l + q_row));
        acc_v += p * row_do;
        acc_k += p * (sum(row_do * own_v, axis = 0) - d) * query;
    }
    store(dk + k_row * N + lane, acc_k);
    store(dv + k_row * N + lane, acc_v);
}
"""


MANY = """
#[kernel(tile)]
fn many<const N: i32>(a: Pointer<f32>, w: Pointer<f32>, b: Pointer<f32>, c: Pointer<f32>, size: i32, other: i32) {
    let row = program_id(0);
    let z = program_id(1);
    let lane = arange(0, N);
    let gain = load(w + lane);
    let mut acc = zeros::<f32>(&[N]);
    LOOP
    store(c + (z * num_programs(0) + row) * N + lane, acc);
}
"""

NUMBERS = {
    "sum": "let s = sum(load(w + k * N + lane), axis = 0);",
    "of_two": "let t = load(w + k * N + lane); let s = max(t * gain, axis = 0) - sum(t, axis = 0) * 0.5;",
    "of_program": "let s = sum(load(w + (k + z) * N + lane) * gain, axis = 0);",
    "selected": "let t = sum(load(w + k * N + lane), axis = 0); let s = where_(t > 0.0, t, -t);",
    "masked": "let s = sum(load(w + k * N + lane, mask = lane < other, other = 0.0), axis = 0);",
    "counted": "let s = sum((load(w + k * N + lane) > 0.0) as i32, axis = 0) as f32;",
    "nested": "let t = sum(load(w + k * N + lane), axis = 0); let s = t + min(load(w + (k + 1) * N + lane), axis = 0);",
}
LOOPS = {
    "all": "for k in 0..size { BODY }",
    "from": "for k in other..size { BODY }",
    "down": "for k in (0..size).rev() { BODY }",
    "while": "let mut k = 2; while k < size { BODY k += 1; }",
    "fewer": "for k in 0..size * 1 - 2 { BODY }",
    "behind_row": "for k in row..size { BODY }",
    "branch": "for k in 0..size { if k >= row { BODY } }",
    "twice": "for k in 0..size { BODY } for k in 1..size { BODY }",
    "inclusive": "for k in 0..=size - 1 { BODY }",
}
USES = {
    "factor": "acc += s * load(a + row * size + k) * load(b + k * N + lane);",
    "tensor": "acc += load(a + row * size + k) * (s * gain + s);",
}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    text = (kernels_directory() / "flash_attn2.tk").read_text(encoding="utf-8")
    return module_of(text, tmp_path_factory.mktemp("rows_before"), "flash_attn2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows_before")


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """The memory that launches made, full of what no kernel writes."""
    return poisoned_memory(monkeypatch)


@dtypes
@pytest.mark.parametrize("sizes", [(1, 1, 1, 16), (2, 17, 40, 16), (1, 33, 15, 5), (3, 100, 16, 24), (1, 15, 20, 32)])
def test_gradients(
    bundled: ModuleType, device: str, dtype: torch.dtype, sizes: tuple[int, ...], made: list[torch.Tensor]
) -> None:
    given, expected = problem(sizes, dtype, device)
    made.clear()
    for name, got in gradients(bundled, given, sizes).items():
        close(got, getattr(expected, name), TOLERANCE[dtype])
    computed = torch.float64 if dtype == torch.float64 else torch.float32
    assert [(t.numel(), t.dtype) for t in made if t.numel()] == [(sizes[0] * sizes[1], computed)]


def test_without_queries_gradients_are_zero(bundled: ModuleType, device: str) -> None:
    sizes = (2, 0, 20, 16)
    given, _ = problem(sizes, torch.float32, device)
    for got in gradients(bundled, given, sizes).values():
        assert bool((got == 0).all())


def test_the_kernel_as_written_runs_where_the_grid_before_would_be_too_large(
    bundled: ModuleType, device: str, made: list[torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_LIMITS", (1, 65535, 65535))
    sizes = (1, 19, 3, 16)
    given, expected = problem(sizes, torch.float32, device)
    made.clear()
    for name, got in gradients(bundled, given, sizes).items():
        close(got, getattr(expected, name), 1e-5)
    assert made == []


def problem(sizes: tuple[int, ...], dtype: torch.dtype, device: str) -> tuple[dict[str, torch.Tensor], Attention]:
    """What the kernel for the gradients is given, and what is right."""
    bh, n_q, n_k, head_dim = sizes
    generator = torch.Generator().manual_seed(n_q * n_k)
    shapes = {"q": n_q, "k": n_k, "v": n_k, "do": n_q}
    given = {name: torch.randn((bh, n, head_dim), generator=generator).to(device, dtype) for name, n in shapes.items()}
    exact = attention(*given.values(), head_dim**-0.5)
    return {**given, "o": exact.o.to(dtype), "l": exact.l.to(torch.promote_types(dtype, torch.float32))}, exact


def gradients(module: ModuleType, given: dict[str, torch.Tensor], sizes: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """What the kernel writes."""
    bh, n_q, n_k, head_dim = sizes
    q = given["q"]
    out = {name: Guarded((bh, n_k, head_dim), q.dtype, str(q.device)) for name in ("dk", "dv")}
    tensors = [given[name] for name in ("q", "k", "v", "o", "do", "l")]
    launch = module.flash_attention2_backward_dkv[n_k, bh]
    launch(*tensors, out["dk"].tensor, out["dv"].tensor, n_q, n_k, head_dim**-0.5, HEAD_DIM=head_dim)
    return {name: each.check() for name, each in out.items()}


@pytest.mark.parametrize("known", [{}, {"N": 16}], ids=["open", "known"])
@pytest.mark.parametrize(("rows", "size"), [(1, 20), (17, 9), (40, 60), (5, 3)])
def test_several_numbers_of_each_iteration_from_a_start_on(
    folder: Path, device: str, rows: int, size: int, known: dict[str, int], made: list[torch.Tensor]
) -> None:
    """Integers of two types, for rows along the second axis of the grid; bounds of constants, which may be known."""
    kernel = module_of(WEIGHTED, folder, f"weighted_{len(known)}", set=known).weighted
    n, end = 16, size * 2 - 16
    generator = torch.Generator().manual_seed(rows)
    w = torch.randint(-9, 9, (max(end, 3), n), generator=generator, dtype=torch.int32).to(device)
    x = torch.randint(-9, 9, (max(end, 3), n), generator=generator).to(device)
    a = torch.randn((rows, max(end, 0)), generator=generator, dtype=torch.float64).to(device)
    b = torch.randn((max(end, 3), n), generator=generator, dtype=torch.float64).to(device)
    c = Guarded((rows, n), torch.float64, device)
    made.clear()
    kernel[1, rows](w, x, a, b, c.tensor, size, **({} if known else {"N": n}))
    assert [(t.numel(), t.dtype) for t in made] == [(max(end - 3, 0), d) for d in (torch.int32, torch.int64)]
    few, most, row = w[3:].sum(1).double(), x[3:].amax(1).double(), torch.arange(rows, device=device)[:, None]
    weights = few + row + most * row
    close(c.check(), (a[:, 3:] * weights) @ b[3:] if end > 3 else torch.zeros(rows, n), 1e-13)


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")  # where nothing counts
@dtypes
def test_numbers_for_each_program_along_two_axes(folder: Path, device: str, dtype: torch.dtype) -> None:
    source = Path(__file__).parents[1] / "passes" / "tile" / "rows_before.tk"
    kernel = module_of(source.read_text(encoding="utf-8"), folder, "by_norm").by_norm
    rows, batches, heads, n, first, end = 19, 2, 3, 16, 5, 23
    generator = torch.Generator().manual_seed(7)
    a = torch.randn((rows, end), generator=generator).to(device, dtype)
    w = torch.rand((batches * end + 2 * heads, n), generator=generator).to(device, dtype)
    b = torch.randn((batches, end, n), generator=generator).to(device, dtype)
    c = Guarded((heads, batches, rows, n), dtype, device)
    kernel[rows, batches, heads](a, w, b, c.tensor, first, end, N=n)
    got = c.check().double()
    for head in range(heads):
        weights = w[2 * head :][: batches * end].view(batches, end, n)[:, first:].double()
        scaled = b[:, first:].double() / weights.norm(dim=2, keepdim=True)
        expected = a[:, first:].double() @ scaled + weights.amax(2).sum(1)[:, None, None]
        close(got[head], expected, TOLERANCE[dtype])


@pytest.mark.parametrize(("bounds", "first"), [("k_row..rows", 0), ("first + k_row..rows", 3), ("0..rows", None)])
@pytest.mark.parametrize("rows", [1, 15, 17, 40])
def test_bounds_of_which_those_of_the_first_row_are_widest(
    folder: Path, device: str, bounds: str, first: int | None, rows: int, made: list[torch.Tensor]
) -> None:
    n = 16
    kernel = module_of(CAUSAL.replace("BOUNDS", bounds), folder, f"causal_{first}").backward_dkv
    q, k, v, d_o = (torch.randn((rows, n), dtype=torch.float64) / 2 for _ in range(4))
    k, v = (x.requires_grad_() for x in (k, v))
    counts = torch.ones(rows, rows).tril(-(first or 0)) if first is not None else torch.ones(rows, rows)
    scores = (q @ k.T).masked_fill(counts == 0, float("-inf"))
    o = torch.softmax(scores, dim=1).nan_to_num(0.0) @ v
    o.backward(d_o)
    given = [x.detach().float().to(device) for x in (q, k, v, o, d_o, torch.logsumexp(scores, dim=1))]
    out = [Guarded((rows, n), torch.float32, device) for _ in range(2)]
    made.clear()
    kernel[rows,](*given, *(each.tensor for each in out), rows, first or 0, N=n)
    assert [t.numel() for t in made if t.numel()] == [rows - (first or 0)] * (rows > (first or 0))
    for each, exact in zip(out, (k.grad, v.grad), strict=True):
        assert exact is not None
        close(each.check(), exact.nan_to_num(0.0), 1e-5)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy's on poison where nothing counts
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("number", "loop"), [*zip([*NUMBERS, "sum", "nested"], LOOPS, strict=True)])
def test_numbers_of_many_kinds_in_loops_of_many_kinds(
    folder: Path, device: str, number: str, loop: str, use: str, made: list[torch.Tensor]
) -> None:
    """As the kernel as written has them."""
    text = MANY.replace("LOOP", LOOPS[loop].replace("BODY", f"{NUMBERS[number]} {USES[use]}"))
    kernel = module_of(text, folder, f"many_{number}_{loop}_{use}", verify_ir=True).many
    n = 16
    for rows, size, other in ((1, 1, 0), (5, 19, 3), (3, 0, 2)):
        a, w, b = (torch.randn(shape, device=device) for shape in ((rows, size), (size + 20, n), (size + 20, n)))
        made.clear()
        outputs = {"c": ((2, rows, n), torch.float32)}
        arguments = {"a": a, "w": w, "b": b, "size": size, "other": other}
        agreed(kernel, (rows, 2), arguments, outputs, 1e-5, N=n)
        assert made, "a kernel runs before"


SUMMED = """
#[kernel(tile(row, k))]
fn energies<const N: i32>(m: Pointer<f32>, w: Pointer<f32>, a: Pointer<f32>, c: Pointer<f32>, size: i32) {
    let row = program_id(0);
    let lane = arange(0, N);
    let matrix = load(m + lane[(.., None)] * N + lane[(None, ..)]);
    let mut total = 0.0;
    for k in 0..size {
        let y = sum(matrix * load(w + k * N + lane)[(None, ..)], axis = 1);
        total += sum(y * y, axis = 0) * load(a + row * size + k);
    }
    store(c + row, total);
}
"""


@pytest.mark.parametrize("n", [8, 16, 32])
def test_products_of_matrices_before_ask_of_constants_too(
    folder: Path, device: str, n: int, made: list[torch.Tensor]
) -> None:
    kernel = module_of(SUMMED, folder, "summed", verify_ir=True).energies
    rows, size = 5, 21
    m, w, a = (torch.randn(shape, device=device) for shape in ((n, n), (size, n), (rows, size)))
    c = Guarded((rows,), torch.float32, device)
    made.clear()
    kernel[rows,](m, w, a, c.tensor, size, N=n)
    assert bool(made) == (n >= 16)
    close(c.check(), a.double() @ (w.double() @ m.double().T).square().sum(1), 1e-4)


def test_what_is_only_compiled_makes_no_memory(
    bundled: ModuleType, device: str, made: list[torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triton takes dtypes in the place of tensors that are not there; both kernels are compiled."""
    given, _ = problem((1, 20, 20, 16), torch.float16, device)
    tensors = [given[name] for name in ("q", "k", "v", "o", "do", "l", "k", "v")]
    both, seen = bundled.flash_attention2_backward_dkv.tiled.tiled, []
    for name in ("rows", "tiled"):
        monkeypatch.setattr(both, name, Compiler(name, seen))
    made.clear()
    blocks = {"num_k_rows": 20, "HEAD_DIM": 16, "BLOCK_M": 16, "BLOCK_N": 32}
    assert both.warmup(*tensors, 20, 20, 0.25, grid=(2, 1, 1), **blocks) is both.tiled
    assert seen == [("rows", (2, 1, 1), torch.float32), ("tiled", (2, 1, 1), torch.float32)]
    assert made == []


class Compiler:
    """A kernel that notes what it is compiled for; once compiled, it can be run."""

    run = True

    def __init__(self, name: str, seen: list[Any]) -> None:
        self.name, self.seen = name, seen

    def warmup(self, *args: Any, grid: tuple[int, ...], **named: Any) -> Compiler:
        (dtype,) = (a for a in args if isinstance(a, torch.dtype))
        self.seen.append((self.name, grid, dtype))
        return self


def test_every_form_of_a_launch(folder: Path, device: str) -> None:
    """By position and by name, with blocks and options, past the launcher, and only compiled."""
    source = Path(__file__).parents[1] / "plans" / "computed_by_all_rows.tk"
    kernel = module_of(source.read_text(encoding="utf-8"), folder, "once").once
    rows, n, k = 20, 16, 35
    a, w, b = (torch.randn(shape, device=device) for shape in ((rows, k), (k, n), (k, n)))
    expected = (a.double() * (w.double() * b.double()).sum(1)) @ b.double()
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16}
    for launch in (
        lambda c: kernel[rows,](a, w, b, c, k, N=n),
        lambda c: kernel[rows,](a, w, c=c, k_size=k, b=b, N=n),
        lambda c: kernel[rows,](a, w, b, c, k, n, **blocks, num_warps=4),
        lambda c: kernel.tiled[2, 1, 1](a, w, b, c, k, num_rows=rows, N=n, **blocks),
        lambda c: kernel.tiled[(2,)](a, w, c=c, b=b, k_size=k, num_rows=rows, N=n, **blocks),
    ):
        c = Guarded((rows, n), torch.float32, device)
        launch(c.tensor)
        close(c.check(), expected, 1e-5)
