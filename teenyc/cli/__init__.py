"""The command `teenyc`: arguments in, files, reports and an exit status out. The only code that prints.

Exit status: 0 fine, 1 diagnostics, 2 usage, 101 a bug in teenyc, 130 interrupted, 141 nobody reads the output.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

OK, DIAGNOSTICS, USAGE, BUG, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 101, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with `arguments` (those of the process where None) and returns its exit status."""
    if arguments is None:  # the process is this command's alone, and ends before collecting its garbage pays
        gc.set_threshold(200_000)
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
    import gc

    import click

    from teenyc.cli.commands import teenyc

    gc.set_threshold(100_000)  # a short run makes many values and drops few: looking for cycles costs a tenth of it

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
