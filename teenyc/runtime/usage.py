"""What a block of threads takes of a GPU: a compiled kernel goes in; memory, threads and registers come out.

And what a target lacks of them. Tools that come with Triton tell the registers, so that no GPU is needed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from teenyc.record import record
from teenyc.runtime.targets import Target

ALLOCATED = 8
"""The registers of a thread are allocated so many at a time."""


@record
class Usage:
    """What one block takes: bytes of shared memory, threads, columns of tensor memory.

    `registers` are those of a thread, and `spilled_bytes` what a thread keeps in memory for want of more; None where
    the tool that tells them is missing.
    """

    shared_memory: int
    threads: int
    tensor_memory: int = 0
    registers: int | None = None
    spilled_bytes: int | None = None


@record
class Shortage:
    """More of something than one block can have: `what`, in `unit`s."""

    what: str
    unit: str
    needed: int
    limit: int


def usage_of(result: Any, target: Target) -> Usage:
    """What Triton's result takes."""
    metadata = result.metadata
    threads = metadata.num_warps * target.warp_size
    tensor_memory = getattr(metadata, "tmem_size", None) or 0
    tell = _by_the_assembler if target.backend == "cuda" else _by_the_assembly
    return Usage(metadata.shared, threads, tensor_memory, *tell(result))


def shortages(usage: Usage, target: Target) -> tuple[Shortage, ...]:
    """What a block lacks on a target: nothing, if it can be launched there."""
    registers = -(-(usage.registers or 0) // ALLOCATED) * ALLOCATED * usage.threads
    demands = (
        Shortage("shared memory", "bytes", usage.shared_memory, target.shared_memory),
        Shortage("threads", "threads", usage.threads, target.threads),
        Shortage("registers", "registers", registers, target.registers or registers),
        Shortage("tensor memory", "columns", usage.tensor_memory, target.tensor_memory),
    )
    return tuple(demand for demand in demands if demand.needed > demand.limit)


def _by_the_assembler(result: Any) -> tuple[int | None, int | None]:
    """By NVIDIA's `cuobjdump`: the stack of a thread holds what is spilled, behind arrays that the PTX declares."""
    import subprocess
    import tempfile

    from triton import knobs

    with tempfile.TemporaryDirectory(prefix="teenyc-") as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(result.asm["cubin"])
        try:
            command = [knobs.nvidia.cuobjdump.path, "--dump-resource-usage", str(path)]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, RuntimeError, subprocess.SubprocessError):  # a Triton without it
            return None, None
    found = re.search(rf"Function {re.escape(result.metadata.name)}:\s+REG:(\d+) STACK:(\d+)", told)
    if found is None:
        return None, None
    arrays = re.findall(r"\.local \.align \d+ \.b8\s+\w+\[(\d+)\]", result.asm["ptx"])
    return int(found[1]), max(0, int(found[2]) - sum(map(int, arrays)))


def _by_the_assembly(result: Any) -> tuple[int | None, int | None]:
    """By the metadata in AMD's assembly, which LLVM documents as that of code objects."""
    told = dict(re.findall(r"\.(vgpr_count|private_segment_fixed_size):\s+(\d+)", result.asm["amdgcn"]))
    count, private = (told.get(name) for name in ("vgpr_count", "private_segment_fixed_size"))
    return int(count) if count else None, int(private) if private else None
