"""The FILES of a command line become `Input`s: folders are searched, `-` is standard input, each source named once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record
from teenyc.runtime.files import decode, read_bytes
from teenyc.source import SourceFile

STANDARD_INPUT = "-"


@record
class Input:
    """One source to compile.

    `name` is what reports call it. `path` is None for standard input. `below` is the folder of the command line in
    which it was found, None where the file itself was named: under `-o DIR` the way from there to the file is kept.
    """

    name: str
    path: Path | None
    below: Path | None = None

    def output(self, folder: Path | None) -> Path | None:
        """Where the generated module goes; None is standard output. A `folder` ending in `.py` is the file itself."""
        if folder is not None and folder.suffix == ".py":
            return folder
        if self.path is None:
            return folder / "stdin.py" if folder else None
        if folder is None:
            return self.path.with_suffix(".py")
        way = self.path.relative_to(self.below) if self.below else Path(self.path.name)
        return folder / way.with_suffix(".py")


def collect(files: tuple[str, ...]) -> tuple[list[Input], list[Diagnostic]]:
    """The sources that a command line names, in its order, and a report for each folder without any."""
    inputs: dict[Path | None, Input] = {}
    problems: list[Diagnostic] = []
    for name in files:
        found = list(_expand(name))
        if not found:
            from teenyc.diagnostics.catalog.inputs import NoSources

            problems.append(NoSources(path=name))
        for each in found:
            inputs.setdefault(each.path.resolve() if each.path else None, each)
    return list(inputs.values()), problems


def read(each: Input) -> SourceFile | Diagnostic:
    """The text of a source, or what is the matter with it."""
    data = sys.stdin.buffer.read() if each.path is None else read_bytes(each.name)
    return data if isinstance(data, Diagnostic) else decode(data, each.name)


def _expand(name: str) -> Iterator[Input]:
    path = Path(name)
    if name == STANDARD_INPUT:
        yield Input("<stdin>", None)
    elif path.is_dir():
        yield from (Input(str(found), found, path) for found in _walk(path))
    else:
        yield Input(name, path)


def _walk(folder: Path) -> Iterator[Path]:
    """The kernel files in a folder and below, in order; not those in hidden folders."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix == ".tk" or (path.suffix == ".rs" and _has_kernel(path)):
                yield path


def _has_kernel(path: Path) -> bool:
    """Whether a Rust file has a kernel; one that cannot be read is left for the reader to report."""
    try:
        return b"#[kernel" in path.read_bytes()
    except OSError:
        return True
