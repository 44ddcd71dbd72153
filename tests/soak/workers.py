"""Work spread over processes: seeds go in; what became of each comes out, also where a process hung or ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

START = multiprocessing.get_context("spawn")
"""A process of its own has no thread and no GPU of its parent."""

SECONDS_TO_START = 120.0
READY = "ready"


@dataclass(frozen=True)
class Lost:
    """A seed whose process hung or ended."""

    how: str


@dataclass
class Worker:
    """One process, the seed that it works on, and until when it may."""

    process: BaseProcess
    pipe: Connection
    seed: int | None = None
    until: float = 0.0
    is_ready: bool = False


def spread(
    work: Callable[[int], Any], seeds: Iterable[int], *, jobs: int, limit: float, room: int = 0, until: float = 1e99
) -> Iterator[tuple[int, Any]]:
    """What `work` returns for each seed, as it comes, or `Lost` where that took longer than `limit` seconds.

    `room` is how much memory a process may have, in bytes; after the time `until` no other seed begins.
    """
    rest = iter(seeds)
    workers = [_started(work, room) for _ in range(jobs)]
    try:
        for worker in workers:
            _give(worker, rest, limit, until)
        while any(worker.seed is not None for worker in workers):
            yield from _answers(work, workers, rest, limit, room, until)
    finally:
        for worker in workers:
            _end(worker)


def _answers(
    work: Callable[[int], Any], workers: list[Worker], rest: Iterator[int], limit: float, room: int, until: float
) -> Iterator[tuple[int, Any]]:
    """What has come within a second; who is lost is replaced."""
    ready = wait([worker.pipe for worker in workers if worker.seed is not None], timeout=1.0)
    for place, worker in enumerate(workers):
        if worker.seed is None or (worker.pipe not in ready and time.monotonic() < worker.until):
            continue
        answer = _answer(worker, worker.pipe in ready)
        if answer == READY:
            worker.is_ready, worker.until = True, time.monotonic() + limit
            continue
        seed = worker.seed
        if isinstance(answer, Lost):
            _end(worker)
            workers[place] = worker = _started(work, room)
        _give(worker, rest, limit, until)
        yield seed, answer


def _answer(worker: Worker, is_there: bool) -> Any:
    """What a process says, or that it is lost."""
    if not is_there:
        return Lost("hung")
    try:
        return worker.pipe.recv()
    except EOFError:
        worker.process.join(5)
        return Lost(f"ended the process, exit status {worker.process.exitcode}")


def _give(worker: Worker, rest: Iterator[int], limit: float, until: float) -> None:
    worker.seed = next(rest, None) if time.monotonic() < until else None
    worker.until = time.monotonic() + (limit if worker.is_ready else SECONDS_TO_START)
    if worker.seed is not None:
        worker.pipe.send(worker.seed)


def _started(work: Callable[[int], Any], room: int) -> Worker:
    ours, theirs = START.Pipe()
    process = START.Process(target=_serve, args=(work, theirs, room), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _end(worker: Worker) -> None:
    worker.pipe.close()
    worker.process.join(0.5 if worker.seed is None else 0.0)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _serve(work: Callable[[int], Any], pipe: Connection, room: int) -> None:
    if room:
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        pipe.send(READY)
        while True:
            pipe.send(work(pipe.recv()))
