"""`python -m teenyc` is the command `teenyc`."""

from __future__ import annotations

import sys

from teenyc.cli import command

if __name__ == "__main__":
    sys.exit(command())
