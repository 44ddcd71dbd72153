"""`teenyc kernels`: what comes with teenyc, and where its sources are."""

from __future__ import annotations

from pathlib import Path

import click

from teenyc.cli import OK
from teenyc.diagnostics.suggest import closest
from teenyc.resources import kernels_directory


def kernels(name: str | None) -> int:
    """Prints a line for each bundled file, or the path of one; a usage error for a name that is not bundled."""
    bundled = {path.stem: path for path in sorted(kernels_directory().glob("*.tk"))}
    if name is None:
        width = max(map(len, bundled), default=0)
        for stem, path in bundled.items():
            print(f"{stem:<{width}}  {_summary(path)}")
            print(f"{'':<{width}}  {path}")
        return OK
    if name not in bundled:
        near = closest(name, bundled)
        hint = f"did you mean {near}?" if near else f"bundled are {', '.join(bundled)}"
        raise click.UsageError(f"no bundled kernel file is called {name!r}; {hint}")
    print(bundled[name])
    return OK


def _summary(path: Path) -> str:
    """The first line of a file's `//!` text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line[3:].strip() for line in lines if line.startswith("//!") and line[3:].strip()), "")
