"""Inlining: which temporaries of A-normal form go back into the expression that uses them.

A temporary with one use in its own block moves to that use, where the order of effects stays what it was: a load does
not cross a store, an atomic crosses no effect. Static temporaries move to all their uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teenyc.codegen.contents import Contents
from teenyc.codegen.static import DEPTH, Statics
from teenyc.intrinsics import find
from teenyc.intrinsics.spec import Effect
from teenyc.ir.nodes import Apply, Block, Call, Let, Operand, Program, Return, Statement, Value
from teenyc.ir.walk import blocks_of, operands_of, statements_of
from teenyc.record import record
from teenyc.types import Pointer, TensorType

NOTHING: frozenset[Effect] = frozenset()


@record
class Inlining:
    """The operations that are written where they are used, by the value they define."""

    definitions: Mapping[int, Let]

    def leaves(self, operand: Operand) -> Iterator[Value]:
        """The variables that are read where an operand is evaluated."""
        return (item for item in self._parts(operand) if isinstance(item, Value))

    def inner(self, operand: Operand) -> Iterator[Let]:
        """The operations that are written where an operand is evaluated."""
        return (item for item in self._parts(operand) if isinstance(item, Let))

    def _parts(self, operand: Operand) -> Iterator[Value | Let]:
        pending = [operand]
        while pending:
            item = pending.pop()
            if isinstance(item, Value):
                definition = self.definitions.get(item.id)
                yield item if definition is None else definition
                if definition is not None:
                    pending.extend(operands_of(definition))

    def holds(self, statement: Statement) -> bool:
        """Whether a statement disappears into an expression."""
        return (
            isinstance(statement, Let) and len(statement.results) == 1 and statement.results[0].id in self.definitions
        )


def inlining_of(contents: Contents, statics: Statics, effects: Mapping[str, frozenset[Effect]]) -> Inlining:
    """What is inlined in a body; `effects` are those of the device functions."""
    definitions = dict(statics.inlined)
    pending = [contents.body.body]
    while pending:
        block = pending.pop()
        definitions.update(_inlined(block, contents.reads, statics, effects))
        pending.extend(inner for statement in block.statements for inner in blocks_of(statement))
    return Inlining(definitions)


def function_effects(program: Program) -> dict[str, frozenset[Effect]]:
    """The effects of each device function, through the functions that it calls."""
    functions = {f.name: f for f in program.functions}
    known: dict[str, frozenset[Effect]] = {}

    def of(name: str) -> frozenset[Effect]:
        if name not in known:
            found: set[Effect] = set()
            for _, statement in statements_of(functions[name].body):
                if isinstance(statement, Let):
                    operation = statement.operation
                    found |= of(operation.function) if isinstance(operation, Apply) else _effects(operation)
            known[name] = frozenset(found)
        return known[name]

    return {name: of(name) for name in functions}


def statement_effects(statement: Statement, functions: Mapping[str, frozenset[Effect]]) -> frozenset[Effect]:
    """What a statement and everything inside it do beside giving values."""
    if isinstance(statement, Let):
        operation = statement.operation
        return functions[operation.function] if isinstance(operation, Apply) else _effects(operation)
    inside = (s for block in blocks_of(statement) for _, s in statements_of(block))
    return NOTHING.union(*(statement_effects(s, functions) for s in inside if isinstance(s, Let)))


def _effects(operation: object) -> frozenset[Effect]:
    record = find(operation.intrinsic) if isinstance(operation, Call) else None
    return record.effects if record is not None else NOTHING


def _inlined(
    block: Block, counts: Mapping[int, int], statics: Statics, functions: Mapping[str, frozenset[Effect]]
) -> Iterator[tuple[int, Let]]:
    """The temporaries of one block that move, from the last to the first: a later one decides where an earlier goes."""
    sites = _sites(block)
    effects = _Effects.of(block, functions)
    roots: dict[int, tuple[int, int]] = {}  # a temporary's statement: the statement where it ends up, and its depth
    for index in range(len(block.statements) - 1, -1, -1):
        statement = block.statements[index]
        if not isinstance(statement, Let) or len(statement.results) != 1:
            continue
        value = statement.results[0]
        site = sites.get(value.id)
        if value.name or site is None or counts[value.id] != 1 or statics.decides(value):
            continue
        root, depth = roots.get(site, (site, 0))
        if isinstance(statement.operation, Apply) and _is_pointer(value) and _writes(block, root):
            continue  # what is stored there asks it for its type
        is_safe = not effects.is_strong(index) or _is_kept(block, root, effects, counts)
        if depth < DEPTH and effects.may_move(index, root) and is_safe:
            roots[index] = (root, depth + 1)
            yield value.id, statement


def _writes(block: Block, index: int) -> bool:
    """Whether a statement of a block is a call that writes to memory."""
    root = block.statements[index] if index < len(block.statements) else None
    return isinstance(root, Let) and not _effects(root.operation) <= {Effect.READS}


def _is_pointer(value: Value) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element, Pointer)


def _is_kept(block: Block, index: int, effects: _Effects, counts: Mapping[int, int]) -> bool:
    """Whether a statement of a block is certainly written: what loops and branches take over may not be."""
    root = block.statements[index] if index < len(block.statements) else None
    if isinstance(root, Let):
        return bool(effects.each[index]) or any(counts[r.id] for r in root.results)
    return isinstance(root, Return)


def _sites(block: Block) -> dict[int, int]:
    """The statement of the block that uses each value; the block's yields count as the statement behind the last."""
    sites: dict[int, int] = {}
    for index, statement in enumerate(block.statements):
        sites.update((o.id, index) for o in operands_of(statement) if isinstance(o, Value))
    sites.update((o.id, len(block.statements)) for o in block.yields if isinstance(o, Value))
    return sites


@record
class _Effects:
    """Effects in a block: how many statements before each have any, and how many more than reads."""

    each: tuple[frozenset[Effect], ...]
    some: tuple[int, ...]
    strong: tuple[int, ...]

    @staticmethod
    def of(block: Block, functions: Mapping[str, frozenset[Effect]]) -> _Effects:
        each = tuple(statement_effects(s, functions) for s in block.statements)
        some, strong = [0], [0]
        for effects in each:
            some.append(some[-1] + bool(effects))
            strong.append(strong[-1] + bool(effects - {Effect.READS}))
        return _Effects(each, tuple(some), tuple(strong))

    def may_move(self, index: int, to: int) -> bool:
        """Whether a statement may be evaluated where a later one is."""
        if not self.each[index]:
            return True
        crossed = self.some if self.is_strong(index) else self.strong
        return crossed[to] == crossed[index + 1]

    def is_strong(self, index: int) -> bool:
        """Whether a statement does more than read."""
        return bool(self.each[index] - {Effect.READS})
