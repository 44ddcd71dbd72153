"""`match` on integers, bools and tuples of them: the same as a chain of `if`s that compare with the patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from teenyc.check import expressions
from teenyc.check.branches import conditional
from teenyc.check.context import INVALID, Checked, Context, Group, Invalid, Symbol, describe
from teenyc.check.infer import is_bool
from teenyc.check.statements import scoped_block
from teenyc.ir import nodes as ir
from teenyc.record import record, replace
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DType, is_integer

Interval = tuple[int, int]


def selection(context: Context, node: ast.Match) -> Checked:
    """The value of a `match`: its arms are tried in order, the last one needs no test."""
    scrutinee = expressions.expression(context, node.scrutinee)
    items = scrutinee.items if isinstance(scrutinee, Group) else (scrutinee,)
    if not items or any(isinstance(i, Invalid | Group) for i in items):
        if not any(isinstance(i, Invalid) for i in items):
            from teenyc.diagnostics.catalog.types import NoValue

            context.report(NoValue(span=node.scrutinee.span, found=describe(scrutinee, context)))
        return INVALID
    names = [f"match {node.span.start} {index}" for index in range(len(items))]  # no name of a source has a space
    subjects = [_path(n, node.scrutinee.span) for n in names]
    context.scopes.append(
        {n: Symbol(n, node.scrutinee.span, i, is_read=True) for n, i in zip(names, items, strict=True)}
    )
    value = _Arms(context, node, tuple(subjects), isinstance(scrutinee, Group)).value()
    context.scopes.pop()
    return value


@record
class _Arms:
    """The arms of one `match`, whose subjects have names of their own."""

    context: Context
    node: ast.Match
    subjects: tuple[ast.Expression, ...]
    is_tuple: bool

    def value(self) -> Checked:
        sound = [self.is_sound(p) for arm in self.node.arms for p in arm.patterns]
        if not all(sound):
            return INVALID
        if self.compares_tensors():
            return INVALID
        needed = self.needed_arms()
        if needed is None:
            return INVALID
        chain: ast.Block | ast.If | None = None
        for index, arm in reversed(list(enumerate(self.node.arms[:needed]))):
            body = self.bound(arm, _block(arm.value))
            test = None if index == needed - 1 else self.test(arm)
            chain = body if test is None else ast.If(condition=test, then=body, otherwise=chain, span=arm.span)
        assert chain is not None, "there is an arm"
        return conditional(self.context, chain) if isinstance(chain, ast.If) else scoped_block(self.context, chain)

    def needed_arms(self) -> int | None:
        """How many arms cover every value; None after a report."""
        rows: list[tuple[Interval, ...]] = []
        domains = [self.domain(s) for s in self.subjects]
        for index, arm in enumerate(self.node.arms):
            met = [self.row(pattern, domains) for pattern in arm.patterns]
            self.lint_repeated(arm, met, rows)
            if arm.guard is None:
                rows += met
            if _missing(rows, domains) is None:
                self.lint(self.node.arms[index + 1 :])
                return index + 1
        from teenyc.diagnostics.catalog.types import NotExhaustive

        missing = _missing(rows, domains) or ()
        shown = [_shown(number, self.is_bool(s)) for number, s in zip(missing, self.subjects, strict=False)]
        text = f"({', '.join(shown)})" if self.is_tuple else ", ".join(shown)
        self.context.report(NotExhaustive(span=self.node.scrutinee.span, missing=text))
        return None

    def row(self, pattern: ast.Expression, domains: Sequence[Interval]) -> tuple[Interval, ...]:
        return tuple(self.interval(p, d) for p, d in zip(self.parts(pattern), domains, strict=True))

    def lint_repeated(
        self, arm: ast.MatchArm, met: Sequence[tuple[Interval, ...]], before: Sequence[tuple[Interval, ...]]
    ) -> None:
        """Reports an arm, or those of its alternatives, whose values the arms and alternatives before it take."""
        from teenyc.diagnostics.catalog.lints import UnreachablePattern

        taken = [_is_taken(row, [*before, *met[:index]]) for index, row in enumerate(met)]
        if all(_is_taken(row, before) for row in met):
            self.lint([arm])
            return
        for pattern, is_taken in zip(arm.patterns, taken, strict=True):
            if is_taken:
                self.context.report(UnreachablePattern(span=pattern.span, is_alternative=True))

    def lint(self, arms: Sequence[ast.MatchArm]) -> None:
        for arm in arms:
            from teenyc.diagnostics.catalog.lints import UnreachablePattern

            self.context.report(UnreachablePattern(span=arm.patterns[0].span.to(arm.patterns[-1].span)))

    # ---- patterns ---------------------------------------------------------------------------------------------------

    def parts(self, pattern: ast.Expression) -> Sequence[ast.Expression]:
        """The pattern for each subject: `_` and a name take a tuple as a whole."""
        if self.is_tuple and isinstance(pattern, ast.Tuple):
            return pattern.items
        return [_path("_", pattern.span)] * len(self.subjects) if self.is_tuple else [pattern]

    def is_sound(self, pattern: ast.Expression) -> bool:
        """Whether a pattern has the form of the subject; reports where not."""
        is_whole = _is_any(pattern) or self.name_of(pattern) is not None
        fits = isinstance(pattern, ast.Tuple) and len(pattern.items) == len(self.subjects) if self.is_tuple else True
        if self.is_tuple and not is_whole and not fits:
            found = f"{len(pattern.items)} parts" if isinstance(pattern, ast.Tuple) else "one value"
            return self.refuse(pattern, f"a tuple of {len(self.subjects)} parts is matched, this has {found}")
        for part in self.parts(pattern):
            if isinstance(part, ast.Tuple):
                return self.refuse(part, "one value is matched, this is a tuple")
        return True

    def compares_tensors(self) -> bool:
        """Whether a pattern is compared with a tensor, which has a value for each element; reports it."""
        patterns = [self.parts(p) for arm in self.node.arms for p in arm.patterns]
        for index, subject in enumerate(self.subjects):
            type = self.context.tensor_of(_value(self.context, subject))
            compared = next((parts[index] for parts in patterns if not self.is_free(parts[index])), None)
            if type is not None and type.shape and compared is not None:
                from teenyc.diagnostics.catalog.values import MatchedTensor

                span = self.node.scrutinee.span
                self.context.report(MatchedTensor(span=span, pattern=compared.span, found=str(type)))
                return True
        return False

    def refuse(self, pattern: ast.Expression, reason: str) -> bool:
        from teenyc.diagnostics.catalog.types import WrongPattern

        self.context.report(WrongPattern(span=pattern.span, reason=reason))
        return False

    def name_of(self, pattern: ast.Expression) -> str | None:
        """The name that a pattern gives to what it meets; constants are compared."""
        if not isinstance(pattern, ast.PathExpression) or len(pattern.segments) != 1 or _is_any(pattern):
            return None
        name = pattern.segments[0].name.text
        symbol = self.context.lookup(name)
        is_constant = name in self.context.declarations.constants or (
            symbol is not None and isinstance(symbol.current, ir.Constant)
        )
        return None if is_constant or name.isupper() else name

    def test(self, arm: ast.MatchArm) -> ast.Expression | None:
        """The condition of an arm; None where it always holds."""
        tests = [self.comparison(pattern) for pattern in arm.patterns]
        known = [t for t in tests if t is not None]
        test = _joined("||", known) if len(known) == len(tests) else None
        if arm.guard is None:
            return test
        guard = arm.guard if not self.bindings(arm) else self.bound(arm, _block(arm.guard))
        return guard if test is None else _infix("&&", test, guard)

    def comparison(self, pattern: ast.Expression) -> ast.Expression | None:
        pairs = zip(self.subjects, self.parts(pattern), strict=True)
        return _joined("&&", [t for s, p in pairs if not self.is_free(p) for t in _tests(s, p)])

    def is_free(self, pattern: ast.Expression) -> bool:
        return _is_any(pattern) or self.name_of(pattern) is not None

    def bindings(self, arm: ast.MatchArm) -> list[ast.Let]:
        """`let name = subject` for the names of an arm without alternatives."""
        (pattern, *others) = arm.patterns
        whole = self.name_of(pattern) if self.is_tuple else None
        if others:
            return []
        if whole is not None:
            return [_let(whole, ast.Tuple(items=self.subjects, span=pattern.span), pattern.span, arm)]
        pairs = zip(self.subjects, self.parts(pattern), strict=True)
        return [_let(name, s, p.span, arm) for s, p in pairs if (name := self.name_of(p)) is not None]

    def bound(self, arm: ast.MatchArm, block: ast.Block) -> ast.Block:
        """A block in which the names of an arm stand for what they met."""
        lets = self.bindings(arm)
        return replace(block, statements=(*lets, *block.statements)) if lets else block

    # ---- coverage ---------------------------------------------------------------------------------------------------

    def is_bool(self, subject: ast.Expression) -> bool:
        type = self.context.tensor_of(_value(self.context, subject))
        return type is not None and is_bool(type.element)

    def domain(self, subject: ast.Expression) -> Interval:
        """All numbers that a subject can be."""
        type = self.context.tensor_of(_value(self.context, subject))
        element = self.context.inference.final(type.element) if type is not None else None
        if isinstance(element, DType) and is_integer(element):
            return element.minimum, element.maximum
        return 0, 1

    def interval(self, pattern: ast.Expression, domain: Interval) -> Interval:
        """The numbers that a pattern certainly meets; an empty interval where they are not known here."""
        if self.is_free(pattern):
            return domain
        if not isinstance(pattern, ast.Range):
            number = self.number(pattern)
            return (1, 0) if number is None else (number, number)
        low = domain[0] if pattern.start is None else self.number(pattern.start)
        high = domain[1] if pattern.stop is None else self.number(pattern.stop)
        if low is None or high is None:
            return 1, 0
        return low, high if pattern.inclusive or pattern.stop is None else high - 1

    def number(self, node: ast.Expression) -> int | None:
        match node:
            case ast.IntegerLiteral():
                return node.value
            case ast.BoolLiteral():
                return int(node.value)
            case ast.Unary(operator="-"):
                inner = self.number(node.operand)
                return None if inner is None else -inner
            case ast.PathExpression(segments=(only,)) if only.name.text in self.context.declarations.constants:
                return self.number(self.context.declarations.constants[only.name.text].value)
            case ast.PathExpression(segments=(_, _)):
                with self.context.block():
                    value = expressions.operand(self.context, node)
                return value.value if isinstance(value, ir.Literal) and type(value.value) is int else None
            case _:
                return None


def _is_taken(row: tuple[Interval, ...], before: Sequence[tuple[Interval, ...]]) -> bool:
    """Whether rows hold all values of another one, so far as these are known."""
    return all(low <= high for low, high in row) and bool(before) and _missing(before, row) is None


def _missing(rows: Sequence[tuple[Interval, ...]], domains: Sequence[Interval]) -> tuple[int, ...] | None:
    """Values, one for each domain, that no row holds; None where the rows cover everything."""
    if not domains:
        return None if rows else ()
    low, high = domains[0]
    ends = {low, high + 1}
    for row in rows:
        ends |= {end for end in (row[0][0], row[0][1] + 1) if low < end <= high}
    for start, _ in pairwise(sorted(ends)):
        rest = _missing([row[1:] for row in rows if row[0][0] <= start <= row[0][1]], domains[1:])
        if rest is not None:
            return (start, *rest)
    return None


def _shown(number: int, is_bool: bool) -> str:
    return str(bool(number)).lower() if is_bool else str(number)


def _value(context: Context, subject: ast.Expression) -> ir.Operand:
    assert isinstance(subject, ast.PathExpression)
    symbol = context.lookup(subject.segments[0].name.text)
    assert symbol is not None, "subjects are in scope"
    assert not isinstance(symbol.current, Invalid | Group)
    return symbol.current


# ---- syntax ---------------------------------------------------------------------------------------------------------


def _tests(subject: ast.Expression, pattern: ast.Expression) -> Iterator[ast.Expression]:
    if not isinstance(pattern, ast.Range):
        yield _infix("==", subject, pattern)
        return
    if pattern.start is not None:
        yield _infix(">=", subject, pattern.start)
    if pattern.stop is not None:
        yield _infix("<=" if pattern.inclusive else "<", subject, pattern.stop)


def _is_any(pattern: ast.Expression) -> bool:
    return isinstance(pattern, ast.PathExpression) and pattern.segments[-1].name.text == "_"


def _joined(sign: str, tests: list[ast.Expression]) -> ast.Expression | None:
    whole: ast.Expression | None = None
    for test in tests:
        whole = test if whole is None else _infix(sign, whole, test)
    return whole


def _infix(sign: str, left: ast.Expression, right: ast.Expression) -> ast.Expression:
    return ast.Binary(operator=sign, left=left, right=right, operator_span=right.span, span=right.span)


def _path(name: str, span: Span) -> ast.PathExpression:
    return ast.PathExpression(segments=(ast.Segment(name=ast.Name(name, span)),), span=span)


def _let(name: str, value: ast.Expression, span: Span, arm: ast.MatchArm) -> ast.Let:
    """A name of an arm with a guard may be read in either, so that lints say nothing of it."""
    pattern = ast.NamePattern(name=ast.Name(name, span), is_silent=arm.guard is not None)
    return ast.Let(pattern=pattern, annotation=None, value=value, span=span)


def _block(value: ast.Expression) -> ast.Block:
    return value if isinstance(value, ast.Block) else ast.Block(statements=(), value=value, span=value.span)
