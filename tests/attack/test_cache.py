"""The cache under attack: an entry is what was generated, to the byte, or there is none; nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from somebody import NOBODY, as_root, nobody

from teenyc.diagnostics.model import CompileError
from teenyc.runtime import cache
from teenyc.runtime.compiled import compiled_entry, entry_key

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "attack.py"
SOURCE = b"#[kernel]\nfn one(x: Pointer<f32>) { store(x + program_id(0), 1.0); }\n"
KEY = "0123456789abcdef" * 4

pytestmark = pytest.mark.skipif(os.name != "posix", reason="about users, modes and processes of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(place))
    return place


def test_every_damage_is_seen(folder: Path) -> None:
    path = cache.insert(KEY, "k", "x = 1\n").path
    content = path.read_bytes()
    for place in range(len(content)):
        for damaged in (content[:place], content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]):
            path.write_bytes(damaged)
            assert cache.find(KEY, "k") is None, damaged
        path.write_bytes(content[:place] + b"\n" + content[place:])
        assert cache.find(KEY, "k") is None, f"a line more at {place}"
    path.write_bytes(content)
    assert cache.find(KEY, "k") is not None


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "large", "pipe", "link"])
def test_what_is_damaged_is_made_again(folder: Path, damage: str) -> None:
    whole = compiled_entry(SOURCE, "one.tk")
    other = compiled_entry(SOURCE.replace(b"1.0", b"2.0"), "one.tk")
    if damage in ("pipe", "link"):
        whole.path.unlink()
    match damage:
        case "cut":
            os.truncate(whole.path, len(whole.text) // 2)
        case "empty":
            os.truncate(whole.path, 0)
        case "other":
            whole.path.write_text(other.text)
        case "large":
            os.truncate(whole.path, 2**40)
        case "pipe":
            os.mkfifo(whole.path)
        case "link":
            whole.path.symlink_to(other.path)
    assert compiled_entry(SOURCE, "one.tk") == whole
    assert whole.path.read_text() == whole.text
    assert other.path.read_text() == other.text


def test_a_folder_in_the_place_of_an_entry_is_named(folder: Path) -> None:
    name = cache.file_name(entry_key(SOURCE, "one.tk"), "one")
    (folder / name).mkdir(parents=True)
    with pytest.raises(CompileError, match=f"a folder is in the way, `{name}`"):
        compiled_entry(SOURCE, "one.tk")
    assert [path.name for path in folder.iterdir()] == [name]


def test_an_entry_that_others_may_write_is_none(folder: Path) -> None:
    path = cache.insert(KEY, "k", "x = 1\n").path
    for mode in (0o620, 0o602):
        path.chmod(mode)
        assert cache.find(KEY, "k") is None
    path.chmod(0o644)
    assert cache.find(KEY, "k") is not None


@as_root
def test_an_entry_that_somebody_made_is_none_and_goes(folder: Path) -> None:
    path = cache.insert(KEY, "k", "x = 1\n").path
    folder.chmod(0o1777)
    folder.parent.chmod(0o755)
    os.chown(path, NOBODY, NOBODY)
    assert cache.find(KEY, "k") is None
    assert cache.insert(KEY, "k", "x = 1\n").path.stat().st_uid == 0


@as_root
def test_the_cache_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEENYC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "teenyc").mkdir()
    os.chown(tmp_path / "teenyc", NOBODY, NOBODY)
    assert cache.insert(KEY, "k", "x = 1\n").path.parent == tmp_path / "teenyc-0"


@as_root
def test_a_full_or_closed_folder_is_told(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    done = nobody(lambda: int(cache.find(KEY, "k") is None))
    assert (done.status, "cannot use the cache directory" in done.text) == (99, True)


def test_only_what_a_cache_makes_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LARGEST_COUNT", 2)
    folder.mkdir()
    foreign = ["mine.py", "notes.tmp", ".hidden.tmp", "x_0123456789abcdeg.py", "0123456789abcdef.py"]
    for name in foreign:
        (folder / name).touch()
        os.utime(folder / name, (1, 1))
    for number in range(20):
        os.utime(cache.insert(f"{number:016x}" * 4, "k", "x = 1\n").path, (1, 1))
    cache.insert(KEY, "k", "x = 1\n")
    assert set(foreign) < {path.name for path in folder.iterdir()}
    assert len([*folder.glob("k_*.py")]) == 1


def test_a_compiler_that_changed_while_it_runs_is_like_no_other(tmp_path: Path) -> None:
    (tmp_path / "passes.py").write_text("x = 1\n")
    now = os.stat(tmp_path / "passes.py").st_ctime
    os.utime(tmp_path / "passes.py", (1, 1))
    places = ((tmp_path, ".py"),)
    assert cache.digest_of(places, until=now + 1) == cache.digest_of(places)
    assert len({cache.digest_of(places, until=now - 1) for _ in range(3)} - {cache.digest_of(places)}) == 3


def test_processes_that_die_and_many_at_once_leave_whole_files(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "20", "--processes", "6", "--seconds", "1.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert ", 0 faults" in done.stdout
