"""Names of other libraries: what the tables advise exists, and what exists needs no advice."""

from __future__ import annotations

import re

import pytest

from teenyc.check import other_names
from teenyc.intrinsics import find, find_operator
from teenyc.types import DTYPES

NAMES = sorted({*other_names._FUNCTIONS, *other_names._METHODS})


@pytest.mark.parametrize("name", NAMES)
def test_functions_that_are_advised_exist(name: str) -> None:
    advice = other_names.function(name) + other_names.method(name)
    called = re.findall(r"(?<![.\w])([a-z_]\w*)(?:::<[^>]*>)?\(", advice)
    assert all(find(n) or find_operator(n) or n == "reduce" for n in called), called


@pytest.mark.parametrize("name", sorted(other_names._TYPES))
def test_types_that_are_advised_exist(name: str) -> None:
    assert name not in DTYPES
    named = re.findall(r"`([a-z]+\d*)`", other_names.type_(name))
    assert all(n in DTYPES for n in named), named


def test_names_with_marks_of_c_are_recognised() -> None:
    assert "maximum" in other_names.function("fmaxf")
    assert "debug_barrier" in other_names.function("__syncthreads")
    assert other_names.function("nothing_known") == ""
