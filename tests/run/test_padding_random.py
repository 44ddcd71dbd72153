"""Random kernels over a padded axis: each is computed by NumPy at its true size while it is written, then compared."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import teenyc

M = 4
GAP = 3
SENTINEL = -4321.0


class Maker:
    """A kernel in the making: lines of source, and what each value is at `N = n`."""

    def __init__(self, seed: int, n: int) -> None:
        self.random, self.n = random.Random(seed), n
        self.lines: list[str] = []
        self.values: dict[str, np.ndarray[Any, Any]] = {}
        self.inputs = np.random.default_rng(seed).uniform(0.5, 2.0, (M + 1, n)) * (1.0 if seed % 2 else -1.0)

    def define(self, text: str, value: Any) -> str:
        name = f"v{len(self.values)}"
        self.lines.append(f"let {name} = {text};")
        self.values[name] = np.asarray(value, dtype=np.float64)
        return name

    def pick(self, *shapes: tuple[int, ...]) -> str | None:
        names = [k for k, v in self.values.items() if not shapes or v.shape in shapes]
        return self.random.choice(names) if names else None

    def like(self, name: str) -> str:
        """Another value of that shape, or a scalar."""
        return self.pick(self.values[name].shape, ()) or name

    # ---- steps ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.define("load(x + arange(0, N))", self.inputs[0])
        rows = "arange(0, M)[(.., None)] * N + arange(0, N)[(None, ..)]"
        self.define(f"load(x + N + {rows})", self.inputs[1:])
        self.define("arange(0, N) as f64 * 0.25", np.arange(self.n) * 0.25)

    def unary(self) -> None:
        a = self.pick()
        x = self.values[a or ""]
        forms = {
            f"-{a}": -x,
            f"abs({a}) + 1.0": abs(x) + 1,
            f"maximum({a}, 0.0)": np.maximum(x, 0),
            f"exp(minimum({a}, 1.0))": np.exp(np.minimum(x, 1)),
            f"1.0 / (abs({a}) + 1.0)": 1 / (abs(x) + 1),
            f"{a} * 0.5": x * 0.5,
            f"{a} - 3.0": x - 3,
        }
        text = self.random.choice(list(forms))
        self.define(text, forms[text])

    def binary(self) -> None:
        a = self.pick() or ""
        b, c = self.like(a), self.like(a)
        x, y, z = self.values[a], self.values[b], self.values[c]
        forms = {
            f"{a} + {b}": x + y,
            f"{a} - {b}": x - y,
            f"tanh({a}) * {b}": np.tanh(x) * y,
            f"where_({a} < {b}, {c}, {a})": np.where(x < y, z, x),
            f"minimum({a}, {b})": np.minimum(x, y),
        }
        text = self.random.choice(list(forms))
        self.define(text, np.broadcast_to(forms[text], x.shape))

    def reduce(self) -> None:
        a = self.pick((self.n,), (M, self.n), (self.n, M)) or ""
        x = self.values[a]
        axis = self.random.choice([None, *range(x.ndim)])
        name, fn = self.random.choice([("sum", np.sum), ("max", np.max), ("min", np.min)])
        self.define(f"{name}({a}" + (f", axis = {axis})" if axis is not None else ")"), fn(x, axis=axis))

    def place(self) -> None:
        a = self.pick((self.n,), (M, self.n)) or ""
        x = self.values[a]
        name, fn = self.random.choice([("argmax", np.argmax), ("argmin", np.argmin)])
        self.define(f"{name}({a}, axis = {x.ndim - 1}) as f64", fn(x, axis=-1))

    def scan(self) -> None:
        a = self.pick((self.n,), (M, self.n), (self.n, M)) or ""
        x = self.values[a]
        axis = self.random.randrange(x.ndim)
        if self.random.random() < 0.5:
            self.define(f"cumsum({a}, axis = {axis})", np.cumsum(x, axis))
        else:
            self.define(f"cumsum({a}, axis = {axis}, reverse = true)", np.flip(np.cumsum(np.flip(x, axis), axis), axis))

    def outer(self) -> None:
        a, b = self.pick((self.n,)) or "", self.pick((M,)) or ""
        x, y = self.values[a], self.values[b]
        if self.random.random() < 0.5:
            self.define(f"{b}[(.., None)] - {a}[(None, ..)]", y[:, None] - x)
        else:
            self.define(f"tanh({a}[(.., None)]) * {b}[(None, ..)]", np.tanh(x)[:, None] * y)

    def turn(self) -> None:
        a = self.pick((M, self.n), (self.n, M)) or ""
        self.define(f"trans({a})", self.values[a].T)

    def sort(self) -> None:
        a = self.pick((self.n,), (M, self.n)) or ""
        self.define(f"sort({a})", np.sort(self.values[a], -1))

    def loop(self) -> None:
        a = self.pick((self.n,), (M, self.n), ()) or ""
        factor = self.random.choice(["0.5", "1.0"])
        x, total = self.values[a], self.values[a] * 0
        for _ in range(3):
            total = total * float(factor) + x
        name = f"total{len(self.values)}"
        shape = {1: "&[N]", 2: "&[M, N]"}.get(x.ndim)
        self.lines.append(f"let mut {name} = {f'zeros::<f64>({shape})' if shape else '0.0'};")
        self.lines.append(f"for _ in 0..times {{ {name} = {name} * {factor} + {a}; }}")
        self.define(name, total)

    def branch(self) -> None:
        a = self.pick() or ""
        b = self.like(a)
        self.define(f"if times > 5 {{ {a} }} else {{ {a} + {b} }}", self.values[a] + self.values[b])

    # ---- the whole --------------------------------------------------------------------------------------------------

    def source(self) -> str:
        self.begin()
        steps = [
            self.unary,
            self.binary,
            self.reduce,
            self.place,
            self.scan,
            self.turn,
            self.sort,
            self.loop,
            self.branch,
        ]
        for step in self.random.choices(steps, k=9):
            step()
            if self.random.random() < 0.3 and self.pick((M,)):
                self.outer()
        lines = [*self.lines, *self.stores()]
        body = "\n".join(f"    {line}" for line in lines)
        head = "fn k<const M: i32, const N: i32>(x: Pointer<f64>, out: Pointer<f64>, times: i32)"
        return f"#[kernel(pad(N))]\n{head} {{\n{body}\n}}\n"

    def stores(self) -> list[str]:
        places = {
            (): "0",
            (self.n,): "arange(0, N)",
            (M,): "arange(0, M)",
            (M, self.n): "arange(0, M)[(.., None)] * N + arange(0, N)[(None, ..)]",
            (self.n, M): "arange(0, N)[(.., None)] * M + arange(0, M)[(None, ..)]",
        }
        lines, at = [], GAP
        for name, value in self.values.items():
            lines.append(
                f"store(out + {at} + {places[value.shape]}, {name});" if value.shape else f"store(out + {at}, {name});"
            )
            at += value.size + GAP
        return lines

    def expected(self) -> np.ndarray[Any, Any]:
        gap = np.full(GAP, SENTINEL)
        return np.concatenate([gap, *(np.concatenate([v.ravel(), gap]) for v in self.values.values())])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what padding lanes hold may be too great for the interpreter
@pytest.mark.parametrize("seed", range(16))
def test_random_kernels(device: str, tmp_path: Path, seed: int) -> None:
    made = Maker(seed, random.Random(seed).choice([1, 3, 5, 6, 7, 12, 16]))
    path = tmp_path / "k.tk"
    path.write_text(made.source())
    whole = torch.full((made.inputs.size + 64,), float("nan"), dtype=torch.float64, device=device)
    x = whole[32 : 32 + made.inputs.size]
    x.copy_(torch.from_numpy(made.inputs.ravel()))
    expected = torch.from_numpy(made.expected())
    out = torch.full_like(expected, SENTINEL, device=device)
    teenyc.load(path).K(M, made.n)[(1,)](x, out, 3)
    torch.testing.assert_close(out.cpu(), expected, rtol=1e-6, atol=1e-6, msg=lambda m: f"{m}\n{path.read_text()}")
