"""What `tests/run/test_tiled_scales.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

adopt("test_tiled_scales", globals())
