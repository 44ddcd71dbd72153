"""Attributes of a call: the arguments that are known at compile time go in, what stands in the IR comes out."""

from __future__ import annotations

from teenyc.intrinsics.rules import listed
from teenyc.intrinsics.spec import Param, Role, Site, Static
from teenyc.types import DescriptorType, Extent, TensorType, Type

RUN_TIME = frozenset({Role.VALUE, Role.POINTER, Role.MASK, Role.INDICES})
"""The roles of arguments that are operands."""


def attributes_of(site: Site, results: tuple[Type, ...]) -> tuple[tuple[str, Static], ...]:
    """What is fixed at compile time in a call that its rule accepted, by name, in the order of the record.

    What has its default is left out, and what makes no difference. Axes count from the front. A record adds what
    Triton must be told although the author need not say it, such as the dtype of `zeros`.
    """
    fixed = (p for p in site.intrinsic.params if p.role not in RUN_TIME and not p.is_ignored)
    found = {name: _static(site, p, name) for p in fixed for name in _names(site, p)}
    written = {name: p.default for p in site.intrinsic.params for name in _names(site, p)}
    present: dict[str, Static] = {
        n: static for n, static in found.items() if static is not None and _plain(static) != written[n]
    }
    for param in site.intrinsic.params:
        if present.keys() & set(param.gives_way):
            present.pop(param.name, None)
    if site.intrinsic.fills is not None:
        for name, static in site.intrinsic.fills(site, results):
            present.setdefault(name, static)
            written.setdefault(name, None)
    return tuple((name, present[name]) for name in written if name in present)


def _names(site: Site, param: Param) -> tuple[str, ...]:
    return (listed(site, param.name) or (param.name,)) if param.several else (param.name,)


def _plain(static: Static) -> Static:
    known = static.known if isinstance(static, Extent) else None
    return static if known is None else known


def _static(site: Site, param: Param, name: str) -> Static:
    """The value of an argument or its default; None for an operand."""
    given = site.given.get(name)
    static = given.static if given is not None else None
    if static is None and given is None and param.counts is not None and isinstance(param.default, int):
        static = param.default
    return static if param.counts is None else _from_front(site, param.counts, static)


def _from_front(site: Site, counted: str, static: Static) -> Static:
    type = site.given[counted].type
    rank = len(type.shape) if isinstance(type, TensorType) else type.rank if isinstance(type, DescriptorType) else 0
    if isinstance(static, int) and not isinstance(static, bool):
        return static % rank if rank else static
    if isinstance(static, tuple):
        return tuple(axis % rank if isinstance(axis, int) else axis for axis in static)  # type: ignore[return-value]
    return static
