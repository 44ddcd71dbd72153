"""Every kernel of the goldens runs on made-up arguments, before the passes and after, and writes the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from by_runner import LAST
from cases import Case, case_id, cases

from teenyc.driver import compile_source, run_passes
from teenyc.evaluate import CHECKED, LOWERED, Buffer, FaultError, Meaning, Watcher, launch
from teenyc.evaluate.launch import pointed
from teenyc.evaluate.numbers import encoded
from teenyc.evaluate.sanitize import Sanitizer
from teenyc.evaluate.watch import Broken, Impossible, Outside
from teenyc.ir.nodes import Kernel, Program
from teenyc.types import BOOL, DTYPES, F32, Bound, Compute, DType, Element, Kind, TensorType, TypeVar, compute_type

SIZE = 1 << 12
GRID = (3, 2, 1)


class Lenient(Watcher):
    """Made-up arguments lead anywhere: what lies outside is left out, and what is asserted need not hold."""

    def outside(self, fault: Outside) -> None:
        pass

    def broken(self, fault: Broken) -> None:
        pass


FAR = frozenset({"loop_far"})
"""Goldens whose loops go further than anybody waits."""

KERNELS = [
    pytest.param(case, dtype, id=f"{case_id(case)}-{dtype}")
    for case in cases("golden")
    for dtype in ("f32", "f16")
    if case.path.stem not in FAR
]


@pytest.mark.parametrize(("case", "dtype"), KERNELS)
def test_kernels_write_the_same_before_and_after_the_passes(case: Case, dtype: str) -> None:
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    assert compiled.checked is not None
    after = run_passes(compiled.checked, until=LAST)
    for kernel in compiled.checked.kernels:
        before = written(kernel, compiled.checked, CHECKED, case, DTYPES[dtype])
        for name, buffer in written(kernel, after, LOWERED, case, DTYPES[dtype]).items():
            compare(kernel, name, before[name], buffer)


@pytest.mark.parametrize("case", [c for c in cases("golden") if c.path.stem not in FAR], ids=case_id)
def test_kernels_reach_what_the_metadata_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    reached: set[tuple[str, str]] = set()
    for name, key in (("read", "reads"), ("write", "writes")):
        monkeypatch.setattr(Buffer, name, _noting(getattr(Buffer, name), key, reached))
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    assert compiled.checked is not None
    known: Any = compiled.metadata["kernels"]
    for kernel, facts in zip(compiled.checked.kernels, known.values(), strict=True):
        reached.clear()
        written(kernel, compiled.checked, CHECKED, case, F32)
        spelled = facts.get("renamed", {})
        atomics = {("reads", name) for name in facts.get("atomics", ())}  # the runner reads what an exchange replaces
        told = {(key, name) for key in ("reads", "writes") for name in facts[key]}
        assert {(key, spelled.get(name, name)) for key, name in reached} <= told | atomics, kernel.name


def _noting(method: Any, key: str, reached: set[tuple[str, str]]) -> Any:
    """A method of a buffer that notes what is reached, if it is anything."""

    def noted(buffer: Buffer, index: Any, *others: Any) -> Any:
        if len(index):
            reached.add((key, buffer.name))
        return method(buffer, index, *others)

    return noted


@pytest.mark.parametrize(("case", "dtype"), [k for k in KERNELS if k.values[1] == "f32"])
def test_a_watched_run_writes_the_same(case: Case, dtype: str) -> None:
    """The sanitizer sees all and changes nothing, whatever it finds in made-up arguments."""
    compiled = compile_source(case.text, name=case.path.name, options=case.options)
    assert compiled.checked is not None
    for kernel in compiled.checked.kernels:
        plain, watched = (
            written(kernel, compiled.checked, CHECKED, case, DTYPES[dtype], watcher)
            for watcher in (Lenient(), Sanitizer())
        )
        for name, buffer in watched.items():
            np.testing.assert_array_equal(buffer.data, plain[name].data, err_msg=f"{kernel.name}: {name}")


def written(
    kernel: Kernel, program: Program, meaning: Meaning, case: Case, dtype: DType, watcher: Watcher | None = None
) -> dict[str, Buffer]:
    """The tensors of a kernel after a run."""
    arguments, constants, elements = given(kernel, case, dtype)
    watcher = watcher or Lenient()
    options: dict[str, Any] = {"elements": elements, "meaning": meaning, "watcher": watcher, "say": str}
    try:
        launch(program, kernel.name, GRID, arguments, constants, **options)
    except FaultError as fault:
        if not isinstance(fault.what, Impossible) or fault.what.function != "inline_asm_elementwise":
            raise
    return {n: a for n, a in arguments.items() if isinstance(a, Buffer)}


def compare(kernel: Kernel, name: str, before: Buffer, after: Buffer) -> None:
    is_padded = bool(kernel.attributes.pad)
    if before.data.dtype.kind == "f" and is_padded:
        np.testing.assert_allclose(after.data, before.data, rtol=2e-2, atol=1e-3, err_msg=f"{kernel.name}: {name}")
    else:
        np.testing.assert_array_equal(after.data, before.data, err_msg=f"{kernel.name}: {name}")


def given(kernel: Kernel, case: Case, dtype: DType) -> tuple[dict[str, Any], dict[str, int], Mapping[str, DType]]:
    """Random tensors, small numbers, and constants as the case compiles them."""
    words = {n: w.split(",")[0] for n, w in case.directive("compile").items()}
    constants = {c.name: _constant(words.get(c.name, "16")) for c in kernel.constants if c.known is None}
    elements: dict[str, DType] = {}
    for variable in kernel.type_variables:
        named = DTYPES[words.get(variable.name, "f32")] if variable.name in words else F32
        fits = [dtype] if variable.bound is Bound.FLOAT or named.kind is Kind.FLOAT else [named]
        elements[variable.name] = fits[0]
    elements |= {n: e for n, e in kernel.elements if isinstance(e, DType)}
    random = np.random.default_rng(len(kernel.name))
    arguments: dict[str, Any] = {}
    for parameter in kernel.parameters:
        target = pointed(parameter.value.type)
        if target is None:
            assert isinstance(parameter.value.type, TensorType)
            element = parameter.value.type.element
            assert isinstance(element, DType)
            arguments[parameter.name] = 0.5 if element.kind is Kind.FLOAT else element == BOOL or 5
            continue
        element = of(target, elements)
        numbers = random.integers(0, 7, SIZE) if element.kind is not Kind.FLOAT else random.standard_normal(SIZE)
        arguments[parameter.name] = Buffer(parameter.name, element, encoded(numbers, element))
    return arguments, constants, elements


def of(target: Element, elements: Mapping[str, DType]) -> DType:
    match target:
        case TypeVar():
            return elements[target.name]
        case Compute():
            computed = compute_type(elements[target.of.name])
            assert isinstance(computed, DType)
            return computed
        case DType():
            return target
        case _:
            raise AssertionError(target)


def _constant(text: str) -> int:
    return int(text == "true") if text in ("true", "false") else int(text)
