"""Every report that teenyc can make: a code goes in, its class comes out.

One module, or a package with one for each family, holds the reports of one phase. They are imported when something is
reported or explained, not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teenyc.diagnostics.model import Diagnostic

PHASES = MappingProxyType(
    {
        "E00": ("inputs", "syntax"),
        "E01": ("syntax", "habits"),
        "E02": ("names",),
        "E03": ("types", "calls", "shapes", "values", "padding"),
        "E04": ("memory", "descriptors", "safety"),
        "E05": ("target", "tiling"),
        "E06": ("structure", "functions"),
        "E07": ("running",),
        "W": ("lints",),
    }
)
"""Where the codes live: how a code begins, and the modules that hold such codes."""


def find(code: str) -> type[Diagnostic] | None:
    """The class of a code, None for a code that does not exist."""
    for module in PHASES.get(code[:3]) or PHASES.get(code[:1], ()):
        for kind in _kinds(module):
            if kind.code == code:
                return kind
    return None


def all_codes() -> tuple[str, ...]:
    """The codes of all reports, in order."""
    return tuple(sorted(kind.code for phase in iter_modules(__path__) for kind in _kinds(phase.name)))


def _kinds(module: str) -> Iterator[type[Diagnostic]]:
    """The reports that a module defines; classes without a code are what several reports share."""
    from teenyc.diagnostics.model import Diagnostic

    full_name = f"{__name__}.{module}"
    for value in vars(import_module(full_name)).values():
        is_report = isinstance(value, type) and issubclass(value, Diagnostic) and value.code
        if is_report and f"{value.__module__}.".startswith(f"{full_name}."):
            yield value
