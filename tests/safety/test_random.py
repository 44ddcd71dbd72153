"""Random kernels, right and with mutations: what is proven, the sanitizer must not refute; what is right is proven.

`--safety-kernels 2000` tries more of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from launches import Call, call_of, checked, faults
from random_expressions import kernel as expression_kernel
from random_kernels import Pieces, mutated, pieces

from teenyc.safety.verdicts import GUARDED, PROVEN, KernelSafety, Verdict

LAUNCHES = 4


def _calls(whole: Pieces, compiled_kernel: object, numbers: random.Random) -> list[Call]:
    """Launches with small random sizes that a checked launcher takes."""
    found = []
    for _ in range(LAUNCHES):
        sizes = {size: numbers.choice([0, 1, 1, 2, 3, 4, 5]) for size in whole.sizes}
        count = 1
        for size in whole.sizes:
            count *= sizes[size]
        words = {name: str(value) for name, value in {**sizes, "B": numbers.choice([2, 4])}.items()}
        call = call_of(compiled_kernel, {**words, "y": str(count), "grid": "1"})  # type: ignore[arg-type]
        grid = call.stated_grid()
        if 0 not in grid and max(grid) <= 64:
            found.append(call.with_grid(grid))
    return [call for call in found if call.is_legal()]


def _holds(verdict: Verdict | None, call: Call) -> bool:
    if verdict is None:
        return False
    return verdict.status == PROVEN or (verdict.status == GUARDED and call.allows(verdict.guards))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_right_is_proven(seed: int) -> None:
    whole = pieces(random.Random(seed))
    (safety,) = checked(whole.text(), "random.tk").safety()
    (access,) = safety.accesses
    assert access.bounds.status == PROVEN, (whole.text(), access.bounds)
    assert access.race is not None
    assert access.race.status == PROVEN, (whole.text(), access.race)


def test_what_is_proven_is_right(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    refuted = 0
    for seed in range(request.config.getoption("--safety-kernels")):
        refuted += _try(seed, tmp_path / "k.tk")
    assert refuted > 0, "no mutation was a fault"


def _try(seed: int, path: Path) -> int:
    """One mutated kernel; how many of its launches go wrong."""
    numbers = random.Random(1000 + seed)
    whole = pieces(numbers)
    for _ in range(numbers.randint(1, 2)):
        whole = mutated(whole, numbers)
    text = whole.text()
    path.write_text(text, encoding="utf-8")
    compiled = checked(text, path.name)
    assert compiled.checked is not None
    (safety,) = compiled.safety()
    calls = _calls(whole, compiled.checked.kernels[0], numbers)
    return sum(_refutes(call, safety, path, text) for call in calls)


def _refutes(call: Call, safety: KernelSafety, path: Path, text: str) -> bool:
    """Whether a launch goes wrong; it must not where that is proven, or where guards hold."""
    (access,) = safety.accesses
    found = {code for code, _ in faults(path, call)}
    assert "E0711" not in found or not _holds(access.bounds, call), (text, call.numbers, call.grid, access.bounds)
    assert "E0715" not in found or not _holds(access.race, call), (text, call.numbers, call.grid, access.race)
    return bool(found & {"E0711", "E0715"})


def test_no_expression_is_proven_wrongly(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for seed in range(request.config.getoption("--safety-kernels") // 3):
        _try_expression(seed, tmp_path / "k.tk")


def _try_expression(seed: int, path: Path) -> None:
    numbers = random.Random(seed)
    text = expression_kernel(numbers)
    path.write_text(text, encoding="utf-8")
    compiled = checked(text, path.name)
    assert compiled.checked is not None
    (safety,) = compiled.safety()
    kernel = compiled.checked.kernels[0]
    for _ in range(LAUNCHES):
        sizes = {"n": numbers.choice([-2, 0, 1, 2, 3, 4, 5]), "m": numbers.choice([-1, 0, 1, 2, 3, 4])}
        words = {name: str(value) for name, value in sizes.items()}
        count = call_of(kernel, {**words, "y": "0", "grid": "1"}).stated_size("y")
        call = call_of(kernel, {**words, "y": str(max(count, 0)), "grid": "1"})
        call = call.with_grid(call.stated_grid())
        if min(call.grid) > 0 and call.is_legal():
            _refutes(call, safety, path, text)
