"""Kernels run by the CPU runner with the calls of a generated module, so that tests of these test the runner too.

Each launch runs twice, as the checker made the kernel and after all passes: both must write the same bits.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from blocked import BLOCKS
from cases import TESTS

from teenyc.driver import Compiled, Options, compile_source, run_passes
from teenyc.evaluate import CHECKED, LOWERED, Meaning, launch
from teenyc.evaluate.launch import scope_of
from teenyc.evaluate.numbers import encoded
from teenyc.ir.nodes import Kernel, Program, Tiling
from teenyc.passes import PIPELINE
from teenyc.runtime.arguments import bind
from teenyc.runtime.arrays import Tensor, buffer_of, is_array
from teenyc.types import Kind

MEANINGS: Mapping[str, Meaning] = {
    **dict.fromkeys(("check", "lower-descriptors", "widen-counters", "fold-constants", "pad-extents"), CHECKED),
    "widen-offsets": Meaning(offsets_are_exact=False),
}
"""What is still implied after each pass; after all others nothing is."""

LAST = PIPELINE[-1].name


def adopt(path: str, into: dict[str, Any], without: Sequence[str] = ()) -> None:
    """Takes over the tests of a module that run kernels, which then are run by the runner; `without` some."""
    source = home(TESTS / path)
    source.module_of = module_of  # type: ignore[attr-defined]
    source.teenyc = SimpleNamespace(load=load)  # type: ignore[attr-defined]
    for name, value in vars(source).items():
        is_test = name.startswith("test_") and inspect.isfunction(value)
        if is_test and (name in without or "device" not in inspect.signature(value).parameters):
            continue
        if is_test or name == "pytestmark" or type(value).__name__ == "FixtureFunctionDefinition":
            into[name] = value


def home(path: Path) -> ModuleType:
    """A module of its own, apart from that which its own tests use."""
    spec = spec_from_file_location(f"{path.stem}_by_runner", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def module_of(text: str, folder: Path | None = None, name: str = "meaning", suffix: str = ".tk", **options: Any) -> Any:
    """The kernels of a source text, as the generated module has them."""
    compiled = compile_source(text, name=f"{name}{suffix}", options=Options(**options, generate=False))
    assert compiled.checked is not None, "\n".join(d.message() for d in compiled.diagnostics)
    return Module(compiled)


def load(path: str | Path, **options: Any) -> Any:
    """The kernels of a file."""
    return module_of(Path(path).read_text(encoding="utf-8"), name=Path(path).stem, **options)


@dataclass
class Module:
    """The kernels of a source: `Name(n=4)[grid](…)` and `name[grid](…, N=4)` run them."""

    compiled: Compiled
    programs: dict[str, Program] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        for kernel in self.program(LAST).kernels:
            if name == kernel.name:
                return self.launch(kernel, {})
            if name == host_name(kernel.name):
                return Binder(self, kernel)
        raise AttributeError(name)

    def launch(self, kernel: Kernel, constants: Mapping[str, Any]) -> Launch | Tiled:
        """A kernel as it is launched: one that takes blocks also has those, behind what runs before it."""
        tiled = [k for k in self.program(LAST).kernels if k.tiling is not None and k.tiling.of == kernel.name]
        blocked = [k for k in tiled if k.tiling is not None and (k.tiling.is_main or k.tiling.prologue)]
        plain = Launch(self, kernel, constants)
        return plain if not blocked else Tiled(plain, [Launch(self, k, constants) for k in blocked])

    def program(self, stage: str) -> Program:
        """The program as the checker made it, or after a pass."""
        if stage not in self.programs:
            checked = self.compiled.checked
            assert checked is not None
            self.programs[stage] = checked if stage == "check" else run_passes(checked, until=stage)
        return self.programs[stage]


@dataclass
class Binder:
    """`Name` of a kernel: takes constants in lower case, by name or in order."""

    module: Module
    kernel: Kernel

    def __call__(self, *values: Any, **named: Any) -> Launch | Tiled:
        names = {c.name.lower(): c.name for c in self.kernel.constants}
        constants = dict(zip(names.values(), values, strict=False)) | {names.get(n, n): v for n, v in named.items()}
        return self.module.launch(self.kernel, constants)


@dataclass
class Launch:
    """A kernel with some constants, and a grid."""

    module: Module
    kernel: Kernel
    constants: Mapping[str, Any]
    grid: int | Sequence[int] = ()

    def __getitem__(self, grid: int | Sequence[int]) -> Launch:
        return Launch(self.module, self.kernel, self.constants, grid)

    @property
    def arg_names(self) -> list[str]:
        return [*(p.name for p in self.kernel.parameters), *(c.name for c in self.kernel.constants)]

    @property
    def fn(self) -> Any:
        """A function with the parameters of the kernel, as Triton has it."""

        def function() -> None: ...

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter(n, kind) for n in self.arg_names])
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    def __call__(self, *arguments: Any, **named: Any) -> None:
        names = [p.name for p in self.kernel.parameters]
        options = ("num_warps", "num_stages", "enable_fp_fusion")
        constants = {**self.constants, **{n: v for n, v in named.items() if n not in (*names, *options)}}
        given = dict(zip(names, arguments, strict=False)) | {n: v for n, v in named.items() if n in names}
        if any(k.name == self.kernel.name for k in self.module.program("check").kernels):
            first = {n: _copied(a) for n, a in given.items()}
            self.run("check", first, constants)
            self.run(LAST, given, constants)
            for name, argument in given.items():
                if is_array(argument):
                    self.compare(name, argument, first[name])
        else:
            self.run(LAST, given, constants)

    def compare(self, name: str, after: Any, before: Any) -> None:
        """The passes change no bit, but for the order of sums over axes that they pad."""
        ours, theirs = _bits(after), _bits(before)
        if not self.kernel.attributes.pad or ours.dtype.kind != "f":
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
            return
        tolerance = 2e-2 if after.dtype.itemsize < 4 else 1e-5 if after.dtype.itemsize == 4 else 1e-12
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=name)

    def run(self, stage: str, given: Mapping[str, Any], constants: Mapping[str, Any]) -> None:
        """Runs the kernel as it is after a pass."""
        program = self.module.program(stage)
        kernel = next(k for k in program.kernels if k.name == self.kernel.name)
        bound = bind(kernel, self.grid, given, constants)
        launch(
            program,
            kernel.name,
            bound.grid,
            {n: _whole(b, given.get(n)) for n, b in bound.arguments.items()},
            bound.constants,
            elements=bound.elements,
            meaning=MEANINGS.get(stage, LOWERED),
        )


@dataclass
class Tiled:
    """A kernel that takes blocks, with the grid of the source; what runs before it comes first in `blocked`."""

    plain: Launch
    blocked: list[Launch]
    grid: int | Sequence[int] = ()

    @property
    def tiled(self) -> Launch:
        return self.blocked[-1]

    def __getitem__(self, grid: int | Sequence[int]) -> Tiled:
        return Tiled(self.plain, self.blocked, grid)

    def __call__(self, *arguments: Any, **named: Any) -> None:
        given = dict(zip(self.plain.arg_names, arguments, strict=False)) | named
        known = {**self.plain.constants, **{n: v for n, v in given.items() if not is_array(v)}}
        if len(self.blocked) > 1:
            given |= self.scratch(known, given)
        for each in self.blocked:
            tiling = each.kernel.tiling
            assert tiling is not None
            grid = self.grid_of(tiling, known)
            chosen = {**{n: BLOCKS[n] for n in tiling.constants}, **dict(tiling.defaults)}
            blocks = {n: known.get(n, value) for n, value in chosen.items()}
            counts = {count: grid[axis] for axis, count in tiling.counts}
            divided = list(grid)
            for axis, block in tiling.blocks:
                divided[axis] = -(-grid[axis] // blocks[block])
            names = set(each.arg_names) - chosen.keys()
            each[divided](**{n: v for n, v in given.items() if n in names}, **counts, **blocks)

    def grid_of(self, tiling: Tiling, known: Mapping[str, Any]) -> tuple[int, ...]:
        """The grid of the source, or that of what runs before."""
        x, y, z = (*([self.grid] if isinstance(self.grid, int) else self.grid), 1, 1)[:3]
        before = tiling.prologue
        if before is None:
            return x, y, z
        extent = before.extent.substitute({n: v for n, v in known.items() if isinstance(v, int)}).known
        assert extent is not None
        extent = max(extent, 0)
        return tuple(extent if a == before.axis else n if a in before.axes else 1 for a, n in enumerate((x, y, z)))

    def scratch(self, known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Tensor]:
        """The memory between the two kernels, full of what no kernel writes."""
        tiling = self.blocked[0].kernel.tiling
        assert tiling is not None
        assert tiling.prologue is not None
        bound = {n: buffer_of(n, a) for n, a in given.items() if is_array(a)}
        constants = {c.name: known[c.name] for c in self.plain.kernel.constants}
        scope = scope_of(self.plain.kernel, bound, constants, {})
        count = int(np.prod(self.grid_of(tiling, known)))
        elements = {name: scope.dtype(element) for name, element in tiling.prologue.scratch}
        return {
            n: Tensor(encoded(np.full(count, np.nan if e.kind is Kind.FLOAT else 77), e), e)
            for n, e in elements.items()
        }


def host_name(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _copied(argument: Any) -> Any:
    if not is_array(argument):
        return argument
    if not hasattr(argument, "clone"):
        return argument.copy()
    whole = argument.as_strided((argument.untyped_storage().nbytes() // argument.element_size(),), (1,), 0)
    return whole.clone().as_strided(argument.shape, argument.stride(), argument.storage_offset())


def _whole(bound: Any, given: Any) -> Any:
    """A tensor that begins inside of another one reaches what is before it, as a pointer does."""
    if not hasattr(given, "storage_offset") or not given.storage_offset():
        return bound
    whole = given.as_strided((given.untyped_storage().nbytes() // given.element_size(),), (1,), 0)
    return replace(buffer_of(bound.name, whole), origin=given.storage_offset())


def _bits(argument: Any) -> Any:
    """The elements; of torch's own types, which NumPy lacks, exactly as f32."""
    if hasattr(argument, "detach"):
        argument = argument.detach()
        argument = argument.float() if argument.element_size() < 4 and argument.is_floating_point() else argument
        return argument.numpy()
    return argument
