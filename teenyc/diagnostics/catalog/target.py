"""E05xx: ahead-of-time compilation for a GPU: what a target needs to know, and what it cannot do."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record


@record(kw_only=True)
class UnknownTarget(Diagnostic):
    """Kernels are compiled for a back end and an architecture: `cuda:` and the compute capability, `hip:` and the
    name of the architecture.

        teenyc build softmax.tk --target cuda:9.0
        teenyc build softmax.tk --target cuda:90 --target hip:gfx942
    """

    code = "E0501"
    target: str
    known: tuple[str, ...]
    similar: str | None = None

    def message(self) -> str:
        return f"unknown target `{self.target}`"

    def notes(self) -> tuple[str, ...]:
        return (f"known are {', '.join(f'`{name}`' for name in self.known)}",)

    def help(self) -> str | None:
        return f"there is a target with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class ConstantNotSet(Diagnostic):
    """A kernel is compiled for a target with fixed values of its constants, and one of them has no value.

    When a kernel is launched from Python its constants come with the launch; ahead of time they come with the build.

        teenyc build softmax.tk --target cuda:90
        teenyc build softmax.tk --target cuda:90 --set BLOCK=128
    """

    code = "E0502"
    kernel: str
    constant: str
    type: str

    def message(self) -> str:
        return f"the constant `{self.constant}` of `{self.kernel}` has no value"

    def label(self) -> str:
        return "a target needs its value"

    def help(self) -> str:
        value = "true" if self.type == "bool" else "VALUE"
        return f"give it one with `--set {self.constant}={value}`"


@record(kw_only=True)
class DtypeNotSet(Diagnostic):
    """A kernel is compiled for a target with fixed element types, and one of its dtype parameters has none.

    When a kernel is launched from Python its dtypes come from the tensors; ahead of time they come with the build.

        teenyc build softmax.tk --target cuda:90
        teenyc build softmax.tk --target cuda:90 --dtype D=bf16
    """

    code = "E0503"
    kernel: str
    variable: str

    def message(self) -> str:
        return f"the dtype parameter `{self.variable}` of `{self.kernel}` has no type"

    def label(self) -> str:
        return f"a target needs the type of `{self.variable}`"

    def help(self) -> str:
        return f"give it one with `--dtype {self.variable}=f32`"


@record(kw_only=True)
class LacksRoom(Diagnostic):
    """A block of threads of this kernel, compiled for a target, needs more than the target gives to one block.

    Shared memory holds what reductions, products and pipelined loads exchange between threads; it grows with the
    extents of tensors, the size of their elements and `num_stages`. Threads are `num_warps` times 32, or 64 on AMD's
    data-centre GPUs.

        teenyc build matmul.tk --target cuda:90 --set BLOCK=512
        teenyc build matmul.tk --target cuda:90 --set BLOCK=128

    Of configurations that the source states, a build takes one for which there is room; where there is room for none
    of them, each is reported.

        configs = [config(BLOCK_M = 256, BLOCK_N = 256, num_stages = 5)]
        configs = [config(BLOCK_M = 256, BLOCK_N = 256, num_stages = 5), config(BLOCK_M = 64, BLOCK_N = 64)]
    """

    code = "E0504"
    kernel: str
    target: str
    what: str
    unit: str
    needed: int
    limit: int
    configuration: str = ""

    def message(self) -> str:
        return f"`{self.kernel}` needs more {self.what} than `{self.target}` has"

    def label(self) -> str:
        return f"needs {self.needed:,} {self.unit}"

    def notes(self) -> tuple[str, ...]:
        room = f"`{self.target}` has {self.limit:,} {self.unit} for a block"
        return (room, *((f"compiled with {self.configuration}",) if self.configuration else ()))

    def help(self) -> str:
        what = "blocks" if "BLOCK_" in self.configuration else "constants"
        return {
            "shared memory": f"make its {what} smaller, or state a smaller `num_stages`",
            "threads": "state a smaller `num_warps`",
            "registers": f"state a smaller `num_warps`, or make its {what} smaller",
        }.get(self.what, f"make its {what} smaller")


@record(kw_only=True)
class TargetFailed(Diagnostic):
    """Triton, or the assembler behind it, did not compile a kernel for a target; the note has what it said.

    The kernel may need something that the target lacks, such as an element type or an instruction.

        teenyc build matmul.tk --target cuda:75 --dtype D=f8e4m3
        teenyc build matmul.tk --target cuda:90 --dtype D=f8e4m3
    """

    code = "E0505"
    kernel: str
    target: str
    reason: str
    configuration: str = ""

    def message(self) -> str:
        return f"`{self.kernel}` does not compile for `{self.target}`"

    def notes(self) -> tuple[str, ...]:
        chosen = (f"compiled with {self.configuration}",) if self.configuration else ()
        return (f"Triton says: {self.reason}", *chosen)


@record(kw_only=True)
class TritonMissing(Diagnostic):
    """Generating Triton source needs no Triton; compiling it for a target does.

    pip install triton
    pip install 'teenyc[torch]'     # torch and triton
    """

    code = "E0506"
    reason: str

    def message(self) -> str:
        return "compiling for a target needs Triton, and importing it failed"

    def notes(self) -> tuple[str, ...]:
        return (self.reason,)

    def help(self) -> str:
        return "install `triton` (3.6 to 3.9)"


@record(kw_only=True)
class TritonInterprets(Diagnostic):
    """Triton was imported under `TRITON_INTERPRET=1`: it runs kernels on the CPU in this process and compiles none.

    TRITON_INTERPRET=1 python build_all.py      # compiles for a target
    python build_all.py
    """

    code = "E0507"

    def message(self) -> str:
        return "this process interprets kernels with Triton, so that it compiles none"

    def help(self) -> str:
        return "compile in a process without `TRITON_INTERPRET`"


@record(kw_only=True)
class LacksFormat(Diagnostic):
    """A kernel that is compiled for a target uses an 8-bit float that the target does not have.

    NVIDIA GPUs have `f8e5m2`, and `f8e4m3` since compute capability 8.9; AMD GPUs have both, and those without a
    negative zero, `f8e4m3fnuz` and `f8e5m2fnuz`.

        teenyc build scale.tk --target cuda:80 --dtype D=f8e4m3
        teenyc build scale.tk --target cuda:90 --dtype D=f8e4m3
    """

    code = "E0520"
    kernel: str
    target: str
    format: str
    known: tuple[str, ...]

    def message(self) -> str:
        return f"`{self.target}` has no `{self.format}`"

    def label(self) -> str:
        return f"`{self.kernel}` needs it here"

    def help(self) -> str:
        return f"it has {', '.join(f'`{name}`' for name in self.known)}"
