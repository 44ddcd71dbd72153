"""The sanitizer finds nothing in the bundled kernels: of odd sizes, of one element and of none, with empty outputs."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teenyc.driver import Compiled, Options, compile_source
from teenyc.evaluate import Buffer
from teenyc.evaluate.launch import pointed
from teenyc.evaluate.numbers import encoded
from teenyc.ir.nodes import Kernel
from teenyc.resources import kernels_directory
from teenyc.runtime.arrays import Tensor
from teenyc.runtime.run import run_checked
from teenyc.types import BF16, F32, DType, Kind

SIZES = {
    "bh": (2,),
    "rows": (0, 1, 3),
    "classes": (1, 77, 300),
    "n_ctx_q": (0, 1, 9),
    "n_ctx_k": (0, 1, 77),
    "m": (1, 5),
    "n": (7,),
    "k": (0, 1, 33),
}
CONSTANTS = {"HEAD_DIM": (5,), "N": (1, 77)}
NUMBERS = {"softmax_scale": 0.25, "scale": 0.25, "eps": 1e-5, "epsilon": 1e-5}


def kernels() -> list[tuple[Path, str]]:
    found = []
    for path in sorted(kernels_directory().glob("*.tk")):
        program = compile_source(path.read_text(encoding="utf-8"), options=Options(tile=False, generate=False)).checked
        assert program is not None
        found += [(path, kernel.name) for kernel in program.kernels]
    return found


@pytest.mark.parametrize(("path", "name"), kernels(), ids=lambda v: v if isinstance(v, str) else v.stem)
@pytest.mark.parametrize("element", [F32, BF16], ids=str)
def test_bundled_kernels_have_no_findings(path: Path, name: str, element: DType) -> None:
    compiled = compile_source(path.read_text(encoding="utf-8"), options=Options(tile=False, generate=False))
    assert compiled.checked is not None
    kernel = next(k for k in compiled.checked.kernels if k.name == name)
    text = str(kernel.attributes)
    symbols = [s for s in SIZES if any(p.name == s for p in kernel.parameters) or f"'{s}'" in text]
    choices = [SIZES[s] for s in symbols] + [CONSTANTS[c.name] for c in kernel.constants]
    for chosen in product(*choices):
        sizes = dict(zip([*symbols, *(c.name for c in kernel.constants)], chosen, strict=True))
        check(compiled, kernel, sizes, element)


def check(compiled: Compiled, kernel: Kernel, sizes: dict[str, int], element: DType) -> None:
    """Runs a kernel twice: what the first run has changed are outputs, which are empty before the second."""
    constants = {c.name: sizes[c.name] for c in kernel.constants}
    given = arguments(kernel, sizes, element)
    first = run_checked(compiled, kernel.name, None, dict(given), constants)
    outputs = [n for n, b in first.bound.arguments.items() if isinstance(b, Buffer) and b.is_changed]
    empty = {n: Tensor(np.zeros_like(given[n].data), given[n].element, is_empty=True) for n in outputs}
    finished = run_checked(compiled, kernel.name, None, {**given, **empty}, constants, sanitize=True)
    assert outputs or 0 in finished.bound.grid
    assert not finished.findings, (sizes, [d.message() for d in finished.findings])


def arguments(kernel: Kernel, sizes: dict[str, int], element: DType) -> dict[str, Any]:
    random = np.random.default_rng(3)
    shapes = dict(kernel.attributes.shapes)
    given: dict[str, Any] = {}
    for parameter in kernel.parameters:
        target = pointed(parameter.value.type)
        if target is None:
            given[parameter.name] = sizes.get(parameter.name, NUMBERS.get(parameter.name, 1))
            continue
        shape = tuple(int(e.substitute(sizes).known or 0) for e in shapes[parameter.name])
        if isinstance(target, DType) and target.kind is not Kind.FLOAT:
            given[parameter.name] = Tensor(
                random.integers(0, sizes["classes"], shape).astype(target.name.replace("i", "int")), target
            )
            continue
        stored = element if str(target) == "D" else F32
        given[parameter.name] = Tensor(encoded(random.standard_normal(shape), stored), stored)
    return given
