"""The command `teenyc`: arguments in, files, reports and an exit status out. The only code that prints.

Exit status: 0 fine, 1 diagnostics, 2 usage, 101 a bug in teenyc, 130 interrupted, 141 nobody reads the output.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

OK, DIAGNOSTICS, USAGE, BUG, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 101, 130, 141


def command() -> int:
    """Runs the command as all that its process does; the exit status is that of the process."""
    status: list[int] = []
    if sys.gettrace() is None:  # who traces has something to write at the end
        atexit.register(_leave, status)  # before all others, so that it is called behind them
    status.append(main())
    return status[0]


def _leave(status: list[int]) -> None:
    """Ends the process, where the command has come to its end: to take every value apart takes a tenth of its time."""
    if status:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status[0])


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the interpreter's last flush is quiet
        return BROKEN_PIPE
    except Exception as error:
        if os.environ.get("TEENYC_DEBUG") == "1":
            raise
        from teenyc.cli.bug import bug_report

        print(bug_report(error, words), file=sys.stderr)
        return BUG


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
