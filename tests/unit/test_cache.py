"""The cache of generated modules: right entries only, whatever happens to files, folders and processes."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from teenyc.diagnostics.model import CompileError
from teenyc.runtime import cache

KEY = "0123456789abcdef" * 4
TEXT = '"""A module."""\n\nx = "ä"\n'


def key(number: int) -> str:
    return f"{number:016x}" * 4


posix = pytest.mark.skipif(os.name != "posix", reason="about users and modes of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(place))
    return place


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, and no other place for a cache."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(cache.tempfile, "tempdir", str(place))
    for name in ("TEENYC_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    blocker = tmp_path / "blocker"
    blocker.touch()
    monkeypatch.setenv("HOME", str(blocker / "home"))
    monkeypatch.setenv("USERPROFILE", str(blocker / "home"))
    return place


# ---- keys -----------------------------------------------------------------------------------------------------------


def test_a_key_changes_with_everything_that_the_module_is_made_from(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        cache.key_of(b"a", "k.tk", {}),
        cache.key_of(b"b", "k.tk", {}),
        cache.key_of(b"a", "j.tk", {}),
        cache.key_of(b"a", "k.tk", {"set": [("N", 1)]}),
        cache.key_of(b"a", "k.tk", {"set": [("N", True)]}),
        cache.key_of(b"ak", ".tk", {}),
    }
    monkeypatch.setattr(cache, "compiler_digest", lambda: b"another compiler")
    keys.add(cache.key_of(b"a", "k.tk", {}))
    assert len(keys) == 7
    assert cache.key_of(b"a", "k.tk", {}) in keys


def test_the_compiler_is_known_by_its_contents_not_its_dates(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "passes.py"
    file.parent.mkdir()
    file.write_text("x = 1\n")
    os.utime(file, (1, 1))
    first = cache.digest_of(((tmp_path, ".py"),))
    (tmp_path / "notes.txt").write_text("no part of it")
    assert cache.digest_of(((tmp_path, ".py"),)) == first
    file.write_text("x = 2\n")
    os.utime(file, (1, 1))
    assert cache.digest_of(((tmp_path, ".py"),)) != first


def test_the_digest_of_this_compiler_is_cheap() -> None:
    cache.compiler_digest.cache_clear()
    start = time.perf_counter()
    assert len(cache.compiler_digest()) == 32
    assert time.perf_counter() - start < 0.1


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("flash_attn2", "flash_attn2_0123456789abcdef.py"),
        ("2 matmul-ä", "_2_matmul___0123456789abcdef.py"),
        ("x" * 300, "x" * 80 + "_0123456789abcdef.py"),
        ("", "_0123456789abcdef.py"),
        ("../up", "___up_0123456789abcdef.py"),
    ],
)
def test_a_file_name_makes_a_module_name(stem: str, name: str) -> None:
    assert cache.file_name(KEY, stem) == name
    assert name.removesuffix(".py").isidentifier()


# ---- entries --------------------------------------------------------------------------------------------------------


def test_what_was_inserted_is_found(folder: Path) -> None:
    assert cache.find(KEY, "k") is None
    entry = cache.insert(KEY, "k", TEXT)
    assert entry.path == folder / "k_0123456789abcdef.py"
    assert entry.text.startswith(TEXT)
    assert entry.path.read_text(encoding="utf-8") == entry.text
    assert cache.find(KEY, "k") == entry
    assert cache.find(KEY, "other") is None
    assert [p.name for p in folder.iterdir()] == [entry.path.name]


def test_a_damaged_entry_is_none(folder: Path) -> None:
    whole = cache.insert(KEY, "k", TEXT).path
    content = whole.read_bytes()
    damaged = [content[:n] for n in (0, 1, 20, len(content) - 70, len(content) - 1)]
    damaged += [content.replace(b"module", b"Module"), content + b"x", content.replace(b"0123", b"1123"), b"\xff" * 99]
    for bad in damaged:
        whole.write_bytes(bad)
        assert cache.find(KEY, "k") is None
    cache.insert(KEY, "k", TEXT)
    assert whole.read_bytes() == content


def test_an_entry_of_another_key_with_the_same_name_is_none(folder: Path) -> None:
    cache.insert(KEY, "k", TEXT)
    assert cache.find(KEY[:-1] + "0", "k") is None


@posix
def test_entries_are_private(folder: Path) -> None:
    entry = cache.insert(KEY, "k", TEXT)
    assert stat.S_IMODE(entry.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@posix
def test_a_link_in_place_of_an_entry_is_neither_read_nor_followed(folder: Path, tmp_path: Path) -> None:
    entry = cache.insert(KEY, "k", TEXT)
    elsewhere = tmp_path / "elsewhere.py"
    shutil.move(entry.path, elsewhere)
    entry.path.symlink_to(elsewhere)
    assert cache.find(KEY, "k") is None
    elsewhere.write_text("precious")
    cache.insert(KEY, "k", TEXT)
    assert elsewhere.read_text() == "precious"
    assert not entry.path.is_symlink()


@posix
def test_an_entry_of_another_user_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = cache.insert(KEY, "k", TEXT)
    if os.geteuid() == 0:
        os.chown(entry.path, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache.find(KEY, "k") is None


@posix
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_folder_in_place_of_an_entry_does_not_hang(folder: Path, make: object) -> None:
    cache.directory()
    make(folder / cache.file_name(KEY, "k"))  # type: ignore[operator]
    assert cache.find(KEY, "k") is None


# ---- folders --------------------------------------------------------------------------------------------------------


def test_the_usual_places_come_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEENYC_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory() == tmp_path / ".cache" / "teenyc"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.directory() == tmp_path / ".cache" / "teenyc"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.directory() == tmp_path / "xdg" / "teenyc"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "stated"))
    assert cache.directory() == tmp_path / "stated"


@posix
def test_without_a_writable_home_a_private_temporary_folder_serves(temporary: Path) -> None:
    entry = cache.insert(KEY, "k", TEXT)
    assert entry.path.parent == temporary / f"teenyc-{os.getuid()}"
    assert stat.S_IMODE(entry.path.parent.stat().st_mode) == 0o700
    assert cache.find(KEY, "k") == entry


@posix
@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null/home"])
def test_a_home_that_cannot_be_made_is_no_problem(temporary: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", f"{home}/cache")
    assert cache.directory().parent == temporary


@posix
@pytest.mark.parametrize("trap", ["link", "open", "file"])
def test_a_temporary_folder_that_is_not_private_is_refused(temporary: Path, tmp_path: Path, trap: str) -> None:
    place = temporary / f"teenyc-{os.getuid()}"
    if trap == "link":
        place.symlink_to(tmp_path)
    elif trap == "open":
        place.mkdir()
        place.chmod(0o777)
    else:
        place.touch()
    with pytest.raises(CompileError) as caught:
        cache.directory()
    assert str(place) in str(caught.value)
    assert "TEENYC_CACHE_DIR" in str(caught.value)


@posix
@pytest.mark.parametrize("place", ["/proc/cache", "{tmp}/file/cache", "{tmp}/file"])
def test_a_stated_folder_that_cannot_be_used_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "file").touch()
    stated = place.format(tmp=tmp_path)
    monkeypatch.setenv("TEENYC_CACHE_DIR", stated)
    with pytest.raises(CompileError) as caught:
        cache.find(KEY, "k")
    assert f"cannot use the cache directory `{stated}`" in str(caught.value)
    assert "set TEENYC_CACHE_DIR" in str(caught.value)


@posix
def test_a_full_disk_sends_the_entry_to_the_temporary_folder(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if "home" in str(target):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert cache.insert(KEY, "k", TEXT).path.parent.parent == temporary
    assert not list((tmp_path / "home").rglob("*.tmp"))
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "home" / "stated"))
    with pytest.raises(CompileError, match="no space left on device"):
        cache.insert(KEY, "k", TEXT)


# ---- bounds ---------------------------------------------------------------------------------------------------------


def test_the_entries_unused_for_longest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LARGEST_COUNT", 10)
    for n in range(10):
        entry = cache.insert(key(n), "k", TEXT)
        os.utime(entry.path, (time.time() - 10_000 + n,) * 2)
    cache.find(key(0), "k")  # used again, so it is young
    kept = cache.insert(KEY, "k", TEXT)
    assert cache.find(key(0), "k") is not None
    assert cache.find(key(1), "k") is None
    assert cache.find(KEY, "k") == kept
    assert len(list(folder.iterdir())) == 9


def test_size_is_bounded_but_young_entries_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LARGEST_SIZE", 5_000)
    for n in range(10):
        cache.insert(key(n), "k", TEXT + "#" * 1_000 + "\n")
    assert len(list(folder.iterdir())) == 10
    for path in folder.iterdir():
        os.utime(path, (1, 1))
    cache.insert(KEY, "k", TEXT)
    assert sum(p.stat().st_size for p in folder.iterdir()) <= 5_000


def test_what_dead_processes_left_behind_is_removed(folder: Path) -> None:
    cache.directory()
    old, new = folder / f".1-{'a' * 12}.tmp", folder / f".2-{'b' * 12}.tmp"
    for path in (old, new):
        path.touch()
    os.utime(old, (1, 1))
    (folder / "notes.txt").touch()
    cache.insert(KEY, "k", TEXT)
    assert {p.name for p in folder.iterdir()} == {new.name, "notes.txt", cache.file_name(KEY, "k")}


# ---- processes ------------------------------------------------------------------------------------------------------


SHARING = f"""
from teenyc.runtime import cache
for n in range(20):
    key, text = f"{{n % 5:016x}}" * 4, {TEXT!r} * (n % 5 + 1)
    inserted, found = cache.insert(key, "k", text), cache.find(key, "k")
    assert found == inserted, (found, inserted)
"""


def test_many_processes_share_a_cache(folder: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", SHARING]) for _ in range(32)]
    assert [process.wait() for process in processes] == [0] * 32
    assert len(list(folder.iterdir())) == 5


@posix
def test_a_process_may_be_killed_at_any_moment(folder: Path) -> None:
    code = (
        "import sys; from teenyc.runtime import cache; print(flush=True)\n"
        "while True:\n    for n in range(50): cache.insert(f'{n:016x}' * 4, 'k', 'x = 1\\n' * 5_000)\n"
    )
    for delay in (0.0, 0.003, 0.011, 0.02, 0.035):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for path in folder.glob("*.py"):
            entry = cache.find(path.stem.removeprefix("k_") * 4, "k")
            assert entry is None or entry.text.startswith("x = 1\n" * 5_000)
    assert cache.insert(key(0), "k", TEXT)
