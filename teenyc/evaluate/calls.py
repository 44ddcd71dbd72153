"""Calls of intrinsics: by the reference of their record, or here where they need memory, the grid or a way to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from teenyc.evaluate.accesses import and_active, arguments_of, atomic, atomic_poll, block, load, store
from teenyc.evaluate.arithmetic import together
from teenyc.evaluate.marks import Marked
from teenyc.evaluate.numbers import Array, converted, cut_toward_zero, held_dtype, is_narrow, reread, rounded
from teenyc.evaluate.scope import Scope, bound
from teenyc.evaluate.watch import Broken, FaultError, Impossible, Lanes
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.program import LAST_FIRST
from teenyc.intrinsics.spec import Intrinsic, Param, Role
from teenyc.ir.nodes import Attribute, Call, Let, Value
from teenyc.record import replace
from teenyc.types import BF16, F16, F32, Compute, DType, Extent, TensorType, Type, TypeVar

if TYPE_CHECKING:
    from teenyc.evaluate.machine import Frame, Held, Mask

Handler = Callable[["Frame", Let, Call, "Mask"], "tuple[Held, ...]"]


def call(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """What a call gives."""
    record = TABLE[call.intrinsic]
    handler = HANDLERS.get(record.name) or FAMILIES.get(record.family)
    if handler is not None:
        return handler(frame, let, call, active)
    if record.reference is None:
        raise FaultError(Impossible(let.span, record.name, "it needs a GPU"))
    return referred(frame, let, call)


# ---- by the reference -----------------------------------------------------------------------------------------------


def referred(frame: Frame, let: Let, call: Call, *, exactly: bool = False) -> tuple[Array, ...]:
    """The results of the record's reference on the arrays of all programs; `exactly`, with integers of 64 bits."""
    record = TABLE[call.intrinsic]
    reference = record.batched or record.reference
    assert reference is not None, f"`{record.name}` has a reference"
    operands = dict(zip((n for n, _ in call.operands), _operands(frame, let, call), strict=True))
    if exactly:
        operands = {n: a.astype(np.int64) if a.dtype.kind in "iu" else a for n, a in operands.items()}
    arguments: dict[str, Any] = {}
    for param in record.params:
        for name in _names(param, operands, call):
            if name in operands:
                arguments[name] = bool(operands[name].reshape(-1)[0]) if param.role is Role.FLAG else operands[name]
            elif (static := call.attribute(name, _default(param))) is not None:
                arguments[name] = _static(frame, param, static, call)
    if exactly:
        arguments.pop("dtype", None)
    _lay_flat(record, call, arguments)
    results = reference(**arguments)
    results = results if isinstance(results, tuple) else (results,)
    return tuple(_shaped(frame, r, v) for r, v in zip(results, let.results, strict=True))


def _operands(frame: Frame, let: Let, call: Call) -> list[Array]:
    """Operands with one number of axes; integers in their own type, or in 64 bits where the call passes them on."""
    from teenyc.ir.flow import TRANSPARENT

    flowing = TRANSPARENT.get(call.intrinsic, ()) if len(let.results) == 1 else ()
    is_wide = any(frame.array(o).dtype == np.int64 for n, o in call.operands if n in flowing)
    is_wide = is_wide or (bool(flowing) and frame.dtype(let.results[0]) == np.int64)
    arrays: list[Array] = []
    for name, operand in call.operands:
        array = frame.array(operand)
        if name in flowing and is_wide:
            arrays.append(converted(array, np.dtype(np.int64)) if array.dtype.kind in "iu" else array)
        else:
            arrays.append(frame.narrow(operand))
    return together(arrays)


def _names(param: Param, operands: Mapping[str, Array], call: Call) -> Iterator[str]:
    """The argument of a parameter, or those of its list."""
    if not param.several:
        yield param.name
        return
    names = (*operands, *(n for n, _ in call.attributes))
    yield from (n for n in names if n.rstrip("0123456789") == param.name)


def _default(param: Param) -> Attribute:
    """What an axis is that is not stated; other defaults are the reference's own."""
    is_axis = param.role is Role.AXIS and isinstance(param.default, int) and not param.is_ignored
    return param.default if is_axis else None  # type: ignore[return-value]  # an axis is a number


def _static(frame: Frame, param: Param, static: Attribute, call: Call) -> Any:
    """An attribute as a reference takes it; axes count from the end, so that programs may come first."""
    match static:
        case DType() | TypeVar() | Compute():
            return held_dtype(frame.scope.dtype(static))
        case Extent():
            return frame.scope.extent(static)
        case tuple() if param.role is Role.SHAPE:
            return tuple(frame.scope.extent(e) if isinstance(e, Extent) else e for e in static)
        case int() if param.role is Role.AXIS and param.counts is not None:
            return static if static < 0 else static - _rank(call, param.counts)
        case str() if param.role is Role.FUNCTION:
            return _combining(frame, static, call)
        case _:
            return static


def _rank(call: Call, name: str) -> int:
    operand = call.operand(name)
    assert operand is not None, "axes are counted of an argument"
    assert isinstance(operand.type, TensorType), "axes are counted of a tensor"
    return len(operand.type.shape)


def _lay_flat(record: Intrinsic, call: Call, arguments: dict[str, Any]) -> None:
    """Where an axis is left out and all lanes are meant, they are laid along one."""
    for param in record.params:
        is_open = param.role is Role.AXIS and param.counts is not None and param.default is None
        if not is_open or param.name in arguments:
            continue
        for name, array in list(arguments.items()):
            if isinstance(array, np.ndarray):
                arguments[name] = array.reshape(len(array), -1)
        arguments[param.name] = -1


def _shaped(frame: Frame, result: Any, value: Value) -> Array:
    """A result with the programs in front of the lanes of its type."""
    lanes = frame.scope.lanes(value.type)
    return np.asarray(result).reshape(-1, *lanes)


def _combining(frame: Frame, name: str, call: Call) -> Callable[..., Any]:
    """A device function on arrays of elements: each element is a program of its own to it."""
    from teenyc.evaluate.machine import Frame, numbers_of

    function = frame.world.functions[name]
    types = tuple(o.type for _, o in call.operands)
    taken = (*types, *types) if len(function.parameters) == 2 * len(types) else types
    elements = bound(function, taken, frame.scope)
    constants = {c.name: frame.scope.constants[c.name] for c in function.constants if c.name in frame.scope.constants}

    def combine(*arrays: Any) -> Any:
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        flat = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
        count = len(flat[0])
        programs = np.broadcast_to(frame.programs[:1], (count, 3))
        if shape[0] == len(frame.programs):
            programs = np.repeat(frame.programs, count // shape[0], axis=0)
        inner = Frame(frame.world, Scope(elements, constants), programs)
        results = inner.called(function, flat, None)
        for held in results:
            if isinstance(held, Marked):
                frame.world.memory.watcher.decided(held, inner.place(function.span, None))
        arrays_of = [np.broadcast_to(numbers_of(r), (count,)).reshape(shape) for r in results]
        return arrays_of[0] if len(arrays_of) == 1 else tuple(arrays_of)

    return combine


# ---- the grid -------------------------------------------------------------------------------------------------------


def program_id(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    indices = frame.programs[:, _axis(call)]
    if call.attribute(LAST_FIRST):
        indices = frame.world.grid[_axis(call)] - 1 - indices
    is_one = indices[0] == indices[-1] and bool((indices == indices[0]).all())
    return (indices[:1] if is_one else indices,)


def num_programs(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    return (np.array([frame.world.grid[_axis(call)]]),)


def _axis(call: Call) -> int:
    axis = call.attribute("axis")
    assert isinstance(axis, int), "the checker reads axes"
    return axis


# ---- numbers --------------------------------------------------------------------------------------------------------


def dot(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """The reference, on operands as the matrix units take them: one that was computed as the other one is stored.

    How f32 is multiplied makes no difference to other types.
    """
    operands = [call.operand(name) for name in ("input", "other")]
    if any(o is not None and frame.scope.dtype(_element(o.type)) != F32 for o in operands):
        call = replace(call, attributes=tuple((n, a) for n, a in call.attributes if n != "input_precision"))
    types = [o.type.element for o in operands if o is not None and isinstance(o.type, TensorType)]
    stored = next((frame.scope.dtype(t) for t in types if isinstance(t, TypeVar)), None)
    if types[0] == types[1] or stored is None or not is_narrow(stored) or stored == F16:
        return referred(frame, let, call)
    multiplied = stored if stored.bits > 8 else BF16
    inner = frame.with_rounded([o for o in operands if isinstance(o, Value)], multiplied)
    return referred(inner, let, call)


def bitcast(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    source, target = _element(call.operands[0][1].type), _element(let.results[0].type)
    return (reread(frame.narrow(call.operands[0][1]), frame.scope.dtype(source), frame.scope.dtype(target)),)


def rounding_cast(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """A conversion to a named narrow float with a stated rounding, or to another type as `as` does it."""
    numbers, target = frame.narrow(call.operands[0][1]), frame.scope.dtype(_element(let.results[0].type))
    if not is_narrow(target):
        return (converted(numbers, held_dtype(target)),)
    is_cut = call.attribute("fp_downcast_rounding") == "rtz"
    return ((cut_toward_zero if is_cut else rounded)(numbers, target),)


def _element(type: Type) -> Any:
    assert isinstance(type, TensorType), "a number"
    return type.element


# ---- what stops, prints, or needs a GPU -----------------------------------------------------------------------------


def asserted(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """Stops where a condition does not hold in a lane of the mask."""
    condition, mask = arguments_of(frame, call, "cond", "mask")
    if condition is None:
        return ()
    everyone = np.ones(len(frame.programs), bool) if active is None else active
    needed = and_active(mask, everyone, condition.ndim - 1)
    missing = ~condition if needed is None else needed & ~condition
    if missing.any():
        place = frame.place(let.span, active)
        flat = np.flatnonzero(missing)
        text = call.attribute("msg", "")
        lanes = Lanes(place, missing.shape, flat, flat)
        frame.world.memory.watcher.broken(Broken(lanes, str(text), call.intrinsic))
    return ()


def printed(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """One line for each active program."""
    prefix = str(call.attribute("prefix", ""))
    arrays = [np.broadcast_to(a, (len(frame.programs), *a.shape[1:])) for a in map(frame.array, _values(call))]
    for number, indices in enumerate(frame.programs.tolist()):
        if active is None or active[number]:
            texts = [np.array2string(a[number], threshold=64) for a in arrays]
            frame.world.say(f"program {tuple(indices)}: {' '.join((prefix, *texts))}")
    return ()


def _values(call: Call) -> Sequence[Any]:
    return [o for n, o in call.operands if n.rstrip("0123456789") == "args"]


def nothing(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    return ()


def device(frame: Frame, let: Let, call: Call, active: Mask) -> tuple[Held, ...]:
    """What a program learns of the device: there is none, and one thread runs it."""
    is_count = call.intrinsic in ("num_warps", "num_threads")
    return tuple(np.array([1 if is_count else 0]).astype(frame.scope.held(v.type)) for v in let.results)


HANDLERS: Mapping[str, Handler] = {
    "program_id": program_id,
    "num_programs": num_programs,
    "load": load,
    "store": store,
    "atomic_poll": atomic_poll,
    "dot": dot,
    "bitcast": bitcast,
    "cast": rounding_cast,
    "device_assert": asserted,
    "static_assert": asserted,
    "assume": asserted,
    "device_print": printed,
    "static_print": nothing,
    "debug_barrier": nothing,
}
"""What works by more than its arguments."""

FAMILIES: Mapping[str, Handler] = {"atomics": atomic, "descriptors": block, "device": device}
"""What all records of a family share that have no handler of their own."""
