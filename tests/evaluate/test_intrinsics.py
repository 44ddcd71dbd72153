"""Every intrinsic with a reference, for several programs at once: each gets what the reference gives for it alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from intrinsic_kernels import NUMPY, Array, Case
from test_intrinsic_numbers import CASES as OWN
from test_libdevice import CASES as OF_LIBDEVICE

from teenyc.evaluate.machine import Frame, World
from teenyc.evaluate.memory import Memory
from teenyc.evaluate.scope import CHECKED, Scope
from teenyc.evaluate.watch import Watcher
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Param, Role
from teenyc.ir.nodes import Call, Let, Literal, Value
from teenyc.source import Span
from teenyc.types import I64, Extent, TensorType

PROGRAMS = 3
CASES = [*OWN, *OF_LIBDEVICE]
IDS = [f"{case.name}-{number}" for number, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
def test_programs_get_what_the_reference_gives_each(case: Case, shared: bool) -> None:
    """With `shared` the first argument is the same in all programs."""
    arrays = {
        n: np.stack([np.roll(a, p, -1) if a.ndim else a for p in range(PROGRAMS)]) for n, a in case.arrays.items()
    }
    if shared and arrays:
        first = next(iter(arrays))
        arrays[first] = arrays[first][:1]
    expected = [
        Case(case.name, {n: a[p % len(a)] for n, a in arrays.items()}, case.fixed, case.like).expected()
        for p in range(PROGRAMS)
    ]
    results = computed(case, arrays, expected[0])
    for number, result in enumerate(results):
        whole = np.broadcast_to(result, (PROGRAMS, *result.shape[1:]))
        for program in range(PROGRAMS):
            wanted = expected[program][number]
            assert whole.dtype == (np.float32 if wanted.dtype == np.float16 else wanted.dtype)
            np.testing.assert_allclose(whole[program], wanted, rtol=1e-6 if wanted.dtype.kind == "f" else 0)


def computed(case: Case, arrays: dict[str, Array], like: list[Array]) -> list[Any]:
    """What the runner gives for a call on arrays with programs in front; results are of the types of `like`."""
    values = {n: Value(i, _type(a.dtype.name, a.shape[1:]), n) for i, (n, a) in enumerate(arrays.items())}
    results = tuple(Value(100 + i, _type(a.dtype.name, a.shape)) for i, a in enumerate(like))
    roles = {p.name: p.role for p in TABLE[case.name].params}
    numbers = {n: Literal(v, TensorType(I64)) for n, v in case.fixed.items() if roles[n] is Role.VALUE}
    fixed = {n: v for n, v in case.fixed.items() if n not in numbers}
    attributes = tuple((n, _attribute(TABLE[case.name].param(n), v, case)) for n, v in fixed.items())
    call = Call(intrinsic=case.name, operands=(*values.items(), *numbers.items()), attributes=attributes)
    let = Let(results=results, operation=call, span=Span(0, 0))
    programs = np.zeros((PROGRAMS, 3), np.int64)
    world = World({}, Memory(Watcher()), CHECKED, frozenset(), (PROGRAMS, 1, 1), print)
    held = {values[n].id: a.astype(np.float32) if a.dtype == np.float16 else a for n, a in arrays.items()}
    frame = Frame(world, Scope(), programs, held)
    with np.errstate(all="ignore"):
        frame.let(let, None)
    return [frame.array(value) for value in results]


def _type(name: str, shape: tuple[int, ...]) -> TensorType:
    return TensorType(NUMPY[name], tuple(map(Extent.of, shape)))


def _attribute(param: Param | None, value: Any, case: Case) -> Any:
    assert param is not None
    match param.role:
        case Role.SHAPE:
            return tuple(map(Extent.of, value))
        case Role.EXTENT:
            return Extent.of(value)
        case Role.DTYPE:
            return NUMPY[np.dtype(value).name]
        case Role.AXIS if param.counts is not None and value < 0:
            return value + case.arrays[param.counts].ndim
        case _:
            return value


def test_every_reference_is_run() -> None:
    elsewhere = {r.name for r in TABLE.values() if r.takes_function}  # test_combine.py
    assert {n for n, r in TABLE.items() if r.reference is not None} - elsewhere == {case.name for case in CASES}
