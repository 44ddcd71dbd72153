"""Wxxxx: what compiles, and is likely not meant or not fast; one family a module."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.diagnostics.catalog.lints.lint import Lint
from teenyc.diagnostics.catalog.lints.memory import (
    HollowRow,
    InPlaceTiles,
    LanesShareAddress,
    MissingMask,
    PaddedLanes,
    SameAddress,
    UnmaskedTile,
    UnusedMask,
    UselessMask,
)
from teenyc.diagnostics.catalog.lints.numbers import ArithmeticOverflow, FloatAtomic, NarrowSum, RoundedInLoop
from teenyc.diagnostics.catalog.lints.running import FirstNan, IntegerDividedByZero, IntegerWrapped, NotWritten
from teenyc.diagnostics.catalog.lints.structure import (
    HidesIntrinsic,
    OpaqueOp,
    UnknownLint,
    UnreachableCode,
    UnreachablePattern,
    UnusedAllow,
    WrongReason,
)
from teenyc.diagnostics.catalog.lints.target import ConfigurationLeftOut, RegistersSpill
from teenyc.diagnostics.catalog.lints.tiling import AxisNotTiled, TilingRefused
from teenyc.diagnostics.catalog.lints.unused import (
    UnusedComparison,
    UnusedFunction,
    UnusedMutable,
    UnusedOperation,
    UnusedParameter,
    UnusedResult,
    UnusedVariable,
    ValueNeverRead,
)

__all__ = [
    "ArithmeticOverflow",
    "AxisNotTiled",
    "ConfigurationLeftOut",
    "FirstNan",
    "FloatAtomic",
    "HidesIntrinsic",
    "HollowRow",
    "InPlaceTiles",
    "IntegerDividedByZero",
    "IntegerWrapped",
    "LanesShareAddress",
    "Lint",
    "MissingMask",
    "NarrowSum",
    "NotWritten",
    "OpaqueOp",
    "PaddedLanes",
    "RegistersSpill",
    "RoundedInLoop",
    "SameAddress",
    "TilingRefused",
    "UnknownLint",
    "UnmaskedTile",
    "UnreachableCode",
    "UnreachablePattern",
    "UnusedAllow",
    "UnusedComparison",
    "UnusedFunction",
    "UnusedMask",
    "UnusedMutable",
    "UnusedOperation",
    "UnusedParameter",
    "UnusedResult",
    "UnusedVariable",
    "UselessMask",
    "ValueNeverRead",
    "WrongReason",
    "lint_names",
]


def lint_kinds() -> Mapping[str, tuple[type[Lint], ...]]:
    """The lints of each name, in the order of their codes."""
    kinds = [kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, Lint) and kind.code]
    found: dict[str, tuple[type[Lint], ...]] = {}
    for kind in sorted(kinds, key=lambda kind: kind.code):
        found[kind.lint_name()] = (*found.get(kind.lint_name(), ()), kind)
    return found


def lint_names() -> Mapping[str, str]:
    """The code of each lint by its name; of several lints of one name the least."""
    return {name: kinds[0].code for name, kinds in lint_kinds().items()}
