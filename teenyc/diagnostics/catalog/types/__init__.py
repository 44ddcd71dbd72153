"""E03xx: types, arguments, numbers and patterns that do not fit; one family a module."""

from __future__ import annotations

from teenyc.diagnostics.catalog.types.arguments import (
    BrokenRequirement,
    GivenTwice,
    MissingMethod,
    NotConstant,
    UnboundDtype,
    WrongArgument,
    WrongCount,
    WrongGenerics,
    WrongReceiver,
    of_two,
)
from teenyc.diagnostics.catalog.types.mismatches import (
    ChangedType,
    LiteralKind,
    MismatchedBranches,
    MismatchedOperands,
    MismatchedShapes,
    MismatchedTypes,
    UndefinedOperator,
)
from teenyc.diagnostics.catalog.types.numbers import (
    BadIndex,
    DivisionByZero,
    InvalidCast,
    LiteralRange,
    StepNotPositive,
)
from teenyc.diagnostics.catalog.types.values import NeverInitialised, NotExhaustive, NoValue, WrongPattern

__all__ = [
    "BadIndex",
    "BrokenRequirement",
    "ChangedType",
    "DivisionByZero",
    "GivenTwice",
    "InvalidCast",
    "LiteralKind",
    "LiteralRange",
    "MismatchedBranches",
    "MismatchedOperands",
    "MismatchedShapes",
    "MismatchedTypes",
    "MissingMethod",
    "NeverInitialised",
    "NoValue",
    "NotConstant",
    "NotExhaustive",
    "StepNotPositive",
    "UnboundDtype",
    "UndefinedOperator",
    "WrongArgument",
    "WrongCount",
    "WrongGenerics",
    "WrongPattern",
    "WrongReceiver",
    "of_two",
]
