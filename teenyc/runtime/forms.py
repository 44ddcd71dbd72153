"""Arguments as words: `randn(4, 64)`, `x.npy` or `0.5` goes in, an array or a number comes out.

Words are matched and never evaluated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any
from zlib import crc32

import numpy as np

from teenyc.evaluate.numbers import encoded, is_narrow
from teenyc.runtime.arrays import NotAnArrayError, Tensor
from teenyc.types import DType, Kind

_CALL = re.compile(r"\s*(\w+)\s*\(([\w\s.,+\-()\[\]]*)\)\s*")
_WHOLE = re.compile(r"[+-]?[0-9][0-9_]*")
_NUMBER = re.compile(r"[+-]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf|nan")

LONGEST_NUMBER = 4000
"""Digits of a whole number that Python reads; no type holds one of so many."""

Draw = Callable[["np.random.Generator", "tuple[int, ...]", "Sequence[float]"], Any]

_ARRAYS: Mapping[str, tuple[int, int, Draw]] = {
    "randn": (0, 0, lambda random, shape, given: random.standard_normal(shape)),
    "rand": (0, 0, lambda random, shape, given: random.random(shape)),
    "randint": (2, 0, lambda random, shape, given: random.integers(int(given[0]), int(given[1]), shape)),
    "zeros": (0, 0, lambda random, shape, given: np.zeros(shape)),
    "ones": (0, 0, lambda random, shape, given: np.ones(shape)),
    "empty": (0, 0, lambda random, shape, given: np.zeros(shape)),
    "full": (0, 1, lambda random, shape, given: np.full(shape, given[0])),
    "arange": (0, 0, lambda random, shape, given: np.arange(prod(shape)).reshape(shape)),
}
"""Each form of an array: how many numbers stand before the shape and how many after it, and what it is."""


class UnreadableError(Exception):
    """A text that is no argument; says why."""


def number_of(text: str) -> int | float | bool | None:
    """The number that a text is, None where it is none."""
    word = text.strip()
    if word in ("true", "false"):
        return word == "true"
    if _WHOLE.fullmatch(word):
        return int(word) if len(word) < LONGEST_NUMBER else float(word.replace("_", ""))
    return float(word.replace("_", "")) if _NUMBER.fullmatch(word) else None


def array_of(text: str, name: str, element: DType, seed: int) -> Tensor:
    """The array that a text describes, of an element type; random ones differ by name, and by nothing but the seed."""
    if text.strip().endswith(".npy"):
        return _read(text.strip(), element)
    match = _CALL.fullmatch(text)
    if match is None or match[1] not in _ARRAYS:
        raise UnreadableError("it is no number, no file of NumPy, and none of " + ", ".join(f"`{n}`" for n in _ARRAYS))
    before, after, draw = _ARRAYS[match[1]]
    numbers = [_argument(word) for word in re.sub(r"[()\[\]]", " ", match[2]).split(",") if word.strip()]
    if len(numbers) < before + after:
        raise UnreadableError("a number is missing")
    extents = numbers[before : len(numbers) - after]
    if any(not isinstance(n, int) or n < 0 for n in extents):
        raise UnreadableError("the extents of an array are whole numbers that are not negative")
    random = np.random.default_rng([seed, crc32(name.encode())])
    given = (*numbers[:before], *numbers[len(numbers) - after :])
    try:
        drawn = np.asarray(draw(random, tuple(int(n) for n in extents), given))
    except (MemoryError, ValueError) as error:
        raise UnreadableError(str(error).splitlines()[0].lower() or "it is too large") from None
    return _stored(drawn, element, is_empty=match[1] == "empty")


def _argument(word: str) -> int | float:
    number = number_of(word)
    if number is None:
        raise UnreadableError(f"`{word.strip()}` is no number")
    return number


def _stored(drawn: Any, element: DType, *, is_empty: bool = False) -> Tensor:
    if drawn.dtype.kind == "f" and element.kind is not Kind.FLOAT and not (drawn == np.trunc(drawn)).all():
        raise UnreadableError(f"it holds fractions, and `{element}` does not")
    return Tensor(encoded(drawn, element), element, is_empty)


def _read(path: str, element: DType) -> Tensor:
    """A file of NumPy in this machine's order, rounded where only so the element type can come from one."""
    read = np.ascontiguousarray(_loaded(path))
    read = read.astype(read.dtype.newbyteorder("="), copy=False)
    if is_narrow(element) and read.dtype.kind == "f":
        return _stored(read, element)
    try:
        return Tensor.of(read)
    except NotAnArrayError as error:
        raise UnreadableError(f"it holds {error}") from None


def _loaded(path: str, **options: Any) -> Any:
    """What a file of NumPy holds, without running anything that it says."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UnreadableError("it is no file")  # a pipe would be waited for
    try:
        with open(path, "rb") as file:
            start = file.read(6)
        if start[:2] == b"PK":
            raise UnreadableError("it holds several arrays")
        if start != b"\x93NUMPY":
            raise UnreadableError("it is no file of NumPy")
        return np.load(path, allow_pickle=False, **options)
    except OSError as error:
        raise UnreadableError(str(error).splitlines()[0]) from None
    except Exception as error:  # NumPy and the parser of what stands before the numbers raise what they like
        holds_objects = "Object arrays" in str(error)
        words = (str(error).splitlines() or [type(error).__name__])[0]
        why = "it holds objects of Python, which are not loaded" if holds_objects else words
        raise UnreadableError(why) from None


def element_of_file(path: str) -> DType | None:
    """The element type of a file of NumPy, None where it cannot be read or has none of the language."""
    try:
        dtype = _loaded(path, mmap_mode="r").dtype
    except UnreadableError:
        try:
            dtype = _loaded(path).dtype  # what is empty cannot be mapped
        except UnreadableError:
            return None
    try:
        return Tensor.of(np.empty(0, dtype.newbyteorder("="))).element
    except NotAnArrayError:
        return None
