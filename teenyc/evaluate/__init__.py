"""Runs the typed IR on NumPy: what the IR means, for tests, for machines without a GPU, and for finding mistakes."""

from __future__ import annotations

from teenyc.evaluate.launch import launch as launch
from teenyc.evaluate.memory import Buffer as Buffer
from teenyc.evaluate.scope import CHECKED as CHECKED
from teenyc.evaluate.scope import LOWERED as LOWERED
from teenyc.evaluate.scope import Meaning as Meaning
from teenyc.evaluate.watch import FaultError as FaultError
from teenyc.evaluate.watch import Watcher as Watcher
