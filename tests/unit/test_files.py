"""Files in and out: sources are read or reported, outputs are written whole or not at all."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.runtime import files
from teenyc.runtime.files import decode, read_source, write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="about links, modes and users of POSIX")


def report_of(path: object) -> Diagnostic:
    reporter = Reporter()
    assert read_source(str(path), reporter) is None
    (diagnostic,) = reporter
    return diagnostic


# ---- reading --------------------------------------------------------------------------------------------------------


def test_a_source_keeps_its_name_and_its_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.tk").write_bytes("\ufeff// ä\r\nfn\tx\n".encode())
    reporter = Reporter()
    source = read_source("k.tk", reporter)
    assert source is not None
    assert (source.name, source.text, source.bom) == ("k.tk", "// ä\r\nfn\tx\n", True)
    assert not list(reporter)


def test_an_empty_source_is_read(tmp_path: Path) -> None:
    (tmp_path / "k.tk").touch()
    source = read_source(tmp_path / "k.tk", Reporter())
    assert source is not None
    assert source.text == ""


def test_a_missing_file_is_reported_with_a_similar_name(tmp_path: Path) -> None:
    (tmp_path / "softmax.tk").touch()
    (tmp_path / "softmax.py").touch()
    diagnostic = report_of(tmp_path / "softmx.tk")
    assert (diagnostic.code, diagnostic.message()) == ("E0001", f"cannot find `{tmp_path}/softmx.tk`")
    assert diagnostic.help() == f"a file has a similar name: `{tmp_path}/softmax.tk`"
    assert report_of(tmp_path / "no" / "such" / "k.tk").help() is None


@posix
def test_a_link_that_leads_nowhere_is_not_like_itself(tmp_path: Path) -> None:
    (tmp_path / "softmax.tk").symlink_to(tmp_path / "gone.tk")
    assert report_of(tmp_path / "softmax.tk").help() is None


@posix
@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda p: p.mkdir(), "E0002", "it is a directory"),
        (lambda p: p.symlink_to(p), "E0002", "too many symbolic links"),
        (lambda p: p.symlink_to("/dev/null"), "E0009", "is a device"),
        (lambda p: os.mkfifo(p), "E0009", "is a pipe"),
        (lambda p: p.write_bytes(b"// \xe4"), "E0003", "is not UTF-8"),
        (lambda p: p.symlink_to("/proc/self/mem/x"), "E0002", "not a directory"),
    ],
)
def test_what_is_no_source_is_reported(tmp_path: Path, make: object, code: str, words: str) -> None:
    make(tmp_path / "k.tk")  # type: ignore[operator]
    diagnostic = report_of(tmp_path / "k.tk")
    assert diagnostic.code == code
    assert words in diagnostic.message()


@posix
def test_a_socket_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("k.tk")
        assert report_of("k.tk").code in ("E0002", "E0009")


def test_a_large_file_is_reported_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_SOURCE", 10)
    (tmp_path / "k.tk").write_bytes(b"x" * 11)
    assert report_of(tmp_path / "k.tk").code == "E0006"
    problem = decode(b"x" * 11, "<stdin>")
    assert isinstance(problem, Diagnostic)
    assert problem.message() == "`<stdin>` is too large"


def test_the_first_wrong_byte_is_told(tmp_path: Path) -> None:
    problem = decode(b"\xef\xbb\xbfa\nb\n\xc3\xa4 \xff", "k.tk")
    assert isinstance(problem, Diagnostic)
    assert problem.notes() == ("the first invalid byte is on line 3, at byte offset 10",)


# ---- writing --------------------------------------------------------------------------------------------------------


def test_a_file_is_made_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.py"
    write_atomically(path, "ä\r\n")
    assert path.read_bytes() == "ä\r\n".encode()
    write_atomically(str(path), b"\0")
    assert path.read_bytes() == b"\0"
    assert [p.name for p in tmp_path.iterdir()] == ["out.py"]


@posix
def test_modes_are_those_of_the_user_or_of_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "out.py"
    before = os.umask(0o027)
    try:
        write_atomically(path, "")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o755)
        write_atomically(path, "x")
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
    finally:
        os.umask(before)


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "out.py"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "after")
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["out.py"]


@posix
def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "out.py", tmp_path / "out.py"
    target.write_text("before")
    link.symlink_to(target)
    write_atomically(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert [p.name for p in target.parent.iterdir()] == ["out.py"]


@posix
def test_links_that_lead_nowhere_and_what_is_no_file_are_errors(tmp_path: Path) -> None:
    link = tmp_path / "out.py"
    link.symlink_to(tmp_path / "nowhere.py")
    with pytest.raises(OSError, match="leads nowhere"):
        write_atomically(link, "x")
    assert not (tmp_path / "nowhere.py").exists()
    link.unlink()
    link.symlink_to("/dev/null")
    with pytest.raises(FileExistsError):
        write_atomically(link, "x")
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "x")
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "out.py", "x")


@posix
def test_a_link_of_another_user_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, link = tmp_path / "precious", tmp_path / "out.py"
    target.write_text("before")
    link.symlink_to(target)
    if os.geteuid() == 0:
        os.lchown(link, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(OSError, match="another user"):
        write_atomically(link, "x")
    assert target.read_text() == "before"
