"""How long `teenyc build` and `teenyc check` take as whole processes, beside `import triton`, in the same run.

    python benchmarks/build_time.py [RUNS]

Runs the commands in turns, so that a busy moment of the machine meets all of them, and prints medians and ratios.
Nothing of ours is cached between two runs but what Python keeps of every module (`__pycache__`).
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

KERNEL = Path(__file__).parent.parent / "kernels" / "flash_attn2.tk"
YARDSTICK = "import triton"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 31
    with tempfile.TemporaryDirectory() as folder:
        times = measure(commands(folder), runs, Path(folder))
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), {_versions()}, {runs} runs each"
    )
    print()
    print("| process | median | fastest | of `import triton` |")
    print("|---|---|---|---|")
    yardstick = statistics.median(times[YARDSTICK])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"| `{name}` | {median * 1e3:.0f} ms | {min(seconds) * 1e3:.0f} ms | {median / yardstick:.2f} |")


def commands(folder: str) -> dict[str, list[str]]:
    """The processes to time, by the name that the table shows."""
    teenyc = [sys.executable, "-m", "teenyc"]
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        YARDSTICK: [sys.executable, "-c", YARDSTICK],
        "teenyc build kernels/flash_attn2.tk": [*teenyc, "build", str(KERNEL), "-o", folder],
        "teenyc check kernels/flash_attn2.tk": [*teenyc, "check", str(KERNEL)],
    }


def measure(processes: dict[str, list[str]], runs: int, folder: Path) -> dict[str, list[float]]:
    """Seconds of every run of every process, `folder` empty before each; one more of each goes first, uncounted."""
    times: dict[str, list[float]] = {name: [] for name in processes}
    for turn in range(runs + 1):
        for name, command in processes.items():
            for output in folder.glob("*"):
                output.unlink()
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if turn:
                times[name].append(time.perf_counter() - started)
    return times


def _versions() -> str:
    words = [f"Python {platform.python_version()}"]
    for package in ("triton", "jinja2", "click", "lark"):
        try:
            words.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            words.append(f"no {package}")
    return ", ".join(words)


if __name__ == "__main__":
    main()
