"""What tests of this folder share: the command line, and a folder that all users of the machine may enter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell import BAD, GOOD, Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """The command line in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


@pytest.fixture
def common(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory in which everybody may do everything, with a source; all that reports need is imported."""
    shell.write("bad.tk", BAD)
    shell.write("one.tk", GOOD)
    shell("build", "bad.tk", "one.tk", "missing.tk", "-o", "/dev/null/x")
    shell("build", "one.tk", "-o", ".")
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o777)
        shell.folder = Path(place)
        monkeypatch.chdir(place)
        shell.write("one.tk", GOOD)
        yield shell.folder
