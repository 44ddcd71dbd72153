"""The version of teenyc, in the one place that packaging, the command line and generated modules read it from."""

__version__ = "0.1.0"
