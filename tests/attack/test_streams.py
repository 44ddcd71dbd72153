"""Standard streams under attack: closed, full, in another encoding; names of files that a terminal would obey."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import GOOD, Shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="about streams of POSIX")


def run(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a shell, for what a shell does with streams."""
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m teenyc {words}"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "status", "error"),
    [
        ("build one.tk --stdout > /dev/full", 1, "error: cannot write to standard output: disk full\n"),
        ("check bad.tk 2> /dev/full", 1, ""),
        ("build one.tk --stdout >&-", 0, ""),
        ("check bad.tk >&- 2>&-", 1, ""),
        ("build - <&-", 1, "error[E0002]: cannot read `<stdin>`: it is closed\n"),
        ("build - < /dev/zero", 1, "error[E0006]: `<stdin>` is too large\n"),
    ],
)
def test_streams_that_are_closed_or_full(shell: Shell, words: str, status: int, error: str) -> None:
    shell.write("one.tk", GOOD)
    done = run(words)
    assert (done.returncode, done.stderr[: len(error) or None]) == (status, error)


def test_a_module_is_in_utf_8_whatever_the_locale_says(shell: Shell) -> None:
    shell.write("one.tk", f"//! é → ü\n{GOOD}")
    shell("build", "one.tk")
    done = run("build one.tk --stdout > out.py", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("out.py").read_bytes() == Path("one.py").read_bytes()


def test_a_terminal_obeys_no_name_of_a_file(shell: Shell) -> None:
    name = "\x1b]0;title\x07\u202e\n.tk"
    shell.write(name, GOOD)
    for arguments in (
        ["build", name],
        ["build", name, "--explain-tiling"],
        ["check", name],
        ["build", name, "--check"],
    ):
        done = shell(*arguments)
        assert done.status == 0
        assert all(text.replace("\n", "").isprintable() for text in (done.out, done.err)), arguments
