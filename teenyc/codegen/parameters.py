"""Parameters: what a launch passes, under which annotation, and how a kernel makes of it what the source declares.

Triton's compiler takes an annotated number as that type. Its interpreter ignores annotations: an integer arrives as the
narrowest type that holds it, a float stays a Python number. One conversion at the top makes both agree.
"""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.codegen.coalesce import Classes
from teenyc.codegen.contents import Contents
from teenyc.codegen.dtypes import DTypeNames
from teenyc.codegen.helpers import ROUND_TO
from teenyc.codegen.terms import Kind, Term, tensor
from teenyc.ir.nodes import Binary, Block, Compare, Let, Operand, Parameter, Value
from teenyc.ir.walk import all_operands, operands_of, statements_of
from teenyc.record import record
from teenyc.types import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I32,
    Compute,
    DType,
    Element,
    Pointer,
    TensorType,
    TypeVar,
    compute_type,
    is_float,
)

NARROW = frozenset({F16, BF16})
PASSED: Mapping[DType, DType] = {F16: F32, BF16: F32, I8: I32}
"""What a launch passes in the place of a type: Triton's launchers pass i8 as an unsigned byte."""


@record
class Arrival:
    """How the scalars of a kernel arrive: `lines` convert at the top, `terms` where a value is used, by its id.

    A scalar over `D` is used in the type in which `D` is computed.
    """

    lines: tuple[tuple[Parameter, str], ...]
    terms: Mapping[int, Term]
    kinds: Mapping[int, Kind]
    helpers: frozenset[str]


def annotation(parameter: Parameter) -> str:
    """The annotation of a kernel's parameter, empty for none: the type that a launch passes.

    16-bit floats are passed as f32, i8 as i32, a scalar over `D: Float` as f64: what all launchers pass exactly.
    """
    type = parameter.value.type
    if not isinstance(type, TensorType) or isinstance(type.element, Pointer):
        return ""
    if isinstance(type.element, DType):
        return f"tl.{PASSED.get(type.element, type.element).triton}"
    return "tl.float64" if is_float(type.element) else ""


def arrival_of(contents: Contents, names: Mapping[int, str], classes: Classes, dtypes: DTypeNames) -> Arrival:
    """What must be done for the parameters that a kernel uses."""
    kernel, counts = contents.body, contents.reads
    lines: list[tuple[Parameter, str]] = []
    terms: dict[int, Term] = {}
    kinds: dict[int, Kind] = {}
    helpers: set[str] = set()
    for parameter in kernel.parameters:
        value, name = parameter.value, names[parameter.value.id]
        element = value.type.element if isinstance(value.type, TensorType) else None
        if not counts[value.id] or element is None or isinstance(element, Pointer):
            continue
        is_shared = len(classes.variable(value)) > 1
        if isinstance(element, TypeVar):
            terms[value.id] = _converted(name, compute_type(element), dtypes)
        elif element in NARROW:
            terms[value.id] = _converted(name, element, dtypes)
            helpers |= {ROUND_TO} if element == BF16 else set()
        elif element in (I32, BOOL) or (element == F32 and not is_shared and is_plain(kernel.body, value)):
            kinds.update((v.id, Kind.ARGUMENT) for v in classes.variable(value))
        else:
            lines.append((parameter, f"{name} = {_converted(name, element, dtypes).text}"))
    return Arrival(tuple(lines), terms, kinds, frozenset(helpers))


def _converted(name: str, element: Element, dtypes: DTypeNames) -> Term:
    """The parameter as its declared type, from a number of any size and precision."""
    dtype = dtypes.text(element)
    if element == BF16:
        return tensor(f"{ROUND_TO}({name}, {dtype})", element)
    if element == F64 or isinstance(element, Compute):
        return tensor(f"tl.full([], {name}, {dtype})", element)
    return tensor(f"tl.cast({name}, {dtype})", element)


def is_plain(body: Block, value: Value) -> bool:
    """Whether every use of an f32 scalar gives the same for a Python number: it meets tensors of f32."""
    seen = 0
    for _, statement in statements_of(body):
        if isinstance(statement, Let) and value in operands_of(statement):
            others = [o for o in operands_of(statement) if o != value]
            if not isinstance(statement.operation, Binary | Compare) or not any(map(_is_f32_block, others)):
                return False
            seen += 1
    return seen == sum(o == value for o in all_operands(body))


def _is_f32_block(operand: Operand) -> bool:
    type = operand.type
    return isinstance(operand, Value) and isinstance(type, TensorType) and type.element == F32 and type.shape != ()
