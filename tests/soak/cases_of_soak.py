"""What a seed stands for: a source with its arguments, and how close what is written must be.

Three in four are kernels of anything (`kernels`); one in four is a loop of recurrences that takes blocks, from
`tests/tiling/random_loops.py`.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from evaluations import CANARY, MARGIN, Written
from expressions import INPUTS
from random_loops import drawn, random_loops
from values import FLOATS

from kernels import RandomKernel, Stored, random_kernel

LANES = 16
TORCH = {
    **{
        f"{word[0]}{bits}": getattr(torch, f"{word}{bits}")
        for word in ("int", "uint", "float")
        for bits in (16, 32, 64)
    },
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
    "bf16": torch.bfloat16,
}


@dataclass(frozen=True)
class Case:
    """A kernel `name` with what it is launched with. `outputs` are element types and counts.

    `stores` say how close floats must be; without them, so much of the greatest is the `tolerance`.
    """

    name: str
    text: str
    text_in_f64: str | None
    inputs: Mapping[str, torch.Tensor]
    outputs: Mapping[str, tuple[str, int]]
    numbers: Mapping[str, int]
    constants: Mapping[str, int]
    grid: tuple[int, ...]
    stores: tuple[Stored, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    tolerance: float = 0.0
    features: Counter[str] = field(default_factory=Counter)
    bindings: Mapping[str, str] = field(default_factory=dict)

    def in_f64(self, name: str) -> torch.dtype:
        element = self.outputs[name][0]
        return torch.float64 if element in (*FLOATS, "D") else TORCH[element]

    def dtype(self, name: str) -> torch.dtype:
        element = self.outputs[name][0]
        return TORCH[self.bindings.get(element, element)]


def case_of(seed: int, is_interpreted: bool) -> Case:
    return _loops(seed, is_interpreted) if seed % 4 == 3 else _anything(random_kernel(seed))


# ---- kernels of anything ---------------------------------------------------------------------------------------------


def _anything(made: RandomKernel) -> Case:
    inputs = {name: _input(name, made.dtypes.get(element, element), made.seed) for name, element in made.inputs}
    outputs = {name: (element, count * made.programs) for name, element, count in made.outputs}
    outputs |= {name: (element, 16) for name, element in made.shared}
    return Case(
        name="soak",
        text=made.source(),
        text_in_f64=made.source(as_f64=True),
        inputs=inputs,
        outputs=outputs,
        numbers=made.scalars,
        constants=made.constants,
        grid=(made.programs,),
        stores=tuple(_of_programs(made)),
        features=made.features,
        bindings=made.dtypes,
    )


def _of_programs(made: RandomKernel) -> list[Stored]:
    """What each program stores."""
    parts = {name: count for name, _, count in made.outputs}
    return [
        Stored(s.output, s.start + program * parts[s.output], s.count, s.between, s.exactly)
        for program in range(made.programs)
        for s in made.stores
    ]


def _input(name: str, element: str, seed: int) -> torch.Tensor:
    """Extreme and random integers; floats of size 2 at most, or special ones."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    if element == "bool":
        return torch.from_numpy(random.random(INPUTS) < 0.5)
    if element in FLOATS:
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 300.0, -300.0, 60000.0, 2.5, -0.5])
        drawn = random.choice(special, INPUTS) if name.startswith("special") else random.uniform(-2, 2, INPUTS)
        return torch.from_numpy(drawn).to(TORCH[element])
    kind = np.dtype(f"{'int' if element[0] == 'i' else 'uint'}{element[1:]}")
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    wide = random.integers(low, high, INPUTS, dtype=kind, endpoint=True)
    small = random.integers(max(low, -9), 9, INPUTS, dtype=kind, endpoint=True)
    extremes = random.choice(np.array([low, high, low + 1, high - 1, 0, 1], dtype=kind), INPUTS)
    return torch.from_numpy(
        np.choose(random.choice(3, INPUTS, p=(0.3, 0.6, 0.1)), [wide, small, extremes]).astype(kind)
    )


# ---- loops that take blocks ------------------------------------------------------------------------------------------


def _loops(seed: int, is_interpreted: bool) -> Case:
    """A loop that is legal, or one of which a law is broken: as in the tests of tiling."""
    element = "f32" if seed % 16 == 3 else "f64"
    made = random_loops(seed, element, is_legal=seed % 32 < 24)
    generator = torch.Generator().manual_seed(seed)
    farthest = 13 if is_interpreted else 60
    rows, n = (int(torch.randint(1, farthest, (), generator=generator)) for _ in range(2))
    n = n if seed % 64 != 3 else 0
    block = 4 if is_interpreted else 16
    return Case(
        name=made.name,
        text=made.source,
        text_in_f64=made.source.replace("f32", "f64"),
        inputs=drawn(generator, rows, n, LANES, TORCH[element]),
        outputs={"scalars": (element, made.scalars * rows), "lanes": (element, made.lanes * rows * LANES)},
        numbers={"rows": rows, "n": n, "kind": n % 2},
        constants={"N": LANES},
        grid=(rows,),
        sizes={"BLOCK_M": block, "BLOCK_N": block},
        tolerance=1e-10 if element == "f64" else 2e-3,
        features=Counter(["loops that take blocks" if not made.broken else f"loops broken by {made.broken}"]),
    )


# ---- comparing -------------------------------------------------------------------------------------------------------


def differences(case: Case, got: Written, expected: Written, *, exactly: bool = False) -> str:
    """Where two evaluations differ more than they may; empty where they agree. `exactly` if one is in f64."""
    lines = []
    for name in case.outputs:
        a, b = got[name], expected[name]
        if not a.is_floating_point():
            apart = torch.from_numpy(np.flatnonzero(a.numpy() != b.numpy()))
        else:
            a, b = a.double(), b.double()
            limit = _limit(case, name, b, exactly)
            apart = (~((a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit) | (limit < 0))).nonzero().flatten()
        for place in apart.tolist()[:3]:
            lines.append(f"{name}[{place - MARGIN}]: {a[place].item()!r}, not {b[place].item()!r}")
        if len(apart) > 3:
            lines.append(f"{name}: {len(apart)} elements of {len(a) - 2 * MARGIN} in all")
    return "\n".join(lines)


def _limit(case: Case, name: str, expected: torch.Tensor, exactly: bool) -> torch.Tensor:
    limit = torch.zeros(len(expected), dtype=torch.float64)
    if not case.stores:
        finite = expected[MARGIN:-MARGIN][
            expected[MARGIN:-MARGIN].isfinite() & (expected[MARGIN:-MARGIN] != CANARY)
        ].abs()
        limit[MARGIN:-MARGIN] = case.tolerance * max(1.0, float(finite.max()) if finite.numel() else 0.0)
    for store in case.stores:
        if store.output == name:
            start = MARGIN + store.start
            limit[start : start + store.count] = store.exactly if exactly else store.between
    return limit
