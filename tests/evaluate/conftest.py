"""The runner works on the CPU, also where there is a GPU."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def device() -> str:
    """The torch device of the tensors that the runner is given."""
    return "cpu"
