"""The manifest of ahead-of-time compilation: all that a host in Rust, C++ or Python must know to launch a kernel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from teenyc.runtime.fitting import Form, Tried
from teenyc.runtime.signature import ALIGNMENT, Argument, Signature
from teenyc.runtime.targets import Target
from teenyc.runtime.usage import Usage
from teenyc.source import SourceFile
from teenyc.types import DType
from teenyc.version import __version__

FORMAT = 3
"""Grows when an entry changes its meaning; new entries may come without.

In 2 came kernels in blocks, with a `form`; in 3 those that a host launches before one in blocks, of the form `rows`.
"""

LIMITS = (2**31 - 1, 65_535, 65_535)


def manifest(source: SourceFile, triton: str, records: Iterable[Mapping[str, object]]) -> bytes:
    """The whole manifest as JSON, the same bytes for the same input."""
    content = (b"\xef\xbb\xbf" if source.bom else b"") + source.text.encode("utf-8", "surrogatepass")
    document = {
        "format": FORMAT,
        "teenyc": __version__,
        "triton": triton,
        "source": {"file": source.name.replace("\\", "/").rpartition("/")[2], "sha256": sha256(content)},
        "kernels": list(records),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return text.encode(errors="backslashreplace")  # of a file's name that is no text, as JSON writes it


def record(form: Form, target: Target, options: Mapping[str, object], files: Mapping[str, bytes]) -> dict[str, object]:
    """One kernel for one target. `files` are the artifacts by name."""
    signature, metadata = form.chosen.signature, form.chosen.result.metadata
    tried = [_tried(each, is_chosen=each is form.chosen) for each in form.tried if each.signature.config]
    return {
        "kernel": signature.name,
        **({"form": signature.form} if signature.form else {}),
        "target": target.name,
        "entry": metadata.name,
        "files": {
            name.rpartition(".")[2]: {"file": name, "sha256": sha256(content), "bytes": len(content)}
            for name, content in files.items()
        },
        "arguments": [*map(_argument, signature.arguments), *_scratch(metadata)],
        "constants": {n: v.name if isinstance(v, DType) else v for n, v in signature.constants.items()},
        "dtypes": dict(signature.dtypes),
        "options": dict(options),
        "num_warps": metadata.num_warps,
        "num_stages": metadata.num_stages,
        "num_ctas": metadata.num_ctas,
        **_usage(form.chosen.usage),
        **({"configurations": tried} if tried else {}),
        "grid": _grid(signature),
        **_conditions(signature),
    }


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _conditions(signature: Signature) -> dict[str, object]:
    """What must hold of a launch of a kernel in blocks, over arguments and constants, else the plain one is right."""
    conditions = signature.facts.get("conditions") if signature.form == "tiled" else None
    return {"conditions": conditions} if conditions else {}


def _usage(usage: Usage) -> dict[str, object]:
    """What a block takes: threads, memory, and of each thread registers and the bytes that these do not hold."""
    tensor_memory = {"tensor_memory": usage.tensor_memory} if usage.tensor_memory else {}
    return {
        "threads": usage.threads,
        "shared_memory": usage.shared_memory,
        **tensor_memory,
        "registers": usage.registers,
        "spilled_bytes": usage.spilled_bytes,
    }


def _tried(tried: Tried, *, is_chosen: bool) -> dict[str, object]:
    """A configuration that was compiled, what it takes, whether the target has that, and whether it is the one here."""
    fate = {"fits": not tried.lacks, "chosen": is_chosen}
    return {"config": dict(tried.signature.config), **_usage(tried.usage), **fate}


def _argument(argument: Argument) -> dict[str, object]:
    """In launch order; a pointer is the address of the first element of a contiguous tensor."""
    facts: dict[str, object] = {"name": argument.name, "type": argument.type, "bytes": argument.size}
    if argument.is_pointer:
        facts |= {"element": argument.element, "alignment": ALIGNMENT}
    return {**facts, "role": argument.role}


def _scratch(metadata: Any) -> Iterable[dict[str, object]]:
    """The pointers that Triton's kernels take behind the author's; null where no memory is needed."""
    for name in ("global_scratch", "profile_scratch"):
        size = getattr(metadata, f"{name}_size", 0)
        alignment = getattr(metadata, f"{name}_align", 1)
        yield {
            "name": name,
            "type": "*i8",
            "bytes": 8,
            "element": "i8",
            "alignment": alignment,
            "role": "scratch",
            "size_per_program": size,
        }


def _grid(signature: Signature) -> dict[str, object]:
    """The rule of the grid: one program for each entry of the source's grid, so many along each axis at most.

    Of a kernel in blocks a program takes so many entries along the axes in `blocks`: a host divides the extents there,
    rounding up, and passes what they were in the arguments that `counts` names. What runs before it has along one axis
    the `iterations` of a loop, a formula over the arguments, along `axes` the extents of the source's grid, and 1 along
    others.
    """
    stated, facts = signature.kernel.attributes.grid, signature.facts
    rule: dict[str, object] = {"extents": None if stated is None else [str(e) for e in stated], "limits": list(LIMITS)}
    if signature.form == "rows":
        rule = {"iterations": {facts["axis"]: facts["iterations"]}, "axes": facts["axes"], "limits": list(LIMITS)}
    if signature.form in ("tiled", "rows"):
        blocks = {axis: signature.constants[name] for axis, name in facts["blocks"].items()}
        rule |= {"blocks": blocks, "counts": dict(facts["counts"])}
    return rule
