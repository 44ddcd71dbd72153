"""Parses a source: text goes in, an `ast.Module` comes out; mistakes are reported, items with some left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, takewhile
from typing import Any

from teenyc.diagnostics.model import Reporter
from teenyc.record import replace
from teenyc.source import SourceFile, Span
from teenyc.syntax import ast, build_expressions, build_items, build_statements, build_types
from teenyc.syntax.automaton import Production, bind, finish, start_run
from teenyc.syntax.brackets import HEIGHT_LIMIT, NESTING_LIMIT, Nested, pair
from teenyc.syntax.build_items import Constructor
from teenyc.syntax.build_types import name_of
from teenyc.syntax.context import Context
from teenyc.syntax.documentation import documentation
from teenyc.syntax.host import host_items
from teenyc.syntax.items import RawItem, split_items
from teenyc.syntax.literals import read_string
from teenyc.syntax.op_structs import constructor_range, with_constructor
from teenyc.syntax.tables import load
from teenyc.syntax.tokens import ATTRIBUTE, Lexed, Token, tokenize
from teenyc.syntax.uses import imports


def parse(source: SourceFile, reporter: Reporter) -> ast.Module:
    """The items of a source. Each is parsed apart, so that a mistake in one hides none in another."""
    lexed = tokenize(source.text, load().pattern)
    faults = Reporter()
    _report_unterminated(lexed, faults)
    nested = pair(source.text, lexed, faults)
    items = split_items(nested, reporter, complain=not faults.has_errors)
    for fault in faults:
        reporter.report(fault)
    _read_doc_attributes(nested, lexed)
    places = sorted(
        span.start for fault in faults for span in (fault.span, *(s.span for s in fault.secondary())) if span
    )
    context = Context(source.text, lexed, reporter, places)
    reader = _Reader(nested, context, reporter, host_items(nested, items))
    context.allow(_leading(nested.tokens, 0), Span(0, len(source.text)))
    is_open = reporter.has_errors  # brackets and what is no item: anything may be missing
    read = tuple(reader.read(items))
    missing = frozenset(reader.missing | ({""} if is_open else set()))
    doc, allowances = _module_doc(nested, lexed), tuple(context.allowances)
    imports = reader.imports(items)
    return ast.Module(
        doc=doc,
        items=read,
        allowances=allowances,
        missing=missing,
        imports=imports,
        has_imports=reader.has_imports,
        named=frozenset(context.named),
        text=source.text,
        is_rust=bool(reader.host) or any(item.kind not in ("fn", "const", "mod") for item in items),
    )


def _leading(tokens: Sequence[Token], first: int) -> Iterator[Token]:
    """The attributes from a place on, up to what is none: `#![allow(…)]` at the start of a file or module."""
    return takewhile(lambda token: token.text.startswith("#!"), islice(tokens, first, None))


def _report_unterminated(lexed: Lexed, reporter: Reporter) -> None:
    token = lexed.unterminated
    if token is None:
        return
    from teenyc.diagnostics.catalog.syntax import UnterminatedComment, UnterminatedString

    if token.text.startswith("/*"):
        reporter.report(UnterminatedComment(span=Span(token.start, token.start + 2)))
    else:
        width = token.text.index('"') + 1
        reporter.report(UnterminatedString(span=Span(token.start, token.start + width)))


def _read_doc_attributes(nested: Nested, lexed: Lexed) -> None:
    """`#[doc = "…"]` is a doc comment that is written as an attribute."""
    for token in nested.tokens:
        if token.kind == ATTRIBUTE and (text := _doc_text(token)) is not None:
            place = bisect_right(lexed.docs, token.start, key=lambda doc: doc[0])
            lexed.docs[place:place] = [(token.start, f"///{line}") for line in text.split("\n")]


def _doc_text(token: Token) -> str | None:
    parts = tokenize(token.text, load().pattern).tokens if "doc" in token.text else []
    if [p.text for p in parts[1:4]] != ["[", "doc", "="] or parts[4].kind not in ("STRING", "RAW_STRING"):
        return None
    return read_string(parts[4], lambda _: None)


def _module_doc(nested: Nested, lexed: Lexed) -> str:
    """The `//!` text before the first item."""
    first = next((t.start for t in nested.tokens if not t.text.startswith("#!")), None)
    return documentation(text for start, text in lexed.inner_docs if first is None or start <= first)


@cache
def productions() -> tuple[Production, ...]:
    """The productions of the grammar with the builders of all its sections."""
    groups = (build_items, build_types, build_statements, build_expressions)
    return bind(load(), {name: builder for group in groups for name, builder in group.BUILDERS.items()})


class _Reader:
    """Parses the items of one source, but for those that are `host` code."""

    def __init__(self, nested: Nested, context: Context, reporter: Reporter, host: frozenset[RawItem]) -> None:
        self.nested = nested
        self.context = context
        self.reporter = reporter
        self.host = host
        self.missing: set[str] = set()
        self.has_imports = False

    def read(self, items: tuple[RawItem, ...]) -> Iterator[ast.Item]:
        for item in items:
            self.has_imports = self.has_imports or item.kind == "use"
            if item in self.host or item.kind in ("impl", "use"):
                continue
            problems = Reporter()
            node = self._read(item, items, problems)
            for problem in problems:
                self.reporter.report(problem)
            if node is not None and not problems.has_errors:
                yield node
            elif item.kind != "struct":
                self.missing.add(item.name)

    def imports(self, items: tuple[RawItem, ...]) -> tuple[ast.Import, ...]:
        """What the `use` declarations among the items bring."""
        uses = (self.nested.tokens[i.keyword + 1 : i.last - 1] for i in items if i.kind == "use")
        return tuple(found for tokens in uses for found in imports(tokens))

    def _read(self, item: RawItem, siblings: tuple[RawItem, ...], problems: Reporter) -> ast.Item | None:
        self.context.allow(self.nested.tokens[item.first : item.keyword], self._span(item))
        if item.kind == "mod":
            self.context.allow(_leading(self.nested.tokens, item.keyword + 3), self._span(item))
            name = name_of(self.nested.tokens[item.keyword + 1])
            items, imports = tuple(self.read(item.items)), self.imports(item.items)
            return ast.ModuleItem(name=name, items=items, imports=imports, span=self._span(item))
        if item.kind == "struct":
            return self._read_op(item, siblings)
        if self._has_deep_brackets(item, problems):
            return None
        mistakes = self.context.errors
        node: ast.Function | ast.ConstItem | None = self._parse(item.first, item.last, "item", problems)
        span = self._span(item)
        if node is None or self.context.errors > mistakes or self.context.has_fault(span.start, span.end):
            return None  # reported, though perhaps as a bracket
        self._check_height(item, node, problems)
        return node

    def _span(self, item: RawItem) -> Span:
        tokens = self.nested.tokens
        return Span(tokens[item.first].start, tokens[item.last - 1].end)

    def _parse(self, first: int, last: int, symbol: str, problems: Reporter) -> Any:
        self.context.reporter = problems
        run = start_run(load(), self.nested, first, last, symbol)
        return finish(run, productions(), self.context)

    def _has_deep_brackets(self, item: RawItem, problems: Reporter) -> bool:
        deep = self.nested.deep
        place = bisect_left(deep, item.first)
        if place == len(deep) or deep[place] >= item.last:
            return False
        self._report_depth(deep[place], "brackets", NESTING_LIMIT, problems)
        return True

    def _check_height(self, item: RawItem, node: ast.Function | ast.ConstItem, problems: Reporter) -> None:
        """Where the tokens look as if an expression was too high, measure."""
        high = self.nested.high
        place = bisect_left(high, item.first)
        if place == len(high) or high[place] >= item.last:
            return
        from teenyc.syntax.height import is_higher_than

        if is_higher_than(node, HEIGHT_LIMIT):
            self._report_depth(high[place], "an expression", HEIGHT_LIMIT, problems)

    def _report_depth(self, index: int, what: str, limit: int, problems: Reporter) -> None:
        from teenyc.diagnostics.catalog.syntax import TooDeep

        token = self.nested.tokens[index]
        problems.report(TooDeep(span=Span(token.start, token.end), what=what, limit=limit))

    def _read_op(self, item: RawItem, siblings: tuple[RawItem, ...]) -> ast.OpStruct | None:
        """An Op struct with what its `new` says; host code that does not fit is passed over."""
        struct: ast.OpStruct | None = self._parse(item.keyword, item.last, "op_struct", Reporter())
        if struct is None or not struct.fields:
            return None
        struct = replace(struct, doc=self.context.doc(self._span(item).start, struct.name.span.start))
        place = constructor_range(self.nested, item, siblings)
        if place is None:
            return struct
        faults = Reporter()
        constructor: Constructor | None = self._parse(*place, "op_constructor", faults)
        return struct if constructor is None or faults.has_errors else with_constructor(struct, constructor)
