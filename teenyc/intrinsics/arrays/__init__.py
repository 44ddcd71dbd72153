"""What the functions of libdevice give, on NumPy arrays; each has libdevice's name.

They are the references of `intrinsics.libdevice`. A generated module that calls one holds a copy of what stands here
under its name, and of what that needs, for Triton's interpreter: so a statement here needs but these imports.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = ("makers", "integers", "rounding", "elementary", "special")
"""The modules of this folder; a name is in one of them only."""

IMPORTS = ("import math", "from fractions import Fraction", "from statistics import NormalDist")
"""What the statements may need of the standard library; all need NumPy."""


def function(name: str) -> Any:
    """The function on arrays of one of libdevice's; imports NumPy."""
    found = (getattr(import_module(f"{__name__}.{module}"), name, None) for module in MODULES)
    return next(f for f in found if f is not None)


def texts() -> list[str]:
    """The text of each module; does not import NumPy."""
    return [(Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8") for module in MODULES]
