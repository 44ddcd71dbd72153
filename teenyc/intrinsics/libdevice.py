"""The functions of libdevice, by its names: a compact table goes in, a record for each function comes out.

What `triton.language` has itself (`exp`, `sqrt`, `fma`, …) has its record in another family. The meaning of each
function, for tests and for Triton's interpreter, is in `intrinsics.arrays`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, met_shapes, same_elements, value, wrong_element
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Rule, Site, Variant
from teenyc.types import BOOL, F32, F64, I32, I64, U32, U64, DType, Element, TensorType, Unsuffixed, is_integer

_KINDS: Mapping[str, tuple[DType, ...]] = {
    "s": (F32,),
    "d": (F64,),
    "i": (I32,),
    "u": (U32,),
    "l": (I64,),
    "w": (U64,),
    "b": (BOOL,),
    "n": (I32, U32),
    "I": (I32, I64),
    "N": (I32, U32, I64, U64),
}
"""What a letter of a signature stands for; `F` is any float, computed in f32 or f64."""

_ROUNDINGS = {"rn": "to nearest, ties to even", "rz": "toward zero", "rd": "down", "ru": "up"}

# ---- the table: name and parameters, result, summary ----------------------------------------------------------------

_Row = tuple[str, str, str]

_ELEMENTARY: tuple[_Row, ...] = (
    ("acos x:F", "F", "The angle whose cosine is `x`, from 0 to pi."),
    ("acosh x:F", "F", "The number whose hyperbolic cosine is `x`, not below 0."),
    ("asin x:F", "F", "The angle whose sine is `x`, from -pi/2 to pi/2."),
    ("asinh x:F", "F", "The number whose hyperbolic sine is `x`."),
    ("atan x:F", "F", "The angle whose tangent is `x`, from -pi/2 to pi/2."),
    ("atan2 y:F x:F", "F", "The angle of the point `(x, y)`, from -pi to pi."),
    ("atanh x:F", "F", "The number whose hyperbolic tangent is `x`."),
    ("cbrt x:F", "F", "The cube root."),
    ("copysign x:F y:F", "F", "The size of `x` with the sign of `y`."),
    ("cosh x:F", "F", "The hyperbolic cosine."),
    ("cospi x:F", "F", "The cosine of `x` times pi."),
    ("exp10 x:F", "F", "10 to the power `x`."),
    ("expm1 x:F", "F", "The exponential less 1, right also for small `x`."),
    ("fdim x:F y:F", "F", "`x - y` where that is above 0, and 0 elsewhere."),
    ("fmod x:F y:F", "F", "What is left of `x` after whole steps of `y` toward zero; it has the sign of `x`."),
    ("hypot x:F y:F", "F", "The square root of `x * x + y * y`, which does not overflow on the way."),
    ("ilogb x:F", "i", "The exponent of `x` in binary; the least integer for 0 and NaN, the greatest for infinities."),
    ("ldexp x:F exp:i", "F", "`x` times 2 to the power `exp`."),
    ("log10 x:F", "F", "The logarithm to base 10."),
    ("log1p x:F", "F", "The logarithm of `1 + x`, right also for small `x`."),
    ("logb x:F", "F", "The exponent of `x` in binary, as a float."),
    ("nextafter x:F y:F", "F", "The float beside `x` toward `y`."),
    ("norm3d x:F y:F z:F", "F", "The length of a vector in three dimensions."),
    ("norm4d x:F y:F z:F w:F", "F", "The length of a vector in four dimensions."),
    ("rcbrt x:F", "F", "One over the cube root."),
    ("remainder x:F y:F", "F", "What is left of `x` after the nearest whole number of steps of `y`."),
    ("rhypot x:F y:F", "F", "One over `hypot(x, y)`."),
    ("rnorm3d x:F y:F z:F", "F", "One over the length of a vector in three dimensions."),
    ("rnorm4d x:F y:F z:F w:F", "F", "One over the length of a vector in four dimensions."),
    ("scalbn x:F n:i", "F", "`x` times 2 to the power `n`."),
    ("sinh x:F", "F", "The hyperbolic sine."),
    ("sinpi x:F", "F", "The sine of `x` times pi."),
    ("tan x:F", "F", "The tangent of an angle in radians."),
    ("saturatef x:s", "s", "`x` cut to the range from 0 to 1; NaN becomes 0."),
    ("rcp64h x:d", "d", "About one over `x`: the upper 32 bits of it."),
)

_ROUNDING: tuple[_Row, ...] = (
    ("llrint x:F", "l", "The nearest integer, ties to even."),
    ("llround x:F", "l", "The nearest integer, ties away from zero."),
    ("nearbyint x:F", "F", "The nearest whole number, ties to even."),
    ("rint x:F", "F", "The nearest whole number, ties to even."),
    ("round x:F", "F", "The nearest whole number, ties away from zero."),
    ("trunc x:F", "F", "The whole number next to `x` toward zero."),
    ("rsqrt_rn x:s", "s", "One over the square root, rounded to nearest."),
    *(
        (f"{name}_{mode} {params}", "F", f"{what}, rounded {how}.")
        for name, params, what in (
            ("add", "x:F y:F", "The sum"),
            ("sub", "x:F y:F", "The difference"),
            ("mul", "x:F y:F", "The product"),
            ("div", "x:F y:F", "The quotient"),
            ("fma", "x:F y:F z:F", "`x * y + z`"),
            ("rcp", "x:F", "One over `x`"),
            ("sqrt", "x:F", "The square root"),
        )
        for mode, how in _ROUNDINGS.items()
        if (name, mode) not in (("div", "rn"), ("sqrt", "rn"))
    ),
)

_TESTS: tuple[_Row, ...] = (
    ("finitef x:s", "b", "Where a f32 is neither infinite nor NaN."),
    ("isfinited x:d", "b", "Where a f64 is neither infinite nor NaN."),
    ("isinf x:F", "b", "Where `x` is infinite."),
    ("isnan x:F", "b", "Where `x` is NaN."),
    ("signbit x:F", "b", "Where the sign of `x` is set, also that of -0 and NaN."),
)

_SPECIAL: tuple[_Row, ...] = (
    ("cyl_bessel_i0 x:F", "F", "The modified Bessel function of the first kind, of order 0."),
    ("cyl_bessel_i1 x:F", "F", "The modified Bessel function of the first kind, of order 1."),
    ("erfc x:F", "F", "One less the error function."),
    ("erfcinv x:F", "F", "The number whose `erfc` is `x`."),
    ("erfcx x:F", "F", "`exp(x * x) * erfc(x)`, which neither overflows nor vanishes."),
    ("erfinv x:F", "F", "The number whose `erf` is `x`."),
    ("j0 x:F", "F", "The Bessel function of the first kind, of order 0."),
    ("j1 x:F", "F", "The Bessel function of the first kind, of order 1."),
    ("jn n:i x:F", "F", "The Bessel function of the first kind, of order `n`."),
    ("lgamma x:F", "F", "The logarithm of the size of the gamma function."),
    ("normcdf x:F", "F", "How likely a normal variable is below `x`."),
    ("normcdfinv x:F", "F", "The number below which a normal variable is as likely as `x` says."),
    ("tgamma x:F", "F", "The gamma function."),
    ("y0 x:F", "F", "The Bessel function of the second kind, of order 0."),
    ("y1 x:F", "F", "The Bessel function of the second kind, of order 1."),
    ("yn n:i x:F", "F", "The Bessel function of the second kind, of order `n`."),
)

_FAST: tuple[_Row, ...] = (
    ("fast_cosf x:s", "s", "About the cosine."),
    ("fast_dividef x:s y:s", "s", "About the quotient; 0 for `y` above 2 to the power 126."),
    ("fast_exp10f x:s", "s", "About 10 to the power `x`."),
    ("fast_expf x:s", "s", "About the exponential."),
    ("fast_log10f x:s", "s", "About the logarithm to base 10."),
    ("fast_log2f x:s", "s", "About the logarithm to base 2."),
    ("fast_logf x:s", "s", "About the natural logarithm."),
    ("fast_powf x:s y:s", "s", "About `x` to the power `y`."),
    ("fast_sinf x:s", "s", "About the sine."),
    ("fast_tanf x:s", "s", "About the tangent."),
    ("fast_tanhf x:s", "s", "The hyperbolic tangent; libdevice has a fast one for AMD's GPUs only."),
)

_INTEGERS: tuple[_Row, ...] = (
    ("brev x:I", "I", "The bits in reverse order."),
    ("byte_perm x:i y:i s:i", "i", "Four of the eight bytes of `x` and `y`, picked by the digits of `s` in base 16."),
    ("clz x:I", "i", "How many zero bits are above the highest one."),
    ("ffs x:I", "i", "The place of the lowest one bit, from 1; 0 if there is none."),
    ("hadd x:n y:n", "n", "The mean of two integers, rounded down."),
    ("mul24 x:n y:n", "n", "The product of the lower 24 bits."),
    ("mulhi x:N y:N", "N", "The upper half of the bits of the product."),
    ("popc x:I", "i", "How many bits are one."),
    ("rhadd x:n y:n", "n", "The mean of two integers, rounded up."),
    ("sad x:n y:n z:u", "u", "The distance of `x` and `y`, plus `z`."),
)

_SOURCES = {"int": "i", "uint": "u", "ll": "l", "ull": "w", "float": "s", "double": "d"}

_CONVERSIONS: tuple[_Row, ...] = (
    ("double2hiint x:d", "i", "The upper 32 bits of a f64."),
    ("double2loint x:d", "i", "The lower 32 bits of a f64."),
    ("double_as_longlong x:d", "l", "The bits of a f64."),
    ("float_as_int x:s", "i", "The bits of a f32."),
    ("float_as_uint x:s", "u", "The bits of a f32, without sign."),
    ("hiloint2double hi:i lo:i", "d", "The f64 of these upper and lower 32 bits."),
    ("int_as_float x:i", "s", "The f32 of these bits."),
    ("longlong_as_double x:l", "d", "The f64 of these bits."),
    ("uint_as_float x:u", "s", "The f32 of these bits."),
    ("int2double_rn x:i", "d", "An i32 as f64, which holds all of them."),
    ("uint2double_rn x:u", "d", "A u32 as f64, which holds all of them."),
    *(
        (f"{source}2{target}_{mode} x:{_SOURCES[source]}", _SOURCES[target], f"To `{name}`, rounded {how}.")
        for source, targets in (
            ("double", ("float", "int", "uint", "ll", "ull")),
            ("float", ("int", "uint", "ll", "ull")),
            *((integer, ("float",)) for integer in ("int", "uint")),
            *((integer, ("float", "double")) for integer in ("ll", "ull")),
        )
        for target in targets
        for name in (_KINDS[_SOURCES[target]][0].name,)
        for mode, how in _ROUNDINGS.items()
    ),
)

_FORMS = {"signbit": "libdevice.signbit({x}) != 0", "fast_tanhf": "_tanh"}
_FORMS |= {
    name: "tl.cast(libdevice." + name + "({x}), tl." + dtype + ", bitcast=True)"
    for dtype, rows in (("uint32", ("float2uint", "double2uint")), ("uint64", ("float2ull", "double2ull")))
    for name in (f"{row}_{mode}" for row in rows for mode in _ROUNDINGS)
}
_FORMS["float_as_uint"] = "tl.cast(libdevice.float_as_uint({x}), tl.uint32, bitcast=True)"
_FORMS["sad"] = "tl.cast(libdevice.sad({x}, {y}, {z}), tl.uint32, bitcast=True)"
"""Forms of what libdevice gives as another type than it means, and of what it has for some GPUs only."""

# ---- records --------------------------------------------------------------------------------------------------------


def _record(row: _Row) -> Intrinsic:
    signature, result, summary = row
    name, *given = signature.split()
    letters = dict(param.split(":") for param in given)
    form = _FORMS.get(name, f"libdevice.{name}")
    helper = f"libdevice.{name}" if "libdevice" in form else form
    params = tuple(_params(letters))
    rule = _rule(letters, result)
    return Intrinsic(name, params, rule, form, summary, "libdevice", reference=_reference(name), helper=helper)


def _params(letters: Mapping[str, str]) -> Iterator[Param]:
    """Arguments of one letter that stands for several types have one type."""
    first: dict[str, str] = {}
    for name, letter in letters.items():
        is_shared = letter in first and letter in "FnIN"
        yield Param(name, Role.VALUE, meets=first[letter] if is_shared else None)
        first.setdefault(letter, name)


def _rule(letters: Mapping[str, str], result: str) -> Rule:
    def rule(site: Site) -> tuple[TensorType, ...] | None:
        types = {name: _argument(site, name, letter) for name, letter in letters.items()}
        found = {name: type for name, type in types.items() if type is not None}
        if len(found) < len(types):
            return None
        for letter in set(letters.values()):
            if not same_elements(site, {n: t for n, t in found.items() if letters[n] == letter}):
                return None
        shape = met_shapes(site, found)
        if shape is None:
            return None
        like = next((found[name].element for name, letter in letters.items() if letter == result), None)
        return (TensorType(like or _KINDS[result][0], shape),)

    return rule


def _argument(site: Site, name: str, letter: str) -> TensorType | None:
    """The type of an argument of one of the types that a letter stands for."""
    if letter == "F":
        return value(site, name, Need.FLOAT)
    type = value(site, name, Need.NUMBER)
    if type is None or type.element in _KINDS[letter] or _is_default(type.element, _KINDS[letter]):
        return type
    wrong_element(site, name, " or ".join(f"`{dtype}`" for dtype in _KINDS[letter]), type)
    return None


def _is_default(element: Element, dtypes: tuple[DType, ...]) -> bool:
    """Whether a literal without suffix becomes one of the types: f32 or i32."""
    return isinstance(element, Unsuffixed) and (F32 if element.is_float else I32) in dtypes


def _reference(name: str) -> Callable[..., Any]:
    def reference(**arrays: Any) -> Any:
        from teenyc.intrinsics.arrays import function

        np = numpy()
        with np.errstate(all="ignore"):
            return function(name)(*map(np.asarray, arrays.values()))

    return reference


def _words(letter: str) -> str:
    return "*float*" if letter == "F" else " or ".join(dtype.name for dtype in _KINDS[letter])


def _power(site: Site) -> tuple[TensorType, ...] | None:
    """A float has an exponent of its own type, or an i32; an integer has a u32."""
    x, y = value(site, "x", Need.NUMBER), value(site, "y", Need.NUMBER)
    if x is None or y is None:
        return None
    shape = met_shapes(site, {"x": x, "y": y}) if _is_exponent(site, x, y) else None
    return None if shape is None else (TensorType(x.element, shape),)


def _is_exponent(site: Site, x: TensorType, y: TensorType) -> bool:
    if not is_integer(x.element):
        if is_integer(y.element) and y.element != I32:
            wrong_element(site, "y", "`i32`", y)
            return False
        is_float = value(site, "x", Need.FLOAT) is not None
        return is_float and (y.element == I32 or same_elements(site, {"x": x, "y": y}))
    if y.element == U32 or isinstance(site.given["y"].static, int):
        return True
    wrong_element(site, "y", "`u32`", y)
    return False


def _is_integer(facts: Facts) -> bool:
    type = facts.types["x"]
    return isinstance(type, TensorType) and is_integer(type.element)


def _powers(x: Any, y: Any) -> Any:
    """Floats to floats or integers; integers to integers, wrapped."""
    from teenyc.intrinsics.arrays import function

    np = numpy()
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind == "f":
        return function("pow")(x, y)
    modulus = 1 << x.dtype.itemsize * 8
    wrapped = np.vectorize(lambda a, b: pow(int(a), int(b), modulus), otypes=[f"u{x.dtype.itemsize}"])(x, y)
    return wrapped.view(x.dtype)


_POWER = Intrinsic(
    "pow",
    (Param("x", Role.VALUE), Param("y", Role.VALUE, meets="x")),
    _power,
    "libdevice.pow",
    "`x` to the power `y`: a float to a float like it or an `i32`, an integer to a `u32`, which wraps.",
    "libdevice",
    reference=_powers,
    helper="libdevice.pow",
    variants=(Variant(_is_integer, "_pow", "_pow"),),
    settles=True,
)

_ROWS: tuple[_Row, ...] = (*_ELEMENTARY, *_SPECIAL, *_TESTS, *_ROUNDING, *_CONVERSIONS, *_INTEGERS, *_FAST)

INTRINSICS = (_POWER, *map(_record, _ROWS))

SIGNATURES: Mapping[str, tuple[str, str]] = {
    "pow": ("*float*, *float* or i32; integer, u32", "as `x`"),
    **{row[0].split()[0]: (", ".join(_words(p[-1]) for p in row[0].split()[1:]), _words(row[1])) for row in _ROWS},
}
"""The types of arguments and result of each function, in words for the docs."""

OTHERS = frozenset("abs ceil cos div_rn erf exp exp2 floor fma log log2 rsqrt sin sqrt sqrt_rn tanh".split())
"""What libdevice has beside these; other families have the same functions, as `triton.language` does them."""
