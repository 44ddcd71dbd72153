"""The command `teenyc`: arguments in, files, reports and an exit status out. The only code that prints.

Exit status: 0 fine, 1 diagnostics, 2 usage, 101 a bug in teenyc, 130 interrupted, 141 nobody reads the output.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO, TextIOWrapper

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Why the system takes no more of what is printed. Errors of files that are opened by name have a `filename`."""

OK, DIAGNOSTICS, USAGE, BUG, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 101, 130, 141


def command() -> int:
    """Runs the command as all that its process does; the exit status is that of the process."""
    _open_streams()
    status: list[int] = []
    if sys.gettrace() is None:  # who traces has something to write at the end
        atexit.register(_leave, status)  # before all others, so that it is called behind them
    status.append(main())
    return status[0]


def _leave(status: list[int]) -> None:
    """Ends the process, where the command has come to its end: to take every value apart takes a tenth of its time."""
    if status:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status[0])


def _open_streams() -> None:
    """What is printed has a place, and characters that are known there.

    A module that goes to a file or a pipe is in UTF-8, as Python reads it, whatever the locale says; a terminal is
    shown what it knows.
    """
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    if isinstance(sys.stdout, TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def _nowhere() -> TextIOWrapper:
    """What stands for a stream that was closed by who started the process."""
    return TextIOWrapper(FileIO(os.devnull, "w"), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with `arguments` (those of the process where None) and returns its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return BROKEN_PIPE
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE:
            return _unprinted(error)
        if isinstance(error, FileNotFoundError) and error.filename is None:  # only a way from there needs it
            print("error: the working directory does not exist any more", file=sys.stderr)
            return DIAGNOSTICS
        if os.environ.get("TEENYC_DEBUG") == "1":
            raise
        from teenyc.cli.bug import bug_report

        print(bug_report(error, words), file=sys.stderr)
        return BUG


def _unprinted(error: OSError) -> int:
    """Says that standard output takes nothing, which is no bug: it goes to a full disk, or was closed."""
    from teenyc.diagnostics.catalog.inputs import reason_of

    _give_up_output()
    with suppress(OSError):  # what is full may be where errors go
        print(f"error: cannot write to standard output: {reason_of(error)}", file=sys.stderr)
    return DIAGNOSTICS


def _give_up_output() -> None:
    """Lets what is still to be printed vanish, so that the interpreter's last flush is quiet."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    """Parses and runs; not by click's own `main`, which has other exit statuses in mind."""
    import click

    from teenyc.cli.commands import teenyc

    gc.set_threshold(400_000)  # a short run makes many values and drops few: to look for cycles hardly pays

    if "_TEENYC_COMPLETE" in os.environ:  # the shell asks for completions
        teenyc.main(words, prog_name="teenyc")
    try:
        with teenyc.make_context("teenyc", words) as context:
            status = teenyc.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return USAGE
    return status if isinstance(status, int) else OK
