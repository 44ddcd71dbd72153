"""Statements: a block of the IR goes in, lines of Python come out: plain assignments, loops and branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from teenyc.codegen import terms
from teenyc.codegen.calls import PASSED_ON
from teenyc.codegen.dtypes import extent_term
from teenyc.codegen.expressions import Expressions, element_of
from teenyc.codegen.helpers import ASKED
from teenyc.codegen.inline import statement_effects
from teenyc.codegen.layout import STEP, WIDTH, columns
from teenyc.codegen.lines import Lines
from teenyc.codegen.names import LocalNames
from teenyc.codegen.numbers import literal_term
from teenyc.codegen.terms import Kind, Term
from teenyc.intrinsics.spec import Effect
from teenyc.ir.nodes import Block, Copy, For, If, Let, Literal, Operand, Return, Value, While
from teenyc.record import record
from teenyc.source import Comments, Span
from teenyc.types import F32, I32, DType, Extent, scalar


@record
class Statements:
    """Writes the statements of one body to `lines`; `reads` counts, for each value, the uses of its variable."""

    expressions: Expressions
    names: LocalNames
    reads: Mapping[int, int]
    effects: Mapping[str, frozenset[Effect]]
    lines: Lines

    def block(self, block: Block, indent: str) -> None:
        """All statements of a block; what it yields is for the caller to write."""
        for statement in block.statements:
            if self.expressions.inlining.holds(statement):
                self.lines.keep(statement.comments)
                continue
            match statement:
                case Let():
                    self.let(statement, indent)
                case For():
                    self.loop_for(statement, indent)
                case While():
                    self.loop_while(statement, indent)
                case If():
                    self.choice(statement, indent)
                case Return():
                    values = ", ".join(self.given(statement))
                    self.lines.code(f"return {values}".rstrip(), indent, statement.span, statement.comments)
                case _:
                    assert_never(statement)

    def given(self, statement: Return) -> Iterator[str]:
        """What a function gives: tensors, or a single number as its callers expect it."""
        is_one = len(statement.values) == 1
        for operand in statement.values:
            term = self.expressions.term(operand)
            is_plain = is_one and term.kind is Kind.ARGUMENT and operand.type in PASSED_ON
            yield term.text if is_plain else self.expressions.settled(term).text

    # ---- assignments ------------------------------------------------------------------------------------------------

    def let(self, let: Let, indent: str) -> None:
        is_read = any(self.reads[r.id] for r in let.results)
        if not is_read and not statement_effects(let, self.effects):
            self.lines.keep(let.comments)
            return
        targets = [self.names.of[r.id] for r in let.results] if is_read else []
        if len(targets) == 1 and let.results[0].id in self.expressions.statics.named:
            target, text = f"{targets[0]}: tl.constexpr", self.expressions.operation(let).text
        else:
            target, text = ", ".join(targets), self.right_side(let)
        if text != target:
            self.lines.code(f"{target} = {text}" if target else text, indent, let.span, let.comments)

    def right_side(self, let: Let) -> str:
        if isinstance(let.operation, Copy):
            return self.expressions.assigned(let.operation.operand).text
        term = self.expressions.operation(let)
        return self.expressions.assignable(term).text if len(let.results) == 1 else term.text

    def assign(self, pairs: Iterable[tuple[Value, Operand]], indent: str, span: Span) -> None:
        """Assignments that happen at once, as a sequence in which nothing is overwritten before it is read."""
        moves = [self.move(value, operand) for value, operand in pairs if not self.is_same(value, operand)]
        waiting = [m for m in moves if m is not None]
        while waiting:
            free = (m for m in waiting if not any(m.target in other.reads for other in waiting if other is not m))
            move = next(free, None)
            if move is None:
                targets = ", ".join(m.target for m in waiting)
                values = ", ".join(self.expressions.settled(m.term).text for m in waiting)
                self.lines.code(f"{targets} = {values}", indent, span)
                return
            waiting.remove(move)
            self.lines.code(f"{move.target} = {move.term.text}", indent, span)

    def is_same(self, value: Value, operand: Operand) -> bool:
        """Whether a variable already holds the operand."""
        is_variable = isinstance(operand, Value) and operand.id not in self.expressions.inlining.definitions
        return isinstance(operand, Value) and is_variable and self.names.of[operand.id] == self.names.of[value.id]

    def move(self, value: Value, operand: Operand) -> _Move | None:
        """One assignment; None where nobody reads what it would write."""
        if not self.reads[value.id]:
            return None
        reads = frozenset(self.names.of[v.id] for v in self.expressions.inlining.leaves(operand))
        return _Move(self.names.of[value.id], self.expressions.assigned(operand), reads)

    # ---- loops ------------------------------------------------------------------------------------------------------

    def loop_for(self, loop: For, indent: str) -> None:
        self.lines.early(loop.comments, indent, loop.span)
        self.assign(((c.inside, c.initial) for c in loop.carried), indent, loop.span)
        header = f"for {self.names.of[loop.counter.id]} in {self.range(loop)}:"
        self.lines.code(header, indent, loop.span, Comments(trailing=loop.comments.trailing))
        with self.lines.inside(indent + STEP):
            self.block(loop.body, indent + STEP)
            pairs = zip((c.inside for c in loop.carried), loop.body.yields, strict=True)
            self.assign(pairs, indent + STEP, loop.span)

    def range(self, loop: For) -> str:
        """The iterator of a loop: `range(n)`, `tl.static_range(4)`, `tl.range(0, n, num_stages=3)`."""
        start, stop, step = self.bounds(loop)
        texts = [stop.text]
        if step.text != "1":
            texts = [start.text, stop.text, step.text]
        elif start.text != "0":
            texts = [start.text, stop.text]
        texts += self.options(loop)
        name = "tl.static_range" if loop.unroll else "tl.range" if loop.options else "range"
        return f"{name}({', '.join(texts)})"

    def options(self, loop: For | While) -> list[str]:
        """What a loop tells Triton, by name."""
        return [f"{name}={_option(value, self.expressions.constants)}" for name, value in loop.options]

    def bounds(self, loop: For) -> tuple[Term, Term, Term]:
        """The bounds, of which at least one says what type the counter has, if that is not i32."""
        element = element_of(loop.counter)
        start, stop, step = (self.expressions.term(o) for o in (loop.start, loop.stop, loop.step))
        if element == I32 or loop.unroll:
            return start, stop, step
        settled = self.expressions.settled
        if isinstance(element, DType) and element.bits < 32:
            return settled(start), settled(stop), settled(step)
        if _is_long(loop.start):
            start = settled(start)  # which Triton would take for an unsigned number of 32 bits
        if max(start.kind, stop.kind, step.kind) < Kind.ARGUMENT:
            return start, settled(stop), step
        return start, stop, step

    def loop_while(self, loop: While, indent: str) -> None:
        self.lines.early(loop.comments, indent, loop.span)
        self.assign(((c.inside, c.initial) for c in loop.carried), indent, loop.span)
        (test,) = loop.condition.yields
        is_plain = all(map(self.expressions.inlining.holds, loop.condition.statements))
        flag = ""
        if not is_plain or self.expressions.term(test).kind is Kind.STATIC or loop.options:
            flag = self.names.fresh("running")
            self.test(flag, loop, indent)
        header = f"while {flag or self.expressions.condition(test).text}:"
        if loop.options:  # before 3.9, what Triton's interpreter is told so holds for ever
            self.expressions.helpers[ASKED] = None
            header = f"while {flag} if {ASKED} else tl.condition({flag}, {', '.join(self.options(loop))}):"
        self.lines.code(header, indent, loop.span, Comments(trailing=loop.comments.trailing))
        with self.lines.inside(indent + STEP):
            self.block(loop.body, indent + STEP)
            pairs = zip((c.inside for c in loop.carried), loop.body.yields, strict=True)
            self.assign(pairs, indent + STEP, loop.span)
            if flag:
                self.test(flag, loop, indent + STEP)

    def test(self, flag: str, loop: While, indent: str) -> None:
        """Computes the condition of a loop to a variable: Triton's `while` takes one expression."""
        self.block(loop.condition, indent)
        self.lines.code(f"{flag} = {self.expressions.assigned(loop.condition.yields[0]).text}", indent, loop.span)

    # ---- branches ---------------------------------------------------------------------------------------------------

    def choice(self, statement: If, indent: str) -> None:
        """An `if`. What follows a branch that returns needs no `else`."""
        selected = self.selection(statement, indent)
        if selected:
            self.lines.code(selected, indent, statement.span, statement.comments)
            return
        if self.is_idle(statement):
            self.lines.keep(statement.comments)
            return
        condition = self.expressions.condition(statement.condition).text
        first, second = statement.then, statement.otherwise
        is_only_second = self.is_empty(first, statement) and not self.is_empty(second, statement)
        if is_only_second or (_returns(second) and not _returns(first)):
            condition, first, second = self.expressions.opposite(statement.condition).text, second, first
        self.lines.code(f"if {condition}:", indent, statement.span, statement.comments)
        self.branch(first, statement, indent)
        if _returns(first):
            self.block(second, indent)
            self.assign(zip(statement.results, second.yields, strict=False), indent, statement.span)
        else:
            self.otherwise(second, statement, indent)

    def otherwise(self, block: Block, statement: If, indent: str) -> None:
        """The `else` of a branch, or an `elif` where there is nothing in it but another `if`."""
        if self.is_empty(block, statement):
            return
        inner = self.only_if(block, statement)
        if inner is None:
            start = len(self.lines.written)
            self.lines.code("else:", indent, None)
            self.branch(block, statement, indent)
            if self.lines.written[start + 1 :] == [f"{indent}{STEP}pass"]:
                del self.lines.written[start:]
            return
        first, second = inner.then, inner.otherwise
        condition = self.expressions.condition(inner.condition).text
        if self.is_empty(first, inner):
            condition, first, second = self.expressions.opposite(inner.condition).text, second, first
        self.lines.code(f"elif {condition}:", indent, inner.span)
        self.branch(first, inner, indent, inner.comments.leading)
        self.otherwise(second, inner, indent)

    def branch(self, block: Block, statement: If, indent: str, comments: tuple[str, ...] = ()) -> None:
        with self.lines.inside(indent + STEP):
            for comment in comments:
                self.lines.comment(comment, indent + STEP)
            self.block(block, indent + STEP)
            self.assign(zip(statement.results, block.yields, strict=False), indent + STEP, statement.span)

    def only_if(self, block: Block, outer: If) -> If | None:
        """The `if` that is all of a block and gives what the block gives."""
        rest = [s for s in block.statements if not self.expressions.inlining.holds(s)]
        if len(rest) != 1 or not isinstance(rest[0], If) or _returns(rest[0].then) or _returns(rest[0].otherwise):
            return None
        inner = rest[0]
        pairs = zip(outer.results, block.yields, strict=False)
        forwarded = all(self.is_same(r, y) and y in inner.results for r, y in pairs)
        is_empty = self.is_empty(inner.then, inner) and self.is_empty(inner.otherwise, inner)
        return inner if forwarded and not is_empty and self.selection(inner, "") is None else None

    def is_empty(self, block: Block, statement: If) -> bool:
        """Whether a branch has nothing to write."""
        pairs = zip(statement.results, block.yields, strict=False)
        is_done = all(self.is_same(r, y) or not self.reads[r.id] for r, y in pairs)
        return is_done and all(map(self.expressions.inlining.holds, block.statements))

    def is_idle(self, statement: If) -> bool:
        """Whether a whole `if` has nothing to do, not even in its condition."""
        if not self.is_empty(statement.then, statement) or not self.is_empty(statement.otherwise, statement):
            return False
        definitions = self.expressions.inlining.inner(statement.condition)
        return not any(statement_effects(let, self.effects) for let in definitions)

    def selection(self, statement: If, indent: str) -> str | None:
        """`x = a if c else b`, for one result without statements in the branches, where it fits a line."""
        if len(statement.results) != 1 or not self.reads[statement.results[0].id]:
            return None
        (result,) = statement.results
        for block in (statement.then, statement.otherwise):
            if not block.yields or not all(map(self.expressions.inlining.holds, block.statements)):
                return None
            if self.is_same(result, block.yields[0]):
                return None
        first, second = (self.expressions.assigned(b.yields[0]) for b in (statement.then, statement.otherwise))
        condition = self.expressions.condition(statement.condition)
        choice = " if ".join((first.within(terms.NOT), condition.within(terms.NOT)))
        text = f"{self.names.of[result.id]} = {choice} else {second.within(terms.NOT)}"
        return text if columns(indent + text) <= WIDTH else None


@record
class _Move:
    """An assignment to a variable, and the variables that its right side reads."""

    target: str
    term: Term
    reads: frozenset[str]


def _returns(block: Block) -> bool:
    return bool(block.statements) and isinstance(block.statements[-1], Return)


def _option(value: object, names: Mapping[str, str]) -> str:
    """An option of `tl.range` or `tl.condition`."""
    if isinstance(value, Extent):
        return extent_term(value, names).text
    if isinstance(value, int | float):
        return literal_term(Literal(value, scalar(I32 if isinstance(value, int) else F32))).text
    return str(value)


def _is_long(operand: Operand) -> bool:
    """Whether a literal needs more than 31 bits."""
    return isinstance(operand, Literal) and not I32.minimum <= operand.value <= I32.maximum
