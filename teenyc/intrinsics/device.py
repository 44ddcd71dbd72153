"""The GPU itself: which one it is, its clock, its warps, and kernels that begin before the one in front has ended.

What is known when Triton compiles, `is_cuda()` among it, decides an `if` there: the other branch is not compiled.
"""

from __future__ import annotations

from teenyc.intrinsics.rules import extent
from teenyc.intrinsics.spec import Effect, Intrinsic, Param, Role, Rule, Site
from teenyc.types import BOOL, I32, I64, DType, TensorType, scalar

_CONTROL = frozenset({Effect.CONTROL})


# ---- rules ----------------------------------------------------------------------------------------------------------


def _gives(element: DType) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...]:
        return (scalar(element),)

    return rule


def _nothing(site: Site) -> tuple[TensorType, ...]:
    return ()


def _capability(site: Site) -> tuple[TensorType, ...] | None:
    known = [extent(given).known for given in site.given.values()]
    if all(number is not None for number in known):
        return (scalar(BOOL),)
    from teenyc.diagnostics.catalog.types import NotConstant

    site.report(NotConstant(span=site.span, what=f"the compute capability of `{site.intrinsic.name}`"))
    return None


# ---- records --------------------------------------------------------------------------------------------------------


_SINCE_3_8 = '(hasattr(tl.target_info, "is_hip_gfx1250") and tl.target_info.is_hip_gfx1250())'


def _target(name: str, what: str, form: str | None = None) -> Intrinsic:
    return Intrinsic(
        name,
        (),
        _gives(BOOL),
        form or f"tl.target_info.{name}",
        f"Whether the GPU for which Triton compiles, with `--target` that one, is {what}; false under the interpreter.",
        "device",
        is_known=True,
    )


def _cuda(name: str, rule: Rule, summary: str, *, effects: bool = False) -> Intrinsic:
    return Intrinsic(
        name,
        (),
        rule,
        f"_{name}",
        summary,
        "device",
        helper=f"_{name}",
        effects=_CONTROL if effects else frozenset(),
    )


INTRINSICS = (
    _target("is_cuda", "one of NVIDIA"),
    _target("is_hip", "one of AMD"),
    _target("is_hip_cdna3", "an AMD gfx942"),
    _target("is_hip_cdna4", "an AMD gfx950"),
    _target("is_hip_gfx1250", "an AMD gfx1250", _SINCE_3_8),
    Intrinsic(
        "cuda_capability_geq",
        (Param("major", Role.EXTENT), Param("minor", Role.EXTENT, default=0)),
        _capability,
        "tl.target_info.cuda_capability_geq({major}, {minor})",
        "Whether the GPU, with `--target` that one, is one of NVIDIA with at least this compute capability; false "
        "under the interpreter.",
        "device",
        is_known=True,
    ),
    _cuda("num_warps", _gives(I32), "How many warps run the program; 1 under the interpreter."),
    _cuda("num_threads", _gives(I32), "How many threads of an NVIDIA GPU run the program; 1 under the interpreter."),
    _cuda("smid", _gives(I32), "The multiprocessor of an NVIDIA GPU on which the program runs.", effects=True),
    _cuda("globaltimer", _gives(I64), "The GPU's clock in nanoseconds; 0 under the interpreter.", effects=True),
    _cuda("gdc_wait", _nothing, "Waits until the kernel in front has ended and its writes are seen.", effects=True),
    _cuda("gdc_launch_dependents", _nothing, "Lets the next kernel begin while this one runs.", effects=True),
)
