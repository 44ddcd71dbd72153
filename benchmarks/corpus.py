"""A whole library of kernels through the compiler: how much of it goes how far, and how fast.

    python benchmarks/corpus.py FOLDER [--target cuda:90 | --no-target] [--dtype f32] [--set NAME=VALUE ...] [--scale]

Every `.tk` and `.rs` file below FOLDER is parsed, checked, emitted and, kernel by kernel, compiled for a target, which
needs Triton and no GPU. Prints a row a file and a total: kernels that reached each stage, seconds of teenyc (Triton's
are apart) and source lines a second; then the first report of every file that failed; if there is one, the exit status
is 1.

Constants that `--set` leaves open get the least number that the file's requirements allow, from 32 for a power of two
and from 3 for any other. `--scale` compiles the folder once, twice and four times over instead and prints the ratios.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from teenyc.diagnostics.model import Severity  # noqa: E402  # the checkout goes before an installed teenyc
from teenyc.diagnostics.render import Report, render  # noqa: E402
from teenyc.driver import Compiled, Options, compile_source  # noqa: E402
from teenyc.ir.nodes import ConstantParameter, Kernel  # noqa: E402
from teenyc.source import SourceFile  # noqa: E402
from teenyc.types import BOOL  # noqa: E402


@dataclass
class Row:
    """What became of one file."""

    name: str
    lines: int = 0
    seconds: float = 0.0
    parsed: int = 0
    checked: int = 0
    emitted: int = 0
    compiled: int = 0
    target_seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def cells(self) -> list[str]:
        speed = self.lines / self.seconds if self.seconds else 0.0
        counts = (self.parsed, self.checked, self.emitted, self.compiled)
        times = (f"{self.seconds:.3f}", f"{speed:,.0f}", f"{self.target_seconds:.1f}")
        return [self.name, str(self.lines), *map(str, counts), *times]


HEAD = ("file", "lines", "parsed", "checked", "emitted", "compiled", "seconds", "lines/s", "target s")


def main() -> int:
    options = _arguments()
    sources = list(_sources(options.folder))
    if not sources:
        print(f"no kernels below {options.folder}", file=sys.stderr)
        return 1
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), {platform.python_version()}\n")
    if options.scale:
        _scale(sources)
        return 0
    rows = [row for source in sources if (row := _row(source, options)) is not None]
    _print([*rows, _total(rows)])
    for row in rows:
        for failure in row.failures:
            print(f"\n{row.name}: {failure}")
    return int(any(row.failures for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="cuda:90", help="what kernels are compiled for (cuda:90)")
    parser.add_argument("--no-target", action="store_const", const=None, dest="target", help="emit only")
    parser.add_argument("--dtype", default="f32", help="the type of every dtype parameter (f32)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a constant, where it occurs")
    parser.add_argument("--scale", action="store_true", help="the folder 1, 2 and 4 times over, in one process")
    return parser.parse_args()


def _sources(folder: Path) -> Iterator[SourceFile]:
    """The files with kernels in them, by their way below the folder."""
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".tk", ".rs")):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".tk" or "#[kernel" in text:
            yield SourceFile(str(path.relative_to(folder)), text)


# ---- one file -------------------------------------------------------------------------------------------------------


def _row(source: SourceFile, options: argparse.Namespace) -> Row | None:
    """What became of a file; None where it is host code that only speaks of kernels."""
    started = time.perf_counter()
    compiled = compile_source(source)
    if compiled.is_host_code:
        return None
    row = Row(source.name, len(source.text.splitlines()), time.perf_counter() - started)
    row.parsed = source.text.count("\n#[kernel") if compiled.checked is None else len(compiled.checked.kernels)
    row.checked = len(compiled.checked.kernels) if compiled.checked is not None else 0
    row.emitted = len(compiled.kernels) if compiled.source is not None else 0
    if compiled.source is None:
        row.failures.append(_first_error(compiled))
    elif options.target is not None:
        started = time.perf_counter()
        rules = _rules(compiled.kernels)
        for kernel in compiled.kernels:
            failure = _compile(source, kernel, rules, options)
            row.compiled += failure is None
            row.failures += [f"{kernel.name}: {failure}"] if failure is not None else []
        row.target_seconds = time.perf_counter() - started
    return row


def _first_error(compiled: Compiled) -> str:
    errors = [d for d in compiled.diagnostics if d.severity is Severity.ERROR]
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    return render([Report(errors[0], compiled.file)], format="short").strip() + more


def _rules(kernels: Sequence[Kernel]) -> dict[str, set[str]]:
    """What each constant must satisfy, in whichever kernel of the file."""
    rules: dict[str, set[str]] = {c.name: set() for kernel in kernels for c in kernel.constants}
    for requirement in (r for kernel in kernels for r in kernel.requirements):
        for name in requirement.extent.names:
            rules[name].add(requirement.rule)
    return rules


def _compile(
    source: SourceFile, kernel: Kernel, rules: Mapping[str, set[str]], options: argparse.Namespace
) -> str | None:
    """The reason why a kernel does not compile for the target, None where it does."""
    from teenyc.diagnostics.model import Reporter
    from teenyc.runtime.aot import build_compiled

    given = dict(pair.split("=", 1) for pair in options.set)
    constants = {c.name: _value(c, rules[c.name], given) for c in kernel.constants}
    dtypes = dict.fromkeys((v.name for v in kernel.type_variables), options.dtype)
    compiled = compile_source(source, options=Options(set=constants, dtype=dtypes))
    if compiled.source is None:
        return _first_error(compiled)
    reporter = Reporter()
    build_compiled(_only(compiled, kernel.name), targets=[options.target], reporter=reporter)
    errors = [d for d in reporter if d.severity is Severity.ERROR]
    return render([Report(errors[0], source)], format="short").strip() if errors else None


def _only(compiled: Compiled, name: str) -> Compiled:
    """The compiled source with one kernel of it: others may need other constants."""
    from teenyc.record import replace

    assert compiled.program is not None
    facts = compiled.metadata["kernels"]
    assert isinstance(facts, Mapping)
    pairs = zip(compiled.program.kernels, facts.items(), strict=True)
    ((kernel, (emitted, fact)),) = [pair for pair in pairs if pair[0].name == name]
    program = replace(compiled.program, kernels=(kernel,))
    return replace(compiled, program=program, metadata={**compiled.metadata, "kernels": {emitted: fact}})


def _value(constant: ConstantParameter, rules: set[str], given: Mapping[str, str]) -> int | bool:
    """What `--set` says, or the least value that the rules allow."""
    if constant.type.element == BOOL:
        return given.get(constant.name, "true") == "true"
    if constant.name in given:
        return int(given[constant.name])
    least = max((int(r.removeprefix("at-least:")) for r in rules if r.startswith("at-least:")), default=0)
    if "power-of-two" not in rules:
        return max(3, least)
    return 1 << (max(32, least) - 1).bit_length()


# ---- tables ---------------------------------------------------------------------------------------------------------


def _total(rows: Sequence[Row]) -> Row:
    total = Row(f"{len(rows)} files")
    for row in rows:
        for name in ("lines", "seconds", "parsed", "checked", "emitted", "compiled", "target_seconds"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
    return total


def _print(rows: Sequence[Row]) -> None:
    cells = [list(HEAD), *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    for line in cells:
        print("  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]))


def _scale(sources: Sequence[SourceFile]) -> None:
    """Compiles everything once, twice and four times over, then single kernels that grow."""
    print("| what | lines | seconds | of the first | lines/s |\n|---|---|---|---|---|")
    _growth("the folder, times {}", {times: list(sources) * times for times in (1, 2, 4)})
    _growth("one kernel of {} statements", {n: [SourceFile("one.tk", _one_kernel(n))] for n in (1250, 2500, 5000)})


def _growth(what: str, runs: Mapping[int, Sequence[SourceFile]]) -> None:
    first = 0.0
    for size, sources in runs.items():
        lines = sum(len(s.text.splitlines()) for s in sources)
        started = time.perf_counter()
        for source in sources:
            compile_source(source)
        seconds = time.perf_counter() - started
        first = first or seconds
        cells = (what.format(size), str(lines), f"{seconds:.2f}", f"{seconds / first:.2f}", f"{lines / seconds:,.0f}")
        print(f"| {' | '.join(cells)} |")


def _one_kernel(statements: int) -> str:
    """A kernel of so many statements: loads and stores, arithmetic, branches and loops in turns."""
    turns = (
        "let v{0} = load(x + o + {0}, mask = m, other = 0.0);",
        "let mut w{0} = a * {0}.0 + v{0};",
        "if n > {0} {{ w{0} = w{0} - 1.0; }}",
        "for i{0} in 0..n {{ a = a + w{0}; }}",
        "store(y + o + {0}, w{0}, mask = m);",
    )
    body = [turn.format(i) for i in range(statements // len(turns)) for turn in turns]
    return "\n".join(
        [
            "#[kernel]",
            "fn big<D: Float, const N: i32>(x: Pointer<D>, y: Pointer<D>, n: i32) {",
            "let o = program_id(0) * N + arange(0, N);",
            "let m = o < n;",
            "let mut a = load(x + o, mask = m, other = 0.0);",
            *body,
            "store(y + o, a, mask = m);",
            "}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
