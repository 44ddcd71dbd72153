"""The bundled kernels: every access is proven, which random sizes, empty ones among them, do not refute."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from launches import Call, checked, faults

from teenyc.cli.safety import explanation_text
from teenyc.driver import Compiled
from teenyc.ir.nodes import Kernel
from teenyc.resources import kernels_directory
from teenyc.safety.verdicts import PROVEN
from teenyc.types import I64, Extent, Pointer, TensorType

SOURCES = sorted(kernels_directory().glob("*.tk"))
HERE = Path(__file__).parent
LAUNCHES = 6


def _compiled(path: Path) -> Compiled:
    return checked(path.read_text(encoding="utf-8"), f"kernels/{path.name}")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_verdicts_read_as_blessed(path: Path, expect_file: Callable[[Path, str], None]) -> None:
    expect_file(HERE / "bundled" / f"{path.stem}.txt", explanation_text(_compiled(path)))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_every_access_is_proven(path: Path) -> None:
    for safety in _compiled(path).safety():
        assert safety.accesses
        assert safety.status == PROVEN, safety.kernel
        assert not any(verdict.assumed for verdict in safety.verdicts)


def test_every_file_belongs_to_a_kernel() -> None:
    assert {p.stem for p in (HERE / "bundled").iterdir()} == {p.stem for p in SOURCES}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_no_launch_refutes_it(path: Path) -> None:
    compiled = _compiled(path)
    assert compiled.checked is not None
    for kernel in compiled.checked.kernels:
        numbers = random.Random(kernel.name)
        for _ in range(LAUNCHES):
            call = _call(kernel, numbers)
            assert not faults(path, call), (kernel.name, call.numbers)


def _call(kernel: Kernel, numbers: random.Random) -> Call:
    """A launch with sizes from 0 on that a checked launcher takes."""
    shapes = dict(kernel.attributes.shapes)
    names = {name for shape in shapes.values() for extent in shape for name in extent.names}
    constants = {c.name for c in kernel.constants}
    sizes = {
        name: numbers.choice([1, 2, 3, 5, 8]) if name in constants else numbers.randint(0, 7) for name in sorted(names)
    }
    others = {p.name: 1 for p in kernel.parameters if p.name not in sizes and p.name not in shapes}
    assert kernel.attributes.grid is not None
    grid = tuple(_size(extent, sizes) for extent in kernel.attributes.grid)
    tensors = {}
    for parameter in kernel.parameters:
        type = parameter.value.type
        if isinstance(type, TensorType) and isinstance(type.element, Pointer):
            extents = tuple(_size(extent, sizes) for extent in shapes[parameter.name])
            made = np.array([numbers.randint(-2, 9) for _ in range(int(np.prod(extents)))]).reshape(extents)
            tensors[parameter.name] = made.astype(np.int64 if type.element.to == I64 else np.float32)
    return Call(kernel, grid, {**sizes, **others}, tensors)


def _size(extent: Extent, sizes: dict[str, int]) -> int:
    known = extent.substitute(sizes).known
    assert known is not None
    return known
