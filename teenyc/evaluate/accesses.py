"""Calls that reach memory: loads, stores and atomics, through pointers and by blocks."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np

from teenyc.evaluate.arithmetic import aligned, together
from teenyc.evaluate.numbers import Array, converted
from teenyc.evaluate.order import Meeting
from teenyc.evaluate.views import BlockView
from teenyc.evaluate.watch import Place
from teenyc.intrinsics import TABLE
from teenyc.ir.nodes import Call, Let, Value

if TYPE_CHECKING:
    from teenyc.evaluate.machine import Frame, Held, Mask


def load(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    address, mask, other = arguments_of(frame, call, "pointer", "mask", "other")
    assert address is not None, "a load has an address"
    memory, place = frame.world.memory, frame.place(let.span, active)
    if memory.watcher.is_curious:
        return (_watched_load(frame, address, mask, other, place),)
    is_one = all(a is None or len(a) == 1 for a in (address, mask, other))
    mask = mask if is_one else and_active(mask, active, address.ndim - 1)
    return (memory.load(address, mask, other, place),)


def _watched_load(frame: Frame, address: Array, mask: Array | None, other: Array | None, place: Place) -> Array:
    """A load by each program for itself; lanes that a mask leaves out hold what the watcher says."""
    everyone = np.ones(len(frame.programs), bool) if place.active is None else place.active
    memory = frame.world.memory
    whole = and_active(mask, everyone, address.ndim - 1)
    return memory.load(address, whole, other, place)


def store(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    address, value, mask = arguments_of(frame, call, "pointer", "value", "mask")
    assert address is not None, "a store has an address"
    assert value is not None, "a store has a value"
    _write(frame, let, address, value, mask, active)
    return ()


def _write(frame: Frame, let: Let, address: Array, value: Array, mask: Array | None, active: Mask) -> None:
    """Every active program writes; where all write the same to the same place, once is enough."""
    memory, place = frame.world.memory, frame.place(let.span, active)
    if memory.watcher.is_curious or any(a is not None and len(a) > 1 for a in (address, value, mask)):
        everyone = np.ones(len(frame.programs), bool) if active is None and memory.watcher.is_curious else active
        mask = and_active(mask, everyone, address.ndim - 1)
    memory.store(address, value, mask, place)


def atomic(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """Each program in turn, each lane in turn."""
    names = [n for n, _ in call.operands if n not in ("pointer", "mask", "timeout_ns")]
    address, mask, *values = arguments_of(frame, call, "pointer", "mask", *names)
    assert address is not None, "an atomic has an address"
    present = [v for v in values if v is not None]
    old = _update(frame, let, call, address, present, mask, active)
    return (old,) if let.results else ()


def atomic_poll(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """Nothing changes memory while a program waits: what is not there now never comes."""
    address, expected = arguments_of(frame, call, "pointer", "expected_value")
    assert address is not None, "an atomic has an address"
    assert expected is not None, "what is waited for is stated"
    return (_update(frame, let, call, address, [], None, active) == expected,)


def _update(
    frame: Frame, let: Let, call: Call, address: Array, values: list[Array], mask: Array | None, active: Mask
) -> Array:
    everyone = np.ones(len(frame.programs), bool) if active is None else active
    update = TABLE[call.intrinsic].update
    assert update is not None, f"`{call.intrinsic}` says what it leaves"
    function = getattr(np, update) if isinstance(update, str) else update
    flags = and_active(mask, everyone, address.ndim - 1)
    place, meeting = frame.place(let.span, active), meeting_of(let, call, frame.world.used)
    return frame.world.memory.update(address, values, flags, function, place, meeting)


def meeting_of(let: Let, call: Call, used: Container[int]) -> Meeting:
    """How an atomic brings programs in order; `used` are the ids of values that something is made of."""
    stated, scope = call.attribute("sem", None), call.attribute("scope", None)
    sem = stated or {"atomic_load": "acquire", "atomic_poll": "acquire", "atomic_store": "release"}.get(
        call.intrinsic, "acq_rel"
    )
    if call.intrinsic not in TABLE or TABLE[call.intrinsic].family != "atomics":
        sem = "relaxed"  # of a block, through a descriptor
    tells = any(value.id in used for value in let.results)
    return Meeting(
        acquires=tells and sem in ("acquire", "acq_rel"),
        releases=sem in ("release", "acq_rel"),
        begins=call.intrinsic == "atomic_store",
        only_reads=call.intrinsic in ("atomic_load", "atomic_poll"),
        is_local=scope == "cta",
    )


def arguments_of(frame: Frame, call: Call, *names: str) -> list[Array | None]:
    """Arguments of an access, with one number of axes; None for those that are left out."""
    operands = {n: frame.array(o) for n, o in call.operands if n in names}
    lined = dict(zip(operands, together(list(operands.values())), strict=True))
    return [lined.get(name) for name in names]


def and_active(mask: Array | None, active: Mask, rank: int) -> Array | None:
    if active is None:
        return mask
    spread = aligned(active, rank)
    return spread if mask is None else mask & spread


def active_lanes(flags: Array, active: Mask) -> Array:
    """Flags of lanes, in active programs only."""
    return flags if active is None else flags & aligned(active, flags.ndim - 1)


# ---- blocks of memory -----------------------------------------------------------------------------------------------


def block(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """What works on descriptors and block pointers: makes them, moves them, or accesses a block."""
    base = call.operand("base")
    if base is not None:
        start = frame.of(base)
        if isinstance(start, BlockView):
            return (start.moved(_listed(frame, call, "offsets")),)
        lists = (_listed(frame, call, name) for name in ("shape", "strides", "offsets"))
        return (BlockView(frame.array(base), *lists),)
    address, mask = block_of(frame, call)
    flags = and_active(mask, active, address.ndim - 1)
    value = call.operand("value")
    place = frame.place(let.span, active)
    if value is None:
        (result,) = let.results
        return (frame.world.memory.load(address, flags, _padding(frame, call, result), place),)
    numbers = aligned(frame.array(value), address.ndim - 1)
    if TABLE[call.intrinsic].update is not None:
        _update(frame, let, call, address, [numbers], mask, active)
    else:
        _write(frame, let, address, numbers, mask, active)
    return ()


def _listed(frame: Frame, call: Call, name: str) -> tuple[Array, ...]:
    items = (o for n, o in call.operands if n.rstrip("0123456789") == name)
    return tuple(converted(frame.array(o), np.dtype(np.int64)) for o in items)


def block_of(frame: Frame, call: Call) -> tuple[Array, Array]:
    """The addresses of the block that a call is about, and which of its lanes lie inside."""
    operand = call.operand("desc") or call.operand("pointer")
    assert operand is not None, "an access goes through a descriptor"
    view = frame.of(operand)
    assert isinstance(view, BlockView), "a descriptor is a view of memory"
    block = frame.scope.shape(operand.type.block)  # type: ignore[union-attr]  # it is one of a descriptor
    rows, column = call.operand("x_offsets"), call.operand("y_offset")
    if rows is not None and column is not None:
        lanes = aligned(converted(frame.array(column), np.dtype(np.int64)), 1) + np.arange(block[1])
        return view.places((converted(frame.array(rows), np.dtype(np.int64)), lanes), (0, 1))
    checked = call.attribute("boundary_check", ()) if view.offsets else tuple(range(len(block)))
    assert isinstance(checked, tuple), "the axes that are checked"
    axes = [a for a in checked if isinstance(a, int)]
    return view.block(view.offsets or _listed(frame, call, "offsets"), block, axes)


def _padding(frame: Frame, call: Call, result: Value) -> Array:
    operand = call.operand("desc") or call.operand("pointer")
    assert operand is not None, "an access goes through a descriptor"
    pads_nan = getattr(operand.type, "pads_nan", False) or call.attribute("padding_option") == "nan"
    return np.array([np.nan if pads_nan else 0]).astype(frame.scope.held(result.type))
