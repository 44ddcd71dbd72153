"""Element-wise mathematics on scalars and tensors alike."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.accurate import by_doubles, erf, fused
from teenyc.intrinsics.reference import (
    ceiling_quotient,
    divided,
    extremum,
    high_product,
    numpy,
    sigmoid,
    unary,
)
from teenyc.intrinsics.rules import Need, elementwise, mask, met_shapes, values, wrong_element
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Rule, Site, Variant
from teenyc.types import F32, F64, U32, U64, DType, TensorType, Type, Unsuffixed, is_float, shape_text

_X = Param("x", Role.VALUE)
_Y = Param("y", Role.VALUE, meets="x")
_PLACES = ("i", "j", "size_i", "size_j", "size_g")
_PROPAGATE = Param("propagate_nan", Role.CHOICE, default="none", choices=("none", "all"), by_name_only=True)


def _unary(name: str, summary: str, reference: Any, *, need: Need = Need.FLOAT) -> Intrinsic:
    return Intrinsic(
        name, (_X,), elementwise("x", need), f"tl.{name}", summary, "math", generics=1, reference=reference
    )


# ---- rules ----------------------------------------------------------------------------------------------------------


def _with_nan_choice(names: str) -> Rule:
    """Numbers of one type; the choice what NaN gives is for floats."""
    plain = elementwise(names, Need.NUMBER)

    def rule(site: Site) -> tuple[Type, ...] | None:
        results = plain(site)
        given = site.given.get("propagate_nan")
        type = results[0] if results is not None else None
        if given is None or given.static != "all" or not isinstance(type, TensorType) or is_float(type.element):
            return results
        from teenyc.diagnostics.catalog.calls import UselessOption

        why = f"`{type.element}` need not be a float"
        site.report(UselessOption(span=given.span, function=site.intrinsic.name, name="propagate_nan", why=why))
        return None

    return rule


def _where(site: Site) -> tuple[TensorType, ...] | None:
    condition, types = mask(site, "condition"), values(site, ("x", "y"), Need.ANY)
    if condition is None or types is None:
        return None
    shape = met_shapes(site, {"condition": condition, **types})
    return None if shape is None else (TensorType(types["x"].element, shape),)


def _expect_zero(site: Site) -> tuple[TensorType, ...] | None:
    flags, types = mask(site, "mask"), values(site, ("x",), Need.NUMBER)
    shape = None if flags is None or types is None else met_shapes(site, {**types, "mask": flags})
    if types is None or flags is None or shape is None:
        return None
    if shape == types["x"].shape:
        return (types["x"],)
    from teenyc.diagnostics.catalog.shapes import DifferentShapes

    site.report(
        DifferentShapes(
            span=site.given["mask"].span,
            function=site.intrinsic.name,
            names=("x", "mask"),
            left=shape_text(types["x"].shape),
            right=shape_text(flags.shape),
            left_span=site.given["x"].span,
        )
    )
    return None


def _umulhi(site: Site) -> tuple[TensorType, ...] | None:
    types = values(site, ("x", "y"), Need.INTEGER)
    if types is None:
        return None
    first = types["x"]
    if first.element not in (U32, U64) and not isinstance(first.element, Unsuffixed):
        wrong_element(site, "x", "`u32` or `u64`", first)
        return None
    shape = met_shapes(site, types)
    return None if shape is None else (TensorType(first.element, shape),)


def _swizzle2d(site: Site) -> tuple[TensorType, ...] | None:
    types = values(site, _PLACES, Need.INTEGER)
    shape = None if types is None else met_shapes(site, types)
    if types is None or shape is None:
        return None
    result = TensorType(types["i"].element, shape)
    return (result, result)


# ---- forms ----------------------------------------------------------------------------------------------------------


def _is_f32(facts: Facts) -> bool:
    return all(isinstance(t, TensorType) and t.element == F32 for t in facts.types.values())


def _is_float(facts: Facts) -> bool:
    return all(isinstance(t, TensorType) and is_float(t.element) for t in facts.types.values())


def _is_below_f64(facts: Facts) -> bool:
    """Whether Triton's `clamp` does: of f64 it has no code for bounds that are each other's negative."""
    return _is_float(facts) and not _may_be_f64(facts)


def _may_be_f64(facts: Facts) -> bool:
    elements = [t.element for t in facts.types.values() if isinstance(t, TensorType)]
    return any(e == F64 or not isinstance(e, DType) for e in elements)


def _may_be_f64_and_propagates(facts: Facts) -> bool:
    return _propagates(facts) and _may_be_f64(facts)


def _propagates(facts: Facts) -> bool:
    return facts.attributes.get("propagate_nan") == "all"


def _rounds(facts: Facts) -> bool:
    return facts.attributes.get("ieee_rounding") is True


def _is_known(facts: Facts) -> bool:
    return facts.known >= facts.types.keys()


def _propagating(call: str) -> str:
    return f"tl.{call}, propagate_nan=tl.PropagateNan.ALL)"


_CLAMPED_WITH_NAN = _propagating("minimum(" + _propagating("maximum({x}, {min}") + ", {max}")


def _swizzled(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> Any:
    place = i * size_j + j
    first = place // (size_g * size_j) * size_g
    rows = numpy().minimum(size_i - first, size_g)
    inside = place % (size_g * size_j)
    return first + inside % rows, inside // rows


def _clamped(x: Any, min: Any, max: Any, propagate_nan: str = "none") -> Any:
    greatest = extremum("fmax", "maximum")(x, min, propagate_nan)
    return extremum("fmin", "minimum")(greatest, max, propagate_nan)


# ---- records --------------------------------------------------------------------------------------------------------

_UNARY = (
    _unary("exp", "The exponential, e to the power `x`.", by_doubles("exp")),
    _unary("exp2", "2 to the power `x`.", by_doubles("exp2")),
    _unary("log", "The natural logarithm.", by_doubles("log")),
    _unary("log2", "The logarithm to base 2.", unary("log2")),
    _unary("sqrt", "The square root, as fast as the hardware has it.", unary("sqrt")),
    _unary("rsqrt", "One over the square root.", lambda x: 1 / numpy().sqrt(x)),
    _unary("sin", "The sine of an angle in radians.", unary("sin")),
    _unary("cos", "The cosine of an angle in radians.", unary("cos")),
    _unary("sigmoid", "The logistic function, 1 / (1 + exp(-x)).", by_doubles(sigmoid)),
    _unary("erf", "The error function.", erf),
    _unary("floor", "The greatest whole number that is not above `x`.", unary("floor")),
    _unary("ceil", "The least whole number that is not below `x`.", unary("ceil")),
    _unary("abs", "The value without its sign; the least integer stays.", unary("abs"), need=Need.NUMBER),
)

INTRINSICS = (
    *_UNARY,
    Intrinsic(
        "tanh",
        (_X,),
        elementwise("x", Need.FLOAT),
        "_tanh",
        "The hyperbolic tangent, 1 or -1 for large `x`.",
        "math",
        generics=1,
        reference=unary("tanh"),
        helper="_tanh",
    ),
    Intrinsic(
        "sqrt_rn",
        (_X,),
        elementwise("x", Need.FLOAT),
        "_sqrt_rn",
        "The square root, rounded to nearest as IEEE 754 says.",
        "math",
        generics=1,
        reference=unary("sqrt"),
        helper="_sqrt_rn",
        variants=(Variant(_is_f32, "tl.sqrt_rn"),),
    ),
    Intrinsic(
        "div_rn",
        (_X, _Y),
        elementwise("x y", Need.FLOAT),
        "_div_rn",
        "The quotient, rounded to nearest as IEEE 754 says.",
        "math",
        generics=1,
        reference=divided,
        helper="_div_rn",
        variants=(Variant(_is_f32, "tl.div_rn"),),
    ),
    Intrinsic(
        "fdiv",
        (_X, _Y, Param("ieee_rounding", Role.FLAG, default=False)),
        elementwise("x y", Need.FLOAT),
        "{x} / {y}",
        "The quotient of floats, as fast as the hardware has it; with `ieee_rounding`, `div_rn`.",
        "math",
        generics=1,
        reference=lambda x, y, ieee_rounding=False: divided(x, y),
        variants=(Variant(_rounds, "_div_rn({x}, {y})", "_div_rn"),),
    ),
    Intrinsic(
        "fma",
        (_X, _Y, Param("z", Role.VALUE, meets="x")),
        elementwise("x y z", Need.FLOAT),
        "tl.fma",
        "`x * y + z`, rounded once.",
        "math",
        generics=1,
        reference=fused,
    ),
    Intrinsic(
        "maximum",
        (_X, _Y, _PROPAGATE),
        _with_nan_choice("x y"),
        "tl.maximum",
        'The greater of two; beside NaN the number, or NaN with `propagate_nan = "all"`.',
        "math",
        generics=1,
        reference=extremum("fmax", "maximum"),
        variants=(Variant(_propagates, _propagating("maximum({x}, {y}")),),
    ),
    Intrinsic(
        "minimum",
        (_X, _Y, _PROPAGATE),
        _with_nan_choice("x y"),
        "tl.minimum",
        'The smaller of two; beside NaN the number, or NaN with `propagate_nan = "all"`.',
        "math",
        generics=1,
        reference=extremum("fmin", "minimum"),
        variants=(Variant(_propagates, _propagating("minimum({x}, {y}")),),
    ),
    Intrinsic(
        "clamp",
        (
            _X,
            Param("min", Role.VALUE, aliases=("lo",), meets="x"),
            Param("max", Role.VALUE, aliases=("hi",), meets="x"),
            _PROPAGATE,
        ),
        _with_nan_choice("x min max"),
        "tl.minimum(tl.maximum({x}, {min}), {max})",
        'The value, or the bound that it passes; NaN becomes `min`, or stays with `propagate_nan = "all"`.',
        "math",
        generics=1,
        reference=_clamped,
        variants=(
            Variant(_may_be_f64_and_propagates, _CLAMPED_WITH_NAN),
            Variant(_propagates, _propagating("clamp({x}, {min}, {max}")),
            Variant(_is_below_f64, "tl.clamp"),
        ),
    ),
    Intrinsic(
        "where",
        (Param("condition", Role.MASK, aliases=("cond",)), _X, _Y),
        _where,
        "tl.where",
        "`x` where the condition holds, `y` elsewhere. Both are computed. In Rust `where` is a keyword: `where_`.",
        "math",
        generics=1,
        reference=lambda condition, x, y: numpy().where(condition, x, y),
        aliases=("where_",),
    ),
    Intrinsic(
        "expect_zero",
        (_X, Param("mask", Role.MASK)),
        _expect_zero,
        "_expect_zero",
        "The value, of which is expected that it is zero where the mask holds; under TRITON_DEBUG=1 an assertion.",
        "math",
        generics=1,
        reference=lambda x, mask: x,
        helper="_expect_zero",
    ),
    Intrinsic(
        "umulhi",
        (_X, _Y),
        _umulhi,
        "tl.umulhi",
        "The upper half of the bits of the product of unsigned integers.",
        "math",
        reference=high_product,
    ),
    Intrinsic(
        "cdiv",
        (_X, Param("div", Role.VALUE, meets="x")),
        elementwise("x div", Need.INTEGER),
        "_cdiv",
        "The quotient of integers, rounded up.",
        "math",
        reference=ceiling_quotient,
        helper="_cdiv",
        variants=(Variant(_is_known, "tl.cdiv"),),
    ),
    Intrinsic(
        "swizzle2d",
        (Param("i", Role.VALUE), *(Param(name, Role.VALUE, meets="i") for name in _PLACES[1:])),
        _swizzle2d,
        "tl.swizzle2d",
        "The place of element `(i, j)` of a row-major matrix, where each `size_g` rows are column-major.",
        "math",
        reference=_swizzled,
    ),
)
