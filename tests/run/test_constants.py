"""Constants of the source, which the module holds as numbers of Triton: the kernel of `golden/named_constants.tk`."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import teenyc

SOURCE = Path(__file__).parents[1] / "golden" / "named_constants.tk"
OFFSET = 100_000


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
@pytest.mark.parametrize("steps", [1, 5, -7])
def test_numbers_under_names(device: str, dtype: torch.dtype, steps: int) -> None:
    x = torch.randn(32).to(dtype)
    out = torch.full((OFFSET + 32,), float("nan"), dtype=dtype, device=device)
    teenyc.load(SOURCE).NamedConstants()[(2,)](x.to(device), out, steps)
    ln_2, total = torch.tensor(2.0).log().double(), 3 * torch.exp(x.double())
    bound = torch.tensor(-0.5 * steps + 0.5).double() - ln_2
    expected = torch.where(x.double() > ln_2, total, total.maximum(bound))
    tolerance = {torch.float16: 2e-3}.get(dtype, 1e-6)
    torch.testing.assert_close(out[:32].cpu().double(), expected, rtol=tolerance, atol=tolerance)
    remainder = abs(steps) % 3 * (1 if steps >= 0 else -1)
    torch.testing.assert_close(out[OFFSET:].cpu().double(), total + remainder * ln_2, rtol=tolerance, atol=tolerance)


LEFT = """
const SHARE: f64 = 0.12;
const FIRST: i32 = 7;

#[kernel]
fn left(out: Pointer<f64>, counts: Pointer<i32>, n: i32) {
    let x = n as f64;
    store(out, (SHARE * x - SHARE) / SHARE);
    store(out + 1, if SHARE < x { SHARE } else { x });
    store(counts, ((SHARE * x) as i32 + FIRST - n) / FIRST);
    store(counts + 1 + arange(0, 2), FIRST - arange(0, 2) * FIRST);
}
"""


def test_numbers_stand_left_of_values(device: str, tmp_path: Path) -> None:
    path = tmp_path / "left.tk"
    path.write_text(LEFT)
    out = torch.zeros(2, dtype=torch.float64, device=device)
    counts = torch.zeros(3, dtype=torch.int32, device=device)
    teenyc.load(path).Left()[(1,)](out, counts, 200)
    assert out.tolist() == pytest.approx([199.0, 0.12], rel=1e-14)
    assert counts.tolist() == [-24, 7, 0]
