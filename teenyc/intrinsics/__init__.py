"""The functions of the language: a name goes in, the record of an intrinsic or operator comes out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from teenyc.intrinsics import (
    assembly,
    atomics,
    bits,
    block_pointers,
    combine,
    compare,
    convert,
    create,
    debug,
    descriptors,
    device,
    libdevice,
    linalg,
    math,
    memory,
    order,
    program,
    random,
    reduce,
    scaled,
    scan,
    shape,
)
from teenyc.intrinsics.attributes import attributes_of as attributes_of
from teenyc.intrinsics.spec import LIBRARY, Intrinsic, Operator

_FAMILIES = (
    program,
    create,
    memory,
    atomics,
    descriptors,
    block_pointers,
    math,
    bits,
    libdevice,
    reduce,
    scan,
    combine,
    order,
    shape,
    linalg,
    scaled,
    convert,
    random,
    debug,
    device,
    assembly,
)

TABLE: Mapping[str, Intrinsic] = MappingProxyType({r.name: r for family in _FAMILIES for r in family.INTRINSICS})
"""Every intrinsic by its name, family by family."""

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {o.name: o for o in (*compare.OPERATORS, convert.CAST, memory.STORED_INDEX)}
)
"""Functions and methods that become operations of the IR; their names come before those of `TABLE`."""

_CALLED = {h for r in TABLE.values() for h in (r.helper, *(v.helper for v in r.variants)) if h is not None}

HELPERS: tuple[str, ...] = tuple(sorted(h for h in _CALLED if not h.startswith(LIBRARY)))
"""The functions that a module may have to hold; `_tanh` is in `templates/helpers/tanh.py.jinja`."""

_SPOKEN = {form: name for forms in (descriptors.FORMS, block_pointers.FORMS) for name, form in forms.items()}

_ALIASES = {alias: r.name for r in TABLE.values() for alias in r.aliases}
_OPERATOR_ALIASES = {alias: o.name for o in OPERATORS.values() for alias in o.aliases}


def find(name: str) -> Intrinsic | None:
    """The intrinsic of that name or alias."""
    return TABLE.get(_ALIASES.get(name, name))


def find_operator(name: str) -> Operator | None:
    """The function or method of that name or alias that becomes an operation of the IR."""
    return OPERATORS.get(_OPERATOR_ALIASES.get(name, name))


def spoken(name: str) -> str:
    """What a report calls an intrinsic: `load`, also where its first argument is a descriptor."""
    return _SPOKEN.get(name, name)
