"""teenyc compiles GPU kernels in Rust syntax to readable Triton source.

`compile_source` is the pure compiler; `load` and `install` turn kernel files into modules; `run` runs a kernel on the
CPU. What a name needs is imported when the name is first used, so that `import teenyc` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.version import __version__

if TYPE_CHECKING:
    from teenyc.diagnostics.model import CompileError, RunError
    from teenyc.driver import Compiled, Options, compile_source
    from teenyc.runtime.load import install, load, uninstall
    from teenyc.runtime.run import run

__all__ = [
    "CompileError",
    "Compiled",
    "Options",
    "RunError",
    "__version__",
    "compile_source",
    "install",
    "load",
    "run",
    "uninstall",
]

_HOMES = {
    "CompileError": "teenyc.diagnostics.model",
    "Compiled": "teenyc.driver",
    "Options": "teenyc.driver",
    "RunError": "teenyc.diagnostics.model",
    "compile_source": "teenyc.driver",
    "install": "teenyc.runtime.load",
    "load": "teenyc.runtime.load",
    "run": "teenyc.runtime.run",
    "uninstall": "teenyc.runtime.load",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'teenyc' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
