"""Tiling: row-at-a-time kernels become blocked ones, with matrix products where sums of products were."""
