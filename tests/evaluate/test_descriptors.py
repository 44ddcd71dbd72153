"""What `tests/run/test_descriptors.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

adopt("run/test_descriptors.py", globals())
