"""Kernels of one call each: a record with NumPy arguments goes in, what Triton makes of it comes out."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teenyc.codegen.libdevice import library_view
from teenyc.codegen.render import text_of
from teenyc.intrinsics import HELPERS, TABLE
from teenyc.intrinsics.spec import REQUIRED, Facts, Intrinsic
from teenyc.resources import template_text
from teenyc.types import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType, Extent, TensorType

Array = NDArray[Any]

NUMPY: dict[str, DType] = {
    **{f"{k}{d.bits}": d for d in (F16, F32, F64) for k in ("float",)},
    **{f"int{d.bits}": d for d in (I8, I16, I32, I64)},
    **{f"uint{d.bits}": d for d in (U8, U16, U32, U64)},
    "bool": BOOL,
}


@dataclass(frozen=True)
class Case:
    """One call: arrays are loaded from memory, `fixed` arguments are written out. `like` overrides the reference."""

    name: str
    arrays: dict[str, Array] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    like: dict[str, Any] = field(default_factory=dict)

    @property
    def record(self) -> Intrinsic:
        return TABLE[self.name]

    def expected(self) -> list[Array]:
        reference = self.record.reference
        assert reference is not None
        result = reference(**{**self.arrays, **self.fixed, **self.like})
        return [np.asarray(a) for a in result] if isinstance(result, tuple) else [np.asarray(result)]


def case(name: str, like: dict[str, Any] | None = None, **arguments: Any) -> Case:
    """A call with arguments by name."""
    arrays = {n: a for n, a in arguments.items() if isinstance(a, np.ndarray | np.generic)}
    fixed = {n: a for n, a in arguments.items() if n not in arrays}
    return Case(name, {n: np.asarray(a) for n, a in arrays.items()}, fixed, like or {})


# ---- the module -----------------------------------------------------------------------------------------------------


def module(cases: Sequence[Case], path: Path, kernels: Iterable[str] = ()) -> ModuleType:
    """The kernels `case_0`, `case_1`, …, and others as text, in a module of their own; Triton reads it as a file."""
    parts = ["import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"]
    parts += ["_IS_INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)\n"]
    parts += _library(cases)
    parts += [template_text(f"helpers/{helper.removeprefix('_')}.py.jinja") for helper in HELPERS]
    parts += ["\n".join(_kernel(index, case)) + "\n" for index, case in enumerate(cases)]
    parts += kernels
    path.write_text("\n\n".join(parts), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def _library(cases: Sequence[Case]) -> Iterator[str]:
    """What the functions of libdevice are for Triton's interpreter."""
    view = library_view(c.record.helper for c in cases if c.record.helper is not None)
    if view is not None:
        yield text_of("libdevice.py.jinja", {"library": view})


def _kernel(index: int, case: Case) -> Iterator[str]:
    results = case.expected()
    names = [f"result_{n}" for n in range(len(results))]
    yield "@triton.jit"
    yield f"def case_{index}({', '.join(f'{n}_ptr' for n in (*case.arrays, *names))}):"
    for name, array in case.arrays.items():
        yield f"    {name} = tl.load({_address(name, array)})"
    yield f"    {', '.join(names)} = {call_text(case)}"
    for name, array in zip(names, results, strict=True):
        yield f"    tl.store({_address(name, array)}, {name})"


def _address(name: str, array: Array) -> str:
    lanes = f"tl.arange(0, {array.size})"
    if array.ndim == 0:
        return f"{name}_ptr"
    return f"{name}_ptr + {lanes if array.ndim == 1 else f'tl.reshape({lanes}, {list(array.shape)})'}"


# ---- the call -------------------------------------------------------------------------------------------------------


def call_text(case: Case) -> str:
    """The call as an emitter writes it."""
    record = case.record
    types = {name: _type(array) for name, array in case.arrays.items()}
    form, _ = record.form(Facts(types, case.fixed))
    texts = {**{name: name for name in case.arrays}, **{name: _text(value) for name, value in case.fixed.items()}}
    if "{" in form:
        return form.format(**{p.name: texts.get(p.name, _text(p.default)) for p in record.params})
    return f"{form}({', '.join(_listed(record, texts))})"


def _listed(record: Intrinsic, texts: dict[str, str]) -> Iterator[str]:
    by_name = False
    for param in record.params:
        by_name = by_name or param.name == record.first_by_name
        if param.name in texts:
            yield f"{param.name}={texts[param.name]}" if by_name else texts[param.name]
        else:
            by_name = by_name or param.default is not REQUIRED


def _type(array: Array) -> TensorType:
    return TensorType(NUMPY[array.dtype.name], tuple(map(Extent.of, array.shape)))


def _text(value: Any) -> str:
    if isinstance(value, type):
        return f"tl.{np.dtype(value).name}"
    return str(list(value)) if isinstance(value, tuple) else repr(value)


# ---- running --------------------------------------------------------------------------------------------------------


def run(kernel: Any, case: Case, device: str) -> list[Array]:
    """What the kernel stores."""
    import torch

    inputs = [torch.from_numpy(np.array(array)).to(device) for array in case.arrays.values()]
    outputs = [torch.zeros(array.shape, dtype=_torch(array)).to(device) for array in case.expected()]
    kernel[(1,)](*inputs, *outputs)
    return [output.cpu().numpy() for output in outputs]


def _torch(array: Array) -> Any:
    import torch

    return torch.from_numpy(np.zeros(1, array.dtype)).dtype
