"""`teenyc build --target … --resources`: the manifest goes in; a table of what each kernel takes comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from teenyc.runtime.targets import TARGETS

HEAD = ("kernel", "target", "configuration", "shared memory", "threads", "registers", "spilled")


def resources_text(manifest: bytes) -> str:
    """A line for each kernel, and for each configuration that was compiled, with `*` at what was chosen among several.

    Bytes of shared memory stand beside what the target has for a block; registers are those of a thread.
    """
    rows = [HEAD, *(row for record in json.loads(manifest)["kernels"] for row in _rows(record))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _rows(record: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The lines of one entry of the manifest."""
    name = record["kernel"] + (f" ({record['form']})" if "form" in record else "")
    tried = record.get("configurations", [record])
    unchosen = "in front of blocks" if record.get("form") == "rows" else "as written"
    chosen = next((each for each in tried if each.get("chosen")), None)
    for each in tried:
        words = ", ".join(f"{n}={v}" for n, v in each.get("config", {}).items()) or unchosen
        mark = "" if len(tried) == 1 else "* " if each is chosen else "  "
        yield (name, record["target"], mark + words, *_numbers(each, record["target"]))


def _numbers(usage: Mapping[str, Any], target: str) -> tuple[str, ...]:
    shared = f"{usage['shared_memory']:,} of {TARGETS[target].shared_memory:,}"
    registers, spilled = usage["registers"], usage["spilled_bytes"]
    return (
        shared,
        f"{usage['threads']:,}",
        "unknown" if registers is None else str(registers),
        "unknown" if spilled is None else f"{spilled:,} bytes" if spilled else "nothing",
    )
