"""Blocked kernels of sources, launched past the launcher: blocks of the test's choosing, the grid of the source."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from teenyc.driver import Options, compile_source
from teenyc.ir.nodes import Tiling
from teenyc.source import SourceFile

SIZES = (1, 15, 16, 17, 64, 100)


@dataclass(frozen=True)
class Tiles:
    """The module of a source, and how each blocked kernel in it differs from the source's, by the latter's name."""

    module: ModuleType
    tilings: Mapping[str, Tiling]

    def plain(self, name: str, grid: tuple[int, ...], *arguments: Any, **constants: int) -> None:
        """`constants` may name blocks too, which the plain kernel has none of."""
        plain = getattr(self.module, f"{name}_plain")
        plain[grid](*arguments, **{n: v for n, v in constants.items() if n in plain.arg_names})

    def blocked(self, name: str, grid: tuple[int, ...], *arguments: Any, **constants: int) -> None:
        """`constants` are those of the kernel and the blocks."""
        tiling = self.tilings[name]
        blocks = dict(tiling.blocks)
        divided = tuple(-(-n // constants[blocks[axis]]) if axis in blocks else n for axis, n in enumerate(grid))
        counts = {count: grid[axis] for axis, count in tiling.counts}
        used = {n: v for n, v in constants.items() if n in tiling.constants or not n.startswith("BLOCK_")}
        getattr(self.module, f"{name}_tiled")[divided](*arguments, **counts, **used)


def tiles(text: str, folder: Path, name: str = "blocked", suffix: str = ".tk") -> Tiles:
    """The kernels of a source, compiled and imported from a file in `folder`."""
    compiled = compile_source(SourceFile(f"{name}{suffix}", text), options=Options(verify_ir=True))
    assert compiled.source is not None, [str(d) for d in compiled.diagnostics]
    path = folder / f"{name}.py"
    path.write_text(compiled.source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    assert compiled.program is not None
    return Tiles(module, {k.tiling.of: k.tiling for k in compiled.program.kernels if k.tiling is not None})
