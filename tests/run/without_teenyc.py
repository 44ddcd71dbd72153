"""Runs `flash_attn2.py` of the working directory where `import teenyc` fails, and prints `right` if its values are."""

import sys

sys.modules["teenyc"] = None  # every import of it raises ImportError
sys.path.insert(0, ".")

import flash_attn2
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
q, k, v = (torch.randn((2, n, 16), device=device) for n in (3, 5, 5))
o, l = torch.empty_like(q), torch.empty((2, 3), device=device)
flash_attn2.FlashAttention2Op(head_dim=16).forward[(3, 2)](q, k, v, o, l, 3, 5, 0.25)
expected = torch.softmax(q @ k.transpose(-1, -2) * 0.25, dim=-1) @ v
print("right" if torch.allclose(o, expected, atol=1e-4, rtol=1e-4) else f"wrong by {(o - expected).abs().max()}")
