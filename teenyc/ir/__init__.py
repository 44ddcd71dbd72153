"""The typed IR: `nodes`, the one `walk`, the `printer` and the `verify`-er."""
