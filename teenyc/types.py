"""Types of kernel values: element types, symbolic extents, and the tensors, pointers and tuples built from them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

from teenyc.record import record


class Kind(Enum):
    """What an element type counts as when operators ask."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


@record
class DType:
    """A concrete element type, under its Rust name (`i32`, `bf16`, …) and its `triton.language` name."""

    name: str
    kind: Kind
    bits: int
    triton: str

    def __str__(self) -> str:
        return self.name

    @property
    def minimum(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind is Kind.SIGNED else 0

    @property
    def maximum(self) -> int:
        """The greatest value of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.kind is Kind.SIGNED else (1 << self.bits) - 1


BOOL = DType("bool", Kind.BOOL, 1, "int1")
I8, I16, I32, I64 = (DType(f"i{n}", Kind.SIGNED, n, f"int{n}") for n in (8, 16, 32, 64))
U8, U16, U32, U64 = (DType(f"u{n}", Kind.UNSIGNED, n, f"uint{n}") for n in (8, 16, 32, 64))
F8E4M3 = DType("f8e4m3", Kind.FLOAT, 8, "float8e4nv")
F8E5M2 = DType("f8e5m2", Kind.FLOAT, 8, "float8e5")
F8E4M3FNUZ = DType("f8e4m3fnuz", Kind.FLOAT, 8, "float8e4b8")
F8E5M2FNUZ = DType("f8e5m2fnuz", Kind.FLOAT, 8, "float8e5b16")
F8E4M3B15 = DType("f8e4m3b15", Kind.FLOAT, 8, "float8e4b15")
F16 = DType("f16", Kind.FLOAT, 16, "float16")
BF16 = DType("bf16", Kind.FLOAT, 16, "bfloat16")
F32 = DType("f32", Kind.FLOAT, 32, "float32")
F64 = DType("f64", Kind.FLOAT, 64, "float64")

DTYPES: Mapping[str, DType] = {
    d.name: d
    for d in (
        *(BOOL, I8, I16, I32, I64, U8, U16, U32, U64),
        *(F8E4M3, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B15, F16, BF16, F32, F64),
    )
}


def is_f8(element: object) -> bool:
    """Whether an element is one of the 8-bit floats, by its name."""
    return isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits == 8


class Bound(Enum):
    """The trait that bounds a dtype parameter: what it may stand for."""

    FLOAT = "Float"
    NUM = "Num"


@record
class TypeVar:
    """A dtype parameter of a kernel, such as `D` in `<D: Float>`: the type that is stored in memory."""

    name: str
    bound: Bound

    def __str__(self) -> str:
        return self.name


@record
class Compute:
    """`D::Compute`: the type that arithmetic on a `D` uses.

    f32 for 8- and 16-bit floats, otherwise the type itself.
    """

    of: TypeVar

    def __str__(self) -> str:
        return f"{self.of}::Compute"


@record
class Unsuffixed:
    """The type of a literal without suffix until what it meets decides; only the checker sees it."""

    id: int
    is_float: bool

    def __str__(self) -> str:
        return "{float}" if self.is_float else "{integer}"


@record
class Pointer:
    """An address of elements of type `to`."""

    to: Element

    def __str__(self) -> str:
        return f"Pointer<{self.to}>"


Element: TypeAlias = "DType | TypeVar | Compute | Unsuffixed | Pointer"
Numeric: TypeAlias = "DType | TypeVar | Compute | Unsuffixed"


def is_float(element: Element) -> bool:
    """Whether an element is certainly a float; a `D: Num` is not certain."""
    match element:
        case DType():
            return element.kind is Kind.FLOAT
        case TypeVar():
            return element.bound is Bound.FLOAT
        case Compute():
            return element.of.bound is Bound.FLOAT
        case Unsuffixed():
            return element.is_float
        case Pointer():
            return False


def is_integer(element: Element) -> bool:
    """Whether an element is certainly an integer (bool is none)."""
    match element:
        case DType():
            return element.kind in (Kind.SIGNED, Kind.UNSIGNED)
        case Unsuffixed():
            return not element.is_float
        case TypeVar() | Compute() | Pointer():
            return False


def is_generic_number(element: Element) -> bool:
    """Whether an element is a `D: Num`, which may turn out a float or an integer."""
    variable = element.of if isinstance(element, Compute) else element
    return isinstance(variable, TypeVar) and variable.bound is Bound.NUM


def compute_type(element: DType | TypeVar) -> DType | Compute:
    """The type in which arithmetic on stored values of type `element` is done: 8- and 16-bit floats use f32."""
    if isinstance(element, TypeVar):
        return Compute(element)
    return F32 if element.kind is Kind.FLOAT and element.bits < 32 else element


@record
class Quotient:
    """`numerator / denominator`, truncated, inside an extent that is no polynomial."""

    numerator: Extent
    denominator: Extent

    def __str__(self) -> str:
        return f"{_factor_text(self.numerator)} / {_factor_text(self.denominator)}"


Atom: TypeAlias = "str | Quotient"
Monomial: TypeAlias = "tuple[Atom, ...]"


@record
class Extent:
    """The size of an axis: an integer polynomial over constant parameters in a normal form.

    Two extents are equal for all values of the constants exactly if they are equal objects (up to `Quotient` atoms).
    `terms` holds `(monomial, coefficient)` pairs, sorted, without zero coefficients.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(value: int | str | Quotient) -> Extent:
        if isinstance(value, int):
            return Extent((((), value),)) if value else Extent(())
        return Extent((((value,), 1),))

    @property
    def known(self) -> int | None:
        """The number, where the extent depends on no constant parameter."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def names(self) -> frozenset[str]:
        """The constant parameters that the extent depends on."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, str):
                    found.add(atom)
                else:
                    found |= atom.numerator.names | atom.denominator.names
        return frozenset(found)

    def __add__(self, other: Extent) -> Extent:
        return _polynomial([*self.terms, *other.terms])

    def __sub__(self, other: Extent) -> Extent:
        return self + Extent.of(-1) * other

    def __mul__(self, other: Extent) -> Extent:
        return _polynomial([(m + n, a * b) for m, a in self.terms for n, b in other.terms])

    def divided(self, other: Extent) -> Extent | None:
        """`self / other` truncated; None where `other` is zero."""
        a, b = self.known, other.known
        if b == 0:
            return None
        if a is not None and b is not None:
            return Extent.of(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        if b == 1:
            return self
        return Extent.of(Quotient(self, other))

    def substitute(self, values: Mapping[str, int | str | Extent]) -> Extent:
        """The extent with constant parameters replaced by their values, or by other names and extents."""
        total = Extent.of(0)
        for monomial, coefficient in self.terms:
            term = Extent.of(coefficient)
            for atom in monomial:
                term = term * _substitute_atom(atom, values)
            total = total + term
        return total

    def __str__(self) -> str:
        return " + ".join(_term_text(m, c) for m, c in self.terms).replace("+ -", "- ") or "0"


def _polynomial(terms: list[tuple[Monomial, int]]) -> Extent:
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        key = tuple(sorted(monomial, key=str))
        total[key] = total.get(key, 0) + coefficient
    return Extent(tuple(sorted(((m, c) for m, c in total.items() if c), key=lambda t: (-len(t[0]), str(t[0])))))


def _substitute_atom(atom: Atom, values: Mapping[str, int | str | Extent]) -> Extent:
    if isinstance(atom, str):
        value = values.get(atom, atom)
        return value if isinstance(value, Extent) else Extent.of(value)
    denominator = atom.denominator.substitute(values)
    quotient = atom.numerator.substitute(values).divided(denominator)
    return Extent.of(atom) if quotient is None else quotient


def _factor_text(extent: Extent) -> str:
    text = str(extent)
    return text if " " not in text else f"({text})"


def _term_text(monomial: Monomial, coefficient: int) -> str:
    is_product = len(monomial) > 1 or coefficient != 1
    factors = [f"({a})" if is_product and isinstance(a, Quotient) else str(a) for a in monomial]
    if coefficient != 1 or not factors:
        factors = [str(coefficient), *factors] if coefficient != -1 or not factors else ["-" + factors[0], *factors[1:]]
    return " * ".join(factors)


ONE = Extent.of(1)

Shape: TypeAlias = "tuple[Extent, ...]"


def shape_text(shape: Shape) -> str:
    """A shape as reports print it: `[BLOCK, 4]`."""
    return "[" + ", ".join(str(e) for e in shape) + "]"


@record
class TensorType:
    """A block of elements; rank 0, the empty shape, is a scalar."""

    element: Element
    shape: Shape = ()

    def __str__(self) -> str:
        if not self.shape:
            return str(self.element)
        return f"Tensor<{self.element}, {shape_text(self.shape)}>"


@record
class DescriptorType:
    """A view of memory of which blocks of shape `block` are read and written, at offsets given with each access.

    A block pointer has its offsets with it. What is read outside of the view is NaN with `pads_nan`, otherwise zero.
    """

    element: Element
    block: Shape
    is_block_pointer: bool = False
    pads_nan: bool = False

    @property
    def rank(self) -> int:
        """The number of axes of the view."""
        return len(self.block)

    def __str__(self) -> str:
        name = "BlockPointer" if self.is_block_pointer else "TensorDescriptor"
        return f"{name}<{self.element}, {shape_text(self.block)}{', nan' if self.pads_nan else ''}>"


@record
class TupleType:
    """Several values at once. `()` is what statements give. The IR has none: there a tuple is several values."""

    items: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return "(" + ", ".join(str(t) for t in self.items) + ")"


Type: TypeAlias = "TensorType | DescriptorType | TupleType"

UNIT = TupleType(())


def scalar(element: Element) -> TensorType:
    """The rank-0 type of an element."""
    return TensorType(element)


def clash(left: Shape, right: Shape) -> tuple[str, str]:
    """The extents at which two shapes do not broadcast, the last of them."""
    pairs = zip(reversed(left), reversed(right), strict=False)
    return next((str(a), str(b)) for a, b in pairs if broadcast((a,), (b,)) is None)


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The NumPy broadcast of two shapes, or None where extents differ for some value of the constants."""
    if a == b or not b:
        return a
    if not a:
        return b
    rank = max(len(a), len(b))
    padded = ((ONE,) * (rank - len(a)) + a, (ONE,) * (rank - len(b)) + b)
    result: list[Extent] = []
    for x, y in zip(*padded, strict=True):
        if x == y or y == ONE:
            result.append(x)
        elif x == ONE:
            result.append(y)
        else:
            return None
    return tuple(result)
