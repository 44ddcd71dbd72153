"""A soak: many random kernels, each evaluated in every way there is. Exit status 1 where two ways differ.

`python tests/soak/soak.py --kernels 5000 --jobs 2` compares the CPU runner as checked, after all passes and in f64
with the generated module under Triton's interpreter, as written and in blocks; with `--gpu` the module runs on a GPU.
A seed decides a kernel: `--seed 1234 --kernels 1 --show` shows it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS), str(TESTS / "tiling")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ["TEENYC_TUNE"] = "0"  # blocks are given, none are timed

from cases_of_soak import case_of
from trying import Tried, try_seed
from workers import Lost, spread

LIMIT, LIMIT_ON_GPU = 240.0, 60.0  # seconds for one kernel; what differs is shortened meanwhile, but not on a GPU


def main() -> int:
    options = _options()
    os.environ["TRITON_INTERPRET"] = "1"
    if options.gpu:
        del os.environ["TRITON_INTERPRET"]
    if options.show:
        for seed in range(options.seed, options.seed + options.kernels):
            print(f"// seed {seed}\n{case_of(seed, not options.gpu).text}")
        return 0
    started = time.monotonic()
    kinds, features, failed = Counter[str](), Counter[str](), 0
    work = partial(
        try_seed, is_interpreted=not options.gpu, is_shortened=options.shorten or not (options.gpu or options.whole)
    )
    seeds = range(options.seed, options.seed + options.kernels)
    limit = options.limit or (LIMIT_ON_GPU if options.gpu and not options.shorten else LIMIT)
    until = started + options.seconds if options.seconds else 1e99
    for seed, tried in spread(work, seeds, jobs=options.jobs, limit=limit, until=until):
        if isinstance(tried, Lost):
            tried = Tried("lost", tried.how)
        kinds[tried.kind] += 1
        features.update(tried.features)
        if tried.is_failure:
            failed += 1
            print(f"\n== seed {seed}: {tried.kind}\n{tried.detail}", flush=True)
        if sum(kinds.values()) % 500 == 0:
            print(f"{sum(kinds.values())} kernels, {time.monotonic() - started:.0f} s, {dict(kinds)}", flush=True)
    _summary(options, kinds, features, time.monotonic() - started)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=500, help="how many kernels (500)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes, each of which compiles and runs (1)")
    parser.add_argument("--gpu", action="store_true", help="run the generated modules on a GPU, not interpreted")
    parser.add_argument("--seconds", type=float, default=0.0, help="begin no other kernel after so many seconds")
    parser.add_argument(
        "--limit", type=float, help=f"seconds for one kernel ({LIMIT:.0f}, {LIMIT_ON_GPU:.0f} on a GPU)"
    )
    parser.add_argument("--shorten", action="store_true", help="shorten what differs on a GPU too")
    parser.add_argument("--whole", action="store_true", help="do not shorten what differs")
    parser.add_argument("--show", action="store_true", help="print the kernels, and do nothing")
    return parser.parse_args()


def _summary(options: argparse.Namespace, kinds: Counter[str], features: Counter[str], seconds: float) -> None:
    where = "on a GPU" if options.gpu else "under Triton's interpreter"
    print(f"\n{sum(kinds.values())} kernels from seed {options.seed} on, {where}, {seconds:.0f} s")
    for kind, count in kinds.most_common():
        print(f"{count:8d} {kind}")
    print("what they are made of, in how many places:")
    words = [f"{feature} {count}" for feature, count in sorted(features.items())]
    print("  " + ", ".join(words))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
