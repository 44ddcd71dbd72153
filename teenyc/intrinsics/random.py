"""Random numbers: Philox 4x32, a function of a seed and a counter that gives the same numbers everywhere."""

from __future__ import annotations

from typing import Any

from teenyc.intrinsics.reference import numpy
from teenyc.intrinsics.rules import Need, extent, met_shapes, value, values, wrong_element
from teenyc.intrinsics.spec import Facts, Intrinsic, Param, Role, Rule, Site, Variant
from teenyc.types import F32, I32, U32, U64, DType, TensorType, Unsuffixed

_SEED = Param("seed", Role.VALUE)
_ROUNDS = Param("n_rounds", Role.EXTENT, default=10)
_STREAM = (_SEED, Param("offset", Role.VALUE, aliases=("offsets",)), _ROUNDS)
_COUNTERS = ("c0", "c1", "c2", "c3")
_KEYS = ("k0", "k1")
_WORDS = (I32, U32)


# ---- rules ----------------------------------------------------------------------------------------------------------


def _stream(element: DType, count: int) -> Rule:
    """`count` values of the shape of the counters."""

    def rule(site: Site) -> tuple[TensorType, ...] | None:
        offset = _words(site, (site.intrinsic.params[1].name,))
        if offset is None or not _is_seed(site) or not _has_rounds(site):
            return None
        return (TensorType(element, offset.shape),) * count

    return rule


def _philox(site: Site) -> tuple[TensorType, ...] | None:
    counters = _words(site, _COUNTERS)
    if counters is None or not _is_seed(site) or not _has_rounds(site):
        return None
    return (TensorType(U32, counters.shape),) * 4


def _rounds(site: Site) -> tuple[TensorType, ...] | None:
    types = values(site, (*_COUNTERS, *_KEYS), Need.INTEGER)
    shape = None if types is None else met_shapes(site, types)
    if types is None or shape is None or not _has_rounds(site):
        return None
    element = types["c0"].element
    if element not in (U32, U64) and not isinstance(element, Unsuffixed):
        wrong_element(site, "c0", "`u32` or `u64`", types["c0"])
        return None
    return (TensorType(element, shape),) * 4


def _words(site: Site, names: tuple[str, ...]) -> TensorType | None:
    """Integers of 32 bits, and their common shape."""
    types = values(site, names, Need.INTEGER)
    shape = None if types is None else met_shapes(site, types)
    if types is None or shape is None:
        return None
    element = types[names[0]].element
    if element not in _WORDS and not isinstance(element, Unsuffixed):
        wrong_element(site, names[0], "`i32` or `u32`", types[names[0]])
        return None
    return TensorType(element, shape)


def _is_seed(site: Site) -> bool:
    seed = value(site, "seed", Need.INTEGER)
    if seed is None or not seed.shape:
        return seed is not None
    from teenyc.diagnostics.catalog.calls import NotAScalar

    site.report(NotAScalar(span=site.given["seed"].span, function=site.intrinsic.name, name="seed", found=str(seed)))
    return False


def _has_rounds(site: Site) -> bool:
    given = site.given.get("n_rounds")
    known = extent(given).known if given is not None and given.static is not None else 10
    if known is None or known > 0:
        return True
    from teenyc.diagnostics.catalog.calls import OutOfBounds

    assert given is not None, "the default is positive"
    need = "at least 1"
    site.report(
        OutOfBounds(span=given.span, function=site.intrinsic.name, name="n_rounds", need=need, found=str(known))
    )
    return False


def _word_to_float(site: Site) -> tuple[TensorType, ...] | None:
    word = _words(site, ("x",))
    return None if word is None else (TensorType(F32, word.shape),)


def _pair(site: Site) -> tuple[TensorType, ...] | None:
    types = values(site, ("u1", "u2"), Need.FLOAT)
    shape = None if types is None else met_shapes(site, types)
    if types is None or shape is None:
        return None
    result = TensorType(types["u1"].element, shape)
    return (result, result)


def _has_default_rounds(facts: Facts) -> bool:
    return "n_rounds" not in facts.attributes


# ---- references -----------------------------------------------------------------------------------------------------


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Any:
    """Four words of 32 bits after `n_rounds` rounds, from four words of counter and a key of 64 bits."""
    np = numpy()
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    words = [np.asarray(c).astype(np.int64).astype(np.uint64) & mask for c in (c0, c1, c2, c3)]
    first, second, third, fourth = np.broadcast_arrays(*words)
    key = np.asarray(seed).astype(np.int64).astype(np.uint64)
    keys = [key & mask, key >> shift]
    for _ in range(n_rounds):
        low, high = np.uint64(0xD2511F53) * first, np.uint64(0xCD9E8D57) * third
        first, third = (high >> shift) ^ second ^ keys[0], (low >> shift) ^ fourth ^ keys[1]
        second, fourth = high & mask, low & mask
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & mask, (keys[1] + np.uint64(0xBB67AE85)) & mask]
    return tuple(word.astype(np.uint32) for word in (first, second, third, fourth))


_MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
_WEYL = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


def _mixed(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: int = 10) -> Any:
    """The rounds on Python integers, so that products of 64 bits are exact."""
    np = numpy()
    arrays = np.broadcast_arrays(*(np.asarray(word) for word in (c0, c1, c2, c3, k0, k1)))
    bits = arrays[0].dtype.itemsize * 8
    mask = (1 << bits) - 1
    a, b, c, d, first, second = (array.astype(object) for array in arrays)
    for _ in range(n_rounds):
        low, high = a * _MULTIPLIERS[bits][0], c * _MULTIPLIERS[bits][1]
        a, b, c, d = (high >> bits) ^ b ^ first, high & mask, (low >> bits) ^ d ^ second, low & mask
        first, second = (first + _WEYL[bits][0]) & mask, (second + _WEYL[bits][1]) & mask
    return tuple(word.astype(arrays[0].dtype) for word in (a, b, c, d))


def _words_of(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    return tuple(word.view(numpy().int32) for word in philox(seed, offset, 0, 0, 0, n_rounds))


def _uniform(x: Any) -> Any:
    np = numpy()
    signed = np.asarray(x).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def _normal(u1: Any, u2: Any) -> Any:
    np = numpy()
    radius = np.sqrt(-2 * np.log(np.maximum(np.float32(1e-7), u1)))
    angle = np.float32(6.283185307179586) * u2
    return radius * np.cos(angle), radius * np.sin(angle)


def _uniforms(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    return tuple(map(_uniform, _words_of(seed, offset, n_rounds)))


def _uniforms_4x(seed: Any, offsets: Any, n_rounds: int = 10) -> Any:
    return _uniforms(seed, offsets, n_rounds)


def _normals(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    a, b, c, d = _uniforms(seed, offset, n_rounds)
    return (*_normal(a, b), *_normal(c, d))


def _first(reference: Any) -> Any:
    def first(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
        return reference(seed, offset, n_rounds)[0]

    return first


# ---- records --------------------------------------------------------------------------------------------------------


_STREAM_4X = (_SEED, Param("offsets", Role.VALUE, aliases=("offset",)), _ROUNDS)


def _record(name: str, count: int, reference: Any, summary: str, params: tuple[Param, ...] = _STREAM) -> Intrinsic:
    return Intrinsic(
        name,
        params,
        _stream(F32, count),
        f"tl.{name}",
        summary,
        "random",
        reference=reference if count > 1 else _first(reference),
        first_by_name="n_rounds",
    )


INTRINSICS = (
    _record("rand", 1, _uniforms, "Uniform random numbers from 0 to below 1, one for each offset."),
    _record("randn", 1, _normals, "Random numbers of the standard normal distribution, one for each offset."),
    _record("rand4x", 4, _uniforms_4x, "Four uniform random numbers for each offset.", _STREAM_4X),
    _record("randn4x", 4, _normals, "Four normal random numbers for each offset."),
    Intrinsic(
        "randint",
        _STREAM,
        _stream(I32, 1),
        "tl.cast(tl.randint({seed}, {offset}, {n_rounds}), tl.int32, bitcast=True)",
        "Random integers of 32 bits, one for each offset.",
        "random",
        reference=_first(_words_of),
        variants=(Variant(_has_default_rounds, "tl.cast(tl.randint({seed}, {offset}), tl.int32, bitcast=True)"),),
    ),
    Intrinsic(
        "randint4x",
        _STREAM,
        _stream(I32, 4),
        "_randint4x",
        "Four random integers of 32 bits for each offset.",
        "random",
        reference=_words_of,
        first_by_name="n_rounds",
        helper="_randint4x",
    ),
    Intrinsic(
        "philox",
        (_SEED, Param("c0", Role.VALUE), *(Param(c, Role.VALUE, meets="c0") for c in _COUNTERS[1:]), _ROUNDS),
        _philox,
        "tl.philox",
        "The generator itself: four words of 32 bits from a seed and four words of counter.",
        "random",
        reference=philox,
        first_by_name="n_rounds",
    ),
    Intrinsic(
        "philox_impl",
        (
            Param("c0", Role.VALUE),
            *(Param(name, Role.VALUE, meets="c0") for name in (*_COUNTERS[1:], *_KEYS)),
            _ROUNDS,
        ),
        _rounds,
        "tl.philox_impl",
        "The rounds of the generator alone: four words of counter and two of key, all `u32` or all `u64`.",
        "random",
        reference=_mixed,
        first_by_name="n_rounds",
    ),
    Intrinsic(
        "uint_to_uniform_float",
        (Param("x", Role.VALUE),),
        _word_to_float,
        "tl.uint_to_uniform_float",
        "A random word of 32 bits as a number from 0 to below 1.",
        "random",
        reference=_uniform,
    ),
    Intrinsic(
        "pair_uniform_to_normal",
        (Param("u1", Role.VALUE), Param("u2", Role.VALUE, meets="u1")),
        _pair,
        "tl.pair_uniform_to_normal",
        "Two normal random numbers of two uniform ones, by Box and Muller.",
        "random",
        reference=_normal,
    ),
)
