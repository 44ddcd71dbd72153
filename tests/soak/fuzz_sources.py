"""Fuzzing with changed sources: `python tests/soak/fuzz_sources.py --count 200000 --jobs 16`; status 1 on a finding.

Each seed is one changed kernel, checked and built with options of its own. Whatever the text, the compiler reports or
succeeds, within two seconds of processor time and one gigabyte, and what it gives out is Python. A finding is shown
with its seed and the shortest text that still shows it.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from mutations import mistaken, mutated, sources
from shorten import shortened
from workers import Lost, spread

from teenyc import Options, compile_source
from teenyc.diagnostics.model import Severity
from teenyc.diagnostics.render import FORMATS, Report, render
from teenyc.runtime.files import decode
from teenyc.source import SourceFile

LONGEST = 2.0  # seconds of processor time for a source under 64 kB
ROOM = 1 << 30  # bytes of memory for the process
LOST_AFTER = 120.0  # seconds after which a process is given up, whatever it waits for


@dataclass(frozen=True)
class Finding:
    """What went wrong, where, and the text that did it."""

    kind: str
    detail: str
    text: bytes


@dataclass(frozen=True)
class Tried:
    """What became of a seed: how far the text came, or what was found; the most memory so far, in megabytes."""

    reached: str
    megabytes: int
    finding: Finding | None = None


class SlowError(Exception):
    """More than `LONGEST` seconds of processor time."""


def main() -> int:
    options = _options()
    started, counts, findings = time.monotonic(), Counter[str](), dict[str, tuple[int, Finding]]()
    seeds = range(options.seed, options.seed + options.count)
    most = 0
    until = started + options.seconds if options.seconds else 1e99
    for seed, tried in spread(try_seed, seeds, jobs=options.jobs, limit=LOST_AFTER, room=ROOM, until=until):
        if isinstance(tried, Lost):
            tried = Tried("lost", 0, Finding(tried.how, f"seed {seed}", b""))
        counts[tried.reached] += 1
        most = max(most, tried.megabytes)
        if tried.finding is not None and tried.finding.kind not in findings:
            findings[tried.finding.kind] = seed, tried.finding
            _show(seed, tried.finding)
        if sum(counts.values()) % 5_000 == 0:
            print(f"{sum(counts.values())} sources, {time.monotonic() - started:.0f} s, {dict(counts)}", flush=True)
    total = sum(counts.values())
    print(f"{total} sources from seed {options.seed} on, {time.monotonic() - started:.0f} s, at most {most} MB")
    for reached, count in counts.most_common():
        print(f"{count:8d} {reached}")
    print(f"{len(findings)} findings")
    return 1 if findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="how many sources (10000)")
    parser.add_argument(
        "--seed", type=int, default=0, help="the first seed (0): a run of some seeds goes on where it ended"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many processes (1)")
    parser.add_argument("--seconds", type=float, default=0.0, help="begin no other source after so many seconds")
    return parser.parse_args()


def _show(seed: int, finding: Finding) -> None:
    print(f"\n== seed {seed}: {finding.kind}\n{finding.detail}\n-- {len(finding.text)} bytes")
    print(finding.text.decode("utf-8", "backslashreplace")[:4_000], flush=True)


def try_seed(seed: int) -> Tried:
    """Tries the text of a seed; what is found is shortened, as long as the same is found."""
    generator = random.Random(seed)
    texts = _mistaken() if generator.random() < 0.1 else _texts()
    data = mutated(texts, generator)
    options = _chosen(generator)
    reached, finding = try_source(data, options)
    if finding is not None:
        kind = finding.kind

        def shows(text: bytes) -> bool:
            found = try_source(text, options)[1]
            return found is not None and found.kind == kind

        short = shortened(data, shows, seconds=30.0 if kind != "slow" else 60.0)
        finding = Finding(kind, f"{options}\n{finding.detail}", short)
    return Tried(reached, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, finding)


@cache
def _texts() -> tuple[str, ...]:
    return tuple(sources())


@cache
def _mistaken() -> tuple[str, ...]:
    return tuple(mistaken())


def _chosen(generator: random.Random) -> Options:
    """How the command may be called: with constants, dtypes, blocks for all or none."""
    values = (1, 2, 16, 64, 0, -1, 3, 2**31 - 1, 2**31, True)
    constants = {n: generator.choice(values) for n in ("N", "BLOCK", "HEAD_DIM") if generator.random() < 0.15}
    dtypes = {"D": generator.choice(("f16", "bf16", "f64", "i8", "u64", "f8e4m3", "bool", "x"))}
    return Options(
        set=constants,
        dtype=dtypes if generator.random() < 0.15 else {},
        tile=generator.choice((None, None, None, None, True, False)),
        verify_ir=generator.random() < 0.5,
        generate=generator.random() < 0.75,
    )


def try_source(data: bytes, options: Options) -> tuple[str, Finding | None]:
    """How far a text came, and what is wrong with that, if anything."""
    try:
        with_limit = _limited(_compile_and_render)
        return with_limit(data, options), None
    except SlowError as slow:
        return "finding", Finding("slow", _place(slow), data)
    except MemoryError:
        return "finding", Finding("memory", "more than a gigabyte", data)
    except Exception as error:
        return "finding", Finding(f"{type(error).__name__} at {_place(error)}", traceback.format_exc()[-3_000:], data)


def _place(error: BaseException) -> str:
    """Where in the compiler an exception comes from; what the verifier says is wrong, without names."""
    broken = re.match(r"broken IR in \w+ `.*?`: ([^\n]*)", str(error))
    if broken:
        return "the verifier: " + re.sub(r"`[^`]*`|\d+", "…", broken[1])[:80]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "fuzz_sources" not in f.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "the test"


def _limited(function: Callable[[bytes, Options], str]) -> Callable[[bytes, Options], str]:
    """The function, ended by an exception when it has computed too long."""

    def stop(*_: object) -> None:
        raise SlowError

    def limited(data: bytes, options: Options) -> str:
        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            return function(data, options)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    return limited


def _compile_and_render(data: bytes, options: Options) -> str:
    source = decode(data, "fuzz.tk")
    if not isinstance(source, SourceFile):
        return "not text"
    compiled = compile_source(source, options=options)
    reports = [Report(diagnostic, source) for diagnostic in compiled.diagnostics]
    for format in FORMATS:
        render(reports, format=format)
    has_errors = any(d.severity is Severity.ERROR for d in compiled.diagnostics)
    if has_errors:
        assert compiled.checked is None or compiled.source is None, "a source with errors has a module"
        return "reported"
    assert compiled.checked is not None, "neither errors nor a program"
    if not options.generate:
        return "checked"
    assert compiled.source is not None, "neither errors nor a module"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ast.parse(compiled.source)
    return "built in blocks" if any(k.tiling for k in compiled.program.kernels) else "built"  # type: ignore[union-attr]


if __name__ == "__main__":
    sys.exit(main())
