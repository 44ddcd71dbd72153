"""The cache of generated modules: files named by what they were made from, that any number of processes may share.

An entry is a Python file whose last line holds its key and the hash of what is before it. It appears whole or not at
all, is checked when it is read and made again when it is damaged: a process may die at any moment, and two may write
the same.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from teenyc.diagnostics.model import CompileError
from teenyc.record import record
from teenyc.resources import folder
from teenyc.runtime.files import is_own

LARGEST_SIZE = 256 * 2**20
LARGEST_COUNT = 8192
"""An insertion that exceeds these bounds removes the entries that were not used for longest, down to nine tenths."""

PROTECTED_SECONDS = 600
"""No entry is removed so soon after its last use, nor a temporary file after it was made: somebody may be at it."""

SEAL = b"# teenyc cache entry: "

_OURS = re.compile(r"\.[0-9a-f]+-[0-9a-f]{12}\.tmp|[A-Za-z0-9_]*_[0-9a-f]{16}\.py")
"""How files are called that a cache may remove: a folder that somebody names may hold others too."""

_STARTED = time.time()


@record
class Entry:
    """A module of the cache: its file, and the text that was read or written there."""

    path: Path
    text: str


def key_of(source: bytes, name: str, options: Mapping[str, object]) -> str:
    """What a module is made from, as a hash: source, file name, options, and this compiler to the byte."""
    parts = (source, name.encode("utf-8", "surrogatepass"), repr(sorted(options.items())).encode(), compiler_digest())
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


def find(key: str, stem: str) -> Entry | None:
    """The entry of a key, or None if there is none that is whole and this user's."""
    path = directory() / file_name(key, stem)
    text = _read(path, key)
    return Entry(path, text) if text is not None else None


def insert(key: str, stem: str, text: str) -> Entry:
    """Stores the text of a module under its key; raises a `CompileError` where no directory can be written."""
    sealed = text + ("" if text.endswith("\n") else "\n")
    sealed += (SEAL + _seal(key, sealed.encode())).decode()
    try:
        path = _write(directory() / file_name(key, stem), sealed)
    except OSError as error:
        path = _write_elsewhere(file_name(key, stem), sealed, error)
    _evict(path.parent, keep=path.name)
    return Entry(path, sealed)


def file_name(key: str, stem: str) -> str:
    """`flash_attn2_0123456789abcdef.py`: the name of a module can be made of it."""
    word = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in stem)[:80]
    return f"{'_' if word[:1].isdigit() else ''}{word}_{key[:16]}.py"


@cache
def compiler_digest() -> bytes:
    """A hash of everything in teenyc that decides what it generates: its Python files, grammar and templates.

    Where one of them changed after this process started, what runs is not what is on disk: then it is like no other.
    """
    package = Path(__file__).resolve().parent.parent
    return digest_of(((package, ".py"), (folder("grammar"), ".lark"), (folder("templates"), ".jinja")), _STARTED)


def digest_of(places: tuple[tuple[Path, str], ...], until: float = math.inf) -> bytes:
    """A hash of names and contents of all files with an ending below a folder, for each of some folders.

    It is random where a file has changed after a time. What says so is the time that the system keeps, which neither
    an archive nor a copy brings along.
    """
    digest = hashlib.sha256()
    for root, suffix in places:
        for path in sorted(root.rglob(f"*{suffix}")):
            if os.name == "posix" and os.stat(path).st_ctime > until:
                return os.urandom(digest.digest_size)
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()}:{len(content)}:".encode() + content)
    return digest.digest()


# ---- where it is ----------------------------------------------------------------------------------------------------


def directory() -> Path:
    """The folder of the cache, made if need be.

    `TEENYC_CACHE_DIR`; else `teenyc` in the user's cache folder; where that cannot be written, a private folder of this
    user among the temporary files. Raises a `CompileError` that names the folder where all of that fails.
    """
    stated = os.environ.get("TEENYC_CACHE_DIR")
    if stated:
        return _made(Path(stated))
    for place in _usual_places():
        with suppress(OSError):
            if is_own(os.stat(_prepare(place))):  # with the home of another user, their links would lead elsewhere
                return place
    return private_directory()


def private_directory() -> Path:
    """A folder among the temporary files that only this user can have made, and only this user can enter."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        place = Path(tempfile.gettempdir()) / f"teenyc-{user}"
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        state = os.lstat(place)
    except OSError as error:
        raise _unusable(Path(f"teenyc-{user}"), error) from None
    if not stat.S_ISDIR(state.st_mode) or not is_own(state) or (os.name == "posix" and state.st_mode & 0o077):
        raise _unusable(place, PermissionError("it is not a private folder of this user"))
    return _made(place)


def _usual_places() -> Iterator[Path]:
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        yield Path(base) / "teenyc"
        return
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        yield Path(home) / ".cache" / "teenyc"


def _made(place: Path) -> Path:
    try:
        return _prepare(place)
    except OSError as error:
        raise _unusable(place, error) from None


def _prepare(place: Path) -> Path:
    place = place.absolute()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError("permission denied")
    return place


def _unusable(place: Path, error: OSError) -> CompileError:
    reason = (error.strerror or str(error)).lower()
    if isinstance(error, IsADirectoryError):  # one that is in the place of an entry
        reason = f"a folder is in the way, `{Path(error.filename2 or error.filename).name}`"
    return CompileError(
        (),
        f"error: cannot use the cache directory `{place}`: {reason}\n"
        "help: set TEENYC_CACHE_DIR to a directory for the cache that this user can write",
    )


# ---- entries --------------------------------------------------------------------------------------------------------


def _seal(key: str, body: bytes) -> bytes:
    return f"{key} {hashlib.sha256(body).hexdigest()}\n".encode()


def _read(path: Path, key: str) -> str | None:
    """The text of an entry that is a regular file, which only this user can write, and ends in key and hash; else None.

    It is then used, and the last to be removed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not _is_trusted(state):
                return None
            content = file.read()
            body, _, seal = content.rpartition(SEAL)
            if seal != _seal(key, body):
                return None
            with suppress(OSError):
                os.utime(descriptor if os.utime in os.supports_fd else path)
        return content.decode()
    except (OSError, ValueError):
        return None


def _is_trusted(state: os.stat_result) -> bool:
    is_open = os.name == "posix" and bool(state.st_mode & 0o022)
    return stat.S_ISREG(state.st_mode) and is_own(state) and not is_open and state.st_size <= LARGEST_SIZE


def _write(path: Path, text: str) -> Path:
    """Writes an entry beside its place, then moves it there. No fsync: what a crash leaves is seen when it is read."""
    temporary = path.parent / f".{os.getpid():x}-{os.urandom(6).hex()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(text.encode())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return path


def _write_elsewhere(name: str, text: str, error: OSError) -> Path:
    """The private folder takes what the usual one did not: a full disk, a quota, a folder that went away."""
    if os.environ.get("TEENYC_CACHE_DIR"):
        raise _unusable(directory(), error) from None
    try:
        return _write(private_directory() / name, text)
    except OSError as second:
        raise _unusable(private_directory(), second) from None


def _evict(place: Path, *, keep: str) -> None:
    """Removes what processes that died left behind and, over the bounds, the entries unused for longest."""
    now = time.time()
    entries: list[tuple[float, int, str]] = []
    with suppress(OSError):
        for item in os.scandir(place):
            if not _OURS.fullmatch(item.name):
                continue
            with suppress(OSError):
                state = item.stat(follow_symlinks=False)
                idle = now - state.st_mtime
                if item.name.endswith(".py"):
                    entries.append((idle, state.st_size, item.name))
                elif idle > PROTECTED_SECONDS:
                    os.unlink(item)
    size = sum(entry[1] for entry in entries)
    if size <= LARGEST_SIZE and len(entries) <= LARGEST_COUNT:
        return
    count = len(entries)
    for idle, bytes_, name in sorted(entries, reverse=True):
        if (size <= LARGEST_SIZE * 0.9 and count <= LARGEST_COUNT * 0.9) or idle < PROTECTED_SECONDS:
            return
        if name != keep:
            with suppress(OSError):
                os.unlink(place / name)
            size, count = size - bytes_, count - 1
