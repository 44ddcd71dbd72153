"""Shapes: the same elements in another order or under other axes."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.reference import numpy, same_lanes
from teenyc.intrinsics.rules import (
    Need,
    axis,
    has_quotient,
    is_sound_shape,
    is_within_limit,
    may_be_one,
    met_shapes,
    needs_axes,
    numel,
    shape,
    value,
    values,
)
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Rule, Site, Static, Variant
from teenyc.types import ONE, Extent, Shape, TensorType, Type, broadcast, is_integer, shape_text

_INPUT = Param("input", Role.VALUE, aliases=("x",))
_PAIR = (Param("input", Role.VALUE, aliases=("a",)), Param("other", Role.VALUE, aliases=("b",), meets="input"))
_HALVES = (Param("a", Role.VALUE), Param("b", Role.VALUE, meets="a"))
_SHAPE = Param("shape", Role.SHAPE)
_REORDER = Param("can_reorder", Role.FLAG, default=False, is_ignored=True)
TWO = Extent.of(2)


# ---- broadcasting ---------------------------------------------------------------------------------------------------


def _broadcast(site: Site) -> tuple[TensorType, ...] | None:
    types = values(site, ("input", "other"), Need.ANY)
    met = None if types is None else met_shapes(site, types)
    if types is None or met is None:
        return None
    result = TensorType(types["input"].element, met)
    return (result, result)


def _stretched(input: Any, shape: tuple[int, ...]) -> Any:
    missing = (1,) * (len(shape) + 1 - input.ndim)
    return numpy().broadcast_to(input.reshape(len(input), *missing, *input.shape[1:]), (len(input), *shape))


def _broadcast_to(site: Site) -> tuple[TensorType, ...] | None:
    type, wanted = value(site, "input", Need.ANY), shape(site.given["shape"])
    if type is None or not is_sound_shape(site, wanted, site.given["shape"].span):
        return None
    if broadcast(type.shape, wanted) == wanted:
        return (TensorType(type.element, wanted),)
    from teenyc.diagnostics.catalog.shapes import DoesNotBroadcast

    site.report(
        DoesNotBroadcast(
            span=site.given["shape"].span,
            function=site.intrinsic.name,
            found=shape_text(type.shape),
            target=shape_text(wanted),
            value_span=site.given["input"].span,
        )
    )
    return None


def _adds_axes(facts: Facts) -> bool:
    """Whether a tensor gets more axes; Triton's own function only stretches those that there are."""
    type, wanted = facts.types["input"], facts.attributes.get("shape")
    return isinstance(type, TensorType) and isinstance(wanted, tuple) and 0 < len(type.shape) < len(wanted)


# ---- reshaping ------------------------------------------------------------------------------------------------------


def _reshape(site: Site) -> tuple[TensorType, ...] | None:
    type, wanted = value(site, "input", Need.ELEMENT), shape(site.given["shape"])
    if type is None or not needs_axes(site, "input", type, 1):
        return None
    if not is_sound_shape(site, wanted, site.given["shape"].span):
        return None
    before, after = numel(type.shape), numel(wanted)
    if wanted and (before == after or has_quotient(before) or has_quotient(after)):
        return (TensorType(type.element, wanted),)
    from teenyc.diagnostics.catalog.shapes import ElementCount

    site.report(
        ElementCount(
            span=site.given["shape"].span,
            function=site.intrinsic.name,
            found=shape_text(type.shape),
            target=shape_text(wanted),
            counts=(str(before), str(after)),
            value_span=site.given["input"].span,
        )
    )
    return None


def _ravel(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.ELEMENT)
    if type is None or not needs_axes(site, "x", type, 1):
        return None
    return (TensorType(type.element, (numel(type.shape),)),)


def _squeeze(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.ANY)
    place = None if type is None or not needs_axes(site, "x", type, 1) else axis(site, "dim", type.shape)
    if type is None or place is None:
        return None
    if type.shape[place] == ONE:
        return (TensorType(type.element, (*type.shape[:place], *type.shape[place + 1 :])),)
    _not_one(site, "dim", f"axis {place} of `{type}`", str(type.shape[place]))
    return None


def _item(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.ANY)
    if type is None or not needs_axes(site, "x", type, 1):
        return None
    if numel(type.shape) == ONE:
        return (TensorType(type.element),)
    _not_one(site, "x", f"`{type}`", str(numel(type.shape)))
    return None


def _not_one(site: Site, name: str, what: str, found: str) -> None:
    from teenyc.diagnostics.catalog.shapes import NotOneElement

    at = site.given[name].span
    value_span = site.given["x"].span
    site.report(NotOneElement(span=at, function=site.intrinsic.name, what=what, found=found, value_span=value_span))


def _tensor(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.ANY)
    return None if type is None else (type,)


# ---- permuting ------------------------------------------------------------------------------------------------------


def _permute(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "input", Need.ELEMENT)
    return None if type is None else _permuted(site, type)


def _permuted(site: Site, type: TensorType) -> tuple[TensorType, ...] | None:
    given = site.given["dims"]
    rank = len(type.shape)
    dims = (
        tuple(d if isinstance(d, int) else -rank - 1 for d in given.static) if isinstance(given.static, tuple) else ()
    )
    if all(-rank <= d < rank for d in dims) and sorted(d % rank for d in dims) == list(range(rank)):
        return (TensorType(type.element, tuple(type.shape[d] for d in dims)),)
    from teenyc.diagnostics.catalog.shapes import NotAPermutation

    site.report(
        NotAPermutation(
            span=given.span,
            function=site.intrinsic.name,
            dims=tuple(d for d in given.static if isinstance(d, int)) if isinstance(given.static, tuple) else (),
            value=f"shape `{shape_text(type.shape)}`" if rank else "a scalar has no axes",
            rank=rank,
            value_span=site.given["input"].span,
        )
    )
    return None


def _trans(site: Site) -> tuple[TensorType, ...] | None:
    """Without `dims` the last two axes change places."""
    type = value(site, "input", Need.ELEMENT)
    if type is None:
        return None
    if "dims" in site.given and site.given["dims"].static:
        return _permuted(site, type)
    if not needs_axes(site, "input", type, 2):
        return None
    *batches, rows, columns = type.shape
    return (TensorType(type.element, (*batches, columns, rows)),)


def _transposed(input: Any, dims: tuple[int, ...] = ()) -> Any:
    return numpy().transpose(input, dims) if dims else numpy().swapaxes(input, -1, -2)


def _transposed_lanes(input: Any, dims: tuple[int, ...] = ()) -> Any:
    return _transposed(input, (0, *(axis + 1 for axis in dims)) if dims else ())


def _flip(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "x", Need.NUMBER)
    if type is None or not needs_axes(site, "x", type, 1):
        return None
    stated = "dim" in site.given and site.given["dim"].static is not None
    return (type,) if not stated or axis(site, "dim", type.shape) is not None else None


def _only_axis(site: Site, results: tuple[Type, ...]) -> tuple[tuple[str, Static], ...]:
    """Before 3.9 Triton does not flip one axis without being told which."""
    (result,) = results
    return (("dim", 0),) if isinstance(result, TensorType) and len(result.shape) == 1 else ()


def _flips_one(facts: Facts) -> bool:
    """Whether one axis is turned, of a tensor that Triton's own can turn: not of a vector of one element."""
    return facts.attributes.get("dim") is not None and not may_be_one(facts, "x", rank=1)


def _flips_vector(facts: Facts) -> bool:
    return facts.attributes.get("dim") is not None


# ---- joining and splitting ------------------------------------------------------------------------------------------


def _two(joined: Rule) -> Rule:
    """A rule for two values of one element type; `joined` judges their common shape."""

    def rule(site: Site) -> Any:
        results = joined(site)
        if results is None:
            return None
        (type,) = results
        assert isinstance(type, TensorType), "joining gives a tensor"
        return results if is_within_limit(site, type.shape, site.span) else None

    return rule


def _met(site: Site) -> TensorType | None:
    types = values(site, ("a", "b"), Need.ELEMENT)
    met = None if types is None else met_shapes(site, types)
    return None if types is None or met is None else TensorType(types["a"].element, met)


def _join(site: Site) -> tuple[TensorType, ...] | None:
    met = _met(site)
    return None if met is None else (TensorType(met.element, (*met.shape, TWO)),)


def _interleave(site: Site) -> tuple[TensorType, ...] | None:
    met = _met(site)
    if met is None:
        return None
    widened: Shape = (*met.shape[:-1], met.shape[-1] * TWO) if met.shape else (TWO,)
    return (TensorType(met.element, widened),)


def _split(site: Site) -> tuple[TensorType, ...] | None:
    type = value(site, "a", Need.ELEMENT)
    if type is None or not needs_axes(site, "a", type, 1):
        return None
    if type.shape[-1] == TWO:
        half = TensorType(type.element, type.shape[:-1])
        return (half, half)
    from teenyc.diagnostics.catalog.shapes import NotTwoHalves

    site.report(NotTwoHalves(span=site.given["a"].span, found=shape_text(type.shape)))
    return None


def _interleaved(a: Any, b: Any) -> Any:
    np = numpy()
    stacked = np.stack(np.broadcast_arrays(a, b), axis=-1)
    return stacked.reshape(*stacked.shape[:-2], -1)


# ---- gathering ------------------------------------------------------------------------------------------------------


def _gather(site: Site) -> tuple[TensorType, ...] | None:
    source, index = value(site, "src", Need.ELEMENT), value(site, "index", Need.NUMBER)
    if source is None or index is None or not needs_axes(site, "src", source, 1):
        return None
    if not is_integer(index.element):
        _no_index(site, index)
        return None
    place = axis(site, "axis", source.shape)
    if place is None:
        return None
    kept = [tuple(e for n, e in enumerate(t.shape) if n != place) for t in (source, index)]
    if len(source.shape) == len(index.shape) and kept[0] == kept[1]:
        return (TensorType(source.element, index.shape),)
    from teenyc.diagnostics.catalog.shapes import DifferentShapes

    site.report(
        DifferentShapes(
            span=site.given["index"].span,
            function=site.intrinsic.name,
            names=("src", "index"),
            left=shape_text(source.shape),
            right=shape_text(index.shape),
            left_span=site.given["src"].span,
            but=f" but for axis {place}",
        )
    )
    return None


def _no_index(site: Site, index: TensorType) -> None:
    from teenyc.intrinsics.rules import wrong_element

    wrong_element(site, "index", Need.INTEGER.value, index)


INTRINSICS = (
    Intrinsic(
        "broadcast",
        _PAIR,
        _broadcast,
        "tl.broadcast",
        "Both values, stretched to their common shape.",
        "shape",
        generics=1,
        reference=lambda input, other: tuple(numpy().broadcast_arrays(input, other)),
    ),
    Intrinsic(
        "broadcast_to",
        (_INPUT, _SHAPE),
        _broadcast_to,
        "tl.broadcast_to",
        "The value stretched to a shape: axes of extent 1, and axes in front.",
        "shape",
        generics=1,
        reference=lambda input, shape: numpy().broadcast_to(input, shape),
        batched=_stretched,
        variants=(Variant(_adds_axes, "tl.broadcast({input}, tl.zeros({shape}, tl.int1))[0]"),),
    ),
    Intrinsic(
        "reshape",
        (_INPUT, _SHAPE, _REORDER),
        _reshape,
        "tl.reshape",
        "The elements in their order under other axes.",
        "shape",
        generics=1,
        reference=lambda input, shape: numpy().reshape(input, shape),
        batched=same_lanes,
    ),
    Intrinsic(
        "view",
        (_INPUT, _SHAPE),
        _reshape,
        "tl.reshape",
        "As `reshape`; the order is kept, which Triton's deprecated `view` does not promise.",
        "shape",
        generics=1,
        reference=lambda input, shape: numpy().reshape(input, shape),
        batched=same_lanes,
    ),
    Intrinsic(
        "ravel",
        (Param("x", Role.VALUE, aliases=("input",)), _REORDER),
        _ravel,
        "tl.ravel",
        "The elements in their order along one axis.",
        "shape",
        generics=1,
        reference=lambda x: numpy().ravel(x),
    ),
    Intrinsic(
        "squeeze",
        (
            Param("x", Role.VALUE, aliases=("input",)),
            Param("dim", Role.AXIS, aliases=("axis",), counts="x"),
        ),
        _squeeze,
        "_squeeze",
        "The elements without an axis of extent 1; `unsqueeze` adds one.",
        "shape",
        generics=1,
        reference=lambda x, dim: numpy().squeeze(x, dim),
        helper="_squeeze",
    ),
    Intrinsic(
        "item",
        (Param("x", Role.VALUE, aliases=("input",)),),
        _item,
        "{x}.item()",
        "The only element of a tensor, as a scalar.",
        "shape",
        generics=1,
        reference=lambda x: x.reshape(()),
        batched=lambda x: x,
    ),
    Intrinsic(
        "to_tensor",
        (Param("x", Role.VALUE, aliases=("input",)),),
        _tensor,
        "{x}",
        "The value itself: numbers are tensors here, of rank 0.",
        "shape",
        generics=1,
        reference=lambda x: x,
    ),
    Intrinsic(
        "permute",
        (_INPUT, Param("dims", Role.AXES, counts="input")),
        _permute,
        "tl.permute",
        "The axes in another order: `permute(x, &[1, 0])`.",
        "shape",
        generics=1,
        reference=_transposed,
        batched=_transposed_lanes,
    ),
    Intrinsic(
        "trans",
        (_INPUT, Param("dims", Role.AXES, default=(), counts="input")),
        _trans,
        "tl.trans",
        "The last two axes exchanged, or the axes in the order of `dims`.",
        "shape",
        generics=1,
        reference=_transposed,
        batched=_transposed_lanes,
    ),
    Intrinsic(
        "flip",
        (
            Param("x", Role.VALUE, aliases=("input",)),
            Param("dim", Role.AXIS, default=None, aliases=("axis",), counts="x"),
        ),
        _flip,
        "_flip",
        "The elements in reverse order along an axis, or along all.",
        "shape",
        generics=1,
        reference=lambda x, dim=None: numpy().flip(x, dim),
        helper="_flip",
        variants=(Variant(_flips_one, "tl.flip"), Variant(_flips_vector, "_flip({x})", "_flip")),
        fills=_only_axis,
    ),
    Intrinsic(
        "join",
        _HALVES,
        _two(_join),
        "tl.join",
        "Both values side by side along a new last axis of extent 2.",
        "shape",
        generics=1,
        reference=lambda a, b: numpy().stack(numpy().broadcast_arrays(a, b), axis=-1),
    ),
    Intrinsic(
        "split",
        (Param("a", Role.VALUE, aliases=("x", "input")),),
        _split,
        "tl.split",
        "The two halves of a value along its last axis, which has extent 2.",
        "shape",
        generics=1,
        reference=lambda a: (a[..., 0], a[..., 1]),
    ),
    Intrinsic(
        "interleave",
        _HALVES,
        _two(_interleave),
        "tl.interleave",
        "The elements of both values by turns along the last axis.",
        "shape",
        generics=1,
        reference=_interleaved,
    ),
    Intrinsic(
        "gather",
        (
            Param("src", Role.VALUE, aliases=("input", "x")),
            Param("index", Role.VALUE),
            Param("axis", Role.AXIS, aliases=("dim",), counts="src"),
        ),
        _gather,
        "tl.gather",
        "The elements of `src` at the places that `index` holds along an axis.",
        "shape",
        generics=1,
        reference=lambda src, index, axis: numpy().take_along_axis(src, index, axis),
        first_by_name="axis",
    ),
)
