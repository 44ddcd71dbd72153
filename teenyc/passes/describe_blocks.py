"""Adds to each tiled kernel the one that loads blocks by tensor descriptors: `x_described` behind `x_tiled`.

What is multiplied as it is loaded, and is a block of a matrix in memory, is copied to where matrix units read it by
hardware of its own (NVIDIA's TMA, since Hopper), which needs neither the addresses of lanes nor masks. It asks of a
launch what `Descriptors` says.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import count

from teenyc.ir import walk
from teenyc.ir.nodes import (
    DESCRIPTORS,
    Binary,
    Block,
    Call,
    Cast,
    Configuration,
    Constant,
    Descriptors,
    Kernel,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Program,
    Remark,
    Statement,
    Tiling,
    Value,
)
from teenyc.ir.polynomials import Factors, Polynomial
from teenyc.passes.forms import free_name, remarked
from teenyc.passes.indices import Indices
from teenyc.passes.matrices import Matrices, Matrix, matrices, multiplied
from teenyc.record import field, record, replace, state
from teenyc.source import Span
from teenyc.types import I32, I64, DescriptorType, DType, Element, Extent, Pointer, TensorType, Type, scalar

BYTES = 16
"""What hardware asks addresses and strides to be multiples of."""


def describe_blocks(program: Program) -> Program:
    """The program with a kernel that uses descriptors behind each tiled kernel of which a configuration asks for it."""
    if all(kernel.tiling is None or not _is_asked(kernel.tiling) for kernel in program.kernels):
        return program
    ids, taken = count(walk.next_id(program)), {kernel.name for kernel in program.kernels}
    made = {kernel.name: described for kernel in program.kernels if (described := _described(kernel, ids)) is not None}
    remarks = {k.tiling.of: _remark(k, k.tiling) for k in made.values() if k.tiling is not None}
    kernels: list[Kernel] = []
    for kernel in program.kernels:
        described = made.get(kernel.name)
        kept = kernel if described is not None else _without_option(kernel)
        kernels.append(remarked(kept, remarks, is_behind=True))
        if described is not None:
            kernels.append(replace(described, name=free_name(described.name, taken)))
    return replace(program, kernels=tuple(kernels))


def _is_asked(tiling: Tiling) -> bool:
    return any(map(_asks, tiling.configurations))


def _asks(configuration: Configuration) -> bool:
    return any(name == DESCRIPTORS for name, _ in configuration)


def _without_option(kernel: Kernel) -> Kernel:
    """The kernel without configurations that no kernel is for; where there are no others, they ask for less."""
    if kernel.tiling is None:
        return kernel
    tried = kernel.tiling.configurations
    kept = tuple(each for each in tried if not _asks(each)) or tuple(_blocks_of(each) for each in tried)
    return replace(kernel, tiling=replace(kernel.tiling, configurations=kept))


def _blocks_of(configuration: Configuration) -> Configuration:
    return tuple((name, value) for name, value in configuration if name != DESCRIPTORS)


def _remark(kernel: Kernel, tiling: Tiling) -> Remark:
    """What is loaded by descriptors, and in which configurations."""
    assert tiling.descriptors is not None, "the kernel loads by descriptors"
    pointers = [f"`{name}`" for name in dict.fromkeys(name for name, _ in tiling.descriptors.aligned)]
    what = " and ".join(filter(None, (", ".join(pointers[:-1]), pointers[-1])))
    tried = [_blocks_of(each) for each in tiling.configurations if _asks(each)]
    names = "×".join(f"`{name}`" for name, _ in tried[0])
    rows = ", ".join("×".join(str(value) for _, value in each) for each in tried)
    text = f"also tried, with blocks of {what} loaded by tensor descriptors where they can be, {names}: {rows}"
    return Remark("descriptors", text, kernel.span)


def _described(kernel: Kernel, ids: Iterator[int]) -> Kernel | None:
    """The kernel with descriptors, if it loads a block by one in a loop."""
    tiling = kernel.tiling
    if tiling is None or not _is_asked(tiling):
        return None
    describing = _Describing(matrices(kernel), multiplied(kernel), ids)
    statements = describing.outermost(kernel.body)
    if not any(depth and _loads(each) for depth, each in walk.statements_of(Block(statements=statements))):
        return None
    aligned = dict.fromkeys(pair for matrix in describing.used for pair in describing.alignments(matrix))
    described = replace(
        kernel,
        name=f"{tiling.of}_described",
        body=walk.substitute(Block(statements=statements), describing.straight),
        tiling=replace(tiling, descriptors=Descriptors(aligned=tuple(aligned))),
    )
    return _with_names(described, describing.starts)


def _loads(statement: Statement) -> bool:
    """Whether a statement loads a block by a descriptor."""
    call = statement.operation if isinstance(statement, Let) else None
    return isinstance(call, Call) and call.intrinsic == "load_tensor_descriptor"


def _with_names(kernel: Kernel, names: Mapping[int, str]) -> Kernel:
    """The kernel with names for values that had none, by id."""
    new = {v.id: replace(v, name=names[v.id]) for v in walk.values_of(kernel) if v.id in names}

    def named(statement: Statement) -> tuple[Statement, ...]:
        return (walk.map_definitions(statement, lambda value: new.get(value.id, value)),)

    return replace(kernel, body=walk.map_statements(walk.substitute(kernel.body, new), named))


Known = Mapping[Hashable, "tuple[Operand, ...]"]
"""The numbers that can be read at a place, by the polynomial that each is."""


@state
class _Describing:
    """One kernel: `made` are the descriptors by what equal matrices share, `known` the numbers outside of loops.

    `before` goes before the statement at hand. `starts` are names for numbers that had none, `blocks` what is in memory
    of values that are loaded transposed, `straight` what is such a block, each by id.
    """

    matrices: Matrices
    multiplied: frozenset[int]
    ids: Iterator[int]
    made: dict[Hashable, Value] = field(default_factory=dict)
    used: list[Matrix] = field(default_factory=list)
    known: dict[Hashable, tuple[Operand, ...]] = field(default_factory=dict)
    before: list[Statement] = field(default_factory=list)
    starts: dict[int, str] = field(default_factory=dict)
    blocks: dict[int, Value] = field(default_factory=dict)
    straight: dict[int, Operand] = field(default_factory=dict)

    def outermost(self, block: Block) -> tuple[Statement, ...]:
        """The statements of a kernel; each descriptor is made before the first of them that uses it."""
        for parameter in self.facts.kernel.parameters:
            self.learn(parameter.value, self.known)
        statements: list[Statement] = []
        for statement in block.statements:
            new = self.statement(statement, self.known)
            statements += [*self.before, *new]
            self.before.clear()
            for value in walk.results_of(statement):
                self.learn(value, self.known)
        return tuple(statements)

    def statement(self, statement: Statement, known: dict[Hashable, tuple[Operand, ...]]) -> tuple[Statement, ...]:
        if isinstance(statement, Let) and isinstance(statement.operation, Call):
            return self.call(statement, statement.operation, known)

        def inside(block: Block) -> Block:
            inner, after = dict(known), walk.results_of(statement)
            for value in walk.definitions(statement):
                if value not in after:
                    self.learn(value, inner)
            statements: list[Statement] = []
            for each in block.statements:
                statements += self.statement(each, inner)
                for value in walk.results_of(each):
                    self.learn(value, inner)
            return replace(block, statements=tuple(statements))

        return (walk.map_blocks(statement, inside),)

    def call(self, let: Let, call: Call, known: Known) -> tuple[Statement, ...]:
        """A load by a descriptor, if it can be one; what is transposed twice is the block itself."""
        if call.intrinsic == "load" and let.results[0].id in self.multiplied:
            return self.load(let, call, known)
        operand = call.operands[0][1] if call.intrinsic == "trans" else None
        if isinstance(operand, Value) and operand.id in self.blocks:
            self.straight[let.results[0].id] = self.blocks[operand.id]
        return (let,)

    def load(self, let: Let, call: Call, known: Known) -> tuple[Statement, ...]:
        window = self.matrices.window(call, let.results[0])
        if window is None:
            return (let,)
        starts = [self.number(each, known, I32) for each in (window.row, window.column)]
        descriptor = self.descriptor(window.matrix, let.span)
        if descriptor is None or None in starts:
            return (let,)
        pairs = zip(starts, window.names, strict=True)
        self.starts.update((o.id, name) for o, name in pairs if isinstance(o, Value) and not o.name)
        operands = (("desc", descriptor), *((f"offsets{n}", o) for n, o in enumerate(starts) if o is not None))
        new = replace(let, operation=Call(intrinsic="load_tensor_descriptor", operands=operands))
        if not window.is_transposed:
            return (new,)
        (result,) = let.results
        block = Value(next(self.ids), TensorType(_pointee(window.matrix.root), window.matrix.shape), result.name)
        self.blocks[result.id] = block
        transposed = Call(intrinsic="trans", operands=(("input", block),))
        return replace(new, results=(block,)), Let(results=(result,), operation=transposed, span=let.span)

    @property
    def facts(self) -> Indices:
        return self.matrices.facts

    # ---- descriptors ------------------------------------------------------------------------------------------------

    def descriptor(self, matrix: Matrix, span: Span) -> Value | None:
        """The descriptor of a matrix, made before the statement at hand."""
        if matrix.key in self.made:
            return self.made[matrix.key]
        writer = _Writer(self, span)
        sizes = [self.number(each, self.known, I32) for each in (matrix.rows, matrix.columns)]
        stride, base = writer.sum(matrix.stride), writer.base(matrix)
        if None in sizes or stride is None or base is None or not self.is_aligned(matrix):
            return None
        element = _pointee(matrix.root)
        operands = (
            ("base", base),
            *((f"shape{n}", size) for n, size in enumerate(sizes) if size is not None),
            ("strides0", stride),
            ("strides1", Literal(1, scalar(I32))),
        )
        call = Call(intrinsic="make_tensor_descriptor", operands=operands, attributes=(("block_shape", matrix.shape),))
        name = f"{matrix.root.name.removesuffix('_ptr')}_blocks"
        value = writer.let(call, DescriptorType(element, matrix.shape), name)
        self.before += writer.made
        self.made[matrix.key] = value
        self.used.append(matrix)
        return value

    def is_aligned(self, matrix: Matrix) -> bool:
        """Whether a launch can make sure that rows begin at multiples of 16 bytes."""
        return all(extent.names or (extent.known or 0) % BYTES == 0 for _, extent in self.alignments(matrix))

    def alignments(self, matrix: Matrix) -> Iterator[tuple[str, Extent]]:
        """The extents that must be multiples of 16 bytes: the stride, and what is no multiple of that."""
        ((stride, k),) = matrix.stride.items()
        yield matrix.root.name, self.facts.known_factors(stride, k)
        for factors, c in matrix.base.items():
            if not all(factors.count(f) >= stride.count(f) for f in stride):
                yield matrix.root.name, self.facts.known_factors(factors, c)

    # ---- numbers ----------------------------------------------------------------------------------------------------

    def learn(self, value: Value, known: dict[Hashable, tuple[Operand, ...]]) -> None:
        """Notes what a number is, for those who need one like it."""
        if value.type in (scalar(I32), scalar(I64)):
            key = _key(self.facts.of(value))
            known[key] = (*known.get(key, ()), value)

    def number(self, polynomial: Polynomial, known: Known, element: DType | None = None) -> Operand | None:
        """An operand that is a polynomial: one of the author's names where there is one."""
        if not polynomial:
            return Literal(0, scalar(I32))
        ((factors, c), *more) = polynomial.items()
        if not more and not factors:
            return Literal(c, scalar(I32))
        given = self.facts.kernel.constants if not more and c == 1 and len(factors) == 1 else ()
        for constant in (Constant(each.name, each.type) for each in given):
            if self.facts.number(constant) == factors[0][0]:
                return constant
        found = [o for o in known.get(_key(polynomial), ()) if element is None or o.type == scalar(element)]
        named = [o for o in found if isinstance(o, Value) and o.name]
        return next(iter([*reversed(named), *found]), None)


@record
class _Writer:
    """Writes numbers before the statement at hand, of what is known there."""

    describing: _Describing
    span: Span
    made: list[Statement] = field(default_factory=list)

    def let(self, operation: Operation, type: Type, name: str = "") -> Value:
        value = Value(next(self.describing.ids), type, name)
        self.made.append(Let(results=(value,), operation=operation, span=self.span))
        return value

    def base(self, matrix: Matrix) -> Operand | None:
        """The address at which a matrix begins."""
        if not matrix.base:
            return matrix.root
        offset = self.sum(matrix.base)
        return None if offset is None else self.let(Offset(pointer=matrix.root, offset=offset), matrix.root.type)

    def sum(self, polynomial: Polynomial) -> Operand | None:
        """A polynomial as an operand; None where a factor is not known outside of loops."""
        whole = self.describing.number(polynomial, self.describing.known)
        if whole is not None:
            return whole
        total: Operand | None = None
        for factors, c in polynomial.items():
            term = self.product(factors, c)
            if term is None:
                return None
            total = term if total is None else self.binary("add", total, term)
        return total

    def product(self, factors: Factors, c: int) -> Operand | None:
        ordered = sorted(factors, key=lambda factor: self.describing.facts.name(factor) is not None)
        numbers = [self.describing.number({(factor,): 1}, self.describing.known) for factor in ordered]
        total: Operand | None = Literal(c, scalar(I64)) if c != 1 or not factors else None
        for number in numbers:
            if number is None:
                return None
            total = number if total is None else self.binary("mul", total, number)
        return total

    def binary(self, operator: str, left: Operand, right: Operand) -> Value:
        return self.let(Binary(operator=operator, left=self.long(left), right=self.long(right)), scalar(I64))

    def long(self, operand: Operand) -> Operand:
        if operand.type == scalar(I64):
            return operand
        if isinstance(operand, Literal):
            return replace(operand, type=scalar(I64))
        return self.let(Cast(operand=operand), scalar(I64))


def _key(polynomial: Polynomial) -> Hashable:
    return frozenset(polynomial.items())


def _pointee(pointer: Value) -> Element:
    assert isinstance(pointer.type, TensorType), "a matrix begins at a pointer"
    assert isinstance(pointer.type.element, Pointer), "a matrix begins at a pointer"
    return pointer.type.element.to
