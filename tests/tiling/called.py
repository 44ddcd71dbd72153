"""A call of a kernel is carried out, in blocks and as written, and what it writes is compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from blocked import blocked, close, plain, written
from calls import F32, F64, TOLERANCE, Call
from memory import surrounded

from teenyc import compile_source
from teenyc.tiling.plan import Plan, Refusal


def planned(text: str) -> Plan | Refusal:
    """The plan of a source's one kernel, or why there is none."""
    ((_, found),) = compile_source(text).plans()
    return found if isinstance(found, Refusal) else found.plan


def check(
    kernel: Any, call: Call, dtype: torch.dtype, device: str, is_plain_too: bool = True, loss: float = 1.0
) -> None:
    """Compares what a kernel writes in blocks, where it takes some, and what the plain one does with expectations."""
    wide = F64 if dtype == F64 else F32

    def kind(name: str, tensor: torch.Tensor) -> torch.dtype:
        return (wide if name in call.wide else dtype) if tensor.is_floating_point() else tensor.dtype

    arguments = {
        name: surrounded(x, kind(name, x), device) if isinstance(x, torch.Tensor) else x
        for name, x in call.arguments.items()
    }
    outputs = {name: (tuple(x.shape), kind(name, x)) for name, x in call.expected.items()}
    for launch in [blocked] * hasattr(kernel, "tiled") + [plain] * is_plain_too:
        got = written(launch, kernel, call.grid, arguments, outputs, **call.constants)
        for name, expected in call.expected.items():
            with saying(f"`{name}`, {launch.__name__}"):
                close(got[name], expected, TOLERANCE[dtype] * loss)


@contextmanager
def saying(what: str) -> Iterator[None]:
    """Adds to a failure of what it is."""
    try:
        yield
    except AssertionError as error:
        error.add_note(what)
        raise
