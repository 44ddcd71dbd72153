"""What `tests/run/test_generic_bytes.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

adopt("run/test_generic_bytes.py", globals(), without=["test_the_interpreter_is_not_asked_to_round_to_bytes"])
