"""One seed of the soak: its kernel is evaluated in every way; what differs comes out, with the shortest such source."""

from __future__ import annotations

import os
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cases_of_soak import Case, case_of, differences
from evaluations import RefusedError, Written, after_passes, as_checked, compiled, module_of, surrounded, undefined
from shorten import shortened

from teenyc.driver import Compiled
from teenyc.evaluate import FaultError

LOST_TO_CUDA = 70  # the exit status
SHORTENING = 60.0  # seconds
FINE = ("equal", "equal, also in blocks")


@dataclass(frozen=True)
class Tried:
    """What became of a seed."""

    kind: str
    detail: str = ""
    features: Counter[str] = field(default_factory=Counter)

    @property
    def is_failure(self) -> bool:
        return self.kind not in FINE


def try_seed(seed: int, *, is_interpreted: bool, is_shortened: bool) -> Tried:
    """Compares all evaluations of the kernel of a seed."""
    warnings.simplefilter("ignore")
    case = case_of(seed, is_interpreted)
    kind, detail = tried(case, is_interpreted, is_verified=seed % 4 == 0)
    found = Tried(kind, detail, case.features)
    if not found.is_failure:
        return found
    if is_shortened:
        case = _shortened(case, kind, is_interpreted)
        detail = tried(case, is_interpreted, is_verified=False)[1]
    values = f"constants {dict(case.constants)}, {dict(case.numbers)}, grid {case.grid}, types {dict(case.bindings)}"
    return replace(found, detail=f"{detail}\n{values}\n{case.text}")


def tried(case: Case, is_interpreted: bool, is_verified: bool) -> tuple[str, str]:
    """The kind of what became of a case, and what there is to say of it."""
    try:
        return _compared(case, is_interpreted, is_verified)
    except RefusedError as refused:
        return "refused", str(refused)
    except FaultError as fault:
        return "a fault of the runner", repr(fault.what)
    except Exception as error:
        if not is_interpreted and "CUDA error" in str(error):
            traceback.print_exc()
            os._exit(LOST_TO_CUDA)  # whatever this process does from here on fails
        frames = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__} in {Path(frames[-1].filename).name}", traceback.format_exc()[-1500:]


def _compared(case: Case, is_interpreted: bool, is_verified: bool) -> tuple[str, str]:
    of = compiled(case.text, verify_ir=is_verified)
    checked = _written(case, _by(as_checked, of, case))
    if is_verified:
        found: list[str] = []
        _written(case, lambda given: found.extend(undefined(of, case.name, case.grid, given, case.constants)))
        if found:
            return "undefined", "\n".join(found)
    if case.text_in_f64 is not None:
        other = compiled(case.text_in_f64, generate=False)
        exact = _written(case, _by(as_checked, other, case), as_f64=True)
        if differs := differences(case, checked, exact, exactly=True):
            return "the runner is not as in f64", differs
    if differs := differences(case, _written(case, _by(after_passes, of, case)), checked):
        return "the passes change the meaning", differs
    assert of.source is not None
    kernel = getattr(module_of(of.source), case.name)
    device = "cpu" if is_interpreted else "cuda"
    plain = getattr(kernel, "plain", kernel)
    if differs := differences(case, _written(case, _by_triton(plain, case), device=device), checked):
        return "the module is not as the runner", differs
    if not hasattr(kernel, "tiled"):
        return "equal", ""
    sizes = {name: size for name, size in case.sizes.items() if name in kernel.tiled.arg_names}
    if differs := differences(case, _written(case, _by_triton(kernel, case, **sizes), device=device), checked):
        return "the blocks are not as the runner", differs
    return "equal, also in blocks", ""


Launch = Callable[[Mapping[str, Any]], None]


def _by(run: Callable[..., None], of: Compiled, case: Case) -> Launch:
    return lambda given: run(of, case.name, case.grid, given, case.constants)


def _by_triton(kernel: Any, case: Case, **sizes: int) -> Launch:
    return lambda given: kernel[case.grid](**given, **case.constants, **sizes)


def _written(case: Case, launch: Launch, *, as_f64: bool = False, device: str = "cpu") -> Written:
    """What a launch writes, with the canaries around it."""
    outputs = {
        name: surrounded(count, case.in_f64(name) if as_f64 else case.dtype(name), device)
        for name, (_, count) in case.outputs.items()
    }
    inputs = {n: x.double() if as_f64 and x.is_floating_point() else x.clone() for n, x in case.inputs.items()}
    given = {name: x.to(device) for name, x in inputs.items()}
    launch({**given, **{name: inside for name, (_, inside) in outputs.items()}, **case.numbers})
    return {name: whole.cpu() for name, (whole, _) in outputs.items()}


def _shortened(case: Case, kind: str, is_interpreted: bool) -> Case:
    """The case with the shortest source that goes wrong in this way, and is defined."""

    def of(text: bytes) -> Case:
        marked = text.decode()
        return replace(case, text=marked, text_in_f64=None if kind != "the runner is not as in f64" else marked)

    def shows(text: bytes) -> bool:
        found, detail = tried(of(text), is_interpreted, is_verified=True)
        return found == kind and (kind != "refused" or detail[:5] == first[:5])

    first = tried(case, is_interpreted, is_verified=False)[1]
    if kind == "the runner is not as in f64":
        return case
    return of(shortened(case.text.encode(), shows, seconds=SHORTENING))
