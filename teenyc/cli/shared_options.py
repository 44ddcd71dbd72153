"""Constants and dtypes of one command line for several sources: each source gets those that its kernels have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from teenyc.cli.settings import Settings
from teenyc.diagnostics.model import Diagnostic
from teenyc.driver import generic_names
from teenyc.source import SourceFile

Value = TypeVar("Value")


def unshared(sources: list[SourceFile | Diagnostic], settings: Settings) -> list[frozenset[str]]:
    """For each source the names of options that it lacks and another source has.

    A name that no source has is left to the first one, so that it is reported once.
    """
    given = frozenset([*settings.constants, *settings.dtypes])
    if len(sources) < 2 or not given:
        return [frozenset()] * len(sources)
    names = [frozenset() if isinstance(s, Diagnostic) else generic_names(s) for s in sources]
    everywhere = frozenset[str]().union(*names)
    first, *others = ((given & everywhere) - own for own in names)
    return [first, *(lacking | (given - everywhere) for lacking in others)]


def without(values: Mapping[str, Value], names: frozenset[str]) -> dict[str, Value]:
    """The options but for those names."""
    return {name: value for name, value in values.items() if name not in names}
