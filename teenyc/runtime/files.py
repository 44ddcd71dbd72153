"""Files in and out: a path becomes a `SourceFile` or a report, a text becomes a whole file or none."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.source import SourceFile

LARGEST_SOURCE = 16_000_000
"""Bytes of a source file; nothing larger was meant to be one."""

BOM = b"\xef\xbb\xbf"


def read_source(path: str | Path, reporter: Reporter) -> SourceFile | None:
    """The source in a file, under the path as given; None after a report."""
    data = read_bytes(path)
    source = data if isinstance(data, Diagnostic) else decode(data, str(path))
    if isinstance(source, Diagnostic):
        reporter.report(source)
        return None
    return source


def read_bytes(path: str | Path) -> bytes | Diagnostic:
    """The contents of a regular file of a source's size, or what is the matter with it."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            state = os.fstat(file.fileno())
            problem = _unfit(str(path), state)
            return problem or file.read(LARGEST_SOURCE + 1)
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

        return FileTooLarge(path=name, size=len(data), limit=LARGEST_SOURCE)
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
    nowhere, or is another user's, is an error. An existing file keeps its mode. Raises OSError.
    """
    place, mode = _place(Path(path))
    temporary = place.parent / f".teenyc-{os.getpid():x}-{os.urandom(6).hex()}.tmp"
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            if mode is not None:
                os.chmod(temporary, mode)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(place.parent)


# ---- reading --------------------------------------------------------------------------------------------------------


def _open_at_once(path: str, flags: int) -> int:
    """Opens without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unfit(path: str, state: os.stat_result) -> Diagnostic | None:
    """Why what was opened is no source, before it is read."""
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    if not stat.S_ISREG(state.st_mode):
        from teenyc.diagnostics.catalog.inputs import NotAFile

        return NotAFile(path=path, what=next((what for test, what in kinds if test(state.st_mode)), "a device"))
    if state.st_size > LARGEST_SOURCE:
        from teenyc.diagnostics.catalog.inputs import FileTooLarge

        return FileTooLarge(path=path, size=state.st_size, limit=LARGEST_SOURCE)
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


def _place(path: Path) -> tuple[Path, int | None]:
    """The regular file that is to be replaced, behind links, and its mode; None where there is none yet."""
    try:
        link, state = os.lstat(path), os.stat(path)
    except FileNotFoundError:
        if path.is_symlink():
            raise OSError(0, "the symbolic link leads nowhere", str(path)) from None
        return path, None
    if stat.S_ISLNK(link.st_mode) and hasattr(os, "geteuid") and link.st_uid not in (os.geteuid(), 0):
        raise OSError(0, "the symbolic link belongs to another user", str(path))
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(state.st_mode):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    return Path(os.path.realpath(path)), stat.S_IMODE(state.st_mode)


def _sync_folder(folder: Path) -> None:
    """Makes the new name last, where the system can."""
    if os.name == "posix":
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
