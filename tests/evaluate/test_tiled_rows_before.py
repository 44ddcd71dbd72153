"""What `tests/tiling/test_rows_before.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

OF_LAUNCHES = (
    "test_every_form_of_a_launch",
    "test_gradients",  # test_flash_attn2.py
    "test_the_kernel_as_written_runs_where_the_grid_before_would_be_too_large",
)

adopt("tiling/test_rows_before.py", globals(), without=OF_LAUNCHES)
