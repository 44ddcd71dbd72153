"""Blocked kernels beside the plain ones: both run on the same arguments, between canaries, and must write the same."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import torch
from memory import CANARY, MARGIN

BLOCK_M = 16
BLOCK_N = 32


def blocked(
    module: ModuleType,
    name: str,
    arguments: Mapping[str, Any],
    outputs: Mapping[str, tuple[int, ...]],
    grid: tuple[int, ...],
    constants: Mapping[str, Any] | None = None,
    tolerance: float = 1e-5,
    dtype: torch.dtype = torch.float32,
) -> dict[str, torch.Tensor]:
    """What the blocked kernel `name` writes, NaN where it writes nothing, after seeing that the plain one does alike.

    `grid` is the plain kernel's; its first axis is the one that is blocked.
    """
    plain, tiled = getattr(module, f"{name}_plain"), getattr(module, f"{name}_tiled")
    known = inspect.signature(plain.fn).parameters
    extra: dict[str, Any] = {n: grid[0] for n in inspect.signature(tiled.fn).parameters if n not in known}
    extra |= {n: size for n, size in (("BLOCK_M", BLOCK_M), ("BLOCK_N", BLOCK_N)) if n in extra}
    device = next(a.device for a in arguments.values() if isinstance(a, torch.Tensor))
    blocks = ((grid[0] + BLOCK_M - 1) // BLOCK_M, *grid[1:])
    written = [
        _run(kernel, launched, arguments, outputs, {**(constants or {}), **more}, device, dtype)
        for kernel, launched, more in ((plain, grid, {}), (tiled, blocks, extra))
    ]
    for n in outputs:
        torch.testing.assert_close(written[1][n], written[0][n], rtol=tolerance, atol=tolerance, equal_nan=True)
    return written[1]


def _run(
    kernel: Any,
    grid: tuple[int, ...],
    arguments: Mapping[str, Any],
    outputs: Mapping[str, tuple[int, ...]],
    constants: Mapping[str, Any],
    device: torch.device,
    dtype: torch.dtype,
) -> dict[str, torch.Tensor]:
    wholes: dict[str, torch.Tensor] = {}
    given = dict(arguments)
    for name, shape in outputs.items():
        count = torch.Size(shape).numel()
        wholes[name] = torch.full((count + 2 * MARGIN,), CANARY, dtype=dtype, device=device)
        given[name] = wholes[name][MARGIN : MARGIN + count].view(shape)
        given[name].fill_(float("nan"))
    kernel[grid](**given, **constants)
    for whole in wholes.values():
        margins = torch.cat([whole[:MARGIN], whole[-MARGIN:]]).cpu()
        assert bool((margins == torch.tensor(CANARY, dtype=dtype)).all()), "a kernel wrote outside its tensor"
    return {name: given[name].cpu() for name in outputs}
