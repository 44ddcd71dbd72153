"""What `tests/run/test_padding.py` says of generated modules holds for the runner."""

from __future__ import annotations

from by_runner import adopt

OTHERWISE = (
    "test_a_padded_constant_need_only_be_positive",  # a matter of launches
    "test_extrema_of_rows_without_a_number",  # of NaN alone: what stands in the padding is no NaN
)

adopt("run/test_padding.py", globals(), without=OTHERWISE)
