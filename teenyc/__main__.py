"""`python -m teenyc` is the command `teenyc`."""

from __future__ import annotations

import sys

from teenyc.cli import main

if __name__ == "__main__":
    sys.exit(main())
