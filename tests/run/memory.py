"""Tensors that show what a kernel did to memory: poisoned, so that a missing write shows, between canaries."""

from __future__ import annotations

import torch

MARGIN = 64
CANARY = 12345.0


def surrounded(tensor: torch.Tensor, dtype: torch.dtype, device: str) -> torch.Tensor:
    """The tensor in a dtype, in the midst of NaN, or of the least integer: what is read beside it shows."""
    around = torch.full((MARGIN + tensor.numel() + MARGIN,), poison(dtype), dtype=dtype, device=device)
    inside = around[MARGIN : MARGIN + tensor.numel()].view(tensor.shape)
    return inside.copy_(tensor)


def poison(dtype: torch.dtype) -> float:
    """A number that no test expects: NaN, or the least integer."""
    return float("nan") if dtype.is_floating_point else torch.iinfo(dtype).min


class Guarded:
    """A contiguous tensor full of `poison`, with `MARGIN` canaries before and after it."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
        count = torch.Size(shape).numel()
        self._whole = torch.full((MARGIN + count + MARGIN,), CANARY, dtype=dtype, device=device)
        self.tensor = self._whole[MARGIN : MARGIN + count].view(shape)
        self.tensor.fill_(poison(dtype))

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
