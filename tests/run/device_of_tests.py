"""Launches attention on a GPU that there is none of: Triton compiles for it, and what would run there is only counted.

    python device_of_tests.py BYTES

BYTES is the shared memory of the device; the launcher is told of more. Prints JSON: what was chosen, the shared memory
of each kernel that was loaded, how many launches there were, and what is said of blocks that are named and do not fit.
Runs in a process of its own, where Triton compiles.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget

import teenyc
from teenyc.resources import kernels_directory

SHARED = int(sys.argv[1])
loaded: list[int] = []
launched: list[tuple[int, ...]] = []


class Utilities:
    """What Triton asks about the device, and how it loads a kernel there."""

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {"max_shared_mem": SHARED, "multiprocessor_count": 132}

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[int, ...]:
        loaded.append(shared)
        module, function, registers, spills, threads = 1, 2, 128, 0, 1024
        return module, function, registers, spills, threads


class Event:
    """All launches take a millisecond."""

    def __init__(self, enable_timing: bool) -> None:
        pass

    def record(self) -> None:
        pass

    synchronize = record

    def elapsed_time(self, end: Event) -> float:
        return 1.0


class Interface:
    """What the launcher asks torch."""

    Event = Event

    def get_device_name(self, device: object = None) -> str:
        return "a device of the tests"

    def device(self, device: object) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def is_current_stream_capturing(self) -> bool:
        return False


class Launch:
    """What Triton launches a kernel with."""

    def __init__(self, source: object, metadata: object) -> None:
        pass

    def __call__(self, *args: Any) -> None:
        launched.append(args[:3])


class Driver:
    """A driver of an H100."""

    utils, launcher_cls = Utilities(), Launch

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_interface(self) -> Interface:
        return Interface()

    def get_empty_cache_for_benchmark(self) -> None:
        pass

    def clear_cache(self, cache: None) -> None:
        pass


def main() -> None:
    triton.runtime.driver.set_active(Driver())
    module: Any = teenyc.load(kernels_directory() / "flash_attn2.tk")
    module._shared_memory = lambda: 2**18
    q, k, v, o = (torch.zeros(2, 8192, 64, dtype=torch.bfloat16) for _ in range(4))
    kernel, log_sum = module.flash_attention2_forward, torch.zeros(2, 8192)
    kernel[8192, 2](q, k, v, o, log_sum, 8192, 8192, 0.125, HEAD_DIM=64)
    found = {"chosen": [*kernel.chosen().values()], "loaded": [*loaded], "launches": len(launched)}
    try:
        blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 4}
        kernel[8192, 2](q, k, v, o, log_sum, 8192, 8192, 0.125, HEAD_DIM=64, **blocks)
    except triton.runtime.OutOfResources as error:
        found["refused"] = str(error)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
