"""Arrays of the caller become buffers: NumPy's, CPU tensors of torch, and those of ml_dtypes, without a copy."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from teenyc.evaluate.memory import Buffer
from teenyc.record import record
from teenyc.types import BF16, BOOL, DTYPES, F8E4M3, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, F32, F64, DType

_NAMES: Mapping[str, DType] = MappingProxyType(
    {
        "bool": BOOL,
        "float16": F16,
        "float32": F32,
        "float64": F64,
        **{f"{word}{bits}": DTYPES[f"{word[0]}{bits}"] for word in ("int", "uint") for bits in (8, 16, 32, 64)},
        "bfloat16": BF16,
        "float8_e4m3fn": F8E4M3,
        "float8_e5m2": F8E5M2,
        "float8_e4m3fnuz": F8E4M3FNUZ,
        "float8_e5m2fnuz": F8E5M2FNUZ,
    }
)
"""Element types by their names in NumPy, torch and ml_dtypes."""


class NotAnArrayError(Exception):
    """What was given is no array that the runner can work on; its text says what it is."""


@record
class Tensor:
    """An array of any element type: its elements as they are stored, or nothing yet where it `is_empty`."""

    data: Any
    element: DType
    is_empty: bool = False

    @staticmethod
    def of(array: Any) -> Tensor:
        """An array of a dtype that NumPy has; raises `NotAnArrayError` for others."""
        return Tensor(*_viewed(array))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.data.shape)

    @property
    def dtype(self) -> DType:
        return self.element


def is_array(value: object) -> bool:
    """Whether a value is an array, and no number."""
    return isinstance(value, np.ndarray | Tensor) or _is_tensor(value)


def described(value: object) -> str:
    """What a value is, in the words of a report."""
    if is_array(value):
        dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
        return f"an array of shape {tuple(getattr(value, 'shape', ()))} and type {dtype}"
    return f"{type(value).__name__} {value!r}"


def buffer_of(name: str, value: Any) -> Buffer:
    """The elements between the first and the last in memory that an array reaches; written in place."""
    array, element = _viewed(value)
    if any(stride % array.itemsize for stride in array.strides):
        raise NotAnArrayError("an array of parts of records: pass a copy of it")
    forwards = array[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in array.strides)]
    steps = [(extent - 1) * stride // array.itemsize for extent, stride in zip(array.shape, array.strides, strict=True)]
    reach = 1 + sum(map(abs, steps)) if array.size else 0
    flat = np.lib.stride_tricks.as_strided(forwards, (reach,), (array.itemsize,), writeable=array.flags.writeable)
    written = np.zeros(reach, bool) if isinstance(value, Tensor) and value.is_empty else None
    axes = tuple(zip(array.shape, (stride // array.itemsize for stride in array.strides), strict=True))
    return Buffer(name, element, flat, written, origin=-sum(step for step in steps if step < 0), axes=axes)


def axes_of(shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Extent and stride of each axis of a tensor that lies in one piece."""
    return tuple((extent, prod(shape[axis + 1 :])) for axis, extent in enumerate(shape))


def _viewed(value: Any) -> tuple[Any, DType]:
    """An array of a dtype that NumPy has itself, over the same memory, and what its elements are."""
    if isinstance(value, Tensor):
        return value.data, value.element
    if _is_tensor(value):
        return _of_tensor(value)
    element = _NAMES.get(value.dtype.name)
    if element is None:
        raise NotAnArrayError(f"an array of type {value.dtype}, which the language has not")
    if not value.dtype.isnative:
        raise NotAnArrayError(f"an array of type {value.dtype}, with bytes in another order than this machine's")
    is_plain = value.dtype.kind in "biuf" and value.dtype.isbuiltin != 2
    return (value if is_plain else value.view(f"uint{element.bits}")), element


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")  # who has a tensor has imported it
    return torch is not None and isinstance(value, torch.Tensor)


def _of_tensor(tensor: Any) -> tuple[Any, DType]:
    import torch

    name = str(tensor.dtype).removeprefix("torch.")
    element = _NAMES.get(name)
    if element is None:
        raise NotAnArrayError(f"a tensor of type {tensor.dtype}, which the language has not")
    if tensor.device.type != "cpu":
        raise NotAnArrayError(f"a tensor on {tensor.device}, and this runs on the CPU: pass `.cpu()`")
    plain = tensor.detach()
    if element.bits == 8 and name.startswith("float8"):
        plain = plain.view(torch.uint8)
    elif element == BF16:
        return plain.view(torch.int16).numpy().view(np.uint16), element
    return plain.numpy(), element
