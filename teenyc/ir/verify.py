"""Invariants of the IR: a program goes in; if it is broken, an `AssertionError` names the kernel and the statement.

What holds between all passes, beyond what `nodes.py` says of each node:

- Ids are unique in a kernel or function, every use carries the value just as it was defined, and definitions come
  before uses and in scope: the values of an inner block, the counter and the `inside` values end with their loop or
  branch; a loop's condition shares nothing with its body but the `inside` values.
- Operands of `Binary` and `Compare` have one element type; shapes broadcast; results have the type that follows.
- A loop-carried value has one type: initial, inside, yielded, result. A branch that does not return yields the types of
  the results; one that ends in `Return` yields nothing. Different symbols in a shape may be equal by `static_assert`.
- `Return` ends its block and is in no loop. Its values have the types that the function states; a kernel returns none.
- A store converts its value to the type that the pointer points to, as `Cast` does; so does the `other` of a load.
"""

from __future__ import annotations

from typing import assert_never

from teenyc.ir.nodes import (
    BINARY,
    COMPARE,
    UNARY,
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
    Function,
    If,
    Kernel,
    Let,
    Literal,
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
from teenyc.ir.printer import Names, print_statement, value_names
from teenyc.ir.walk import bodies_of, definitions, operands_of, results_of
from teenyc.record import field, state
from teenyc.types import (
    BOOL,
    I32,
    ONE,
    DescriptorType,
    DType,
    Element,
    Extent,
    Kind,
    Pointer,
    Shape,
    TensorType,
    TupleType,
    Type,
    Unsuffixed,
    is_float,
    is_integer,
    scalar,
)


def verify(program: Program) -> None:
    """Raises AssertionError at the first broken invariant."""
    functions = {f.name: f for f in program.functions}
    assert len(functions) == len(program.functions), "two device functions have one name"
    for body in bodies_of(program):
        _Scope(body, functions, value_names(body)).check()


@state
class _Scope:
    """What is defined at the statement at hand."""

    body: Kernel | Function
    functions: dict[str, Function]
    names: Names
    visible: dict[int, Value] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)

    def check(self) -> None:
        for parameter in self.body.parameters:
            self.define(parameter.value)
        self.block(self.body.body, loops=0)
        self.demand(not self.body.body.yields, "the body yields values")

    def demand(self, holds: bool, what: str, statement: Statement | None = None) -> None:
        """Fails with the kernel's name and the statement's text."""
        if not holds:
            kind = "kernel" if isinstance(self.body, Kernel) else "function"
            text = "" if statement is None else "\n" + print_statement(statement, self.names)
            raise AssertionError(f"broken IR in {kind} `{self.body.name}`: {what}{text}")

    # ---- scopes -----------------------------------------------------------------------------------------------------

    def define(self, value: Value, statement: Statement | None = None) -> None:
        self.demand(value.id not in self.seen, f"id {value.id} is defined twice", statement)
        self.demand(_is_complete(value.type), f"`{value.type}` is no type of a value", statement)
        self.seen.add(value.id)
        self.visible[value.id] = value

    def use(self, operand: Operand, statement: Statement) -> None:
        match operand:
            case Value():
                known = self.visible.get(operand.id)
                self.demand(known is not None, f"value {operand.id} `{operand.name}` is not in scope", statement)
                self.demand(known == operand, f"a use differs from its definition: {operand} and {known}", statement)
            case Literal():
                self.demand(_is_literal(operand), f"{operand} is no literal of its type", statement)
            case Constant():
                known_constants = {c.name: c.type for c in self.body.constants}
                if isinstance(self.body, Kernel):
                    known_constants.update((p.name, scalar(I32)) for p in self.body.padded)
                is_known = known_constants.get(operand.name) == operand.type
                self.demand(is_known, f"{operand} is no constant of the kernel", statement)
            case _:
                assert_never(operand)

    def block(self, block: Block, loops: int, inner: tuple[Value, ...] = (), owner: Statement | None = None) -> None:
        """Checks a block in which `inner` is defined besides what is visible; forgets what it defines."""
        for value in inner:
            self.define(value, owner)
        local = list(inner)
        for statement in block.statements:
            self.statement(statement, loops)
            local.extend(results_of(statement))
            is_end = statement is block.statements[-1]
            self.demand(is_end or not isinstance(statement, Return), "statements follow a return", statement)
        if owner is not None:
            for operand in block.yields:
                self.use(operand, owner)
        for value in local:
            del self.visible[value.id]

    # ---- statements -------------------------------------------------------------------------------------------------

    def statement(self, statement: Statement, loops: int) -> None:
        for operand in operands_of(statement):
            self.use(operand, statement)
        match statement:
            case Let():
                self.operation(statement, statement.operation)
            case For():
                self.loop_for(statement, loops)
            case While():
                self.loop_while(statement, loops)
            case If():
                self.branches(statement, loops)
            case Return():
                self.leave(statement, loops)
            case _:
                assert_never(statement)
        for value in results_of(statement):
            self.define(value, statement)

    def loop_for(self, loop: For, loops: int) -> None:
        bounds = {loop.start.type, loop.stop.type, loop.step.type, loop.counter.type}
        is_integer_scalar = loop.counter.type == scalar(_element(loop.counter)) and is_integer(_element(loop.counter))
        self.demand(len(bounds) == 1 and is_integer_scalar, "counter and bounds are not of one integer type", loop)
        self.carried(loop)
        self.block(loop.body, loops + 1, definitions(loop)[: len(loop.carried) + 1], loop)

    def loop_while(self, loop: While, loops: int) -> None:
        inside = tuple(c.inside for c in loop.carried)
        self.carried(loop)
        tests = tuple(o.type for o in loop.condition.yields)
        self.demand(tests == (scalar(BOOL),), "the condition does not yield one bool scalar", loop)
        self.block(loop.condition, loops + 1, inside, loop)
        self.seen.difference_update(v.id for v in inside)
        self.block(loop.body, loops + 1, inside, loop)

    def carried(self, loop: For | While) -> None:
        count = len(loop.carried)
        self.demand(len(loop.body.yields) == count, f"{count} values are carried, others yielded", loop)
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            types = (carried.initial.type, carried.inside.type, carried.result.type, following.type)
            is_one = all(_is_alike(types[0], t) for t in types)
            self.demand(is_one, f"a carried value has the types {sorted(set(map(str, types)))}", loop)

    def branches(self, branch: If, loops: int) -> None:
        self.demand(branch.condition.type == scalar(BOOL), "the condition is no bool scalar", branch)
        for block in (branch.then, branch.otherwise):
            self.block(block, loops, owner=branch)
            returns = bool(block.statements) and isinstance(block.statements[-1], Return)
            expected = () if returns else tuple(r.type for r in branch.results)
            found = tuple(o.type for o in block.yields)
            is_one = len(found) == len(expected) and all(map(_is_alike, found, expected))
            self.demand(is_one, f"a branch yields {_texts(found)}, not {_texts(expected)}", branch)

    def leave(self, statement: Return, loops: int) -> None:
        self.demand(not loops, "a return is inside a loop", statement)
        expected = self.body.results if isinstance(self.body, Function) else ()
        found = tuple(o.type for o in statement.values)
        self.demand(found == expected, f"returns {_texts(found)}, not {_texts(expected)}", statement)

    # ---- operations -------------------------------------------------------------------------------------------------

    def operation(self, let: Let, operation: Operation) -> None:
        match operation:
            case Call():
                self.call(let, operation)
            case Apply():
                self.apply(let, operation)
            case Copy() | Unary() | Binary() | Compare() | Cast() | Offset() | ExpandDims():
                self.demand(len(let.results) == 1, "the operation has one result", let)
                complaint = _complaint(operation, let.results[0].type)
                self.demand(complaint is None, complaint or "", let)
            case _:
                assert_never(operation)

    def call(self, let: Let, call: Call) -> None:
        from teenyc.intrinsics import TABLE

        record = TABLE.get(call.intrinsic)
        self.demand(record is not None, f"there is no intrinsic `{call.intrinsic}`", let)
        known = {p.name for p in record.params} | record.marks if record is not None else set()
        for name in (*(n for n, _ in call.operands), *(n for n, _ in call.attributes)):
            # A variadic parameter is written out as `name0`, `name1`, …
            self.demand(name in known or name.rstrip("0123456789") in known, f"no parameter `{name}`", let)
        if record is not None and record.family == "descriptors":
            complaint = _block_complaint(let, call)
            self.demand(complaint is None, complaint or "", let)

    def apply(self, let: Let, apply: Apply) -> None:
        function = self.functions.get(apply.function)
        self.demand(function is not None, f"there is no device function `{apply.function}`", let)
        if function is None:
            return
        self.demand(len(apply.operands) == len(function.parameters), "operands do not match the parameters", let)
        self.demand(len(apply.elements) == len(function.type_variables), "dtype arguments do not match", let)
        self.demand(len(let.results) == len(function.results), "results do not match the function's", let)
        is_bound = {name for name, _ in apply.constants} == {c.name for c in function.constants}
        self.demand(is_bound, "constant arguments do not match", let)
        pairs = [(o.type, p.value.type) for o, p in zip(apply.operands, function.parameters, strict=True)]
        pairs.extend((r.type, t) for r, t in zip(let.results, function.results, strict=True))
        for found, stated in pairs:
            self.demand(_may_be(found, stated), f"`{found}` meets `{stated}` of the function", let)


def _complaint(operation: Operation, result: Type) -> str | None:
    """What is wrong with the operators or types of an operation with one result."""
    match operation:
        case Copy():
            return None if operation.operand.type == result else f"`{operation.operand.type}` becomes `{result}`"
        case Unary():
            if operation.operator not in UNARY:
                return "unknown operator"
            return None if operation.operand.type == result else f"`{operation.operand.type}` becomes `{result}`"
        case Binary():
            if operation.operator not in BINARY:
                return "unknown operator"
            return _meeting(operation.left.type, operation.right.type, result, None)
        case Compare():
            if operation.operator not in COMPARE:
                return "unknown operator"
            return _meeting(operation.left.type, operation.right.type, result, BOOL)
        case Cast():
            a, b = _tensor(operation.operand.type), _tensor(result)
            return None if a and b and a.shape == b.shape else "a cast changes the shape"
        case Offset():
            return _offset_complaint(operation, result)
        case ExpandDims():
            return _expand_complaint(operation, result)
        case Call() | Apply():
            return None
        case _:
            assert_never(operation)


def _block_complaint(let: Let, call: Call) -> str | None:
    """What is wrong with the descriptor of a call, or with how many numbers it has for its axes."""
    given = [o.type for name, o in call.operands if name in ("desc", "pointer", "base")]
    types = [t for t in (*given, *(r.type for r in let.results)) if isinstance(t, DescriptorType)]
    if not types or any(t != types[0] for t in types):
        return "it needs one type of descriptor"
    type, names = types[0], [name.rstrip("0123456789") for name, _ in call.operands]
    if type.is_block_pointer != ("block_ptr" in call.intrinsic or call.intrinsic == "advance"):
        return f"`{type}` is the other kind of descriptor"
    wrong = next((n for n in ("shape", "strides", "offsets") if n in names and names.count(n) != type.rank), None)
    return None if wrong is None else f"`{wrong}` does not have {type.rank} items"


def _meeting(left: Type, right: Type, result: Type, element: Element | None) -> str | None:
    a, b, c = _tensor(left), _tensor(right), _tensor(result)
    if a is None or b is None or c is None:
        return "an operand is no tensor"
    if a.element != b.element:
        return f"`{a.element}` meets `{b.element}`"
    if c.element != (element or a.element):
        return f"the result is `{c.element}`"
    return None if _is_broadcast(a.shape, b.shape, c.shape) else f"`{a}` and `{b}` do not give `{c}`"


def _offset_complaint(operation: Offset, result: Type) -> str | None:
    a, b, c = _tensor(operation.pointer.type), _tensor(operation.offset.type), _tensor(result)
    if a is None or b is None or c is None or not isinstance(a.element, Pointer) or a.element != c.element:
        return "an offset moves a pointer"
    if not is_integer(b.element):
        return f"an offset of type `{b.element}`"
    return None if _is_broadcast(a.shape, b.shape, c.shape) else f"`{a}` and `{b}` do not give `{c}`"


def _expand_complaint(operation: ExpandDims, result: Type) -> str | None:
    a, c = _tensor(operation.operand.type), _tensor(result)
    if a is None or c is None or a.element != c.element:
        return "expand_dims keeps the element type"
    shape = list(a.shape)
    for axis in operation.axes:
        shape.insert(axis, ONE)
    return None if tuple(shape) == c.shape else f"`{a}` does not give `{c}`"


def _is_broadcast(a: Shape, b: Shape, c: Shape) -> bool:
    """Whether `c` can be the broadcast of two shapes; different symbols may be equal by a `static_assert`."""
    rank = max(len(a), len(b))
    if len(c) != rank:
        return False
    a, b = (ONE,) * (rank - len(a)) + a, (ONE,) * (rank - len(b)) + b
    return all(_extents_meet(x, y, z) for x, y, z in zip(a, b, c, strict=True))


def _is_alike(a: Type, b: Type) -> bool:
    """Whether two types are one, up to extents that a `static_assert` may make equal."""
    if isinstance(a, TensorType) and isinstance(b, TensorType) and len(a.shape) == len(b.shape):
        are_equal = all(x.known is None or y.known is None or x == y for x, y in zip(a.shape, b.shape, strict=True))
        return a.element == b.element and are_equal
    return a == b


def _extents_meet(x: Extent, y: Extent, z: Extent) -> bool:
    if x == ONE or y == ONE:
        widest = y if x == ONE else x
        return z == widest or (z != ONE and (z.known is None or widest.known is None))
    return len({e.known for e in (x, y, z) if e.known is not None}) <= 1


def _is_literal(literal: Literal) -> bool:
    """Whether the number is one of its type: integers in range, `bool` for bool, anything for a dtype parameter."""
    element, number = literal.type.element, literal.value
    if literal.type.shape or not _is_complete(literal.type):
        return False
    if isinstance(element, DType) and element.kind is Kind.BOOL:
        return isinstance(number, bool)
    if isinstance(element, DType) and is_integer(element):
        return type(number) is int and element.minimum <= number <= element.maximum
    return not isinstance(number, bool) and (isinstance(number, float) or not is_float(element))


def _is_complete(type: Type) -> bool:
    """Whether a type may stand on a value: no literal's open type, no tuple."""
    match type:
        case TupleType():
            return False
        case TensorType() | DescriptorType():
            element: Element = type.element
            while isinstance(element, Pointer):
                element = element.to
            return not isinstance(element, Unsuffixed)
        case _:
            assert_never(type)


def _may_be(found: Type, stated: Type) -> bool:
    """Whether a value may be passed where a function states a type; its generics and extents are not looked at."""
    a, b = _tensor(found), _tensor(stated)
    if a is None or b is None:
        return type(found) is type(stated)
    return not (isinstance(a.element, DType) and isinstance(b.element, DType)) or a.element == b.element


def _element(operand: Operand) -> Element:
    return operand.type.element if isinstance(operand.type, TensorType) else Pointer(BOOL)


def _tensor(type: Type) -> TensorType | None:
    return type if isinstance(type, TensorType) else None


def _texts(types: tuple[Type, ...]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"
