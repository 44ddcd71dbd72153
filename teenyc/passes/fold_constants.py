"""Folds what is known: a program goes in, one comes out with fewer operations and the same meaning to the last bit.

Literals fold by Rust's rules (`passes.integers`), floats only as f32 and f64, since the types over `D` are not known
here. Branches under a literal condition and loops without a trip go. Constants stay symbols, also those that `--set`
fixed: the generated module is generic over them. A line that gives a name to a literal stays, and so does its name
where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from teenyc.ir import walk
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    For,
    If,
    Let,
    Literal,
    Number,
    Offset,
    Operand,
    Operation,
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.passes.integers import (
    COMPARISONS,
    exactly_holds,
    float_binary,
    integer_binary,
    integer_unary,
    round_float,
    wrap,
)
from teenyc.record import field, replace, state
from teenyc.types import BOOL, F32, F64, Compute, DType, Element, Kind, TensorType, Type, TypeVar, is_float, is_integer


def fold_constants(program: Program) -> Program:
    """The program with literals folded, neutral operations and unnamed copies gone, and dead branches cut."""
    return walk.map_program(program, _fold_body, _fold_body)


def _fold_body(body: walk.Body) -> walk.Body:
    return replace(body, body=_Known().block(body.body))


@state
class _Known:
    """What is known of the values above, by id: what stands for them, named literals, unnamed casts."""

    aliases: dict[int, Operand] = field(default_factory=dict)
    literals: dict[int, Literal] = field(default_factory=dict)
    casts: dict[int, Operand] = field(default_factory=dict)

    def resolve(self, operand: Operand) -> Operand:
        """What to read instead of an operand."""
        return self.aliases.get(operand.id, operand) if isinstance(operand, Value) else operand

    def literal(self, operand: Operand) -> Literal | None:
        """The number that an operand certainly is, also under a name."""
        match operand:
            case Literal():
                return operand
            case Value():
                return self.literals.get(operand.id)
            case Constant():
                return None
            case _:
                assert_never(operand)

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        """A block with what is in it folded; nothing follows a return."""
        statements: list[Statement] = []
        for statement in block.statements:
            statements.extend(self.statement(walk.map_operands(statement, self.resolve)))
            if statements and isinstance(statements[-1], Return):
                return Block(statements=tuple(statements))
        return Block(statements=tuple(statements), yields=tuple(map(self.resolve, block.yields)))

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Let():
                return self.let(statement)
            case If():
                condition = self.literal(statement.condition)
                if condition is not None:
                    taken = self.block(statement.then if condition.value else statement.otherwise)
                    return (*taken.statements, *self.stand_for(statement, taken.yields))
                whole = walk.map_blocks(statement, self.block)
                assert isinstance(whole, If)
                decided = _is_condition(whole)
                return (whole,) if not decided else self.stand_for(whole, (whole.condition,) * len(whole.results))
            case For():
                if self.has_no_trip(statement):
                    return self.stand_for(statement, tuple(c.initial for c in statement.carried))
            case While() | Return():
                pass
            case _:
                assert_never(statement)
        return (walk.map_blocks(statement, self.block),)

    def has_no_trip(self, loop: For) -> bool:
        start, stop = self.literal(loop.start), self.literal(loop.stop)
        return start is not None and stop is not None and start.value >= stop.value

    def stand_for(self, statement: If | For, operands: tuple[Operand, ...]) -> tuple[Statement, ...]:
        """Lets `operands` be the results of a statement that goes; a copy keeps a name that is new."""
        copies: list[Statement] = []
        for result, operand in zip(walk.results_of(statement), operands, strict=False):
            if not result.name or (isinstance(operand, Value) and operand.name == result.name):
                self.aliases[result.id] = operand
            else:
                copies.append(Let(results=(result,), operation=Copy(operand=operand), span=statement.span))
                self.note(result, Copy(operand=operand))
        return tuple(copies)

    def let(self, let: Let) -> tuple[Statement, ...]:
        if len(let.results) != 1:
            return (let,)
        (result,) = let.results
        folded = _fold_operation(let.operation, result.type, self)
        if isinstance(folded, Literal) and isinstance(let.operation, Copy) and let.operation.constant:
            folded = replace(folded, name=let.operation.constant)
        if isinstance(folded, Value | Literal | Constant):
            if not result.name:
                self.aliases[result.id] = folded
                return ()
            folded = Copy(operand=folded)
        self.note(result, folded)
        return (let if folded == let.operation else replace(let, operation=folded),)

    def note(self, result: Value, operation: Operation) -> None:
        """Remembers what a result is."""
        if isinstance(operation, Copy):
            literal = self.literal(operation.operand)
            if literal is not None:
                self.literals[result.id] = literal
        elif isinstance(operation, Cast) and not result.name and not _is_rounding(operation, _element(result)):
            self.casts[result.id] = operation.operand


def _is_condition(choice: If) -> bool:
    """Whether all that an `if` gives is its condition: `true` on one side and `false` on the other."""
    if choice.then.statements or choice.otherwise.statements or not choice.results:
        return False
    sides = [[o.value for o in b.yields if isinstance(o, Literal)] for b in (choice.then, choice.otherwise)]
    count = len(choice.results)
    return sides[0] == [True] * count and sides[1] == [False] * count and _is_bool(choice.results)


def _is_bool(results: tuple[Value, ...]) -> bool:
    return all(r.type == TensorType(BOOL) for r in results)


# ---- operations -----------------------------------------------------------------------------------------------------


def _fold_operation(operation: Operation, type: Type, known: _Known) -> Operation | Operand:
    """A simpler operation, or the operand that the result is."""
    match operation:
        case Copy():
            return operation.operand
        case Unary():
            return _fold_unary(operation, known.literal(operation.operand))
        case Binary():
            return _fold_binary(operation, type, known)
        case Compare():
            return _fold_compare(operation, known)
        case Cast():
            return _fold_cast(operation, type, known)
        case Offset():
            by = known.literal(operation.offset)
            is_same = by is not None and by.value == 0 and operation.pointer.type == type
            return operation.pointer if is_same else operation
        case Call(intrinsic="where"):
            return _fold_choice(operation, type, known)
        case Call(intrinsic="cdiv"):
            return _fold_rounded_up(operation, known)
        case ExpandDims() | Call() | Apply():
            return operation
        case _:
            assert_never(operation)


def _fold_choice(choice: Call, type: Type, known: _Known) -> Operation | Operand:
    """What a `where` chooses, if its condition is known."""
    condition, x, y = (choice.operand(name) for name in ("condition", "x", "y"))
    literal = known.literal(condition) if condition is not None else None
    chosen = None if literal is None else x if literal.value else y
    return chosen if chosen is not None and chosen.type == type else choice


def _fold_rounded_up(call: Call, known: _Known) -> Operation | Operand:
    """The quotient of two known integers, rounded up."""
    x, div = (known.literal(o) if o is not None else None for o in (call.operand("x"), call.operand("div")))
    if x is None or div is None or not isinstance(x.type.element, DType) or not div.value:
        return call
    return Literal(wrap(-(-int(x.value) // int(div.value)), x.type.element), x.type)


def _fold_unary(operation: Unary, literal: Literal | None) -> Operation | Operand:
    if literal is None:
        return operation
    element, number = literal.type.element, literal.value
    if isinstance(number, bool):
        return Literal(not number, literal.type)
    if isinstance(element, DType) and is_integer(element) and isinstance(number, int):
        return Literal(integer_unary(operation.operator, number, element), literal.type)
    return Literal(-number, literal.type) if operation.operator == "neg" else operation


def _fold_binary(operation: Binary, type: Type, known: _Known) -> Operation | Operand:
    left, right = known.literal(operation.left), known.literal(operation.right)
    if left is not None and right is not None:
        number = _binary_number(operation.operator, left, right)
        return operation if number is None else Literal(number, left.type)
    for literal, other, is_left in ((left, operation.right, True), (right, operation.left, False)):
        if literal is None or other.type != type:
            continue
        if _is_neutral(operation.operator, literal, is_left):
            return other
        if operation.operator == "div" and literal.value == -1 and not is_left and is_integer(literal.type.element):
            return Unary(operator="neg", operand=other)  # where LLVM would take `MIN / -1` for impossible
        if _is_absorbing(operation.operator, literal) and type == literal.type:
            return literal
    return operation


def _binary_number(operator: str, left: Literal, right: Literal) -> Number | None:
    element, a, b = left.type.element, left.value, right.value
    if isinstance(a, bool) and isinstance(b, bool):
        return {"and": a and b, "or": a or b, "xor": a != b}.get(operator)
    if element in (F32, F64) and isinstance(element, DType):
        return float_binary(operator, float(a), float(b), element)
    if isinstance(element, DType) and isinstance(a, int) and isinstance(b, int):
        return integer_binary(operator, a, b, element)
    return None


_NEUTRAL: Mapping[str, tuple[int, bool]] = {
    "add": (0, True),
    "sub": (0, False),
    "mul": (1, True),
    "div": (1, False),
    "or": (0, True),
    "xor": (0, True),
    "shl": (0, False),
    "shr": (0, False),
}
"""The number that changes nothing, and whether it may also stand on the left. For floats 0 does: `-0.0 + 0.0`."""


def _is_neutral(operator: str, literal: Literal, is_left: bool) -> bool:
    if isinstance(literal.value, bool):
        return literal.value is (operator == "and")
    number, commutes = _NEUTRAL.get(operator, (None, False))
    is_exact = number == 1 or is_integer(literal.type.element)
    return literal.value == number and is_exact and (commutes or not is_left)


def _is_absorbing(operator: str, literal: Literal) -> bool:
    if isinstance(literal.value, bool):
        return (operator, literal.value) in (("and", False), ("or", True))
    return operator in ("mul", "and") and is_integer(literal.type.element) and literal.value == 0


def _fold_compare(operation: Compare, known: _Known) -> Operation | Operand:
    left, right = known.literal(operation.left), known.literal(operation.right)
    if left is None or right is None:
        return operation
    element, a, b = left.type.element, left.value, right.value
    if not isinstance(element, DType) or (is_float(element) and element not in (F32, F64)):
        return operation
    if is_float(element):
        a, b = round_float(float(a), element), round_float(float(b), element)
    return Literal(COMPARISONS[operation.operator](a, b), TensorType(BOOL))


# ---- casts ----------------------------------------------------------------------------------------------------------


def _fold_cast(operation: Cast, type: Type, known: _Known) -> Operation | Operand:
    assert isinstance(type, TensorType), "a cast gives numbers"
    target = type.element
    literal = known.literal(operation.operand)
    if literal is not None:
        from teenyc.passes.literals import convert

        converted = convert(literal, target, implicit=operation.implicit)
        if converted is not None and converted.value == literal.value:
            converted = replace(converted, name=literal.name)
        return operation if converted is None else converted
    operand = operation.operand
    origin = known.casts.get(operand.id) if isinstance(operand, Value) else None
    if origin is not None and _is_exact(_element(origin), _element(operand)):
        operation, operand = replace(operation, operand=origin), origin
    return operation if _element(operand) != target or _rounds(operation, target) else operand


def _rounds(operation: Cast, target: Element) -> bool:
    """Whether a cast of a type to itself changes values: a named narrow float holds f32 until it is cast."""
    return isinstance(target, DType) and target.kind is Kind.FLOAT and target.bits < 32 and not operation.implicit


def _is_rounding(operation: Cast, target: Element) -> bool:
    """Whether a cast is one of a type to itself that rounds there."""
    return _element(operation.operand) == target and _rounds(operation, target)


def _is_exact(source: Element, target: Element) -> bool:
    """Whether a cast loses nothing, whatever the dtype parameters are; a `D` computes in f32 or wider."""
    if isinstance(source, DType) and isinstance(target, DType):
        return exactly_holds(source, target)
    if isinstance(source, DType):
        return isinstance(target, TypeVar | Compute) and is_float(target) and is_float(source) and source.bits <= 32
    return is_float(source) and (target == F64 or target == Compute(source) if isinstance(source, TypeVar) else False)


def _element(operand: Operand) -> Element:
    assert isinstance(operand.type, TensorType), "a cast takes numbers"
    return operand.type.element
