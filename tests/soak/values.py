"""What a random kernel computes with: texts of expressions, with their types and how far two evaluations may differ."""

from __future__ import annotations

from dataclasses import dataclass, replace

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("f16", "bf16", "f32", "f64")

Shape = tuple[str, ...]
"""Extents as they are written: numbers, or names of constants."""

DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LARGEST = {"f16": 2.0**15, "bf16": 2.0**20, "f32": 2.0**20, "f64": 2.0**20}
"""Bounds of what is computed, so that nothing overflows."""


def stored(element: str) -> str:
    """An element type in a source text, where another may stand for it when the kernel is computed in f64."""
    return f"«{element}»"


def rendered(text: str, as_f64: bool = False) -> str:
    """The source text with its element types, or with f64 for all floats."""
    for element in FLOATS:
        text = text.replace(stored(element), "f64" if as_f64 else element)
    return text


@dataclass(frozen=True)
class Value:
    """An expression. Of floats it is known what they are bounded by, and how far two evaluations may differ.

    `error` is that of one evaluation against real numbers. `is_exact` says that there is none, in no type;
    `is_determined` that all evaluations in these types give the same number. NaN, infinities and what is
    chosen from such are `special`; their bound is that of the other numbers.
    """

    text: str
    element: str
    shape: Shape = ()
    bound: float = 0.0
    error: float = 0.0
    is_exact: bool = True
    is_determined: bool = True
    is_special: bool = False

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS or self.element == "D"

    def with_text(self, text: str) -> Value:
        return replace(self, text=text)


def computed(text: str, element: str, shape: Shape, bound: float, error: float, dtype: str, rounding: float) -> Value:
    """A float of a computation: it errs by what its operands bring along and by some units of what bounds it."""
    unit = 2.0 ** -(53 if dtype == "f64" else 24)
    return Value(text, element, shape, bound, error + rounding * unit * max(bound, 2.0**-20), False, False)


def rounded(value: Value, dtype: str) -> Value:
    """A float after it was rounded to a type for storage: two that are next to each other may be rounded apart."""
    if DIGITS[dtype] == 53:
        return value
    return replace(value, error=value.error + 2.0 ** (1 - DIGITS[dtype]) * value.bound, is_exact=False)
