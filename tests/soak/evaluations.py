"""A kernel evaluated in each way that there is: text and arguments go in, what was written comes out.

By the CPU runner as checked and after all passes, and by the generated module as written and in blocks, under Triton's
interpreter or on a GPU.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from teenyc import Options
from teenyc.driver import Compiled, compile_source
from teenyc.evaluate import CHECKED, LOWERED, launch
from teenyc.evaluate.sanitize import Sanitizer
from teenyc.ir.nodes import Program
from teenyc.runtime.arguments import bind

MARGIN = 64
CANARY = 77  # exact in every type but bool, which it makes true
SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
Written = dict[str, torch.Tensor]
Evaluation = Callable[[Mapping[str, Any]], None]
HARMLESS = ("W0701", "W0702", "W0703")
"""What the sanitizer may find: integers that wrap, numbers that are none, elements that nothing wrote."""


class RefusedError(Exception):
    """A source that the compiler does not take; the text is the first report."""


def compiled(text: str, *, verify_ir: bool = False, generate: bool = True) -> Compiled:
    found = compile_source(text, name="soak.tk", options=Options(verify_ir=verify_ir, generate=generate))
    if found.checked is None:
        first = found.diagnostics[0]
        span = first.span
        place = text[span.start : span.end][:200] if span is not None else ""
        raise RefusedError(f"{first.code} {first.message()}: {place}")
    return found


# ---- the runner -----------------------------------------------------------------------------------------------------


def as_checked(of: Compiled, name: str, grid: tuple[int, ...], given: Mapping[str, Any], constants: Any) -> None:
    assert of.checked is not None
    _run(of.checked, name, grid, given, constants, CHECKED)


def after_passes(of: Compiled, name: str, grid: tuple[int, ...], given: Mapping[str, Any], constants: Any) -> None:
    assert of.program is not None
    _run(of.program, name, grid, given, constants, LOWERED)


def _run(
    program: Program, name: str, grid: tuple[int, ...], given: Mapping[str, Any], constants: Any, meaning: Any
) -> None:
    kernel = next(k for k in program.kernels if k.name == name)
    bound = bind(kernel, grid, given, constants)
    launch(program, name, bound.grid, bound.arguments, bound.constants, elements=bound.elements, meaning=meaning)


def undefined(of: Compiled, name: str, grid: tuple[int, ...], given: Mapping[str, Any], constants: Any) -> list[str]:
    """What the sanitizer finds that a kernel should not do."""
    assert of.checked is not None
    kernel = next(k for k in of.checked.kernels if k.name == name)
    bound, sanitizer = bind(kernel, grid, given, constants), Sanitizer()
    launch(of.checked, name, bound.grid, bound.arguments, bound.constants, elements=bound.elements, watcher=sanitizer)
    from teenyc.runtime.findings import diagnostic_of

    found = [diagnostic_of(finding, kernel) for finding in sanitizer.findings.values()]
    return [f"{d.code} {d.message()}" for d in found if d.code not in HARMLESS]


# ---- Triton ---------------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="soak"))


_numbers = itertools.count()


def module_of(text: str) -> ModuleType:
    """The generated module, imported: Triton reads the source of kernels from its file."""
    path = _folder() / f"kernels_{next(_numbers)}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


# ---- memory ---------------------------------------------------------------------------------------------------------


def surrounded(count: int, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """An output full of canaries with others around it: the whole, and what a kernel is given."""
    plain = SIGNED.get(dtype, dtype)  # torch makes few tensors without sign
    whole = torch.full((MARGIN + count + MARGIN,), CANARY, dtype=plain).view(dtype).to(device)
    return whole, whole[MARGIN : MARGIN + count]
