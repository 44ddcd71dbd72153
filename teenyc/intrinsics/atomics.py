"""Atomics: read, change and write an element of memory in one step. Each gives what was there before."""

from __future__ import annotations

from collections.abc import Callable

from teenyc.intrinsics.memory import MASK, POINTER, address, misfit, stored_misfit, stored_types
from teenyc.intrinsics.rules import is_present, mask
from teenyc.intrinsics.spec import Effect, Facts, Intrinsic, Param, Role, Rule, Site, Variant
from teenyc.types import (
    F64,
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
    shape_text,
)

_ORDER = (
    Param("sem", Role.CHOICE, default=None, choices=("relaxed", "acquire", "release", "acq_rel")),
    Param("scope", Role.CHOICE, default=None, choices=("cta", "gpu", "sys")),
)


# ---- element types --------------------------------------------------------------------------------------------------


def _is_wide(element: Element) -> bool:
    """Whether an element is no named type below 32 bits; which `D` a kernel is used with shows later."""
    return not isinstance(element, DType) or element.bits >= 32


def _is_wide_integer(element: Element) -> bool:
    return _is_wide(element) and not is_float(element)


def _may_be_added(element: Element) -> bool:
    is_half = isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits == 16
    return is_half or _is_wide(element)


def _may_be_compared(element: Element) -> bool:
    return _is_wide(element) or (isinstance(element, DType) and element.bits == 16)


# ---- rules ----------------------------------------------------------------------------------------------------------


def _atomic(values: tuple[str, ...], fits: Callable[[Element], bool], need: str) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...] | None:
        found = address(site)
        if found is None:
            return None
        pointers, memory = found
        if not fits(memory.to):
            _unsupported(site, memory.to, need)
            return None
        types = stored_types(site, values, memory.to)
        if types is None or not all(_fits(site, name, type, pointers) for name, type in types.items()):
            return None
        is_masked = is_present(site, "mask")
        return (TensorType(memory.to, pointers.shape),) if not is_masked or _is_masked(site, pointers) else None

    return rule


def _unsupported(site: Site, element: Element, need: str) -> None:
    from teenyc.diagnostics.catalog.memory import AtomicType

    at = site.given["pointer"].span
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


def _may_be_f64(facts: Facts) -> bool:
    return _memory(facts) == F64 or isinstance(_memory(facts), TypeVar | Compute)


def _may_be_float(facts: Facts) -> bool:
    return is_float(_memory(facts)) or is_generic_number(_memory(facts))


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
        stored=frozenset({"val"}),
        variants=(Variant(lowered, f"_atomic_{name}", f"_atomic_{name}"),) if lowered is not None else (),
    )


_WIDE = "integers and floats of 32 and 64 bits"
_INTEGERS = "integers of 32 and 64 bits"

INTRINSICS = (
    _record("add", _may_be_added, f"{_WIDE}, and `f16` and `bf16`", "Adds to the elements at addresses."),
    _record("max", _is_wide, _WIDE, "Leaves the greater of the element and the value."),
    _record("min", _is_wide, _WIDE, "Leaves the smaller of the element and the value.", _may_be_f64),
    _record("and", _is_wide_integer, _INTEGERS, "Leaves the bits that both have."),
    _record("or", _is_wide_integer, _INTEGERS, "Leaves the bits that either has."),
    _record("xor", _is_wide_integer, _INTEGERS, "Leaves the bits that one of both has."),
    _record("xchg", _is_wide, _WIDE, "Leaves the value.", _may_be_float),
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
    ),
)
