"""Kernel files become modules: `load` for a path; `install` and `uninstall` for `import` statements."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Mapping
from types import ModuleType

from teenyc.runtime.cache import Entry
from teenyc.runtime.compiled import NO_CONSTANTS, NOTHING, compiled_entry, entry_key, execute, source_bytes
from teenyc.runtime.hook import install, uninstall
from teenyc.runtime.tables import attach

__all__ = ["install", "load", "uninstall"]

_MODULES: dict[str, ModuleType] = {}
_LOCKS: dict[str, threading.RLock] = {}


def load(
    path: str | os.PathLike[str],
    *,
    set: Mapping[str, int | bool] | None = None,
    dtype: Mapping[str, str] | None = None,
    tile: bool | None = None,
) -> ModuleType:
    """The module generated from a kernel file; one object for one content, file name and options in a process.

    A source is compiled at most once for its content, options and compiler; what was generated is kept in the cache.
    `set` fixes constants and `dtype` dtype parameters by name, as the flags of `teenyc build` do. `tile` asks for
    blocks in every kernel that allows them, or in none; None leaves that to the kernels' attributes. The module stands
    alone: it works on when the source is gone. Raises `CompileError`, whose text is the report, for a source with
    errors or one that cannot be read.
    """
    if tile not in (None, True, False):
        raise TypeError(f"tile is True, False or None, got {tile!r}")
    name, constants, dtypes = os.fsdecode(path), set or NO_CONSTANTS, dtype or NOTHING
    data = source_bytes(name)
    key = entry_key(data, name, set=constants, dtype=dtypes, tile=tile)
    with _LOCKS.setdefault(key, threading.RLock()):
        module = _MODULES.get(key)
        if module is None or not os.path.exists(str(module.__file__)):
            entry = compiled_entry(data, name, set=constants, dtype=dtypes, tile=tile)
            if module is None:
                module = _module(entry)
                attach(module, name)
                _MODULES[key] = module
            module.__file__ = str(entry.path)  # where it is now, if the cache was cleared
        return module


def _module(entry: Entry) -> ModuleType:
    """The module of an entry, run and known to `sys.modules`, so that what it defines can be pickled."""
    spec = importlib.util.spec_from_file_location(entry.path.stem, entry.path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        execute(entry, module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
