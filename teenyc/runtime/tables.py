"""Tables of the fastest configurations: `x.tuned.json` beside `x.tk` goes in, the launchers of its module know them.

A row says for which device, dtypes of tensors, constants and sizes a kernel was timed, and the configuration that was
fastest. A launch takes the row of the nearest sizes; where no row is of its device, dtypes and constants it is timed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

FORMAT = 1


def table_path(source: str | os.PathLike[str]) -> str:
    """Where the table of a kernel file is."""
    return os.path.splitext(os.fsdecode(source))[0] + ".tuned.json"


def attach(module: ModuleType, source: str | os.PathLike[str]) -> None:
    """Gives the launchers of a module the rows of the table of its source, if there is one.

    Rows of kernels that have changed their blocks are left out. Raises ValueError for a file that is no table.
    """
    path = table_path(source)
    if not os.path.isfile(path):
        return
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ValueError(f"{path} is no table of configurations of this version: remove it, or time its kernels again")
    for row in table["rows"]:
        launcher = getattr(module, row["kernel"], None)
        if launcher is not None and hasattr(launcher, "tables") and _fits(launcher, row):
            launcher.tables.append(row)


def table_text(module: ModuleType, kernels: Iterable[str]) -> str:
    """The table of what launchers of a module chose so far, to be written beside its source."""
    rows = [json.dumps(row, ensure_ascii=False) for name in kernels for row in _rows(module, name)]
    return f'{{"format": {FORMAT}, "rows": [\n' + ",\n".join(sorted(rows)) + "\n]}\n"


def _rows(module: Any, name: str) -> Iterator[dict[str, object]]:
    device = module._gpu().get_device_name()
    for (_, dtypes, named, sizes), config in getattr(module, name).chosen().items():
        elements = [module._element(dtype) for dtype in dtypes]
        given = {"dtypes": elements, "named": dict(named), "sizes": list(sizes)}
        yield {"kernel": name, "device": device, **given, "config": config}


def _fits(launcher: Any, row: dict[str, Any]) -> bool:
    """Whether a row is of the launcher's kernel as it is now."""
    config = row["config"]
    facts = launcher._facts
    is_known = config is None or set(facts["constants"]) <= set(config)
    return is_known and len(row["dtypes"]) == len(launcher._pointers)
