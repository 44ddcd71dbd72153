"""What `tests/tiling/test_precision.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

adopt("tiling/test_precision.py", globals())
