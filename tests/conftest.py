"""The test harness: `--bless`, the `gpu` marker, and where kernels run.

Kernels run on the GPU where there is one, otherwise under Triton's interpreter. Triton decides between the two when it
is imported, so that this file decides before any test imports it.
"""

from __future__ import annotations

import os
import shutil
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HAS_GPU = shutil.which("nvidia-smi") is not None or Path("/dev/kfd").exists()

if not HAS_GPU:
    os.environ.setdefault("TRITON_INTERPRET", "1")
os.environ.setdefault("TEENYC_TUNE", "0")  # on a GPU, timing every configuration for every case would take hours
os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write the expected files anew instead of comparing")
    parser.addoption("--fuzz", type=int, default=300, metavar="N", help="how many mutated sources to try (300)")
    parser.addoption("--loops", type=int, default=30, metavar="N", help="how many random loops to try (30)")
    parser.addoption(
        "--safety-kernels", type=int, default=60, metavar="N", help="how many random kernels to judge (60)"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--bless") and os.environ.get("CI"):
        raise pytest.UsageError("--bless is refused under CI: bless at your desk, read the difference, commit it")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not INTERPRETED:
        return
    skip = pytest.mark.skip(reason="needs a GPU; kernels run under Triton's interpreter here")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a test draws is its own, whichever ran before it in the same process."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(zlib.crc32(item.nodeid.encode()))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Generated modules of the tests are cached in a folder of their own, not in the user's."""
    os.environ["TEENYC_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def device() -> str:
    """The torch device on which kernels run: `cuda`, or `cpu` under the interpreter."""
    return "cpu" if INTERPRETED else "cuda"


@pytest.fixture
def expect_file(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with the expected file of a case, or writes the file under `--bless`."""

    def expect(path: Path, text: str) -> None:
        if request.config.getoption("--bless"):
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path.relative_to(TESTS)} is missing; write it with `pytest --bless` and read it"
        assert text == path.read_text(encoding="utf-8"), (
            f"{path.relative_to(TESTS)} differs; `pytest --bless` writes it"
        )

    return expect
