"""Kernels in blocks beside the plain ones: both run with the grid of the source, and write alike between canaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from memory import Guarded

BLOCKS = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16}
FEW = 18

Outputs = Mapping[str, tuple[tuple[int, ...], torch.dtype]]
"""Shape and dtype of what a kernel writes, by its parameters."""


def blocked(kernel: Any, grid: tuple[int, ...], *arguments: Any, **named: Any) -> None:
    """Launches what takes blocks, those of `BLOCKS` where none are named."""
    blocks = {name: size for name, size in BLOCKS.items() if name in kernel.tiled.arg_names}
    kernel[grid](*arguments, **{**blocks, **named})


def plain(kernel: Any, grid: tuple[int, ...], *arguments: Any, **named: Any) -> None:
    """Launches the kernel as written, which has no blocks: only the interpreter would pass over them."""
    as_written = getattr(kernel, "plain", kernel)
    known = set(as_written.arg_names) | named.keys() - BLOCKS.keys()
    as_written[grid](*arguments, **{name: value for name, value in named.items() if name in known})


def written(
    launch: Callable[..., None],
    kernel: Any,
    grid: tuple[int, ...],
    arguments: Mapping[str, Any],
    outputs: Outputs,
    **constants: Any,
) -> dict[str, torch.Tensor]:
    """What a launch writes between canaries: NaN, or the least integer, where it writes nothing."""
    device = next(str(a.device) for a in arguments.values() if isinstance(a, torch.Tensor))
    guarded = {name: Guarded(shape, dtype, device) for name, (shape, dtype) in outputs.items()}
    launch(kernel, grid, **arguments, **{name: each.tensor for name, each in guarded.items()}, **constants)
    return {name: each.between_canaries().cpu() for name, each in guarded.items()}


def agreed(
    kernel: Any,
    grid: tuple[int, ...],
    arguments: Mapping[str, Any],
    outputs: Outputs,
    tolerance: float,
    **constants: Any,
) -> dict[str, torch.Tensor]:
    """What the kernel writes in blocks, after seeing that the plain one writes alike.

    The plain one is run where there are few programs: the interpreter takes a millisecond for an iteration.
    """
    got = written(blocked, kernel, grid, arguments, outputs, **constants)
    if math.prod(grid) <= FEW:
        expected = written(plain, kernel, grid, arguments, outputs, **constants)
        for name in outputs:
            close(got[name], expected[name], tolerance)
    return got


def close(got: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    """Whether numbers are alike: integers are equal, floats differ by so much of the greatest number at most."""
    if not got.is_floating_point():
        assert torch.equal(got.long().cpu(), expected.long().cpu())
        return
    finite = expected[expected.isfinite()].abs()
    limit = tolerance * max(1.0, float(finite.max()) if finite.numel() else 0.0)
    torch.testing.assert_close(got.double().cpu(), expected.double().cpu(), rtol=0, atol=limit, equal_nan=True)


def poisoned_memory(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """Fills the memory that launches make between kernels with what no kernel writes; it is listed as it is made."""
    real, found = torch.Tensor.new_empty, list[torch.Tensor]()

    def poisoned(like: torch.Tensor, *arguments: Any, **named: Any) -> torch.Tensor:
        tensor = real(like, *arguments, **named)
        tensor.fill_(float("nan") if tensor.is_floating_point() else torch.iinfo(tensor.dtype).min // 2)
        if "dtype" in named:  # the interpreter makes empty tensors, too
            found.append(tensor)
        return tensor

    monkeypatch.setattr(torch.Tensor, "new_empty", poisoned)
    return found
