"""What tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """The command line in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)
