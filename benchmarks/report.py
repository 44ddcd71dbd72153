"""What the benchmarks share: the checkout on the path, where kernels run, and sections of markdown to paste.

A section has a title, a line with date, hardware and versions, and tables.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent


def arguments(doc: str | None, **others: tuple[str, float | str]) -> argparse.Namespace:
    """The command line, where `device` is `cuda`, or `cpu` with `--cpu`: kernels then run under Triton's interpreter.

    `others` are further options, numbers or texts, each with its help and its default. Call it before anything imports
    triton, which asks at its import where kernels run.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="tiny sizes under Triton's interpreter, to try the script")
    for name, (words, default) in others.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=words)
    options = parser.parse_args()
    if options.cpu:
        os.environ["TRITON_INTERPRET"] = "1"
    elif not torch.cuda.is_available():
        parser.error("there is no GPU that torch can use; --cpu tries the script without one")
    options.device = "cpu" if options.cpu else "cuda"
    sys.path.insert(0, str(ROOT))
    return options


def bundled(name: str) -> ModuleType:
    """The module of a file of the bundled kernels, compiled now."""
    import teenyc
    from teenyc.resources import kernels_directory

    return teenyc.load(kernels_directory() / f"{name}.tk")


def flash_attn2() -> ModuleType:
    """The module of the bundled attention."""
    return bundled("flash_attn2")


def section(title: str, device: str) -> str:
    """The head of a section: its title, and the line that says by which script, when and on what."""
    words = [
        f"`benchmarks/{Path(sys.argv[0]).name}`",
        time.strftime("%Y-%m-%d"),
        *_hardware(device),
        f"Python {platform.python_version()}",
    ]
    words += [f"{package} {_version(package)}" for package in ("torch", "triton")]
    return f"## {title}\n\n{', '.join(words)}.\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of markdown, each row followed by a line end."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def name_of(dtype: torch.dtype) -> str:
    """The name of a dtype in kernel sources, such as `bf16`."""
    return str(dtype).removeprefix("torch.").replace("bfloat", "bf").replace("float", "f")


def normal(shape: Sequence[int], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Normal random numbers on the generator's device, drawn head by head so that no size is too large."""
    x = torch.empty(tuple(shape), dtype=dtype, device=generator.device)
    for part in x.split(4096):
        part.normal_(generator=generator)
    return x


def poisoned(shape: Sequence[int], like: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A tensor full of NaN, in which an element that a kernel leaves unwritten shows."""
    return torch.full(tuple(shape), float("nan"), dtype=dtype or like.dtype, device=like.device)


def unwritten(*tensors: torch.Tensor) -> int:
    """How many elements are no finite number, counted in parts so that no size is too large."""
    return sum(int((~torch.isfinite(part)).sum()) for x in tensors for part in x.split(4096))


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """The relative L2 error against float64 values; not a number where any element is not."""
    return float((got.double() - expected).norm() / expected.norm())


def _hardware(device: str) -> list[str]:
    if device == "cpu":
        return [f"no GPU: Triton's interpreter, {os.cpu_count()} cores ({platform.machine()})"]
    properties: Any = torch.cuda.get_device_properties(0)
    memory = f"{properties.name} ({properties.total_memory / 2**30:.0f} GiB)"
    return [memory, f"CUDA {torch.version.cuda}", f"cuDNN {torch.backends.cudnn.version()}"]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
