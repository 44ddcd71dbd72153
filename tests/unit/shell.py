"""A shell for tests of the command line: it runs in this process, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from teenyc.cli import main

GOOD = """
#[kernel]
fn one(x: Pointer<f32>) {
    store(x + program_id(0), 1.0);
}
"""
BAD = GOOD.replace("1.0", "nothing")
LINT = GOOD.replace("{\n", "{\n    let unused = 1.0;\n")
TWO = GOOD + GOOD.replace("one", "two")


class Shell:
    """Runs the command in a temporary folder and keeps what it printed."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capture = folder, capture

    def __call__(self, *arguments: str) -> SimpleNamespace:
        status = main(arguments)
        printed = self._capture.readouterr()
        return SimpleNamespace(status=status, out=printed.out, err=printed.err)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def exists(self, name: str) -> bool:
        return (self.folder / name).exists()

    def files(self) -> list[str]:
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())
