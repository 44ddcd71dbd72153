"""Files in and out: a path becomes a `SourceFile` or a report, a text becomes a whole file or none."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.source import SourceFile

LARGEST_SOURCE = 16_000_000
"""Bytes of a source file; nothing larger was meant to be one."""

BOM = b"\xef\xbb\xbf"


def read_standard_input(name: str) -> SourceFile | Diagnostic:
    """The source on standard input under a name, or what is the matter with it."""
    if sys.stdin is None:
        from teenyc.diagnostics.catalog.inputs import FileUnreadable

        return FileUnreadable(path=name, reason="it is closed")
    try:
        return decode(sys.stdin.buffer.read(LARGEST_SOURCE + 1), name)
    except OSError as error:
        from teenyc.diagnostics.catalog.inputs import FileUnreadable, reason_of

        return FileUnreadable(path=name, reason=reason_of(error))


def read_source(path: str | Path, reporter: Reporter) -> SourceFile | None:
    """The source in a file, under the path as given; None after a report."""
    data = read_bytes(path)
    source = data if isinstance(data, Diagnostic) else decode(data, str(path))
    if isinstance(source, Diagnostic):
        reporter.report(source)
        return None
    return source


def read_bytes(path: str | Path, *, largest: int | None = None) -> bytes | Diagnostic:
    """The contents of a regular file, by default of a source's size, or what is the matter with it."""
    largest = LARGEST_SOURCE if largest is None else largest
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            state = os.fstat(file.fileno())
            problem = _unfit(str(path), state, largest)
            return problem or file.read(largest + 1)
    except FileNotFoundError:
        return _missing(Path(path))
    except (OSError, ValueError) as error:
        from teenyc.diagnostics.catalog.inputs import FileUnreadable, reason_of

        reason = reason_of(error) if isinstance(error, OSError) else "the name is not one of a file"
        return FileUnreadable(path=str(path), reason=reason)


def decode(data: bytes, name: str) -> SourceFile | Diagnostic:
    """The text of a source, which reports call `name`; or what is the matter with it."""
    if len(data) > LARGEST_SOURCE:
        from teenyc.diagnostics.catalog.inputs import FileTooLarge

        return FileTooLarge(path=name, size=None, limit=LARGEST_SOURCE)
    bom = data.startswith(BOM)
    try:
        return SourceFile(name, data.removeprefix(BOM).decode("utf-8"), bom)
    except UnicodeDecodeError as error:
        from teenyc.diagnostics.catalog.inputs import NotUtf8

        offset = error.start + (len(BOM) if bom else 0)
        return NotUtf8(path=name, byte_offset=offset, line=data.count(b"\n", 0, offset) + 1)


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Makes `content` what is at `path`, whole or not at all; on an error what was there before stays.

    A symbolic link stays one if it leads to a regular file, which is then replaced; a link that leads elsewhere or
    nowhere, or is another user's, is an error. A file of this user keeps its mode. Raises OSError.
    """
    write_together({Path(path): content.encode("utf-8") if isinstance(content, str) else content})


def write_together(files: Mapping[Path, bytes]) -> None:
    """The same for several files: none is replaced before all are on the disk, then each is at once, in their order.

    Folders are not: after a loss of power the old file may be there again, as whole as the new one. The `filename` of
    an OSError is the path that could not be written.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for path, content in files.items():
            with _naming(path):
                place, mode = _place(path)
                staged.append((_temporary(place), place))
                _fill(staged[-1][0], content, mode)
        for path, (temporary, place) in zip(files, staged, strict=True):
            with _naming(path):
                os.replace(temporary, place)
    except BaseException:
        for temporary, _ in staged:
            with suppress(OSError):
                os.unlink(temporary)
        raise


def is_own(state: os.stat_result) -> bool:
    """Whether a file is this user's or the administrator's."""
    return not hasattr(os, "geteuid") or state.st_uid in (os.geteuid(), 0)


# ---- reading --------------------------------------------------------------------------------------------------------


def _open_at_once(path: str, flags: int) -> int:
    """Opens without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unfit(path: str, state: os.stat_result, largest: int) -> Diagnostic | None:
    """Why what was opened is no source, before it is read."""
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    if not stat.S_ISREG(state.st_mode):
        from teenyc.diagnostics.catalog.inputs import NotAFile

        return NotAFile(path=path, what=next((what for test, what in kinds if test(state.st_mode)), "a device"))
    if state.st_size > largest:
        from teenyc.diagnostics.catalog.inputs import FileTooLarge

        return FileTooLarge(path=path, size=state.st_size, limit=largest)
    return None


def _missing(path: Path) -> Diagnostic:
    from difflib import get_close_matches

    from teenyc.diagnostics.catalog.inputs import FileMissing

    similar = None
    with suppress(OSError):
        names = [e.name for e in os.scandir(path.parent) if e.name.endswith((".tk", ".rs")) or e.is_dir()]
        names = [n for n in names if n != path.name]  # a link that leads nowhere
        similar = next((str(path.with_name(n)) for n in get_close_matches(path.name, names, 1)), None)
    return FileMissing(path=str(path), similar=similar)


# ---- writing --------------------------------------------------------------------------------------------------------


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Lets an error speak of the file that was to be written, not of one beside it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


LONGEST_CHAIN = 40
"""Links that lead to links, as many as Linux follows."""


def _place(path: Path) -> tuple[Path, int | None]:
    """The regular file that is to be replaced, behind links, and its mode; None where there is none, or another's.

    Links are followed one by one, so that each is known to be this user's: nobody else can lead what is written
    elsewhere. The mode of another user's file may let that user write, and what is written now is not theirs.
    """
    place = path
    for _ in range(LONGEST_CHAIN):
        try:
            state = os.lstat(place)
        except FileNotFoundError:
            if place is not path:
                raise OSError(0, "the symbolic link leads nowhere", str(path)) from None
            return place, None
        if not stat.S_ISLNK(state.st_mode):
            break
        if not is_own(state):
            raise OSError(0, "the symbolic link belongs to another user", str(path))
        place = place.parent / os.readlink(place)
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(state.st_mode):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    is_mine = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
    return place, stat.S_IMODE(state.st_mode) & 0o777 if is_mine else None


def _temporary(place: Path) -> Path:
    return place.parent / f".teenyc-{os.getpid():x}-{os.urandom(6).hex()}.tmp"


def _fill(temporary: Path, content: bytes, mode: int | None) -> None:
    """Makes a file that nobody has made before, and is sure that it is on the disk; by default of the user's mode."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
