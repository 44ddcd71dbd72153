"""Assertions, prints, barriers, and hints to Triton's compiler."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.rules import Need, flag, listed, mask, met_shapes, needs_axes, shape, value, wrong_element
from teenyc.intrinsics.spec import Effect, Intrinsic, Param, Role, Site
from teenyc.types import Pointer, TensorType, is_float

_CONTROL = frozenset({Effect.CONTROL})
_INPUT = Param("input", Role.VALUE, aliases=("x",))
_VALUES = Param("values", Role.SHAPE)
_TEXT = Param("msg", Role.TEXT, default="")


# ---- assertions and prints ------------------------------------------------------------------------------------------


def _static_assert(site: Site) -> tuple[TensorType, ...] | None:
    if site.given["cond"].static is not False:
        return () if mask(site, "cond") is not None else None
    from teenyc.diagnostics.catalog.calls import StaticAssertion

    text = site.given["msg"].static if "msg" in site.given else ""
    site.report(StaticAssertion(span=site.given["cond"].span, text=str(text or "")))
    return None


def _static_print(site: Site) -> tuple[TensorType, ...]:
    return ()  # the checker reads what is printed


def _device_assert(site: Site) -> tuple[TensorType, ...] | None:
    names = [name for name in ("cond", "mask") if name in site.given]
    types = {name: mask(site, name) for name in names}
    found = {name: type for name, type in types.items() if type is not None}
    return () if len(found) == len(types) and met_shapes(site, found) is not None else None


def _device_print(site: Site) -> tuple[TensorType, ...] | None:
    given = site.given["prefix"]
    strange = next((c for c in str(given.static) if not (c.isascii() and (c.isprintable() or c in "\n\t"))), None)
    if strange is not None:
        from teenyc.diagnostics.catalog.calls import UnprintableText

        site.report(UnprintableText(span=given.span, function=site.intrinsic.name, character=strange))
        return None
    are_plain = [value(site, name, Need.ANY) is not None for name in listed(site, "args")]
    return () if all(are_plain) and flag(site, "hex") is not None else None


def _assume(site: Site) -> tuple[TensorType, ...] | None:
    condition = mask(site, "cond")
    if condition is None or not condition.shape:
        return None if condition is None else ()
    from teenyc.diagnostics.catalog.calls import NotAScalar

    at = site.given["cond"].span
    site.report(NotAScalar(span=at, function=site.intrinsic.name, name="cond", found=str(condition)))
    return None


def _barrier(site: Site) -> tuple[TensorType, ...]:
    return ()


# ---- hints ----------------------------------------------------------------------------------------------------------


def _hint(site: Site) -> tuple[TensorType, ...] | None:
    """One number for each axis of integers or pointers; a scalar has one as well."""
    type, hints = value(site, "input", Need.ANY), shape(site.given["values"])
    if type is None:
        return None
    if is_float(type.element) and not isinstance(type.element, Pointer):
        wrong_element(site, "input", "an integer or a pointer", type)
        return None
    needed = max(1, len(type.shape))
    lowest = min((h.known for h in hints if h.known is not None), default=1)
    if lowest < 1:
        from teenyc.diagnostics.catalog.calls import OutOfBounds

        at, name = site.given["values"].span, site.intrinsic.name
        site.report(OutOfBounds(span=at, function=name, name="values", need="1 or more", found=str(lowest)))
        return None
    if len(hints) == needed:
        return (type,)
    from teenyc.diagnostics.catalog.shapes import HintCount

    at = site.given["values"].span
    site.report(HintCount(span=at, function=site.intrinsic.name, needed=needed, found=len(hints)))
    return None


def _axes_hint(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "input", Need.ANY)
    return _hint(site) if type is not None and needs_axes(site, "input", type, 1) else None


def _same(input: Any, values: Any) -> Any:
    return input


def _hint_record(name: str, rule: Any, summary: str) -> Intrinsic:
    return Intrinsic(name, (_INPUT, _VALUES), rule, f"tl.{name}", summary, "hints", generics=1, reference=_same)


INTRINSICS = (
    Intrinsic(
        "static_assert",
        (Param("cond", Role.FLAG), _TEXT),
        _static_assert,
        "tl.static_assert",
        "Stops the compilation where a condition on constants does not hold.",
        "debug",
        effects=_CONTROL,
    ),
    Intrinsic(
        "static_print",
        (
            Param("values", Role.TEXT, aliases=("msg",)),
            Param("constants", Role.EXTENT, default=None, several=True),
        ),
        _static_print,
        "tl.static_print",
        'Prints a text, and constants behind it, when the kernel is compiled: `static_print("N", &[N, N / 2])`.',
        "debug",
        effects=_CONTROL,
    ),
    Intrinsic(
        "device_assert",
        (Param("cond", Role.MASK), _TEXT, Param("mask", Role.MASK, default=None)),
        _device_assert,
        "tl.device_assert",
        "Stops the kernel where a condition does not hold in a lane of the mask, under TRITON_DEBUG=1.",
        "debug",
        effects=_CONTROL,
        first_by_name="mask",
    ),
    Intrinsic(
        "device_print",
        (
            Param("prefix", Role.TEXT),
            Param("args", Role.VALUE, default=None, aliases=("val",), several=True),
            Param("hex", Role.FLAG, default=False),
        ),
        _device_print,
        "tl.device_print",
        'Prints a text and a value, or several, from the device: `device_print("x", &[a, b])`.',
        "debug",
        generics=1,
        effects=_CONTROL,
        first_by_name="hex",
    ),
    Intrinsic(
        "debug_barrier",
        (),
        _barrier,
        "tl.debug_barrier",
        "Waits until all threads of the program are here: behind it, lanes see what other lanes have stored.",
        "debug",
        effects=_CONTROL,
    ),
    Intrinsic(
        "assume",
        (Param("cond", Role.MASK),),
        _assume,
        "tl.assume",
        "Lets the compiler take a condition for true.",
        "hints",
        effects=_CONTROL,
    ),
    _hint_record("multiple_of", _hint, "Tells the compiler which power of two divides the start of each run."),
    _hint_record("max_contiguous", _axes_hint, "Tells the compiler how long the runs of consecutive numbers are."),
    _hint_record("max_constancy", _axes_hint, "Tells the compiler how long the runs of equal numbers are."),
)
