"""Another user of the machine, for tests that the administrator runs: work is done in a process that is nobody's."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace

import pytest

from teenyc.cli import main

NOBODY = 65534
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the administrator can be somebody else"
)


def nobody(work: Callable[[], int]) -> SimpleNamespace:
    """What work printed and returned, or how it failed, in a process that has the rights of nobody.

    What it imports must be imported before: nobody may not be allowed to read it.
    """
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        status = 99
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            sys.stdout = sys.stderr = printed = StringIO()
            status = work()
            os.write(writer, printed.getvalue().encode()[:60_000])
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[:60_000])
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        text = file.read()
    return SimpleNamespace(status=os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), text=text)


def teenyc(*arguments: str) -> SimpleNamespace:
    """The command as nobody runs it."""
    return nobody(lambda: main(arguments))
