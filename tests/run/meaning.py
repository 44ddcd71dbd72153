"""Kernels given as text for the tests of the language's meaning: compiled, imported, run, and checked for a GPU.

Integers are checked against exact ones; `wrapped` and `bounds` say what an integer type holds.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from cases import TESTS
from numpy.typing import NDArray

import teenyc

Array = NDArray[Any]

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("f16", "f32", "f64")
NUMPY = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "bool": "bool",
}


def module_of(text: str, folder: Path, name: str = "meaning", suffix: str = ".tk", **options: Any) -> ModuleType:
    """The module generated from a source text, imported from a file in `folder`."""
    compiled = teenyc.compile_source(text, name=f"{name}{suffix}", options=teenyc.Options(**options))
    assert compiled.source is not None, "\n".join(d.message() for d in compiled.diagnostics)
    path = folder / f"{name}.py"
    path.write_text(compiled.source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def codes_of(text: str) -> list[str]:
    """The codes of what is reported for a source text."""
    compiled = teenyc.compile_source(text, name="meaning.tk")
    return [d.code for d in compiled.diagnostics]


def tensor_of(numbers: Iterable[Any], dtype: str, device: str) -> torch.Tensor:
    """A tensor of an element type of the language; by way of NumPy, since torch lacks most unsigned conversions."""
    if dtype == "bf16":
        return torch.tensor(list(numbers), dtype=torch.float32).to(torch.bfloat16).to(device)
    return torch.from_numpy(np.array(list(numbers), dtype=NUMPY[dtype])).to(device)


def empty(count: int, dtype: str, device: str) -> torch.Tensor:
    """A tensor for results, poisoned with a number that no test expects everywhere."""
    if dtype in ("f16", "f32", "f64", "bf16"):
        return torch.full((count,), float("nan"), dtype=getattr(torch, _TORCH[dtype])).to(device)
    return tensor_of([0x55 if dtype != "bool" else False] * count, dtype, device)


_TORCH = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16"}


def numbers_of(tensor: torch.Tensor) -> list[Any]:
    """The elements as Python numbers, exact."""
    tensor = tensor.cpu()
    numbers: list[Any] = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy().tolist()
    return numbers


# ---- exact integers -------------------------------------------------------------------------------------------------


def bounds(dtype: str) -> tuple[int, int]:
    bits = int(dtype[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "i" else (0, (1 << bits) - 1)


def wrapped(value: int, dtype: str) -> int:
    """The number of `dtype` that is equal to `value` modulo 2 to the width."""
    low, high = bounds(dtype)
    return (value - low) % (high - low + 1) + low


def quotient(a: int, b: int) -> int:
    """Toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """With the sign of `a`."""
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


def samples(dtype: str, count: int, seed: int) -> list[int]:
    """Extreme and random numbers of a type, `count` in all."""
    rng = np.random.default_rng(seed)
    low, high = bounds(dtype)
    extremes = [low, high, 0, 1, low + 1, high - 1, high // 2, high // 2 + 1, 2, 3, 7]
    extremes += [-1, -2, -3, -7] if low < 0 else [high - 6, 9, 10, 100]
    small = rng.integers(max(low, -9), 9, count, endpoint=True).tolist()
    wide = rng.integers(low, high, count, dtype=NUMPY[dtype], endpoint=True).tolist()
    pool = extremes + [n for pair in zip(small, wide, strict=True) for n in pair]
    rng.shuffle(chosen := pool[:count])
    return [int(n) for n in chosen]


# ---- compiling for a GPU --------------------------------------------------------------------------------------------


def gpu_failures(texts: dict[str, str], folder: Path, constants: dict[str, Any], dtypes: dict[str, str]) -> str:
    """What Triton's compiler refuses of the kernels of some source texts, for a GPU: empty where all is well."""
    jobs = []
    for name, text in texts.items():
        compiled = teenyc.compile_source(text, name=f"{name}.tk")
        assert compiled.source is not None, "\n".join(d.message() for d in compiled.diagnostics)
        path = folder / f"{name}.py"
        path.write_text(compiled.source, encoding="utf-8")
        jobs.append({"path": str(path), "constants": constants, "dtypes": dtypes, "is_checked_only": True})
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, TESTS / "compile_for_gpu.py"],
        input=json.dumps(jobs),
        env={**environment, "TRITON_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return "\n".join(f"{name}: {words}" for name, words in json.loads(done.stdout).items())
