"""Padding: which extents `pad(NAME)` makes larger, what the added lanes hold, how each operation leaves them out."""
