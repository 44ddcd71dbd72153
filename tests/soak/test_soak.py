"""A few random kernels, each evaluated in every way there is; `python tests/soak/soak.py` tries thousands."""

from __future__ import annotations

import pytest
from conftest import INTERPRETED
from expressions import Expressions
from trying import try_seed
from values import Value, computed
from workers import Lost, spread

from kernels import tolerances

KERNELS, FIRST = 16, 20_000


@pytest.mark.parametrize("seed", range(FIRST, FIRST + KERNELS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, where integers wrap under the interpreter
def test_all_evaluations_of_a_random_kernel_agree(seed: int) -> None:
    tried = try_seed(seed, is_interpreted=INTERPRETED, is_shortened=False)
    assert not tried.is_failure, f"{tried.kind}\n{tried.detail}"


def test_what_is_special_on_one_way_only_may_err_as_much_as_on_the_other() -> None:
    special = Value("s", "f32", is_special=True)
    logarithm = computed("log(x)", "f32", (), 15.0, 0.0, "f32", 8.0)
    between, exactly = tolerances(Expressions.either("y", special, logarithm), "f32")
    assert between == tolerances(logarithm, "f32")[0] > 1e-6
    assert exactly == -1.0, "an f64 has other specials"
    assert tolerances(special, "f32") == (0.0, -1.0)


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
