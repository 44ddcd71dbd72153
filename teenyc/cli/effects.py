"""`--explain-effects`: sources go in; what their kernels do to memory, and whether launches repeat, comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from teenyc.diagnostics.render.json_format import span_of
from teenyc.driver import Compiled
from teenyc.ir.certificates import PLACE
from teenyc.ir.nodes import Kernel

VERSION = 1
"""Of the document that docs/effects.md describes: it rises when a field goes or changes its meaning."""

KEYS = ("reads", "writes", "atomics", "deterministic", "nondeterministic", "provided")
"""What the document has of a kernel's metadata."""


def explanation_text(compiled: Compiled) -> str:
    """For each kernel of a source what it does, ending in a newline; nothing for a source with errors."""
    blocks = ("\n".join(_lines(kernel, facts, compiled)) for kernel, facts in _kernels(compiled))
    return "".join(f"{block}\n" for block in _separated(blocks))


def explanation_document(sources: Sequence[Compiled]) -> str:
    """The same of all sources as one JSON object; the schema is described in docs/effects.md."""
    kernels = [
        {
            "kernel": kernel.name,
            "file": each.file.name,
            "span": span_of(kernel.span, each.file),
            **{key: facts.get(key, []) for key in KEYS},
        }
        for each in sources
        for kernel, facts in _kernels(each)
    ]
    return json.dumps({"version": VERSION, "kernels": kernels}, indent=2)


def _kernels(compiled: Compiled) -> Iterator[tuple[Kernel, Mapping[str, Any]]]:
    facts: Any = compiled.metadata.get("kernels", {})
    return zip(compiled.kernels, facts.values(), strict=True)


def _separated(blocks: Iterator[str]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        yield f"\n{block}" if number else block


def _lines(kernel: Kernel, facts: Mapping[str, Any], compiled: Compiled) -> Iterator[str]:
    """A head that says whether launches repeat, what happens to each tensor, and the reasons."""
    yield f"kernel `{kernel.name}` {_outcome(facts)}"
    yield f"  --> {compiled.file.name}:{compiled.file.place(kernel.span.start)}"
    for words, names in _tensors(facts).items():
        yield f"  {words:<{PLACE}}{', '.join(names)}"
    for head, key in (("because", "nondeterministic"), ("provided that", "provided")):
        if key in facts:
            yield f"  {head}"
            yield from (f"  {_reason(each)}" for each in facts[key])


def _outcome(facts: Mapping[str, Any]) -> str:
    if not facts["deterministic"]:
        return "may give other bits in each launch"
    return "gives the same bits in each launch"


def _tensors(facts: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tensors by what happens to them; those that are read and written are updated."""
    reads, writes, atomics = (facts.get(key, []) for key in ("reads", "writes", "atomics"))
    found = {
        "reads": [name for name in reads if name not in writes],
        "updates": [name for name in reads if name in writes and name not in atomics],
        "writes": [name for name in writes if name not in reads and name not in atomics],
        "atomics": atomics,
    }
    return {words: names for words, names in found.items() if names}


def _reason(reason: Mapping[str, Any]) -> str:
    tensors = f": {', '.join(reason['tensors'])}" if "tensors" in reason else ""
    return f"{reason['at']:<{PLACE}}{reason['text']}{tensors}"
