"""Tables of the fastest configurations: `x.tuned.json` beside `x.tk` goes in, the launchers of its module know them.

A row says for which device, dtypes of tensors, constants and sizes a kernel was timed, and the configuration that was
fastest. A launch takes the row of the nearest sizes; where no row is of its device, dtypes and constants it is timed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from teenyc.diagnostics.model import Diagnostic
from teenyc.ir.nodes import DESCRIPTORS, OPTIONS
from teenyc.runtime.files import read_bytes, write_atomically

FORMAT = 1

KINDS: Mapping[str, tuple[type, ...]] = {
    "kernel": (str,),
    "device": (str,),
    "dtypes": (list,),
    "named": (dict,),
    "sizes": (list,),
    "config": (dict, type(None)),
}
"""What a row holds: a kernel, a device, names of element types, constants, powers of four, and what was fastest."""


def table_path(source: str | os.PathLike[str]) -> str:
    """Where the table of a kernel file is."""
    return os.path.splitext(os.fsdecode(source))[0] + ".tuned.json"


def attach(module: ModuleType, source: str | os.PathLike[str]) -> None:
    """Gives the launchers of a module the rows of the table of its source, if there is one.

    Rows of kernels that have changed their blocks are left out. Raises ValueError for a file that is no table.
    """
    for row in read(table_path(source)):
        launcher: Any = getattr(module, row["kernel"], None)
        if hasattr(launcher, "tables") and _fits(launcher, row):
            launcher.tables.append(row)


def read(path: str) -> list[dict[str, Any]]:
    """The rows of a table, none where there is no file. Raises ValueError for what is no table or cannot be read."""
    if not os.path.isfile(path):
        return []
    data = read_bytes(path)
    if isinstance(data, Diagnostic):
        raise ValueError(data.message())
    try:
        table = json.loads(data)
        is_table = table["format"] == FORMAT and all(map(_is_row, table["rows"]))
    except (ValueError, TypeError, KeyError, RecursionError):  # it is no JSON, or no object with these fields
        is_table = False
    if not is_table:
        raise ValueError(f"{path} is no table of configurations of this version: remove it, or time its kernels again")
    rows: list[dict[str, Any]] = table["rows"]
    return rows


def write(path: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a table, all of it or nothing; of rows about the same launches the last counts."""
    last = {json.dumps([row[name] for name in KINDS if name != "config"]): row for row in rows}
    lines = sorted(json.dumps({name: row[name] for name in KINDS}, ensure_ascii=False) for row in last.values())
    write_atomically(path, f'{{"format": {FORMAT}, "rows": [\n' + ",\n".join(lines) + "\n]}\n")


def rows_of(module: Any, kernels: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What launchers of a module chose so far, as rows."""
    for name in kernels:
        for (device, dtypes, named, sizes, *_), config in getattr(module, name).chosen().items():
            yield {
                "kernel": name,
                "device": module._gpu().get_device_name(device),
                "dtypes": [module._element(dtype) for dtype in dtypes],
                "named": dict(named),
                "sizes": list(sizes),
                "config": config,
            }


def _is_row(row: Any) -> bool:
    """Whether a row holds all that one does."""
    if not isinstance(row, dict) or not all(isinstance(row.get(name), kinds) for name, kinds in KINDS.items()):
        return False
    numbers = (*row["sizes"], *(row["config"] or {}).values())
    return all(type(n) is int for n in numbers) and all(isinstance(d, str) for d in row["dtypes"])


def _fits(launcher: Any, row: Mapping[str, Any]) -> bool:
    """Whether a row is of the launcher's kernel as it is now."""
    constants: set[str] = set(launcher._facts["constants"])
    if len(row["dtypes"]) != len(launcher._pointers):
        return False
    if row["config"] is None:
        return bool(launcher.tiled is not None)
    stated: dict[str, int] = row["config"]
    options = {*OPTIONS, *launcher._defaults, *([DESCRIPTORS] if "described" in launcher._facts else [])}
    return constants <= stated.keys() <= constants | options and min(stated.values()) > 0
