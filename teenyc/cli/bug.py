"""What is shown when teenyc itself fails: that it is a bug, and what to send with a report of it."""

from __future__ import annotations

import platform
import shlex
import sys
import traceback
from collections.abc import Sequence

from teenyc.diagnostics.render.text import printable
from teenyc.version import __version__


def bug_report(error: Exception, arguments: Sequence[str]) -> str:
    """The text for people who met a bug: one line on what broke and where, no traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f for f in frames if "teenyc" in f.filename] or list(frames)
    place = f"{_short(places[-1].filename)}:{places[-1].lineno} in {places[-1].name}" if places else "an unknown place"
    words = str(error).splitlines() or ["no message"]
    lines = (
        f"error: this is a bug in teenyc: {type(error).__name__}: {words[0]}",
        f"  at {place}",
        f"  command: teenyc {shlex.join(arguments)}",
        f"  teenyc {__version__}, Python {platform.python_version()}, {sys.platform}",
        "help: please report it with these lines and the source file; TEENYC_DEBUG=1 shows the whole traceback",
    )
    return "\n".join(map(printable, lines))


def _short(filename: str) -> str:
    """A file name from the package's folder on, so that a report shows nothing of the reporter's disk."""
    _, package, rest = filename.replace("\\", "/").rpartition("/teenyc/")
    return f"teenyc/{rest}" if package else filename.replace("\\", "/").rpartition("/")[2]
