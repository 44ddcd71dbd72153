"""The FILES of a command line become `Input`s: folders are searched, `-` is standard input, each source named once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import record, state
from teenyc.runtime.files import decode, read_bytes, read_standard_input
from teenyc.source import SourceFile

STANDARD_INPUT = "-"

Identity: TypeAlias = "tuple[int, int]"


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


@state
class Places:
    """The files that are not to be written: the sources of this run, and what another source was written to.

    A file is known by what the system calls it, which is one for all of its names: through links, and in other case
    where a file system makes no difference.
    """

    sources: dict[Identity, str]
    written: dict[Identity, str]

    @staticmethod
    def of(inputs: list[Input]) -> Places:
        """The places of a run before anything is written."""
        known = ((identity(each.path), each.name) for each in inputs if each.path)
        return Places({key: name for key, name in known if key is not None}, {})


def identity(path: Path) -> Identity | None:
    """What the system knows a file by, None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def collect(files: tuple[str, ...]) -> tuple[list[Input], list[Diagnostic]]:
    """The sources that a command line names, in its order, and a report for each folder without any, or unreadable."""
    inputs: dict[str | None, Input] = {}
    problems: list[Diagnostic] = []
    for name in files:
        unreadable: list[OSError] = []
        found = list(_expand(name, unreadable))
        problems += map(_unreadable, unreadable)
        if not found and not unreadable:
            from teenyc.diagnostics.catalog.inputs import NoSources

            problems.append(NoSources(path=name))
        for each in found:
            inputs.setdefault(os.path.realpath(each.path) if each.path else None, each)
    return list(inputs.values()), problems


def read(each: Input) -> SourceFile | Diagnostic:
    """The text of a source, or what is the matter with it."""
    if each.path is None:
        return read_standard_input(each.name)
    data = read_bytes(each.name)
    return data if isinstance(data, Diagnostic) else decode(data, each.name)


def _expand(name: str, unreadable: list[OSError]) -> Iterator[Input]:
    path = Path(name)
    if name == STANDARD_INPUT:
        yield Input("<stdin>", None)
    elif os.path.isdir(path):
        yield from (Input(str(found), found, path) for found in _walk(path, unreadable))
    else:
        yield Input(name, path)


def _walk(folder: Path, unreadable: list[OSError]) -> Iterator[Path]:
    """The kernel files in a folder and below, in order; not those in hidden folders. Notes what cannot be searched."""
    for place, folders, names in os.walk(folder, onerror=unreadable.append):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix == ".tk" or (path.suffix == ".rs" and _has_kernel(path)):
                yield path


def _has_kernel(path: Path) -> bool:
    """Whether a Rust file has a kernel; one that cannot be read is left for the reader to report."""
    data = read_bytes(path)
    if not isinstance(data, Diagnostic):
        return b"#[kernel" in data
    from teenyc.diagnostics.catalog.inputs import FileTooLarge, NotAFile

    return not isinstance(data, FileTooLarge | NotAFile)


def _unreadable(error: OSError) -> Diagnostic:
    from teenyc.diagnostics.catalog.inputs import FileUnreadable, reason_of

    return FileUnreadable(path=str(error.filename), reason=reason_of(error))
