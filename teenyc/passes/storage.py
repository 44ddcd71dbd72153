"""Which loaded values may stay in their storage type: a body goes in, by id what is read as stored and what computed.

A value is storable if it comes from memory and was at most rearranged since. It stays stored where an intrinsic takes
stored arguments: the value of a store, the operands of a dot if all of them are storable.
"""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.intrinsics.spec import Effect, Intrinsic
from teenyc.ir.nodes import Attribute, Block, Call, Cast, Copy, ExpandDims, Let, Operand, Statement, Value
from teenyc.ir.walk import blocks_of, operands_of, statements_of
from teenyc.record import record
from teenyc.types import DType, Element, Kind, TensorType, Type, TypeVar, compute_type, is_float

_MEMORY = frozenset({Effect.READS, Effect.WRITES, Effect.ATOMIC})

_LAYOUT = frozenset({"broadcast_to", "flip", "permute", "ravel", "reshape", "squeeze", "trans", "view"})
"""Intrinsics that move elements and leave each as it is."""

_NARROWING = frozenset({"bitcast", "cast", "dot_scaled", "inline_asm_elementwise"})
"""Intrinsics that take and give the storage type: bits read as another type, floats narrowed with a stated rounding."""


@record
class Storage:
    """The storable values of a body, and who reads what, by id."""

    storable: frozenset[int]
    read_stored: frozenset[int]
    read_computed: frozenset[int]

    def only_stored(self, value: Value) -> bool:
        """Whether nothing computes with the value."""
        return value.id in self.read_stored and value.id not in self.read_computed


def storage_of(block: Block) -> Storage:
    """The storage of what a body defines."""
    lets = [s for _, s in statements_of(block) if isinstance(s, Let)]
    storable: set[int] = set()
    for let in lets:
        if is_loaded(let) or is_layout(let, storable):
            storable.update(v.id for v in let.results if computed(v.type) != v.type)
    stored = {id for let in lets for id in _stored_reads(let, storable)}
    plain = {o.id for o in _computed_reads(block, storable) if isinstance(o, Value)}
    for let in reversed(lets):
        if is_layout(let, storable):
            (source,) = operands_of(let)
            assert isinstance(source, Value), "only values are storable"
            if let.results[0].id in stored:
                stored.add(source.id)
            if let.results[0].id in plain or let.results[0].id not in stored:
                plain.add(source.id)
    return Storage(frozenset(storable), frozenset(stored), frozenset(plain))


def computed(type: Type) -> Type:
    """The type in which values of a type are computed; pointers and descriptors stay."""
    if isinstance(type, TensorType):
        element = computed_element(type.element)
        return type if element == type.element else TensorType(element, type.shape)
    return type


def computed_element(element: Element) -> Element:
    """The element type in which elements are computed."""
    return compute_type(element) if isinstance(element, DType | TypeVar) else element


def is_narrow(element: Element) -> bool:
    """Whether an element type is a named float of 8 or 16 bits."""
    return isinstance(element, DType) and element.kind is Kind.FLOAT and element.bits < 32


def with_widened(call: Call, attributes: tuple[tuple[str, Attribute], ...]) -> tuple[tuple[str, Attribute], ...]:
    """The attributes of a call whose arguments are no longer as they are stored, in the record's order."""
    record = record_of(call)
    given = dict(attributes)
    for name, value in record.widened if record is not None else ():
        given.setdefault(name, value)
    names = [p.name for p in record.params] if record is not None else []
    return tuple((n, given[n]) for n in sorted(given, key=lambda n: names.index(n) if n in names else len(names)))


def record_of(call: Call) -> Intrinsic | None:
    """The record of a call."""
    from teenyc.intrinsics import TABLE

    return TABLE.get(call.intrinsic)


def works_stored(call: Call) -> bool:
    """Whether an intrinsic gives the storage type: it reads or writes memory, or is a conversion to that type."""
    record = record_of(call)
    return call.intrinsic in _NARROWING or (record is not None and not record.effects.isdisjoint(_MEMORY))


def converts(call: Call, name: str) -> bool:
    """Whether an intrinsic that gives the storage type takes an argument in the compute type: it rounds by itself."""
    record = record_of(call)
    if record is None or call.intrinsic == "bitcast" or Effect.ATOMIC in record.effects:
        return False
    return name in record.stored


def is_loaded(let: Let) -> bool:
    """Whether the results come as they are stored."""
    return isinstance(let.operation, Call) and works_stored(let.operation)


def is_layout(let: Let, storable: set[int] | frozenset[int]) -> bool:
    """Whether a let rearranges a storable value."""
    operation = let.operation
    is_mover = isinstance(operation, Copy | ExpandDims) or (
        isinstance(operation, Call) and operation.intrinsic in _LAYOUT and len(operation.operands) == 1
    )
    return is_mover and len(let.results) == 1 and _is_storable(operands_of(operation)[0], storable)


def stored_names(call: Call, storable: set[int] | frozenset[int]) -> frozenset[str]:
    """The arguments that a call reads as stored: those that it may, and that are storable; for a dot all or none."""
    record = record_of(call)
    if record is None:
        return frozenset()
    asked = [(name, o) for name, o in call.operands if name in record.stored and computed(o.type) != o.type]
    names = frozenset(name for name, o in asked if _is_storable(o, storable))
    return names if works_stored(call) or len(names) == len(asked) else frozenset()


def reads_stored(let: Let, storable: set[int] | frozenset[int]) -> bool:
    """Whether a cast reads a storable value without a name straight from memory: no step is lost by it.

    To an integer it does not, which takes comparisons: Triton's interpreter compares the bits of a `bf16`.
    """
    operation = let.operation
    if not isinstance(operation, Cast) or not isinstance(operation.operand, Value) or operation.operand.name:
        return False
    (result,) = let.results
    is_read = _is_storable(operation.operand, storable) and result.type != computed(operation.operand.type)
    return is_read and isinstance(result.type, TensorType) and is_float(result.type.element)


def _is_storable(operand: Operand, storable: set[int] | frozenset[int]) -> bool:
    return isinstance(operand, Value) and operand.id in storable


def _stored_reads(let: Let, storable: set[int]) -> Iterator[int]:
    if reads_stored(let, storable):
        yield from (o.id for o in operands_of(let) if isinstance(o, Value))
    elif isinstance(let.operation, Call):
        names = stored_names(let.operation, storable)
        is_memory = works_stored(let.operation)
        for name, operand in let.operation.operands:
            if isinstance(operand, Value) and operand.id in storable and (is_memory or name in names):
                yield operand.id


def _computed_reads(block: Block, storable: set[int]) -> Iterator[Operand]:
    """What is read in any other way; rearranging is judged by who reads its result."""
    for _, statement in statements_of(block):
        yield from _own_reads(statement, storable)
        for inner in blocks_of(statement):
            yield from inner.yields


def _own_reads(statement: Statement, storable: set[int]) -> Iterator[Operand]:
    if isinstance(statement, Let):
        if is_layout(statement, storable):
            return
        stored = set(_stored_reads(statement, storable))
        yield from (o for o in operands_of(statement) if not isinstance(o, Value) or o.id not in stored)
        return
    yield from operands_of(statement)
