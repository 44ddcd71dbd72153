"""Lowers descriptors: a program with some goes in, one comes out whose blocks are masked loads, stores and atomics.

A descriptor becomes the values that it is made of, in every place where one may be: lets, branches, loops, device
functions. What a branch or loop leaves alone stays what it was. Each access becomes one through pointers, under a mask
of the lanes inside of the tensor; ends that no lane can be beyond are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import assert_never

from teenyc.intrinsics import TABLE
from teenyc.ir import walk
from teenyc.ir.flow import flow_of
from teenyc.ir.intervals import Interval
from teenyc.ir.nodes import (
    Apply,
    Binary,
    Block,
    Call,
    Carried,
    Copy,
    For,
    Function,
    If,
    Let,
    Literal,
    Operand,
    Operation,
    Parameter,
    Program,
    Return,
    Statement,
    Value,
    While,
)
from teenyc.ir.ranges import ranges
from teenyc.passes.accesses import descriptor_of, given, items, through_pointers
from teenyc.passes.blocks import Blocks, Check, View, named, stem_of, wider
from teenyc.record import field, record, replace, state
from teenyc.source import NO_COMMENTS, Comments, Span
from teenyc.types import I64, DescriptorType, DType, Pointer, TensorType, Type, scalar

MAKERS = frozenset({"make_tensor_descriptor", "make_block_ptr"})


def without_descriptors(program: Program) -> Program:
    """The program without descriptors."""
    program = walk.with_unique_ids(program)
    checks: list[Check] = []
    lowered = _lowered(program, frozenset(), checks)
    known = ranges(lowered, flow_of(lowered))
    proven = frozenset(number for number, check in enumerate(checks) if _always_holds(check, known))
    return _lowered(program, proven, []) if proven else lowered


def _lowered(program: Program, proven: Set[int], checks: list[Check]) -> Program:
    """Lowers a program; checks are numbered alike each time, and those that are proven left out."""
    ids = walk.fresh_ids(program)

    def body(body: walk.Body) -> walk.Body:
        author = frozenset(v.name for v in walk.values_of(body)) | {c.name for c in body.constants}
        lowering = _Lowering(Blocks(ids, proven, author, checks))
        parameters = tuple(p for old in body.parameters for p in lowering.parameter(old))
        block = named(lowering.block(body.body), lowering.blocks.names, lowering.candidates)
        new = replace(body, parameters=parameters, body=block)
        return new if not isinstance(new, Function) else replace(new, results=_flat(new.results))

    return walk.map_program(program, body, body)


def _always_holds(check: Check, known: Mapping[int, Interval]) -> bool:
    """Whether every lane is at the right side of an end, if what reaches an address does not wrap."""
    index = known.get(check.index.id) if isinstance(check.index, Value) else None
    if index is None or check.size is None:
        return index is not None and index[0] >= 0
    if isinstance(check.size, Literal):
        return index[1] < check.size.value
    size = known.get(check.size.id) if isinstance(check.size, Value) else None
    return size is not None and index[1] < size[0]


def _flat(types: tuple[Type, ...]) -> tuple[Type, ...]:
    """The types that a device function takes or gives for types of the source."""
    return tuple(part for type in types for part in _parts(type))


def _parts(type: Type) -> tuple[Type, ...]:
    """What a descriptor becomes where a device function takes or gives it: a pointer, and numbers of 64 bits."""
    if not isinstance(type, DescriptorType):
        return (type,)
    lists = 3 if type.is_block_pointer else 2
    return (scalar(Pointer(type.element)), *(scalar(I64),) * (lists * type.rank))


# ---- statements -----------------------------------------------------------------------------------------------------


@state
class _Lowering:
    """One body: `views` says what each descriptor is made of, `candidates` what an unnamed part may be called."""

    blocks: Blocks
    views: dict[int, View] = field(default_factory=dict)
    candidates: dict[int, str] = field(default_factory=dict)
    waiting: Comments = NO_COMMENTS

    def block(self, block: Block) -> Block:
        """The block without accesses to descriptors; it still yields what it yielded."""
        statements: list[Statement] = []
        with self.blocks.inner():
            for statement in block.statements:
                start = len(statements)
                self.statement(statement, statements)
                self.comment(statements, start)
        return Block(statements=tuple(statements), yields=block.yields)

    def comment(self, statements: list[Statement], start: int) -> None:
        """Puts the comments of what left no statement on the first one after it."""
        if len(statements) == start or not self.waiting:
            return
        first, waiting = statements[start], self.waiting
        above = (*waiting.leading, *filter(None, (waiting.trailing,)))
        statements[start] = replace(first, comments=replace(first.comments, leading=(*above, *first.comments.leading)))
        self.waiting = NO_COMMENTS

    def wait(self, comments: Comments) -> None:
        """Keeps comments for the next statement."""
        old = self.waiting
        self.waiting = Comments((*old.leading, *filter(None, (old.trailing,)), *comments.leading), comments.trailing)

    def statement(self, statement: Statement, to: list[Statement]) -> None:
        match statement:
            case Let():
                self.let(statement, to)
            case If():
                self.branches(statement, to)
            case For() | While():
                self.loop(statement, to)
            case Return():
                values = tuple(
                    part for operand in statement.values for part in self.passed(operand, to, statement.span)
                )
                to.append(replace(statement, values=values))
            case _:
                assert_never(statement)

    def let(self, let: Let, to: list[Statement]) -> None:
        operation = let.operation
        if isinstance(operation, Apply):
            self.apply(let, operation, to)
        elif len(let.results) == 1 and isinstance(let.results[0].type, DescriptorType):
            self.views[let.results[0].id] = self.view(let.results[0], operation, to, let.span)
            self.wait(let.comments)
        elif isinstance(operation, Call) and TABLE[operation.intrinsic].family == "descriptors":
            self.access(let, operation, to)
        else:
            self.blocks.note(let)
            to.append(let)

    # ---- descriptors ------------------------------------------------------------------------------------------------

    def view(self, result: Value, operation: Operation, to: list[Statement], span: Span) -> View:
        """What a new descriptor is made of."""
        if isinstance(operation, Copy):
            return self.of(operation.operand)
        assert isinstance(operation, Call), "a descriptor is made, advanced or copied"
        offsets = items(operation, "offsets")
        if operation.intrinsic in MAKERS:
            view = View(given(operation, "base"), items(operation, "shape"), items(operation, "strides"), offsets)
            self.propose(result, view)
            return view
        view = self.of(given(operation, "base"))
        pairs = zip(view.offsets, offsets, strict=True)
        return replace(view, offsets=tuple(self.sum(old, by, to, span) for old, by in pairs))

    def of(self, descriptor: Operand) -> View:
        assert isinstance(descriptor, Value), "a descriptor is a value"
        return self.views[descriptor.id]

    def propose(self, result: Value, view: View) -> None:
        """Keeps names for those parts that are numbers without one."""
        for part, name in zip(view.parts, view.part_names(stem_of(result, view)), strict=True):
            if isinstance(part, Value) and not part.name:
                self.candidates.setdefault(part.id, self.blocks.free(name))

    def sum(self, old: Operand, by: Operand, to: list[Statement], span: Span) -> Operand:
        """An offset that moves; one that moves by zero is the same."""
        if isinstance(by, Literal) and by.value == 0:
            return old
        if isinstance(old, Literal) and old.value == 0:
            return by
        element = wider(old, by)
        left, right = (self.blocks.convert(o, element, to, span) for o in (old, by))
        return self.blocks.let(Binary(operator="add", left=left, right=right), scalar(element), to, span)

    def passed(self, operand: Operand, to: list[Statement], span: Span) -> tuple[Operand, ...]:
        """An operand of a call of a device function, or what one returns."""
        if not isinstance(operand.type, DescriptorType):
            return (operand,)
        base, *numbers = self.of(operand).parts
        return (base, *(self.blocks.convert(n, I64, to, span) for n in numbers))

    def fresh(self, value: Value, view: View, types: tuple[Type, ...]) -> View:
        """New values of these types for the parts of a descriptor."""
        names = view.part_names(stem_of(value, view))
        parts = (Value(next(self.blocks.ids), t, self.blocks.free(n)) for t, n in zip(types, names, strict=True))
        return view.of(tuple(parts))

    # ---- device functions -------------------------------------------------------------------------------------------

    def parameter(self, parameter: Parameter) -> Iterator[Parameter]:
        """A parameter of a device function, or several for a descriptor."""
        type = parameter.value.type
        if not isinstance(type, DescriptorType):
            yield parameter
            return
        view = self.unknown(parameter.value, type)
        self.views[parameter.value.id] = view
        for number, part in enumerate(view.parts):
            assert isinstance(part, Value), "parameters are values"
            yield replace(parameter, value=part, comments=parameter.comments if number == 0 else NO_COMMENTS)

    def unknown(self, value: Value, type: DescriptorType) -> View:
        """A descriptor that comes from a device function or its caller."""
        axes = (Literal(0, scalar(I64)),) * type.rank
        shape = View(value, axes, axes, axes if type.is_block_pointer else ())
        return self.fresh(value, shape, _parts(type))

    def apply(self, let: Let, apply: Apply, to: list[Statement]) -> None:
        operands = tuple(part for operand in apply.operands for part in self.passed(operand, to, let.span))
        results: list[Value] = []
        for result in let.results:
            if isinstance(result.type, DescriptorType):
                view = self.views[result.id] = self.unknown(result, result.type)
                results += [part for part in view.parts if isinstance(part, Value)]
            else:
                results.append(result)
        to.append(replace(let, results=tuple(results), operation=replace(apply, operands=operands)))

    # ---- branches ---------------------------------------------------------------------------------------------------

    def branches(self, statement: If, to: list[Statement]) -> None:
        """A descriptor that a branch gives becomes those of its parts that differ between the branches."""
        blocks = [self.block(b) for b in (statement.then, statement.otherwise)]
        inside = {v.id for b in blocks for _, s in walk.statements_of(b) for v in walk.definitions(s)}
        sides = [_Side(b, list(b.statements), []) for b in blocks]
        reaching = [side for side in sides if side.block.yields]
        results: list[Value] = []
        for index, result in enumerate(statement.results):
            if isinstance(result.type, DescriptorType):
                results += self.joined(result, index, reaching, inside, statement.span)
                continue
            results.append(result)
            for side in reaching:
                side.yields.append(side.block.yields[index])
        then, otherwise = (Block(statements=tuple(s.statements), yields=tuple(s.yields)) for s in sides)
        to.append(replace(statement, then=then, otherwise=otherwise, results=tuple(results)))

    def joined(self, result: Value, index: int, sides: list[_Side], inside: Set[int], span: Span) -> Iterator[Value]:
        """The parts of a descriptor that branches must give; the others are there already."""
        views = [self.of(side.block.yields[index]) for side in sides]
        new = self.fresh(result, views[0], _met(views)).parts
        parts: list[Operand] = []
        for value, *found in zip(new, *(view.parts for view in views), strict=True):
            first = found[0]
            if all(part == first for part in found) and not (isinstance(first, Value) and first.id in inside):
                parts.append(first)
                continue
            for side, part in zip(sides, found, strict=True):
                side.yields.append(self.like(part, value.type, side.statements, span))
            parts.append(value)
            assert isinstance(value, Value), "what branches give is a value"
            yield value
        self.views[result.id] = views[0].of(tuple(parts))

    def like(self, operand: Operand, type: Type, to: list[Statement], span: Span) -> Operand:
        """A part in the type of another; pointers have it."""
        element = type.element if isinstance(type, TensorType) else None
        return self.blocks.convert(operand, element, to, span) if isinstance(element, DType) else operand

    # ---- loops ------------------------------------------------------------------------------------------------------

    def loop(self, loop: For | While, to: list[Statement]) -> None:
        """What is carried of a descriptor are the parts that an iteration changes."""
        initials = {n: self.of(c.initial) for n, c in enumerate(loop.carried) if _is_descriptor(c.inside)}
        types = {n: _met([view]) for n, view in initials.items()}
        waiting = self.waiting
        while True:
            self.waiting = waiting
            insides = {n: self.fresh(loop.carried[n].inside, view, types[n]) for n, view in initials.items()}
            self.views.update((loop.carried[n].inside.id, view) for n, view in insides.items())
            new = walk.map_blocks(loop, self.block)
            assert isinstance(new, For | While), "a loop stays one"
            following = {n: self.of(new.body.yields[n]) for n in initials}
            needed = {n: _met([insides[n], view]) for n, view in following.items()}
            if needed == types:
                break
            types = needed
        self.carry(new, _Descriptors(initials, insides, following), to)

    def carry(self, loop: For | While, descriptors: _Descriptors, to: list[Statement]) -> None:
        """Appends a loop, carrying parts in the place of descriptors."""
        carried: list[Carried] = []
        yields: list[Operand] = []
        statements = list(loop.body.statements)
        constant = descriptors.constant()
        for number, each in enumerate(loop.carried):
            if number not in descriptors.initials:
                carried.append(each)
                yields.append(loop.body.yields[number])
                continue
            parts: list[Operand] = []
            result = self.fresh(each.result, descriptors.insides[number], _met([descriptors.insides[number]])).parts
            for initial, inside, following, after in zip(*descriptors.parts(number), result, strict=True):
                assert isinstance(inside, Value), "what a loop carries is a value"
                assert isinstance(after, Value), "what a loop gives is a value"
                if inside.id in constant:
                    parts.append(initial)
                    continue
                start = self.like(initial, inside.type, to, loop.span)
                carried.append(Carried(initial=start, inside=inside, result=after))
                yields.append(self.like(following, inside.type, statements, loop.span))
                parts.append(after)
            self.views[each.result.id] = descriptors.initials[number].of(tuple(parts))
        body = walk.substitute(Block(statements=tuple(statements), yields=tuple(yields)), constant)
        new = replace(loop, carried=tuple(carried), body=body)
        if isinstance(new, While):
            new = replace(new, condition=walk.substitute(new.condition, constant))
        to.append(new)

    # ---- accesses ---------------------------------------------------------------------------------------------------

    def access(self, let: Let, call: Call, to: list[Statement]) -> None:
        """An access to a block becomes one through pointers."""
        self.wait(Comments(let.comments.leading))
        operation = through_pointers(call, self.of(descriptor_of(call)), self.blocks, to, let.span)
        results = let.results
        if operation.intrinsic.startswith("atomic_"):  # a block gives nothing, pointers what was there before
            results = (Value(next(self.blocks.ids), _loaded(given(operation, "pointer"))),)
        comments = Comments(trailing=let.comments.trailing)
        to.append(replace(let, results=results, operation=operation, comments=comments))


@record
class _Side:
    """One branch: the block as it was lowered, and what becomes of its statements and yields."""

    block: Block
    statements: list[Statement]
    yields: list[Operand]


@record
class _Descriptors:
    """The descriptors that a loop carries, by number: before it, at the start of an iteration, at its end."""

    initials: dict[int, View]
    insides: dict[int, View]
    following: dict[int, View]

    def constant(self) -> dict[int, Operand]:
        """The parts that are the same in every iteration, with what they are; they may change places."""
        parts = [p for number in self.initials for p in zip(*self.parts(number), strict=True)]
        found = {inside.id: initial for initial, inside, _ in parts if isinstance(inside, Value)}
        size = -1
        while size != len(found):
            size = len(found)
            for initial, inside, following in parts:
                known = found.get(following.id, following) if isinstance(following, Value) else following
                if isinstance(inside, Value) and (known != initial or inside.type != initial.type):
                    found.pop(inside.id, None)
        return found

    def parts(self, number: int) -> tuple[tuple[Operand, ...], ...]:
        return tuple(views[number].parts for views in (self.initials, self.insides, self.following))


def _is_descriptor(operand: Operand) -> bool:
    return isinstance(operand.type, DescriptorType)


def _met(views: list[View]) -> tuple[Type, ...]:
    """The types that hold each part of several descriptors."""
    each = zip(*(view.parts for view in views), strict=True)
    return tuple(parts[0].type if number == 0 else scalar(wider(*parts)) for number, parts in enumerate(each))


def _loaded(pointer: Operand) -> Type:
    """The type of what is at addresses."""
    type = pointer.type
    assert isinstance(type, TensorType), "an address is a pointer"
    assert isinstance(type.element, Pointer), "an address is a pointer"
    return replace(type, element=type.element.to)
