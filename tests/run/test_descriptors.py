"""Descriptors and block pointers: what they read and write at any offsets and strides, against NumPy, with canaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import teenyc

Array = NDArray[Any]
CANARY = 77
SOURCE = Path(__file__).parent / "descriptors.tk"


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    return teenyc.load(SOURCE)


class Memory:
    """A tensor with strides in a larger piece of memory, which begins at an odd element and is full of canaries."""

    def __init__(self, data: Array, device: str, strides: Sequence[int] | None = None) -> None:
        self.strides = tuple(s // data.itemsize for s in data.strides) if strides is None else tuple(strides)
        self.shape = data.shape
        last = [(n - 1) * s for n, s in zip(data.shape, self.strides, strict=True)]
        self.start = 3 - sum(min(0, s) for s in last)
        whole = np.full(self.start + sum(max(0, s) for s in last) + 65, CANARY, data.dtype)
        self.view(whole)[...] = data
        self.whole = torch.from_numpy(whole).to(device)
        self.pointer = self.whole[self.start :]

    def view(self, whole: Array) -> Array:
        strides = tuple(s * whole.itemsize for s in self.strides)
        return np.lib.stride_tricks.as_strided(whole[self.start :], self.shape, strides)

    def array(self) -> Array:
        """What the tensor holds, after seeing that nothing around it was written."""
        whole = self.whole.cpu().numpy()
        result = self.view(whole).copy()
        self.view(whole)[...] = CANARY
        assert (whole == CANARY).all(), "a kernel wrote outside of its tensor"
        self.view(whole)[...] = result
        return result


def block(x: Array, offsets: Sequence[int], shape: Sequence[int], padding: float = 0) -> Array:
    """A block as a descriptor reads it."""
    result = np.full(shape, padding, x.dtype)
    for cell in np.ndindex(*shape):
        place = tuple(o + c for o, c in zip(offsets, cell, strict=True))
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            result[cell] = x[place]
    return result


def written(x: Array, offsets: Sequence[int], values: Array) -> Array:
    """A tensor after a descriptor wrote a block to it."""
    result = x.copy()
    for cell in np.ndindex(*values.shape):
        place = tuple(o + c for o, c in zip(offsets, cell, strict=True))
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            result[place] = values[cell]
    return result


def random(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng().integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
@pytest.mark.parametrize(("i", "j"), [(0, 0), (-3, 5), (9, -2), (-16, 0), (13, 13), (2**31 - 9, 0), (0, -(2**40))])
def test_blocks_of_one_axis(kernels: ModuleType, device: str, dtype: str, i: int, j: int) -> None:
    x, out = random(13, dtype=dtype), random(11, dtype=dtype)
    given, target = Memory(x, device, (3,)), Memory(out, device, (2,))
    kernels.Copy1(16)[(1,)](given.pointer, target.pointer, 13, 11, 3, 2, i, j)
    np.testing.assert_array_equal(target.array(), written(out, (j,), block(x, (i,), (16,))))
    np.testing.assert_array_equal(given.array(), x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize(
    ("strides", "i", "j"),
    [((11, 1), 0, 0), ((1, 9), 3, -2), ((40, 3), -5, 8), ((23, 2), 5, 7), ((-13, 1), -1, 1), ((13, -1), 4, 3)],
)
def test_blocks_of_two_axes_padded_with_nan(
    kernels: ModuleType, device: str, dtype: str, strides: tuple[int, int], i: int, j: int
) -> None:
    x, out = random(7, 11, dtype=dtype), random(7, 11, dtype=dtype)
    given, target = Memory(x, device, strides), Memory(out, device, (29, 2))
    kernels.Copy2(8, 4)[(1,)](given.pointer, target.pointer, 7, 11, *strides, 29, 2, i, j)
    values = block(x, (i, j), (8, 4), np.nan)
    np.testing.assert_array_equal(target.array(), written(out, (i + 1, j - 1), values))


@pytest.mark.parametrize("dtype", ["float32", "int16"])
@pytest.mark.parametrize("offsets", [(0, 0, 0), (2, 1, 3), (-1, 4, -2), (1, 5, 0), (1, 2, 6)])
def test_blocks_of_three_axes(kernels: ModuleType, device: str, dtype: str, offsets: tuple[int, int, int]) -> None:
    x, out = random(3, 5, 7, dtype=dtype), random(3, 5, 7, dtype=dtype)
    given, target = Memory(x, device, (1, 3, 17)), Memory(out, device)
    kernels.Copy3()[(1,)](given.pointer, target.pointer, 3, 5, 7, 1, 3, 17, *offsets)
    np.testing.assert_array_equal(target.array(), written(out, offsets, block(x, offsets, (2, 1, 4))))


def test_blocks_of_five_axes(kernels: ModuleType, device: str) -> None:
    x, out = random(3, 3, 3, 3, 3, dtype="int32"), random(3, 3, 3, 3, 3, dtype="int32")
    given, target = Memory(x, device), Memory(out, device)
    kernels.Copy5()[(1,)](given.pointer, target.pointer, 3)
    at, shape = (-1, 1, 0, -2, 1), (4, 4, 2, 4, 2)
    np.testing.assert_array_equal(target.array(), written(out, at, block(x, at, shape) + 100))


@pytest.mark.parametrize(("i", "j"), [(0, 0), (2, -3), (3, 6)])
def test_block_pointers_check_the_axes_that_are_named(kernels: ModuleType, device: str, i: int, j: int) -> None:
    x = random(12, 9)
    given, target = Memory(x, device, (11, 1)), Memory(random(8, 8), device)
    kernels.Checked(4, 8)[(1,)](given.pointer, target.pointer, 5, 9, 11, i, j)
    expected = [block(x, (i, j), (4, 8), np.nan), block(x[:5], (i, j), (4, 8))]
    np.testing.assert_array_equal(target.array(), np.concatenate(expected))


@pytest.mark.parametrize(("step", "rounds"), [(5, 4), (0, 3), (-2, 5), (3, 0)])
def test_block_pointers_advance_in_loops_and_branches(kernels: ModuleType, device: str, step: int, rounds: int) -> None:
    x = random(19)
    given, target = Memory(x, device), Memory(random(8), device)
    kernels.Advances(8)[(1,)](given.pointer, target.pointer, 19, step, rounds)
    expected, at = np.zeros(8, "float32"), 0
    for number in range(rounds):
        expected += block(x, (at,), (8,))
        at += -1 if number % 2 else step
    np.testing.assert_array_equal(target.array(), expected)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("other", [0, 1, 2])
def test_branches_give_descriptors(kernels: ModuleType, device: str, first: bool, other: int) -> None:
    a, b = random(7), random(10)
    given = Memory(a, device), Memory(b, device)
    target = Memory(random(24), device)
    kernels.Chosen(first, 8)[(1,)](given[0].pointer, given[1].pointer, target.pointer, 7, 5, other)
    views = [a, b[::2]] if first else [b[::2], a]
    chosen = [views[0], a[1:], b][other]
    expected = [block(views[0], (1,), (8,)), block(views[1], (1,), (8,), np.nan), block(chosen, (1,), (8,))]
    np.testing.assert_array_equal(target.array(), np.concatenate(expected))


@pytest.mark.parametrize("rounds", [0, 1, 4, 5])
def test_descriptors_take_turns_in_a_loop(kernels: ModuleType, device: str, rounds: int) -> None:
    pair = [random(6), random(6)]
    a, b = (Memory(x, device) for x in pair)
    kernels.TakesTurns(8)[(1,)](a.pointer, b.pointer, 6, rounds)
    for number in range(rounds):
        pair[(number + 1) % 2] = pair[number % 2] + 1
    np.testing.assert_array_equal(a.array(), pair[0])
    np.testing.assert_array_equal(b.array(), pair[1])


def test_functions_take_and_give_descriptors(kernels: ModuleType, device: str) -> None:
    x = random(9)
    given, target = Memory(x, device), Memory(random(8), device)
    kernels.ThroughFunctions(8)[(1,)](given.pointer, target.pointer, 9)
    np.testing.assert_array_equal(target.array(), block(x[3:], (-2,), (8,)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("column", [0, -3, 7])
def test_rows_are_gathered_and_scattered(kernels: ModuleType, device: str, dtype: str, column: int) -> None:
    x, out = random(6, 9, dtype=dtype), random(6, 9, dtype=dtype)
    index = np.array([5, -1, 0, 6, 2**33, 3, -(2**35), 1], "int64")
    given, places, target = Memory(x, device, (19, 2)), Memory(index, device), Memory(out, device)
    kernels.Rows(8, 4)[(1,)](given.pointer, places.pointer, target.pointer, 6, 9, 19, column)
    for row in index.tolist():
        out = written(out, (row, column + 1), block(x, (row, column), (1, 4)))
    np.testing.assert_array_equal(target.array(), out)


@pytest.mark.parametrize(("i", "j"), [(0, 0), (-1, 3), (4, -2)])
def test_atomics_on_blocks(kernels: ModuleType, device: str, i: int, j: int) -> None:
    shape = (5, 7)
    arrays = [random(*shape, dtype=d) for d in ("float32", "int32", "int64", "int32")]
    arrays.append(np.abs(random(*shape, dtype="int32")).astype("uint32"))
    values = random(4, 8, dtype="int32")
    memories = [Memory(a, device) for a in (*arrays, values)]
    kernels.Atomics(4, 8)[(1,)](*(m.pointer for m in memories), *shape, i, j)
    old = [block(a, (i, j), (4, 8)) for a in arrays]
    bits = ((old[4] | 8) & 0xFFFFFFFE) ^ values.astype("uint32")
    new = [old[0] + values, old[1] + np.arange(8), np.maximum(old[2], values), np.minimum(old[3], values), bits]
    for memory, before, after in zip(memories, arrays, new, strict=False):
        np.testing.assert_array_equal(memory.array(), written(before, (i, j), after.astype(before.dtype)))


def test_offsets_do_not_wrap(kernels: ModuleType, device: str) -> None:
    """In 32 bits, `65536 * 65536` is 0, which lies inside."""
    x = random(9)
    given, target = Memory(x, device), Memory(random(16), device)
    kernels.Far(8)[(1,)](given.pointer, target.pointer, 9, 65536)
    np.testing.assert_array_equal(target.array(), np.concatenate([np.zeros(8), x[:8]]))


@pytest.mark.parametrize("column", [0, 5])
def test_blocks_of_any_extent(kernels: ModuleType, device: str, column: int) -> None:
    x = random(11, 11)
    given, target = Memory(x, device), Memory(random(24), device)
    before = target.array()
    kernels.AnyExtent(4, 6)[(1,)](given.pointer, target.pointer, 11, column)
    values = block(x, (1, column), (4, 6), np.nan)
    np.testing.assert_array_equal(given.array(), written(x, (2, column), values + 1))
    sums = written(before, (0,), values.sum(axis=0))
    sums[6:][::2] = written(sums[6:][::2], (1,), block(x, (0, 0), (4, 6), np.nan).sum(axis=1))
    np.testing.assert_array_equal(target.array(), sums)


def test_functions_make_descriptors_of_their_own(kernels: ModuleType, device: str) -> None:
    x = random(9)
    given, target = Memory(x, device), Memory(random(8), device)
    kernels.InsideFunctions(8)[(1,)](given.pointer, target.pointer, 9)
    parts = [block(x, (at,), (8,)) + block(x, (at - 9,), (8,)) for at in (2, -3)]
    np.testing.assert_array_equal(target.array(), parts[0] - parts[1])
