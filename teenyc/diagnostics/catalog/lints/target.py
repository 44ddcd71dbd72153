"""W: what a build for a target finds of configurations and registers."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint
from teenyc.record import record


@record(kw_only=True)
class RegistersSpill(Lint):
    """A thread of this kernel, compiled for a target, has more to remember than registers: the rest goes to memory.

    teenyc build matmul.tk --target cuda:90 --set BLOCK=256
    teenyc build matmul.tk --target cuda:90 --set BLOCK=128

    What is spilled outside of loops costs little; in a loop each iteration writes and reads it. Smaller blocks need
    fewer registers, and more warps (`num_warps`) share them among more threads, until these are so many that each may
    have only a part: 65,536 registers on NVIDIA's GPUs are 64 for each of 1,024 threads.
    """

    code = "W0150"
    depends = True
    kernel: str
    target: str
    bytes: int
    configuration: str = ""

    def message(self) -> str:
        return f"`{self.kernel}` runs out of registers on `{self.target}`"

    def label(self) -> str:
        return f"a thread keeps {self.bytes:,} bytes in memory"

    def notes(self) -> tuple[str, ...]:
        return (f"compiled with {self.configuration}",) if self.configuration else ()

    def help(self) -> str:
        return "make its constants or blocks smaller, or state another `num_warps`"


@record(kw_only=True)
class ConfigurationLeftOut(Lint):
    """A configuration that the source states cannot be launched on a target, and another one can.

    A build for a target takes the first configuration that compiles and for which there is room, and prefers one that
    spills little; a launch times those. One that fits no GPU that the kernel is for can go.

        configs = [config(BLOCK_M = 256, BLOCK_N = 256, num_stages = 5), config(BLOCK_M = 64, BLOCK_N = 64)]
        configs = [config(BLOCK_M = 64, BLOCK_N = 64)]
    """

    code = "W0151"
    depends = True
    kernel: str
    target: str
    reason: str

    def message(self) -> str:
        return f"this configuration of `{self.kernel}` is left out for `{self.target}`"

    def label(self) -> str:
        return self.reason

    def help(self) -> str:
        return "make it smaller if it is meant for this target"
