"""How tests of safety call a kernel: sizes go in; arrays come out, and what a launch checks of them is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import teenyc
from teenyc.driver import Compiled, Options, compile_source
from teenyc.evaluate.scope import value_of
from teenyc.ir.nodes import Guard, Kernel
from teenyc.types import F32, DType, Extent, Pointer, TensorType


@dataclass(frozen=True)
class Call:
    """A launch: its grid, numbers by name, and the elements of tensors by name."""

    kernel: Kernel
    grid: tuple[int, ...]
    numbers: Mapping[str, int]
    tensors: Mapping[str, np.ndarray[Any, Any]]

    @property
    def constants(self) -> dict[str, int]:
        return {c.name: self.numbers[c.name] for c in self.kernel.constants}

    @property
    def arguments(self) -> dict[str, object]:
        names = [p.name for p in self.kernel.parameters]
        return {name: self.tensors[name] if name in self.tensors else self.numbers[name] for name in names}

    def symbols(self) -> dict[Any, int]:
        """What guards and shapes name, with what shapes bind."""
        grid = (*self.grid, 1, 1)
        known: dict[Any, int] = {**self.numbers, **{f"grid[{axis}]": grid[axis] for axis in range(3)}}
        known |= {f"len({name})": tensor.size for name, tensor in self.tensors.items()}
        for name, shape in self.kernel.attributes.shapes:
            opened = [e for e in shape if value_of(e, known) is None]
            rest = Extent.of(1)
            for extent in shape:
                rest = rest if extent in opened else rest * extent
            size = value_of(rest, known)
            if len(opened) == 1 and size:
                known[str(opened[0])] = self.tensors[name].size // size
        return known

    def stated_grid(self) -> tuple[int, ...]:
        """The grid that the kernel states."""
        stated = self.kernel.attributes.grid
        assert stated is not None
        return tuple(value_of(extent, self.symbols()) or 0 for extent in stated)

    def stated_size(self, tensor: str) -> int:
        """The number of elements that the kernel states of a tensor."""
        extents = dict(self.kernel.attributes.shapes)[tensor]
        return int(np.prod([value_of(extent, self.symbols()) or 0 for extent in extents], dtype=object))

    def with_grid(self, grid: tuple[int, ...]) -> Call:
        """The same call with another grid."""
        return replace(self, grid=grid)

    def is_legal(self) -> bool:
        """Whether a checked launch takes it: sizes as stated, no extent below 0, no more programs than stated."""
        known = self.symbols()
        for name, shape in self.kernel.attributes.shapes:
            extents = [value_of(extent, known) or 0 for extent in shape]
            if min(extents, default=0) < 0 or int(np.prod(extents, dtype=object)) != self.tensors[name].size:
                return False
        stated = self.kernel.attributes.grid
        limits = [value_of(extent, known) or 0 for extent in stated] if stated is not None else [2**31] * 3
        return all(extent <= limit for extent, limit in zip(self.grid, (*limits, 1, 1), strict=False))

    def allows(self, guards: tuple[Guard, ...]) -> bool:
        """Whether all guards hold."""
        known = self.symbols()
        sides = [(value_of(guard.least, known), value_of(guard.most, known)) for guard in guards]
        return all(least is not None and most is not None and least <= most for least, most in sides)


def checked(text: str, name: str) -> Compiled:
    """A source without errors."""
    compiled = compile_source(text, name=name, options=Options(generate=False))
    assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
    return compiled


def call_of(kernel: Kernel, words: Mapping[str, str]) -> Call:
    """A call by words such as `grid=3,2 rows=3 x=15 t=3:7`: numbers, and tensors of so many elements of one value."""
    numbers, tensors = {}, {}
    pointers = {p.name: p.value.type for p in kernel.parameters if _pointee(p.value.type) is not None}
    for name, word in words.items():
        if name in pointers:
            count, _, value = word.partition(":")
            element = _pointee(pointers[name])
            kind: Any = np.float32 if element in (None, F32) or not isinstance(element, DType) else element.name
            kind = {"i32": np.int32, "i64": np.int64}.get(kind, np.float32)
            tensors[name] = np.full(int(count), int(value or 0), kind)
        elif name != "grid":
            numbers[name] = int(word)
    return Call(kernel, tuple(map(int, words["grid"].split(","))), numbers, tensors)


def _pointee(type: object) -> object:
    element = type.element if isinstance(type, TensorType) else None
    return element.to if isinstance(element, Pointer) else None


def faults(path: Path, call: Call) -> list[tuple[str, int]]:
    """What the sanitizer finds: codes of errors with their offsets in the source."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            teenyc.run(path, call.kernel.name, call.grid, call.arguments, set=call.constants, sanitize=True)
        except teenyc.RunError as error:
            return [(d.code, d.span.start) for d in error.diagnostics if d.span is not None]
    return []
