"""Functions of the author's, given to reductions, scans and element by element: `reduce`, `associative_scan`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from teenyc.intrinsics.reference import in_each_program, numpy
from teenyc.intrinsics.rules import Need, axis, flag, is_present, listed, needs_axes, value
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Site, Variant
from teenyc.types import ONE, Shape, TensorType, shape_text

_INPUT = Param("input", Role.VALUE, aliases=("x",), several=True)
_COMBINE = Param("combine_fn", Role.FUNCTION, aliases=("f",))


# ---- rules ----------------------------------------------------------------------------------------------------------


def _inputs(site: Site) -> list[TensorType] | None:
    """The types of what is combined, which are of one shape."""
    types: list[TensorType] = []
    for name in listed(site, "input"):
        type = value(site, name, Need.ELEMENT)
        if type is None or not needs_axes(site, name, type, 1):
            return None
        if types and type.shape != types[0].shape:
            from teenyc.diagnostics.catalog.shapes import DifferentShapes

            site.report(
                DifferentShapes(
                    span=site.given[name].span,
                    function=site.intrinsic.name,
                    names=("input", name),
                    left=shape_text(types[0].shape),
                    right=shape_text(type.shape),
                    left_span=site.given["input"].span,
                )
            )
            return None
        types.append(type)
    return types


def _reduce(site: Site) -> tuple[TensorType, ...] | None:
    types, keeps = _inputs(site), flag(site, "keep_dims")
    if types is None or keeps is None:
        return None
    shape: Shape = types[0].shape
    if not is_present(site, "axis"):
        shape = (ONE,) * len(shape) if keeps else ()
    else:
        place = axis(site, "axis", shape)
        if place is None:
            return None
        shape = (*shape[:place], *((ONE,) if keeps else ()), *shape[place + 1 :])
    return tuple(TensorType(type.element, shape) for type in types)


def _scan(site: Site) -> tuple[TensorType, ...] | None:
    types = _inputs(site)
    if types is None or axis(site, "axis", types[0].shape) is None:
        return None
    return tuple(types)


def _map(site: Site) -> tuple[TensorType, ...] | None:
    raise AssertionError("a call is the function's own")


# ---- forms and references -------------------------------------------------------------------------------------------


def _has_several(facts: Facts) -> bool:
    return "input1" in facts.types


def _keeps(facts: Facts) -> bool:
    return facts.attributes.get("keep_dims") is True


def _reduced(
    input: Any, axis: int | None = None, combine_fn: Any = None, keep_dims: bool = False, **others: Any
) -> Any:
    """Elements combined from the first to the last along an axis, or of all."""
    np = numpy()
    values = [np.asarray(a) for a in (input, *others.values())]
    shape = values[0].shape
    if axis is None:
        flat = [a.ravel() for a in values]
        total = [np.asarray(a).reshape((1,) * len(shape) if keep_dims else ()) for a in _folded(flat, combine_fn)[-1]]
    else:
        total = _folded([np.moveaxis(a, axis, 0) for a in values], combine_fn)[-1]
        total = [np.expand_dims(a, axis) for a in total] if keep_dims else total
    return total[0] if len(total) == 1 else tuple(total)


def _scanned(input: Any, axis: int, combine_fn: Any, reverse: bool = False, **others: Any) -> Any:
    """What the elements up to each place combine to, or with `reverse` those from it on."""
    np = numpy()
    values = [np.moveaxis(np.asarray(a), axis, 0) for a in (input, *others.values())]
    values = [a[::-1] if reverse else a for a in values]
    steps = _folded(values, combine_fn)
    stacked = [np.stack(column) for column in zip(*steps, strict=True)]
    turned = [np.moveaxis(a[::-1] if reverse else a, 0, axis) for a in stacked]
    return turned[0] if len(turned) == 1 else tuple(turned)


def _folded(values: list[Any], combine: Callable[..., Any]) -> list[list[Any]]:
    """The running combinations along the first axis."""
    np = numpy()
    steps = [[a[0] for a in values]]
    for place in range(1, len(values[0])):
        made = combine(*steps[-1], *(a[place] for a in values))
        parts = made if isinstance(made, tuple) else (made,)
        steps.append([np.asarray(p).astype(a.dtype) for p, a in zip(parts, values, strict=True)])
    return steps


def _in_programs(combined: Callable[..., Any]) -> Callable[..., Any]:
    """A reference whose inputs have one shape, also where some are the same in all programs."""

    def batched(**arguments: Any) -> Any:
        names = [n for n, a in arguments.items() if isinstance(a, numpy().ndarray)]
        alike = dict(zip(names, in_each_program(*(arguments[n] for n in names)), strict=True))
        return combined(**arguments | alike)

    return batched


_SEVERAL = "(({input}), axis={axis}, combine_fn={combine_fn}"

INTRINSICS = (
    Intrinsic(
        "reduce",
        (
            _INPUT,
            Param("axis", Role.AXIS, default=None, aliases=("dim",), counts="input"),
            _COMBINE,
            Param("keep_dims", Role.FLAG, default=False),
        ),
        _reduce,
        "tl.reduce",
        "What a function combines all elements to, along an axis or of all: `reduce(x, 0, add)`; of several tensors at "
        "once with `reduce((x, y), 0, f)`, `f` taking and giving one element of each.",
        "reduction",
        generics=2,
        reference=_reduced,
        batched=_in_programs(_reduced),
        first_by_name="axis",
        variants=(
            Variant(lambda f: _has_several(f) and _keeps(f), f"tl.reduce{_SEVERAL}, keep_dims=True)"),
            Variant(_has_several, f"tl.reduce{_SEVERAL})"),
        ),
    ),
    Intrinsic(
        "associative_scan",
        (
            _INPUT,
            Param("axis", Role.AXIS, aliases=("dim",), counts="input"),
            _COMBINE,
            Param("reverse", Role.FLAG, default=False),
        ),
        _scan,
        "tl.associative_scan",
        "What a function combines the elements up to each place to, along an axis, from the end with `reverse = true`; "
        "of one tensor or of several.",
        "scan",
        generics=1,
        reference=_scanned,
        batched=_in_programs(_scanned),
        first_by_name="axis",
        variants=(
            Variant(
                lambda f: _has_several(f) and f.attributes.get("reverse") is True,
                f"tl.associative_scan{_SEVERAL}, reverse=True)",
            ),
            Variant(_has_several, f"tl.associative_scan{_SEVERAL})"),
        ),
    ),
    Intrinsic(
        "map_elementwise",
        (Param("combine_fn", Role.FUNCTION, aliases=("f", "scalar_fn")), _INPUT),
        _map,
        "tl.map_elementwise",
        "A function of each element, or of the elements of several tensors: `map_elementwise(f, (x, y))` is `f(x, y)`.",
        "arithmetic",
        reference=lambda combine_fn, input, **others: combine_fn(input, *others.values()),
    ),
)
