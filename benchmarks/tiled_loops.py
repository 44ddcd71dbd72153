"""What the loops of blocked kernels are made of on a GPU, without one: instructions of the machine, by kind.

`python benchmarks/tiled_loops.py [file.tk] [--dtype bf16] [--head-dim 64] [--block-m 128] [--block-n 64] ...` compiles
each blocked kernel for compute capability 9.0 and prints, for each loop with products of matrices, how many
instructions it has and of which kinds, and the registers, spills and shared memory of the kernel. Where the assembler
waits for each product, which it does where it cannot tell that nothing else writes what products add up to, that is
said. `--without PASS` leaves a pass out of the pipeline, so that each can be judged alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

KINDS = {
    "wgmma": r"HGMMA",
    "mma": r"HMMA|DMMA",
    "warpgroup": r"WARPGROUP",
    "ex2": r"MUFU\.EX2",
    "ffma": r"FFMA",
    "fmul": r"FMUL",
    "fadd": r"FADD",
    "fmnmx": r"FMNMX",
    "convert": r"F2F|F2FP",
    "imad": r"IMAD(?!\.MOV)",
    "iadd": r"IADD3|VIADD|LEA",
    "move": r"MOV|PRMT|SEL|IMAD\.MOV",
    "ldgsts": r"LDGSTS",
    "ldg": r"LDG",
    "lds/sts": r"LDS|STS|LDSM|STSM",
    "local": r"LDL|STL",
    "shuffle": r"SHFL",
}


def main() -> None:
    arguments = _arguments()
    import teenyc.driver as driver
    from teenyc import passes

    kept = tuple(p for p in passes.PIPELINE if p.name not in arguments.without)
    passes.PIPELINE = driver.PIPELINE = kept
    text = arguments.source.read_text(encoding="utf-8")
    if "tile," not in text and "tile(" not in text:
        text = re.sub(r"#\[kernel\(", "#[kernel(tile, ", text)
    compiled = driver.compile_source(text, name=arguments.source.name)
    assert compiled.source is not None, [d.message() for d in compiled.diagnostics]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiled.py"
        path.write_text(compiled.source, encoding="utf-8")
        if arguments.text:
            arguments.text.write_text(compiled.source, encoding="utf-8")
        module = _module(path)
        for name, facts in module.TEENYC["kernels"].items():
            if "tiled" in facts:
                print(_row(facts["tiled"]["function"], _compiled(getattr(module, name).tiled, facts, arguments)))


def _arguments() -> argparse.Namespace:
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("source", nargs="?", type=Path, default=root / "kernels" / "flash_attn2.tk")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--block-m", type=int, default=128)
    parser.add_argument("--block-n", type=int, default=64)
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--without", action="append", default=[], metavar="PASS")
    parser.add_argument("--text", type=Path, help="where to write the module")
    return parser.parse_args()


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compiled(kernel: Any, facts: dict[str, Any], arguments: argparse.Namespace) -> Any:
    import triton
    from compile_for_gpu import TARGETS, source_of

    kernel, tiled = getattr(kernel, "tiled", kernel), facts["tiled"]
    blocks = {"BLOCK_M": arguments.block_m, "BLOCK_N": arguments.block_n}
    scratch = tiled["rows"]["scratch"] if "rows" in tiled else {}  # what a kernel that runs before computes
    parameters = [{"name": name, "type": f"Pointer<{element}>"} for name, element in scratch.items()]
    parameters += [{"name": name, "type": "i32"} for name in tiled["counts"].values()]
    constants = [{"name": name, "known": blocks.get(name, 64)} for name in tiled["constants"]]
    constants += [{"name": name, "known": value} for name, value in tiled.get("defaults", {}).items()]
    both = {k: [*facts[k], *more] for k, more in (("parameters", parameters), ("constants", constants))}
    sizes = dict.fromkeys((c["name"] for c in facts["constants"]), 64) | {"HEAD_DIM": arguments.head_dim}
    source = source_of(kernel, both, sizes, {"D": arguments.dtype})
    source.attrs = {
        (n,): [["tt.divisibility", 16]] for n, t in enumerate(source.signature.values()) if t[0] == "*" or t == "i32"
    }
    options = {"num_warps": arguments.warps, "num_stages": arguments.stages}
    return triton.compile(source, target=TARGETS["cuda"], options=options)


def _row(name: str, compiled: Any) -> str:
    loops = _loops(_sass(compiled.asm["cubin"]))
    lines = [_loop(loop) for loop in loops if _products(loop)] or [_loop(max(loops, key=len))]
    return "\n    ".join([name, *lines, f"shared {compiled.metadata.shared}, {_usage(compiled)}"])


def _loop(loop: list[str]) -> str:
    counts = _count(loop)
    kinds = "  ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts[kind])
    waits = ", EACH PRODUCT IS WAITED FOR" if counts["warpgroup"] > counts["wgmma"] > 0 else ""
    return f"{len(loop)} instructions: {kinds}{waits}"


def _products(lines: list[str]) -> int:
    counts = _count(lines)
    return counts["wgmma"] + counts["mma"]


def _count(loop: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in loop:
        kind = next((k for k, pattern in KINDS.items() if re.match(pattern, line)), "other")
        counts[kind] += 1
    return counts


def _tool(name: str) -> str:
    import triton

    return str(Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name)


def _dumped(cubin: bytes, tool: str, option: str) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return subprocess.run([_tool(tool), option, file.name], capture_output=True, text=True, check=True).stdout


def _usage(compiled: Any) -> str:
    found = re.search(r"REG:(\d+).*?STACK:(\d+)", _dumped(compiled.asm["cubin"], "cuobjdump", "--dump-resource-usage"))
    return f"registers {found[1]}, stack {found[2]}" if found else "registers unknown"


def _sass(cubin: bytes) -> list[tuple[int, str]]:
    """The instructions of a kernel with their addresses, predicates and brackets cut off."""
    text = _dumped(cubin, "cuobjdump", "--dump-sass")
    found = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][^;]*);", text)
    return [(int(address, 16), line.strip()) for address, line in found]


def _loops(lines: list[tuple[int, str]]) -> list[list[str]]:
    """The instructions between the target of each branch that goes back and the branch."""
    loops = []
    for address, line in lines:
        target = re.match(r"BRA\S* (?:\S+, )?(?:`\(\S+\)|0x([0-9a-f]+))", line)
        if target and target[1] and int(target[1], 16) < address:
            loops.append([text for at, text in lines if int(target[1], 16) <= at <= address])
    return loops or [[line for _, line in lines]]


if __name__ == "__main__":
    main()
