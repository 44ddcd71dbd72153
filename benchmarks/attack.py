"""Whether what teenyc writes is whole at every moment: many processes write the same files, and die while they do.

    python benchmarks/attack.py [--kills 300] [--processes 32] [--seconds 30] [--seed 0]

A process writes the same files again and again, in two versions: modules (`teenyc build`), arrays (`teenyc run
--save`), modules with what belongs to them (`write_together`), tables of configurations, and entries of the cache. It
is killed at a random moment, and all that is there must be one of the versions. Then many do it at once, while it is
looked at.
Exit status 1 where something is not whole. Needs a system that can fork, and NumPy.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from functools import cache
from io import StringIO
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from teenyc.cli import main as teenyc  # noqa: E402
from teenyc.driver import compile_source  # noqa: E402
from teenyc.runtime import cache as entries_of  # noqa: E402
from teenyc.runtime import compiled, tables  # noqa: E402
from teenyc.runtime.files import write_together  # noqa: E402

SOURCE = """/// Writes a number.
#[kernel]
fn fill(x: Pointer<f32>) {
    let place = program_id(0);
    store(x + place, $NUMBER);
}
"""
ENTRIES = 40
PARTS = ("module.py", "kernel.ptx", "kernel.cubin", "module.json")
LEFT_BEHIND = re.compile(r"\.(teenyc-)?[0-9a-f]+-[0-9a-f]{12}\.tmp")
LONGEST = 0.05
"""Seconds until a process is killed, at most: some rounds of what it does."""


class Attack(NamedTuple):
    """What a process does over and over in a folder, and what must hold of the folder at any moment.

    `check` says what is wrong, and how many files it found whole.
    """

    name: str
    write: Callable[[Path], Iterator[None]]
    check: Callable[[Path], tuple[list[str], int]]


def main() -> int:
    """Runs all attacks and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    moments = random.Random(given.seed)
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}, {sys.platform}\n")
    print("| files | kills | files looked at | left behind | not whole |")
    print("|---|---|---|---|---|")
    faults = []
    with tempfile.TemporaryDirectory() as place:
        with redirect_stdout(StringIO()):
            attacks = prepared(Path(place))
        for attack in attacks:
            faults += killed(attack, Path(place), given.kills // len(attacks), moments)
        print()
        faults += shared(attacks, Path(place), given.processes, given.seconds)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


def killed(attack: Attack, place: Path, kills: int, moments: random.Random) -> list[str]:
    """Kills a process so often, and gives what was found not to be whole."""
    faults: list[str] = []
    whole = 0
    for _ in range(kills):
        process = started(attack, place, until=None)
        time.sleep(moments.uniform(0, LONGEST))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        wrong, found = attack.check(place)
        faults, whole = faults + wrong, whole + found
    print(f"| {attack.name} | {kills} | {whole:,} | {len(left_behind(place))} | {len(faults)} |", flush=True)
    return faults


def shared(attacks: list[Attack], place: Path, processes: int, seconds: float) -> list[str]:
    """Lets many processes do everything at once, and gives what was found not to be whole while they did."""
    end = time.monotonic() + seconds
    running = [started(attack, place, until=end) for attack, _ in zip(cycle(attacks), range(processes), strict=False)]
    faults: list[str] = []
    whole = 0
    while time.monotonic() < end:
        for attack in attacks:
            wrong, found = attack.check(place)
            faults, whole = faults + wrong, whole + found
    statuses = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in running]
    faults += [f"a process ended with {status}" for status in statuses if status != 0]
    print(f"{processes} processes for {seconds:.0f} s: {whole:,} files looked at, {len(faults)} faults")
    return faults


def started(attack: Attack, place: Path, until: float | None) -> int:
    """A process that is at it, and does so until a time or until it is killed."""
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        return process
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for _ in attack.write(place):
            if writer >= 0:
                os.close(writer)
                writer = -1
            if until is not None and time.monotonic() > until:
                break
        status = 0
    finally:
        os._exit(status)


def left_behind(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if LEFT_BEHIND.fullmatch(path.name)]


# ---- what is written ------------------------------------------------------------------------------------------------


def prepared(place: Path) -> list[Attack]:
    """All attacks, with what they need in the folder."""
    os.environ["TEENYC_CACHE_DIR"] = str(place / "cache")
    for number in (1, 2):
        (place / f"v{number}").mkdir()
        (place / f"v{number}" / "fill.tk").write_text(SOURCE.replace("$NUMBER", f"{number}.0"))
    return [
        command("modules", place, "out/fill.py", built),
        command("arrays", place, "saved/x.npy", saved),
        command("tables", place, "fill.tuned.json", timed),
        Attack("modules with binaries", together, all_of_one_time),
        Attack("entries of the cache", entries, all_as_made),
    ]


def command(name: str, place: Path, output: str, write: Callable[[Path, int], object]) -> Attack:
    """An attack on one file, of which there are two versions."""
    versions = []
    for number in (1, 2):
        write(place, number)
        versions.append((place / output).read_bytes())
    assert len(set(versions)) == 2, f"{name} are the same in both versions"

    def again(place: Path) -> Iterator[None]:
        for number in cycle((1, 2)):
            write(place, number)
            yield

    def check(place: Path) -> tuple[list[str], int]:
        is_whole = (place / output).read_bytes() in versions
        return ([] if is_whole else [f"{output} is none of its versions"]), int(is_whole)

    return Attack(name, again, check)


def built(place: Path, number: int) -> None:
    assert teenyc(["build", str(place / f"v{number}" / "fill.tk"), "-o", str(place / "out" / "fill.py")]) == 0


def saved(place: Path, number: int) -> None:
    source = str(place / f"v{number}" / "fill.tk")
    assert teenyc(["run", source, "fill", "--grid", "64", "--arg", "x=zeros(64)", "--save", str(place / "saved")]) == 0


def timed(place: Path, number: int) -> None:
    row = {"kernel": "fill", "device": "some", "dtypes": ["f32"], "named": {}, "config": {"num_warps": number}}
    tables.write(str(place / "fill.tuned.json"), [{**row, "sizes": [size]} for size in range(500)])


def together(place: Path) -> Iterator[None]:
    """Files of one version each time, the next one after the last that is there."""
    (place / "parts").mkdir(exist_ok=True)
    first = max((version_of(place / "parts" / part) or 0 for part in PARTS), default=0)
    for version in count(first + 1):
        write_together({place / "parts" / part: b"%d\n" % version * 20_000 for part in PARTS})
        yield


def version_of(path: Path) -> int | None:
    """The version of a part, 0 where there is none yet; None where it is not whole."""
    with suppress(FileNotFoundError):
        lines = path.read_bytes().split(b"\n")
        is_whole = len(lines) == 20_001 and len(set(lines[:-1])) == 1 and lines[-1] == b""
        return int(lines[0]) if is_whole else None
    return 0


def all_of_one_time(place: Path) -> tuple[list[str], int]:
    versions = [version_of(place / "parts" / part) for part in PARTS]
    return [f"{part} is not whole" for part, v in zip(PARTS, versions, strict=True) if v is None], len(PARTS)


def entries(place: Path) -> Iterator[None]:
    """Takes entries from the cache, makes those that are missing, and removes some."""
    for number in cycle(range(ENTRIES)):
        entry = compiled.compiled_entry(source(number), "fill.tk")
        assert entry.text.startswith(expected(number)), f"entry {number} is not its module"
        if random.random() < 0.3:
            entry.path.unlink(missing_ok=True)
        yield


def source(number: int) -> bytes:
    return SOURCE.replace("$NUMBER", f"{number}.5").encode()


@cache
def expected(number: int) -> str:
    """The module of a source, made without the cache."""
    module = compile_source(source(number).decode(), name="fill.tk").source
    assert module is not None
    return module


def all_as_made(place: Path) -> tuple[list[str], int]:
    found = [(n, entries_of.find(compiled.entry_key(source(n), "fill.tk"), "fill")) for n in range(ENTRIES)]
    wrong = [f"entry {n} is not its module" for n, e in found if e is not None and not e.text.startswith(expected(n))]
    return wrong, sum(entry is not None for _, entry in found)


if __name__ == "__main__":
    sys.exit(main())
