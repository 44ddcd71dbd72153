"""What `tests/tiling/test_control.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

adopt("tiling/test_control.py", globals())
