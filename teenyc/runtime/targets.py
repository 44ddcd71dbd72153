"""The GPUs that kernels are compiled for ahead of time: their names, and how much of everything one block can have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from teenyc.record import record

KIB = 1024


@record
class Target:
    """One architecture. What stands below the size of a warp is what one block of threads can have.

    `shared_memory` is in bytes, `tensor_memory` in columns. `registers` are None where the assembler keeps a block
    within what there is, by what it writes to memory.
    """

    backend: str
    architecture: str
    warp_size: int
    shared_memory: int
    threads: int = 1024
    registers: int | None = None
    tensor_memory: int = 512

    @property
    def name(self) -> str:
        return f"{self.backend}:{self.architecture}"

    @property
    def formats(self) -> tuple[str, ...]:
        """The 8-bit floats that Triton has for it."""
        if self.backend == "hip":
            return ("f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz")
        return ("f8e5m2", "f8e4m3b15", *(("f8e4m3",) if int(self.architecture) >= 89 else ()))

    @property
    def stages(self) -> tuple[str, ...]:
        """What Triton makes that is worth keeping, by its names."""
        return ("ptx", "cubin") if self.backend == "cuda" else ("hsaco",)


def _targets() -> Mapping[str, Target]:
    cuda = {"75": 64, "80": 163, "86": 99, "87": 163, "89": 99, "90": 227, "100": 227, "103": 227, "120": 99, "121": 99}
    hip = {"gfx90a": 64, "gfx942": 64, "gfx950": 160, "gfx1100": 64, "gfx1101": 64, "gfx1200": 64, "gfx1201": 64}
    targets = [Target("cuda", name, 32, size * KIB, registers=64 * KIB) for name, size in cuda.items()]
    targets += [Target("hip", name, 64 if name.startswith("gfx9") else 32, size * KIB) for name, size in hip.items()]
    return MappingProxyType({target.name: target for target in targets})


TARGETS = _targets()
"""By name, such as `cuda:90` and `hip:gfx942`.

Sizes are those of NVIDIA's CUDA C++ Programming Guide (Technical Specifications per Compute Capability) and of AMD's
guides to the instruction sets of CDNA and RDNA: the local data share of a workgroup, and 1,024 work items at most.
"""
