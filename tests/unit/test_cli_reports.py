"""Reports on the command line: formats, colours, where they go, and sources that cannot be read."""

from __future__ import annotations

import json
import os
import sys

import pytest
from shell import BAD, GOOD, LINT, Shell


def test_reports_in_each_format(shell: Shell) -> None:
    shell.write("bad.tk", BAD)
    assert " --> bad.tk:4:30" in shell("check", "bad.tk").err
    assert shell("check", "bad.tk", "--format", "short").err.startswith("bad.tk:4:30: error[E0201]: unknown name")
    report = json.loads(shell("check", "bad.tk", "--format", "json").out)["diagnostics"][0]
    assert (report["code"], report["span"]["line"], report["span"]["column"]) == ("E0201", 4, 30)
    assert json.loads(shell("check", "bad.tk", "--format", "sarif").out)["version"] == "2.1.0"


def test_json_is_a_document_even_without_reports(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    done = shell("build", "one.tk", "--format", "json")
    assert json.loads(done.out)["diagnostics"] == []
    assert done.err == "wrote one.py: 1 kernel\n"


def test_code_on_standard_output_stays_alone(shell: Shell) -> None:
    shell.write("lint.tk", LINT)
    done = shell("build", "lint.tk", "--stdout", "--format", "json")
    assert done.out.count("def one(") == 1
    assert json.loads(done.err)["diagnostics"][0]["code"] == "W0101"


def test_lints_fail_only_when_denied(shell: Shell) -> None:
    shell.write("lint.tk", LINT)
    done = shell("build", "lint.tk")
    assert done.status == 0
    assert "warning[W0101]" in done.err
    (shell.folder / "lint.py").unlink()
    assert shell("build", "lint.tk", "--deny-warnings").status == 1
    assert not shell.exists("lint.py")


def test_colour_is_asked_for_and_never_in_documents(shell: Shell) -> None:
    shell.write("bad.tk", BAD)
    assert "\x1b[" not in shell("check", "bad.tk").err
    assert "\x1b[" in shell("check", "bad.tk", "--color", "always").err
    assert "\x1b[" not in shell("check", "bad.tk", "--color", "always", "--format", "json").out


def test_colour_on_a_terminal_unless_no_color(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write("bad.tk", BAD)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1;31m" in shell("check", "bad.tk").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in shell("check", "bad.tk").err


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("missing.tk", None, "E0001"),
        ("latin.tk", b"// \xe9\n", "E0003"),
        ("empty.tk", b"", "E0005"),
        ("huge.tk", b"//" + b" " * 16_000_000, "E0006"),
    ],
)
def test_unfit_sources_are_reported(shell: Shell, name: str, content: bytes | None, code: str) -> None:
    if content is not None:
        shell.write(name, content)
    done = shell("build", name)
    assert done.status == 1
    assert f"error[{code}]" in done.err
    assert not list(shell.folder.glob("*.py"))


def test_host_code_in_a_folder_is_passed_over(shell: Shell) -> None:
    """A Rust file that speaks of kernels and has none is an error only where it is named itself."""
    shell.write("library/one.rs", "#[kernel]\nfn one(x: Pointer<f32>) { store(x, 1.0); }\n")
    host = shell.write("library/lib.rs", "//! Says `#[kernel]`.\nmod one;\npub fn size() -> usize { 1 }\n")
    assert shell("build", "library").status == 0
    assert not (shell.folder / "library/lib.py").exists()
    named = shell("build", str(host))
    assert named.status == 1
    assert "E0005" in named.err


def test_a_folder_without_kernels_is_reported(shell: Shell) -> None:
    (shell.folder / "empty").mkdir()
    done = shell("build", "empty")
    assert done.status == 1
    assert "error[E0004]" in done.err


def test_a_source_that_may_not_be_read_is_reported(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    shell.write("one.tk", GOOD)
    monkeypatch.setattr(os, "open", denied)
    done = shell("build", "one.tk")
    assert done.status == 1
    assert "error[E0002]: cannot read `one.tk`: permission denied" in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_no_source(shell: Shell) -> None:
    os.mkfifo(shell.folder / "pipe.tk")
    done = shell("build", "pipe.tk")
    assert done.status == 1
    assert "error[E0009]" in done.err
