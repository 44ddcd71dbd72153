"""Tensors that show what a kernel did to memory: poisoned, so that a missing write shows, between canaries."""

from __future__ import annotations

import torch

MARGIN = 64
CANARY = 12345.0


class Guarded:
    """A contiguous tensor full of NaN, or of the least integer, with `MARGIN` canaries before and after it."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
        count = torch.Size(shape).numel()
        self._whole = torch.full((MARGIN + count + MARGIN,), CANARY, dtype=dtype, device=device)
        self.tensor = self._whole[MARGIN : MARGIN + count].view(shape)
        self.tensor.fill_(float("nan") if dtype.is_floating_point else torch.iinfo(dtype).min)

    def between_canaries(self) -> torch.Tensor:
        """The tensor, after seeing that nothing around it was written."""
        canary = torch.tensor(CANARY, dtype=self._whole.dtype)
        margins = torch.cat([self._whole[:MARGIN], self._whole[-MARGIN:]]).cpu()
        assert bool((margins == canary).all()), "a kernel wrote outside its tensor"
        return self.tensor

    def check(self) -> torch.Tensor:
        """The tensor, after seeing that all of it was written and nothing around it."""
        self.between_canaries()
        assert bool(torch.isfinite(self.tensor).all()), "a kernel left elements unwritten"
        return self.tensor
