"""Atomics: read, change and write an element of memory in one step. Each gives what was there before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from teenyc.intrinsics.memory import MASK, POINTER, address, misfit, stored_misfit, stored_types
from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, is_present, mask, value
from teenyc.intrinsics.spec import Effect, Facts, Intrinsic, Param, Role, Rule, Site, Variant
from teenyc.types import (
    BF16,
    BOOL,
    F64,
    I16,
    U16,
    Compute,
    DType,
    Element,
    Kind,
    Pointer,
    TensorType,
    TypeVar,
    broadcast,
    is_float,
    is_generic_number,
    is_integer,
    shape_text,
)

_SCOPE = Param("scope", Role.CHOICE, default=None, choices=("cta", "gpu", "sys"))
_ORDER = (Param("sem", Role.CHOICE, default=None, choices=("relaxed", "acquire", "release", "acq_rel")), _SCOPE)


def _sem(default: str) -> Param:
    return Param("sem", Role.CHOICE, default=default, choices=("relaxed", default))


# ---- element types --------------------------------------------------------------------------------------------------


def is_wide(element: Element) -> bool:
    """Whether an element is no named type below 32 bits; which `D` a kernel is used with shows later."""
    return not isinstance(element, DType) or element.bits >= 32


def is_wide_integer(element: Element) -> bool:
    """Whether an element is no float, and no named type below 32 bits."""
    return is_wide(element) and not is_float(element)


def may_be_added(element: Element) -> bool:
    """Whether something may be added to an element in memory."""
    return not isinstance(element, DType) or element.bits >= (16 if element.kind is Kind.FLOAT else 8)


def _may_be_compared(element: Element) -> bool:
    return is_wide(element) or (isinstance(element, DType) and element.bits == 16)


def _is_whole(element: Element) -> bool:
    """Whether elements are certainly integers of 32 or 64 bits."""
    return is_wide(element) and is_integer(element)


WIDE = "integers and floats of 32 and 64 bits"
ADDED = "integers, and floats of 16 bits and more"
INTEGERS = "integers of 32 and 64 bits"


# ---- rules ----------------------------------------------------------------------------------------------------------


def _atomic(values: tuple[str, ...], fits: Callable[[Element], bool], need: str) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...] | None:
        found = address(site)
        if found is None:
            return None
        pointers, memory = found
        if not fits(memory.to):
            unsupported(site, memory.to, need)
            return None
        types = stored_types(site, values, memory.to)
        if types is None or not all(_fits(site, name, type, pointers) for name, type in types.items()):
            return None
        is_masked = is_present(site, "mask")
        return (TensorType(memory.to, pointers.shape),) if not is_masked or _is_masked(site, pointers) else None

    return rule


def _atomic_store(site: Site) -> tuple[TensorType, ...] | None:
    return None if _atomic(("val",), is_wide, WIDE)(site) is None else ()


def _atomic_poll(site: Site) -> tuple[TensorType, ...] | None:
    results = _atomic(("expected_value",), _is_whole, INTEGERS)(site)
    if results is None or ("timeout_ns" in site.given and not _is_number(site, "timeout_ns")):
        return None
    (found,) = results
    return (TensorType(BOOL, found.shape),) if isinstance(found, TensorType) else None


def _is_number(site: Site, name: str) -> bool:
    """Whether an argument is one integer."""
    type = value(site, name, Need.INTEGER)
    if type is None or not type.shape:
        return type is not None
    from teenyc.diagnostics.catalog.calls import NotAScalar

    site.report(NotAScalar(span=site.given[name].span, function=site.intrinsic.name, name=name, found=str(type)))
    return False


def unsupported(site: Site, element: Element, need: str, place: str = "pointer") -> None:
    """Reports an element that an atomic does not work on; `place` names the argument that says where it is."""
    from teenyc.diagnostics.catalog.memory import AtomicType

    at = site.given[place].span
    site.report(AtomicType(span=at, function=site.intrinsic.name, element=str(element), need=need))


def _fits(site: Site, name: str, type: TensorType, pointers: TensorType) -> bool:
    if broadcast(pointers.shape, type.shape) != pointers.shape:
        stored_misfit(site, name, type, pointers)
        return False
    return _has_rank(site, name, type, pointers)


def _is_masked(site: Site, pointers: TensorType) -> bool:
    flags = mask(site, "mask")
    if flags is None:
        return False
    if broadcast(pointers.shape, flags.shape) != pointers.shape:
        misfit(site, "mask", flags, pointers)
        return False
    return _has_rank(site, "mask", flags, pointers)


def _has_rank(site: Site, name: str, type: TensorType, pointers: TensorType) -> bool:
    """Triton adds no axes to what atomics take."""
    if len(type.shape) in (0, len(pointers.shape)):
        return True
    from teenyc.diagnostics.catalog.memory import AtomicRank

    site.report(
        AtomicRank(
            span=site.given[name].span,
            function=site.intrinsic.name,
            name=name,
            found=shape_text(type.shape),
            pointer=shape_text(pointers.shape),
            pointer_span=site.given["pointer"].span,
        )
    )
    return False


# ---- records --------------------------------------------------------------------------------------------------------


def _memory(facts: Facts) -> Element:
    type = facts.types["pointer"]
    assert isinstance(type, TensorType), "an atomic has an address"
    assert isinstance(type.element, Pointer), "an atomic has an address"
    return type.element.to


def _may_lack_addition(facts: Facts) -> bool:
    """Triton adds to no integers below 32 bits, and its interpreter to no `bf16`."""
    element = _memory(facts)
    is_known = isinstance(element, DType) and element != BF16
    return not is_known or (isinstance(element, DType) and element.bits < 16) or element in (I16, U16)


def _may_be_f64(facts: Facts) -> bool:
    return _memory(facts) == F64 or isinstance(_memory(facts), TypeVar | Compute)


def _may_be_float(facts: Facts) -> bool:
    return is_float(_memory(facts)) or is_generic_number(_memory(facts))


def _exchanged(old: Any, val: Any) -> Any:
    return val


def _compared(old: Any, cmp: Any, val: Any) -> Any:
    return numpy().where(old == cmp, val, old)


def _kept(old: Any) -> Any:
    return old


UPDATES: Mapping[str, Callable[..., Any] | str] = {
    "add": "add",
    "max": "fmax",
    "min": "fmin",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "xchg": _exchanged,
}
"""What the atomics with one value leave, by the end of their names."""


def _record(
    name: str,
    fits: Callable[[Element], bool],
    need: str,
    summary: str,
    lowered: Callable[[Facts], bool] | None = None,
) -> Intrinsic:
    """An atomic with one value; `lowered` says for which calls Triton's own does not do everywhere."""
    return Intrinsic(
        f"atomic_{name}",
        (POINTER, Param("val", Role.VALUE, aliases=("value",), meets="pointer"), MASK, *_ORDER),
        _atomic(("val",), fits, need),
        f"tl.atomic_{name}",
        summary,
        "atomics",
        generics=1,
        effects=frozenset({Effect.ATOMIC}),
        first_by_name="mask",
        update=UPDATES[name],
        stored=frozenset({"val"}),
        variants=(Variant(lowered, f"_atomic_{name}", f"_atomic_{name}"),) if lowered is not None else (),
    )


INTRINSICS = (
    _record("add", may_be_added, ADDED, "Adds to the elements at addresses.", _may_lack_addition),
    _record("max", is_wide, WIDE, "Leaves the greater of the element and the value."),
    _record("min", is_wide, WIDE, "Leaves the smaller of the element and the value.", _may_be_f64),
    _record("and", is_wide_integer, INTEGERS, "Leaves the bits that both have."),
    _record("or", is_wide_integer, INTEGERS, "Leaves the bits that either has."),
    _record("xor", is_wide_integer, INTEGERS, "Leaves the bits that one of both has."),
    _record("xchg", is_wide, WIDE, "Leaves the value.", _may_be_float),
    Intrinsic(
        "atomic_cas",
        (
            POINTER,
            Param("cmp", Role.VALUE, meets="pointer"),
            Param("val", Role.VALUE, aliases=("value",), meets="pointer"),
            *_ORDER,
        ),
        _atomic(("cmp", "val"), _may_be_compared, "elements of 16, 32 and 64 bits"),
        "_atomic_cas",
        "Leaves the value where the element equals `cmp`.",
        "atomics",
        generics=1,
        effects=frozenset({Effect.ATOMIC}),
        first_by_name="sem",
        stored=frozenset({"cmp", "val"}),
        helper="_atomic_cas",
        update=_compared,
    ),
    Intrinsic(
        "atomic_load",
        (POINTER, MASK, _sem("acquire"), _SCOPE),
        _atomic((), is_wide, WIDE),
        "_atomic_load",
        "Reads the elements in one step each; 0 where the mask is false.",
        "atomics",
        generics=1,
        effects=frozenset({Effect.ATOMIC}),
        first_by_name="mask",
        helper="_atomic_load",
        update=_kept,
    ),
    Intrinsic(
        "atomic_store",
        (POINTER, Param("val", Role.VALUE, aliases=("value",), meets="pointer"), MASK, _sem("release"), _SCOPE),
        _atomic_store,
        "_atomic_store",
        "Writes the elements in one step each.",
        "atomics",
        generics=1,
        effects=frozenset({Effect.ATOMIC}),
        first_by_name="mask",
        stored=frozenset({"val"}),
        helper="_atomic_store",
        update=_exchanged,
    ),
    Intrinsic(
        "atomic_poll",
        (
            POINTER,
            Param("expected_value", Role.VALUE, aliases=("expected",), meets="pointer"),
            _sem("acquire"),
            _SCOPE,
            Param("timeout_ns", Role.VALUE, default=None),
        ),
        _atomic_poll,
        "_atomic_poll",
        "Waits until each element is `expected_value`, or the nanoseconds are over, and says which are.",
        "atomics",
        generics=1,
        effects=frozenset({Effect.ATOMIC}),
        first_by_name="sem",
        stored=frozenset({"expected_value"}),
        helper="_atomic_poll",
        update=_kept,
    ),
)
