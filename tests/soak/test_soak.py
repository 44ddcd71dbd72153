"""A few random kernels, each evaluated in every way there is; `python tests/soak/soak.py` tries thousands."""

from __future__ import annotations

import pytest
from conftest import INTERPRETED
from trying import try_seed
from workers import Lost, spread

KERNELS, FIRST = 16, 20_000


@pytest.mark.parametrize("seed", range(FIRST, FIRST + KERNELS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, where integers wrap under the interpreter
def test_all_evaluations_of_a_random_kernel_agree(seed: int) -> None:
    tried = try_seed(seed, is_interpreted=INTERPRETED, is_shortened=False)
    assert not tried.is_failure, f"{tried.kind}\n{tried.detail}"


def work(seed: int) -> int:
    """Hangs, ends its process, or squares."""
    if seed == 1:
        import time

        time.sleep(60)
    if seed == 2:
        import os

        os._exit(3)
    return seed * seed


def test_what_hangs_and_what_ends_its_process_is_lost_and_the_rest_goes_on() -> None:
    answers = dict(spread(work, range(5), jobs=2, limit=1.0))
    assert isinstance(answers.pop(1), Lost)
    assert answers.pop(2) == Lost("ended the process, exit status 3")
    assert answers == {0: 0, 3: 9, 4: 16}
