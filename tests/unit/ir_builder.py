"""Builds IR by hand for unit tests: `B` appends statements to the innermost open block and gives the new values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from teenyc.ir.nodes import (
    Apply,
    Attribute,
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Compare,
    Constant,
    ConstantParameter,
    Copy,
    ExpandDims,
    For,
    Function,
    If,
    Kernel,
    Let,
    Literal,
    Number,
    Offset,
    Operand,
    Operation,
    Parameter,
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.source import Span
from teenyc.types import (
    BOOL,
    F32,
    I32,
    Bound,
    Element,
    Extent,
    Pointer,
    TensorType,
    Type,
    TypeVar,
    broadcast,
    scalar,
)

D = TypeVar("D", Bound.FLOAT)
N = Extent.of("N")
HERE = Span(0, 0)
NONE: Mapping[str, Operand] = {}
NO_ATTRIBUTES: Mapping[str, Attribute] = {}


def lit(value: Number, element: Element | None = None) -> Literal:
    """A literal; the type follows from the Python type unless given."""
    default = BOOL if isinstance(value, bool) else I32 if isinstance(value, int) else F32
    return Literal(value, scalar(element or default))


def constant(name: str = "N") -> Constant:
    """An i32 constant parameter."""
    return Constant(name, scalar(I32))


class B:
    """One kernel in the making."""

    def __init__(self, name: str = "k") -> None:
        self.name = name
        self.ids = 0
        self.stack: list[list[Statement]] = [[]]
        self.parameters: list[Parameter] = []

    # ---- values -----------------------------------------------------------------------------------------------------

    def value(self, type: Type, name: str = "") -> Value:
        self.ids += 1
        return Value(self.ids, type, name)

    def param(self, name: str, element: Element) -> Value:
        value = self.value(scalar(element), name)
        self.parameters.append(Parameter(value=value, span=HERE))
        return value

    def pointer(self, name: str, element: Element = F32) -> Value:
        return self.param(name, Pointer(element))

    def let(self, operation: Operation, *types: Type, name: str = "") -> Value:
        """One operation; the first result."""
        results = tuple(self.value(t, name) for t in types)
        self.add(Let(results=results, operation=operation, span=HERE))
        return results[0] if results else self.value(scalar(BOOL), "nothing")

    def add(self, statement: Statement) -> None:
        self.stack[-1].append(statement)

    # ---- operations -------------------------------------------------------------------------------------------------

    def copy(self, operand: Operand, name: str = "") -> Value:
        return self.let(Copy(operand=operand), operand.type, name=name)

    def unary(self, operator: str, operand: Operand, name: str = "") -> Value:
        return self.let(Unary(operator=operator, operand=operand), operand.type, name=name)

    def binary(self, operator: str, left: Operand, right: Operand, name: str = "") -> Value:
        return self.let(Binary(operator=operator, left=left, right=right), meet(left, right), name=name)

    def compare(self, operator: str, left: Operand, right: Operand, name: str = "") -> Value:
        type = TensorType(BOOL, meet(left, right).shape)
        return self.let(Compare(operator=operator, left=left, right=right), type, name=name)

    def cast(self, operand: Operand, element: Element, name: str = "") -> Value:
        return self.let(Cast(operand=operand), TensorType(element, tensor(operand).shape), name=name)

    def offset(self, pointer: Operand, by: Operand, name: str = "") -> Value:
        type = TensorType(tensor(pointer).element, meet(pointer, by).shape)
        return self.let(Offset(pointer=pointer, offset=by), type, name=name)

    def expand(self, operand: Operand, *axes: int, name: str = "") -> Value:
        shape = list(tensor(operand).shape)
        for axis in axes:
            shape.insert(axis, Extent.of(1))
        type = TensorType(tensor(operand).element, tuple(shape))
        return self.let(ExpandDims(operand=operand, axes=axes), type, name=name)

    def call(
        self,
        intrinsic: str,
        type: Type | None,
        operands: Mapping[str, Operand] = NONE,
        *,
        name: str = "",
        at: Mapping[str, Attribute] = NO_ATTRIBUTES,
    ) -> Value:
        call = Call(intrinsic=intrinsic, operands=tuple(operands.items()), attributes=tuple(at.items()))
        return self.let(call, *(() if type is None else (type,)), name=name)

    def program_id(self, axis: int = 0, name: str = "") -> Value:
        return self.call("program_id", scalar(I32), at={"axis": axis}, name=name)

    def arange(self, extent: Extent | int = N, name: str = "") -> Value:
        end = Extent.of(extent) if isinstance(extent, int) else extent
        return self.call("arange", TensorType(I32, (end,)), at={"start": Extent.of(0), "end": end}, name=name)

    def load(self, pointer: Operand, name: str = "", mask: Operand | None = None) -> Value:
        type = tensor(pointer)
        assert isinstance(type.element, Pointer)
        operands: dict[str, Operand] = {"pointer": pointer} | ({} if mask is None else {"mask": mask})
        return self.call("load", TensorType(type.element.to, type.shape), operands, name=name)

    def store(self, pointer: Operand, value: Operand, mask: Operand | None = None) -> None:
        operands: dict[str, Operand] = {"pointer": pointer, "value": value} | ({} if mask is None else {"mask": mask})
        self.call("store", None, operands)

    def apply(self, function: Function, *operands: Operand, name: str = "", elements: Sequence[Element] = ()) -> Value:
        operation = Apply(function=function.name, operands=operands, elements=tuple(elements))
        return self.let(operation, *function.results, name=name)

    # ---- blocks -----------------------------------------------------------------------------------------------------

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        self.stack.append([])
        yield self.stack[-1]
        self.stack.pop()

    @contextmanager
    def loop(self, start: Operand, stop: Operand, name: str = "i", **initials: Operand) -> Iterator[Loop]:
        """`with b.loop(lit(0), n, acc=zero) as loop: … loop.next(acc)`; afterwards `loop.results`."""
        loop = Loop(self, self.value(start.type, name), initials)
        with self.block() as statements:
            yield loop
        body = Block(statements=tuple(statements), yields=loop.yields)
        step = Literal(1, tensor(start))
        self.add(
            For(counter=loop.counter, start=start, stop=stop, step=step, carried=loop.carried, body=body, span=HERE)
        )

    @contextmanager
    def loop_while(self, **initials: Operand) -> Iterator[Loop]:
        """`loop.test = condition` splits the condition from the body."""
        loop = Loop(self, self.value(scalar(I32)), initials)
        with self.block() as statements:
            yield loop
        assert loop.test is not None
        condition = Block(statements=tuple(statements[: loop.split]), yields=(loop.test,))
        body = Block(statements=tuple(statements[loop.split :]), yields=loop.yields)
        self.add(While(condition=condition, carried=loop.carried, body=body, span=HERE))

    @contextmanager
    def branch(self, condition: Operand, *types: Type, name: str = "") -> Iterator[Branch]:
        """`with b.branch(c, type) as fork: …; fork.then(x); …; fork.otherwise(y)`."""
        fork = Branch(self, tuple(self.value(t, name) for t in types))
        with self.block():
            yield fork
            if fork.first is None:
                fork.then()
            fork.otherwise()
        assert fork.first is not None
        assert fork.second is not None
        self.add(If(condition=condition, then=fork.first, otherwise=fork.second, results=fork.results, span=HERE))

    def ret(self, *values: Operand) -> None:
        self.add(Return(values=values, span=HERE))

    # ---- programs ---------------------------------------------------------------------------------------------------

    def kernel(self, constants: Sequence[str] = ("N",), variables: Sequence[TypeVar] = (D,)) -> Kernel:
        return Kernel(
            name=self.name,
            doc="",
            type_variables=tuple(variables),
            constants=_constants(constants),
            parameters=tuple(self.parameters),
            body=Block(statements=tuple(self.stack[0])),
            span=HERE,
        )

    def function(self, *results: Type, constants: Sequence[str] = (), variables: Sequence[TypeVar] = ()) -> Function:
        return Function(
            name=self.name,
            doc="",
            type_variables=tuple(variables),
            constants=_constants(constants),
            parameters=tuple(self.parameters),
            results=results,
            body=Block(statements=tuple(self.stack[0])),
            span=HERE,
        )

    def program(self, *functions: Function) -> Program:
        return Program(doc="", kernels=(self.kernel(),), functions=functions)


class Loop:
    """A loop in the making."""

    def __init__(self, builder: B, counter: Value, initials: dict[str, Operand]) -> None:
        self.builder = builder
        self.counter = counter
        self.carried = tuple(
            Carried(initial=o, inside=builder.value(o.type, n), result=builder.value(o.type, n))
            for n, o in initials.items()
        )
        self.inside = tuple(c.inside for c in self.carried)
        self.results = tuple(c.result for c in self.carried)
        self.yields: tuple[Operand, ...] = self.inside
        self.test: Operand | None = None
        self.split = 0

    def next(self, *values: Operand) -> None:
        self.yields = values

    def until(self, test: Operand) -> None:
        """Ends the condition of a `while`."""
        self.test = test
        self.split = len(self.builder.stack[-1])


class Branch:
    """An `if` in the making."""

    def __init__(self, builder: B, results: tuple[Value, ...]) -> None:
        self.builder = builder
        self.results = results
        self.first: Block | None = None
        self.second: Block | None = None

    def _take(self, yields: tuple[Operand, ...]) -> Block:
        statements = self.builder.stack[-1]
        block = Block(statements=tuple(statements), yields=yields)
        statements.clear()
        return block

    def then(self, *yields: Operand) -> None:
        self.first = self._take(yields)

    def otherwise(self, *yields: Operand) -> None:
        if self.second is None:
            self.second = self._take(yields)


def tensor(operand: Operand) -> TensorType:
    assert isinstance(operand.type, TensorType)
    return operand.type


def meet(left: Operand, right: Operand) -> TensorType:
    """The broadcast type of two operands."""
    shape = broadcast(tensor(left).shape, tensor(right).shape)
    assert shape is not None
    return TensorType(tensor(left).element, shape)


def _constants(names: Sequence[str]) -> tuple[ConstantParameter, ...]:
    return tuple(ConstantParameter(name=n, type=scalar(I32), span=HERE) for n in names)


def of_kernel(kernel: Kernel, *functions: Function) -> Program:
    return Program(doc="", kernels=(kernel,), functions=functions)
