"""The import hook: `import NAME` finds `NAME.tk` on `sys.path` or in a package, where no Python module has the name."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from teenyc.runtime.compiled import compiled_entry, execute, source_bytes
from teenyc.runtime.tables import attach

SUFFIX = ".tk"


def install() -> None:
    """Makes kernel files importable: `from kernels import flash_attn2` compiles `kernels/flash_attn2.tk`.

    Python's own modules come first, so a `flash_attn2.py` in the same folder hides the kernel file. Errors are
    `CompileError`s that point into the kernel file; `importlib.reload` compiles anew. Installing twice is once.
    """
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)


def uninstall() -> None:
    """Takes the import hook away; modules that were imported stay."""
    while _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)


class _KernelFinder(importlib.abc.MetaPathFinder):
    """Looks for kernel files after all other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        name = fullname.rpartition(".")[2] + SUFFIX
        for folder in sys.path if path is None else path:
            file = os.path.join(os.path.abspath(folder), name) if isinstance(folder, str) else ""
            if os.path.isfile(file):
                return importlib.machinery.ModuleSpec(fullname, _KernelLoader(file), origin=file)
        return None


class _KernelLoader(importlib.abc.Loader):
    """Compiles one kernel file, through the cache, each time that its module is executed."""

    def __init__(self, path: str) -> None:
        self._path = path

    def exec_module(self, module: ModuleType) -> None:
        entry = compiled_entry(source_bytes(self._path), self._path)
        module.__file__ = str(entry.path)
        execute(entry, module)
        attach(module, self._path)


_FINDER = _KernelFinder()
