"""Ahead-of-time compilation: artifacts and manifest without a GPU, reports for what a target lacks.

Triton interprets kernels in the test process where there is no GPU, so that compiling happens in processes of its own.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teenyc import CompileError
from teenyc.resources import kernels_directory
from teenyc.runtime import aot
from teenyc.runtime.targets import TARGETS

BUNDLED = kernels_directory() / "flash_attn2.tk"
KERNELS = ("flash_attention2_forward", "flash_attention2_backward_dq", "flash_attention2_backward_dkv")
FORMS = {**dict.fromkeys(KERNELS[:2], ("tiled", "plain")), KERNELS[2]: ("rows", "tiled", "plain")}
TARGET_NAMES = ("cuda:90", "hip:gfx942")
CONSTANTS, DTYPES = {"HEAD_DIM": 64}, {"D": "bf16"}

SCALE = """#[kernel]
fn scale_rows<D: Float, const WIDTH: i32>(x: Pointer<D>, y: Pointer<D>, factor: f32) {
    let lanes = program_id(0) * WIDTH + arange(0, WIDTH);
    store(y + lanes, load(x + lanes) * factor);
}
"""


def compile_apart(prelude: str, folder: Path, path: Path = BUNDLED, **arguments: object) -> str:
    """Runs `aot.build` in a new process, which writes what it returns to a folder; its standard error."""
    code = f"""
import sys
from pathlib import Path
from teenyc.runtime import aot
{prelude}
for artifact in aot.build({str(path)!r}, **{arguments!r}):
    Path({str(folder)!r}, artifact.name).write_bytes(artifact.content)
assert "torch" not in sys.modules
"""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode == 0) == (run.stderr == ""), run.stderr
    return run.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    assert compile_apart("", folder, targets=TARGET_NAMES, constants=CONSTANTS, dtypes=DTYPES) == ""
    return folder


def records(folder: Path, stem: str = "flash_attn2") -> list[dict[str, Any]]:
    kernels: list[dict[str, Any]] = json.loads((folder / f"{stem}.json").read_text(encoding="utf-8"))["kernels"]
    return kernels


def test_every_kernel_is_compiled_for_every_target(built: Path) -> None:
    endings = ("cuda-90.ptx", "cuda-90.cubin", "hip-gfx942.hsaco")
    stems = [stem for kernel in KERNELS for stem in (kernel, f"{kernel}_plain")] + [f"{KERNELS[2]}_rows"]
    assert {p.name for p in built.iterdir()} == {f"{s}.{e}" for s in stems for e in endings} | {"flash_attn2.json"}
    forms = [(k, t, form) for k in KERNELS for t in TARGET_NAMES for form in FORMS[k]]
    assert [(r["kernel"], r["target"], r["form"]) for r in records(built)] == forms
    for path in built.iterdir():
        if path.suffix in (".cubin", ".hsaco"):
            assert path.read_bytes().startswith(b"\x7fELF")


def test_the_manifest_describes_the_files(built: Path) -> None:
    manifest = json.loads((built / "flash_attn2.json").read_text(encoding="utf-8"))
    assert manifest["format"] == 3
    assert manifest["source"] == {"file": "flash_attn2.tk", "sha256": sha256(BUNDLED)}
    assert re.fullmatch(r"3\.\d+\.\d+\S*", manifest["triton"])
    for record in records(built):
        for facts in record["files"].values():
            path = built / facts["file"]
            assert (facts["sha256"], facts["bytes"]) == (sha256(path), path.stat().st_size)
        blocks = record["constants"].keys() - CONSTANTS.keys()
        assert record["constants"].items() >= CONSTANTS.items()
        assert blocks == {"tiled": {"BLOCK_M", "BLOCK_N"}, "rows": {"BLOCK_M"}, "plain": set()}[record["form"]]
        assert record["dtypes"] == DTYPES
        assert record["threads"] == record["num_warps"] * (32 if record["target"] == "cuda:90" else 64)
        assert 0 <= record["shared_memory"] <= TARGETS[record["target"]].shared_memory
        assert 0 < record["registers"] <= (255 if record["target"] == "cuda:90" else 512)
        assert record["spilled_bytes"] == 0 or record["target"] != "cuda:90"
        assert ("configurations" in record) == (record["form"] == "tiled")
        assert record["grid"]["limits"] == [2**31 - 1, 65535, 65535]
        assert ("blocks" in record["grid"]) == (record["form"] != "plain")
        if record["form"] != "plain":
            assert record["grid"]["blocks"] == {"x": record["constants"]["BLOCK_M"]}
            (count,) = (a["name"] for a in record["arguments"] if a["role"] == "count")
            assert record["grid"]["counts"] == {"x": count}


def test_the_arguments_are_those_of_the_entry(built: Path) -> None:
    sizes = {"u64": 8, "b64": 8, "f64": 8, "u32": 4, "b32": 4, "f32": 4}
    for record in records(built):
        arguments = {a["name"]: a for a in record["arguments"]}
        assert (arguments["q_ptr"]["type"], arguments["q_ptr"]["role"]) == ("*bf16", "input")
        assert arguments["n_ctx_q"]["type"] == "i32"
        if record["form"] == "rows":
            assert list(arguments)[:-2] == ["q_ptr", "o_ptr", "do_ptr", "n_ctx_q", "d_rows", "num_q_rows"]
        else:
            assert (arguments["l_ptr"]["type"], arguments["softmax_scale"]["type"]) == ("*fp32", "fp64")
        assert list(arguments)[-2:] == ["global_scratch", "profile_scratch"]
        if record["target"] == "cuda:90":
            ptx = (built / record["files"]["ptx"]["file"]).read_text(encoding="utf-8")
            entry = re.search(rf"\.entry {record['entry']}\(([^)]*)\)", ptx)
            assert entry is not None
            parameters = re.findall(r"\.param \.(\w+)", entry[1])
            assert [sizes[p] for p in parameters] == [a["bytes"] for a in record["arguments"]]
            assert f".reqntid {record['threads']}" in ptx


def test_what_a_kernel_computes_for_another_is_described_with_both(built: Path) -> None:
    for target in TARGET_NAMES:
        before, tiled, _ = (r for r in records(built) if r["kernel"] == KERNELS[2] and r["target"] == target)
        shared = {"name": "d_rows", "type": "*fp32", "bytes": 8, "element": "f32", "alignment": 16, "role": "rows"}
        assert shared in before["arguments"]
        assert shared in tiled["arguments"]
        assert before["grid"]["iterations"] == {"x": "n_ctx_q"}
        assert before["grid"]["axes"] == ["y"]
        assert before["grid"]["counts"] == {"x": "num_q_rows"}


def test_artifacts_are_the_same_bytes_wherever_they_are_made(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "flash_attn2.tk"
    copy.parent.mkdir()
    copy.write_bytes(BUNDLED.read_bytes())
    prelude = f"import os; os.chdir({str(tmp_path)!r})"
    assert (
        compile_apart(prelude, tmp_path / "out", copy, targets=TARGET_NAMES, constants=CONSTANTS, dtypes=DTYPES) == ""
    )
    for path in built.iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_home_that_cannot_be_written_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "scale.tk"
    path.write_text(SCALE)
    prelude = "import os; os.environ.update(HOME='/proc/nowhere', TRITON_HOME='/proc/nowhere')"
    arguments: dict[str, object] = {"targets": ("cuda:80",), "constants": {"WIDTH": 64}, "dtypes": {"D": "f32"}}
    assert compile_apart(prelude, tmp_path / "out", path, **arguments) == ""
    assert records(tmp_path / "out", "scale")[0]["arguments"][0]["type"] == "*fp32"


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ({"targets": ["cuda:9"], "constants": {"WIDTH": 8}, "dtypes": {"D": "f32"}}, ["E0501"]),
        ({"targets": ["cuda:90"], "dtypes": {"D": "f32"}}, ["E0502"]),
        ({"targets": ["cuda:90"], "constants": {"WIDTH": 8}}, ["E0503"]),
        ({"targets": ["gpu", "cuda:90"]}, ["E0501", "E0502", "E0503"]),
    ],
)
def test_what_a_target_must_know_is_asked_for(tmp_path: Path, arguments: dict[str, Any], codes: list[str]) -> None:
    path = tmp_path / "scale.tk"
    path.write_text(SCALE)
    with pytest.raises(CompileError) as caught:
        aot.build(path, **arguments)
    assert sorted(d.code for d in caught.value.diagnostics if d.code.startswith("E")) == codes
    if "E0502" in codes:
        assert "--set WIDTH=VALUE" in str(caught.value)
        assert f"{path}:2:" in str(caught.value)
    if "E0503" in codes:
        assert "--dtype D=f32" in str(caught.value)


@pytest.mark.parametrize(
    ("prelude", "dtype", "code", "words"),
    [
        ("", "f8e4m3", "E0520", "`cuda:80` has no `f8e4m3`"),
        ("aot._lacks_format = lambda *_: False", "f8e4m3", "E0505", "`scale_rows` does not compile for `cuda:80`"),
        ("sys.modules['triton'] = None", "f32", "E0506", "importing it failed"),
        ("import os; os.environ['TRITON_INTERPRET'] = '1'; import triton", "f32", "E0507", "TRITON_INTERPRET"),
        ("aot.TARGETS = {'cuda:80': aot.Target('cuda', '80', 32, -1)}", "f32", "E0504", "more shared memory"),
    ],
)
def test_what_cannot_be_compiled_is_reported(tmp_path: Path, prelude: str, dtype: str, code: str, words: str) -> None:
    path = tmp_path / "scale.tk"
    path.write_text(SCALE)
    arguments: dict[str, object] = {"targets": ("cuda:80",), "constants": {"WIDTH": 64}, "dtypes": {"D": dtype}}
    text = compile_apart(prelude, tmp_path / "out", path, **arguments)
    assert f"error[{code}]" in text
    assert words in text
    assert not list((tmp_path / "out").iterdir())


DEVICE = """#[kernel(grid = [1])]
fn vendor(x: Pointer<i32>) {
    if is_cuda() {
        if cuda_capability_geq(9, 0) { store(x, 1111); } else { store(x, 2222); }
    } else if is_hip_cdna3() {
        store(x, 3333);
    } else {
        store(x, 4444);
    }
}
"""


def test_questions_about_the_gpu_are_answered_for_the_target(tmp_path: Path) -> None:
    source = tmp_path / "device.tk"
    source.write_text(DEVICE, encoding="utf-8")
    assert compile_apart("", tmp_path, source, targets=("cuda:90", "cuda:80")) == ""
    newer, older = (tmp_path.joinpath(f"vendor.cuda-{n}.ptx").read_text(encoding="utf-8") for n in (90, 80))
    assert "1111" in newer
    assert "2222" in older
    assert not any(number in newer for number in ("2222", "3333", "4444"))
    assert compile_apart("", tmp_path / "hip", source, targets=("hip:gfx942",)) == ""
    (code,) = (tmp_path / "hip").glob("*.hsaco")
    assert (3333).to_bytes(4, "little") in code.read_bytes()
    assert (4444).to_bytes(4, "little") not in code.read_bytes()


def test_the_environment_of_the_interpreter_does_not_matter_before_triton_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "scale.tk"
    path.write_text(SCALE)
    prelude = "import os; os.environ['TRITON_INTERPRET'] = '1'"
    arguments: dict[str, object] = {"targets": ("cuda:80",), "constants": {"WIDTH": 64}, "dtypes": {"D": "f32"}}
    assert compile_apart(prelude, tmp_path / "out", path, **arguments) == ""


SCORES = """#[kernel(tile{more})]
fn scores<D: Float, const WIDTH: i32>(q: Pointer<D>, k: Pointer<D>, o: Pointer<D>, n: i32) {
    let row = program_id(0);
    let lane = arange(0, WIDTH);
    let x = load(q + row * WIDTH + lane);
    let mut total = D::from_f64(0.0);
    for key in 0..n {
        total += exp(sum(x * load(k + key * WIDTH + lane), axis = 0));
    }
    store(o + row, total);
}
"""


@pytest.mark.parametrize(
    ("width", "dtype", "more", "expected"),
    [
        (32, "bf16", "", ["tiled", "plain"]),
        (8, "bf16", "", ["plain"]),
        (128, "bf16", ", configs = [config(BLOCK_M = 128, BLOCK_N = 256, num_stages = 5)]", ["E0504"]),
    ],
)
def test_blocks_are_built_where_the_target_has_room_for_them(
    tmp_path: Path, width: int, dtype: str, more: str, expected: list[str]
) -> None:
    path = tmp_path / "scores.tk"
    path.write_text(SCORES.replace("{more}", more))
    arguments: dict[str, object] = {"targets": ("cuda:90",), "constants": {"WIDTH": width}, "dtypes": {"D": dtype}}
    text = compile_apart("", tmp_path / "out", path, **arguments)
    if expected[0].startswith("E"):
        assert f"error[{expected[0]}]" in text
        assert "scores.tk:1:27\n" in text
    else:
        assert [r["form"] for r in records(tmp_path / "out", "scores")] == expected


PRODUCT = """#[kernel(tile, configs = [config(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16)])]
fn product(a: Pointer<f16>, b: Pointer<f16>, c: Pointer<f16>, n: i32, k_size: i32) {
    let row = program_id(0);
    let column = program_id(1);
    let mut total: f32 = 0.0;
    for k in 0..k_size {
        total += load(a + row * k_size + k) as f32 * load(b + k * n + column) as f32;
    }
    store(c + row * n + column, total);
}
"""


@pytest.mark.parametrize(("stated", "group"), [("BLOCK_K = 16", 8), ("BLOCK_K = 16, GROUP_N = 4", 4)])
def test_groups_of_blocks_are_as_large_as_a_launch_has_them(tmp_path: Path, stated: str, group: int) -> None:
    path = tmp_path / "product.tk"
    path.write_text(PRODUCT.replace("BLOCK_K = 16", stated))
    assert compile_apart("", tmp_path / "out", path, targets=("cuda:90",)) == ""
    tiled = next(r for r in records(tmp_path / "out", "product") if r["form"] == "tiled")
    assert tiled["constants"]["GROUP_N"] == group
    assert tiled["grid"]["blocks"] == {"x": 16, "y": 16}


@pytest.mark.gpu
def test_a_cubin_launches_from_its_manifest(built: Path) -> None:
    """The forward kernels through the CUDA driver alone, with nothing but what the manifest says."""
    forward = [r for r in records(built) if r["kernel"] == KERNELS[0] and r["target"] == "cuda:90"]
    assert len(forward) == 2
    for record in forward:
        _launch_forward(built, record)


MAX_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"""


def _launch_forward(built: Path, record: dict[str, Any]) -> None:
    import torch

    bh, n_q, n_k, d = 2, 205, 77, 64
    q, k, v = (torch.randn(bh, n, d, dtype=torch.bfloat16, device="cuda") for n in (n_q, n_k, n_k))
    o, l = torch.empty_like(q), torch.empty(bh, n_q, device="cuda")
    given = {"q_ptr": q, "k_ptr": k, "v_ptr": v, "o_ptr": o, "l_ptr": l}
    grid, counted = {"x": n_q, "y": bh}, dict(record["grid"].get("counts", {}))
    scalars = {"n_ctx_q": n_q, "n_ctx_k": n_k, "softmax_scale": 0.125, **{counted[a]: grid[a] for a in counted}}
    divided = [-(-extent // record["grid"].get("blocks", {}).get(axis, 1)) for axis, extent in grid.items()]
    kinds: dict[str, Callable[[Any], Any]] = {"i32": ctypes.c_int32, "fp64": ctypes.c_double}
    values = [
        ctypes.c_uint64(given[a["name"]].data_ptr() if a["name"] in given else 0)
        if a["type"].startswith("*")
        else kinds[a["type"]](scalars[a["name"]])
        for a in record["arguments"]
    ]
    launch(built / record["files"]["cubin"]["file"], record, (divided[0], divided[1], 1), values)
    torch.cuda.synchronize()
    want = torch.softmax(q.double() @ k.double().mT * 0.125, dim=-1) @ v.double()
    assert float((o.double() - want).norm() / want.norm()) < 1e-2


def launch(cubin: Path, record: dict[str, Any], grid: tuple[int, int, int], values: list[Any]) -> None:
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), cubin.read_bytes()) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, record["entry"].encode()) == 0
    assert driver.cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED, record["shared_memory"]) == 0  # 48 KiB without
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    shape = (*grid, record["threads"], 1, 1, record["shared_memory"])
    assert driver.cuLaunchKernel(function, *shape, None, pointers, None) == 0


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
