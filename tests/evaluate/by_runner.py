"""Kernels run by the CPU runner with the calls of a generated module, so that tests of these test the runner too.

Each launch runs twice, as the checker made the kernel and after all passes: both must write the same.
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
from cases import TESTS
from tiles import Tiles

from teenyc.driver import Compiled, Options, compile_source, run_passes
from teenyc.evaluate import CHECKED, LOWERED, Meaning, launch
from teenyc.ir.nodes import Kernel, Program
from teenyc.runtime.arguments import bind
from teenyc.runtime.arrays import buffer_of, is_array

MEANINGS: Mapping[str, Meaning] = {
    **dict.fromkeys(("check", "lower-descriptors", "widen-counters", "fold-constants", "pad-extents"), CHECKED),
    "widen-offsets": Meaning(offsets_are_exact=False),
}
"""What is still implied after each pass; after all others nothing is."""

LAST = "keep-late-values"


def adopt(name: str, into: dict[str, Any], without: Sequence[str] = ()) -> None:
    """Takes over the tests of `tests/run` that run kernels, which then are run by the runner; `without` some."""
    home = _module(TESTS / "run" / f"{name}.py")
    home.module_of, home.tiles = module_of, tiles  # type: ignore[attr-defined]
    home.teenyc = SimpleNamespace(load=load)  # type: ignore[attr-defined]
    for name, value in vars(home).items():
        is_test = name.startswith("test_") and inspect.isfunction(value)
        if is_test and (name in without or "device" not in inspect.signature(value).parameters):
            continue
        if is_test or name == "pytestmark" or type(value).__name__ == "FixtureFunctionDefinition":
            into[name] = value


def _module(path: Path) -> ModuleType:
    """A module of its own, apart from that which its own tests use."""
    spec = spec_from_file_location(f"{path.stem}_by_runner", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def module_of(text: str, folder: Path | None = None, name: str = "meaning", **options: Any) -> Any:
    """The kernels of a source text, as the generated module has them."""
    compiled = compile_source(text, name=f"{name}.tk", options=Options(**options, generate=False))
    assert compiled.checked is not None, "\n".join(d.message() for d in compiled.diagnostics)
    return Module(compiled)


def load(path: str | Path, **options: Any) -> Any:
    """The kernels of a file."""
    return module_of(Path(path).read_text(encoding="utf-8"), name=Path(path).stem, **options)


def tiles(text: str, folder: Path | None = None, name: str = "blocked", suffix: str = ".tk") -> Tiles:
    """The kernels of a source and those that take blocks."""
    module = module_of(text, folder, name)
    tilings = {k.tiling.of: k.tiling for k in module.program(LAST).kernels if k.tiling is not None}
    return Tiles(module, tilings)


@dataclass
class Module:
    """The kernels of a source: `Name(n=4)[grid](…)` and `name[grid](…, N=4)` run them."""

    compiled: Compiled
    programs: dict[str, Program] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        for kernel in self.program(LAST).kernels:
            if name in (kernel.name, f"{kernel.name}_plain"):
                return Launch(self, kernel, {})
            if name == host_name(kernel.name):
                return Binder(self, kernel)
        raise AttributeError(name)

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

    def __call__(self, *values: Any, **named: Any) -> Launch:
        names = {c.name.lower(): c.name for c in self.kernel.constants}
        constants = dict(zip(names.values(), values, strict=False)) | {names.get(n, n): v for n, v in named.items()}
        return Launch(self.module, self.kernel, constants)


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
        first = {n: _copied(a) for n, a in given.items()}
        if any(k.name == self.kernel.name for k in self.module.program("check").kernels):
            self.run("check", first, constants)
            self.run(LAST, given, constants)
            for name, argument in given.items():
                if is_array(argument):
                    np.testing.assert_array_equal(_bits(argument), _bits(first[name]), err_msg=name)
        else:
            self.run(LAST, given, constants)

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
