"""How the kernels of `kernels/` are called: random inputs of a size, what they must write, and which axes take blocks.

References are plain torch in float64 on what the inputs hold after rounding to the dtype of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

SIZES = ((1, 100), (3, 33), (16, 64), (17, 16), (64, 17), (100, 15), (15, 1), (5, 0))
"""Rows of the grid and iterations of the loop: 1, 15, 16, 17, 64 and 100 of both, and a loop that does not run."""

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
FLOATS = (F32, F64, F16, BF16)
TOLERANCE = {F32: 4e-6, F64: 1e-13, F16: 2e-3, BF16: 1.6e-2}
"""Of the greatest number that is expected: what rounding once at the store, and computed operands before, may cost."""


@dataclass(frozen=True)
class Draw:
    """Random inputs: float64 numbers that the dtype of the test holds exactly."""

    dtype: torch.dtype
    generator: torch.Generator

    def __call__(self, *shape: int, scale: float = 1.0, dtype: torch.dtype | None = None) -> torch.Tensor:
        numbers = torch.randn(shape, generator=self.generator, dtype=F64) * scale
        return numbers.to(dtype or self.dtype).double()

    def integers(self, *shape: int, low: int = 0, high: int) -> torch.Tensor:
        """Integers from `low` to `high - 1`."""
        return torch.randint(low, high, shape, generator=self.generator, dtype=torch.int32)


@dataclass(frozen=True)
class Call:
    """A launch: its grid, its arguments by name, and what it writes.

    Floats are passed in the dtype of the test, those called in `wide` as it computes. NaN is expected where nothing is
    written.
    """

    grid: tuple[int, ...]
    arguments: Mapping[str, Any]
    expected: Mapping[str, torch.Tensor]
    constants: Mapping[str, int] = field(default_factory=dict)
    wide: tuple[str, ...] = ()


@dataclass(frozen=True)
class Blocks:
    """A kernel that takes blocks: along which axes, by the names in its source, and with how many products of matrices.

    `loss` is how many times the tolerance of a dtype its numbers may differ.
    """

    name: str
    axes: tuple[str, ...]
    products: int
    call: Callable[[Draw, int, int], Call]
    dtypes: tuple[torch.dtype, ...]
    sizes: tuple[tuple[int, int], ...]
    loss: float


KERNELS: dict[str, Blocks] = {}


def blocks(
    axes: str,
    products: int,
    dtypes: tuple[torch.dtype, ...] = (F32,),
    sizes: tuple[tuple[int, int], ...] = SIZES,
    loss: float = 1.0,
) -> Callable[[Callable[[Draw, int, int], Call]], Callable[[Draw, int, int], Call]]:
    """Enters how the kernel of a function's name is called, with a number of rows and one of iterations."""

    def enter(call: Callable[[Draw, int, int], Call]) -> Callable[[Draw, int, int], Call]:
        name = call.__name__
        KERNELS[name] = Blocks(name, tuple(axes.split()), products, call, dtypes, sizes, loss)
        return call

    return enter
