"""Compiles generated modules for a GPU on a machine that needs none.

Standard input: a JSON list of `{"path", "constants", "dtypes"}`, with a `"target"` where it is not `"cuda"`. Standard
output: a JSON object with what failed, by `module:kernel`. With `"is_checked_only": true` it stops at Triton's first
IR, where most of what Triton refuses is refused, in a tenth of the time; so it does with kernels in which programs
share a loop, whose bodies are those of others, unless it says `"has_parts"`. Runs in a process of its own, where Triton
compiles.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

TARGETS = {"cuda": GPUTarget("cuda", 90, 32), "hip": GPUTarget("hip", "gfx942", 64)}
UNEVEN = 80
"""An extent that is far from a power of two, for kernels that take it in two parts."""

SIGNATURES = {
    "bool": "i1",
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "f8e4m3": "fp8e4nv",
    "f8e5m2": "fp8e5",
    "f8e4m3b15": "fp8e4b15",
    **{f"{sign}{bits}": f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)},
}


def main() -> None:
    failures: dict[str, str] = {}
    for job in json.load(sys.stdin):
        module = load(Path(job["path"]))
        for name, facts in module.TEENYC["kernels"].items():
            try:
                target = TARGETS[job.get("target", "cuda")]
                with contextlib.redirect_stdout(sys.stderr):  # what `static_print` prints
                    for kernel, given in kernels_of(getattr(module, name), facts):
                        source = source_of(kernel, given, job["constants"], job["dtypes"])
                        is_checked_only = job.get("is_checked_only") or ("parts" in given and not job.get("has_parts"))
                        check(source, target) if is_checked_only else triton.compile(source, target=target)
            except Exception as error:
                failures[f"{module.__name__}:{name}"] = f"{type(error).__name__}: {error}"
    json.dump(failures, sys.stdout)


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernels_of(kernel: Any, facts: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The functions behind a name with what they take: a launcher has two to six."""
    yield getattr(kernel, "plain", kernel), facts
    if "tiled" in facts:
        tiled, rows, blocked = facts["tiled"], facts["tiled"].get("rows", {"scratch": {}}), kernel.tiled
        if "split" in tiled:
            yield from _sharing(blocked, facts, tiled["split"])
            blocked = blocked.tiled
        scratch = _pointers(rows["scratch"])
        if scratch:
            given = [p for p in facts["parameters"] if p["name"] in rows["parameters"]]
            constants = [c for c in facts["constants"] if c["name"] in rows["constants"]]
            yield blocked.rows, _taken(given + scratch, constants, rows, rows["config"])
            blocked = blocked.tiled
        taken = _taken(facts["parameters"] + scratch, facts["constants"], tiled, tiled["configs"][0])
        if "described" in tiled:
            yield blocked.described, taken
            blocked = blocked.tiled
        if "uneven" in tiled:
            known = {"name": blocked._constant, "known": UNEVEN}
            constants = [known if c["name"] == known["name"] else c for c in taken["constants"]]
            yield blocked.uneven, {**taken, "constants": constants}
            blocked = blocked.tiled
        yield blocked, taken


def _sharing(kernel: Any, facts: dict[str, Any], split: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The two kernels in which programs share a loop."""
    tiled = facts["tiled"]
    blocks = ({**tiled.get("defaults", {}), **tiled["configs"][0]}, split["config"])
    for n, function in enumerate((kernel.parts, kernel.joined)):
        known = {**blocks[n], split["count"]: 3}
        counts = [{"name": name, "type": "i32"} for name in (tiled, split)[n]["counts"].values()]
        given = [p for p in facts["parameters"] if p["name"] in split["given"][n]]
        constants = [c for c in facts["constants"] if c["name"] in split["constants"][n]]
        constants += [{"name": name, "known": known[name]} for name in split["constants"][n] if name in known]
        parameters = given + _pointers(split["scratch"]) + counts
        yield function, {"parameters": parameters, "constants": constants, "parts": split}


def _pointers(scratch: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "type": f"Pointer<{element}>"} for name, element in scratch.items()]


def _taken(
    parameters: list[Any], constants: list[Any], facts: dict[str, Any], config: dict[str, int]
) -> dict[str, Any]:
    """What a kernel takes that counts, and whose blocks are chosen."""
    counts = [{"name": name, "type": "i32"} for name in facts["counts"].values()]
    defaults = facts.get("defaults", {})
    names = [*(name for name in facts["constants"] if name in config), *facts["blocks"].values(), *defaults]
    blocks = [{"name": name, "known": {**defaults, **config}[name]} for name in dict.fromkeys(names)]
    return {"parameters": parameters + counts, "constants": constants + blocks}


def source_of(kernel: Any, facts: dict[str, Any], constants: dict[str, Any], dtypes: dict[str, str]) -> ASTSource:
    known = {c["name"]: c.get("known", constants.get(c["name"])) for c in facts["constants"]}
    signature = {p["name"]: _signature(p["type"], dtypes) for p in facts["parameters"]}
    signature |= dict.fromkeys(known, "constexpr")
    ordered = {name: signature[name] for name in kernel.arg_names}
    constexprs = {(kernel.arg_names.index(name),): value for name, value in known.items()}
    return ASTSource(kernel, ordered, constexprs)


def check(source: ASTSource, target: GPUTarget) -> None:
    backend, context = make_backend(target), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options(source.parse_options())
    form = (backend.get_codegen_implementation(options), backend.get_module_map(), context)
    source.make_ir(target, options, *form)


def _signature(text: str, dtypes: dict[str, str]) -> str:
    if not text.startswith("Pointer<"):
        return SIGNATURES[text]
    element, computed, _ = text[len("Pointer<") : -1].partition("::Compute")
    name = dtypes.get(element, element)
    return "*" + SIGNATURES["f32" if computed and name in ("f16", "bf16") else name]


if __name__ == "__main__":
    main()
