"""The prebuilt tables: they are the grammar's, and the automaton accepts with them what Lark's own parser accepts."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark, UnexpectedToken
from lark import Token as LarkToken

from teenyc import resources
from teenyc.diagnostics.model import Reporter
from teenyc.syntax import generated, tables
from teenyc.syntax.automaton import finish, start_run
from teenyc.syntax.brackets import pair
from teenyc.syntax.compile_grammar import compile_grammar, lark_of, terminal_kinds
from teenyc.syntax.context import Context
from teenyc.syntax.parse import productions
from teenyc.syntax.tokens import KEYWORDS, tokenize


def test_generated_tables_are_those_of_the_grammar() -> None:
    grammar = resources.grammar_text()
    written = Path(generated.__file__).read_text(encoding="utf-8")
    assert written == tables.encode(compile_grammar(grammar), grammar), "run python -m teenyc.syntax.tables"


def test_other_grammar_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "CHECKSUM", 0)
    tables.load.cache_clear()
    fresh = tables.load()
    tables.load.cache_clear()
    monkeypatch.undo()
    known = tables.load()
    assert fresh.rules == known.rules
    assert fresh.starts == known.starts
    assert all(known.rows[state] == row for state, row in fresh.rows.items())


def test_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="lark"):
        Lark(resources.grammar_text(), parser="lalr", start=list(tables.STARTS), maybe_placeholders=True, debug=True)
    assert "conflict" not in caplog.text.lower()


def test_words_of_the_grammar_are_keywords() -> None:
    words = {kind for name, kind in terminal_kinds(lark()).items() if kind.isidentifier() and kind != name}
    assert words <= KEYWORDS


@cache
def lark() -> Lark:
    return lark_of(resources.grammar_text())


def lark_accepts(text: str) -> bool:
    """Whether Lark's parser takes the tokens of a text as an item."""
    names = {kind: name for name, kind in terminal_kinds(lark()).items()}
    parser = lark().parse_interactive(start="item")
    try:
        for token in tokenize(text, tables.load().pattern).tokens:
            parser.feed_token(LarkToken(names.get(token.kind, "NONE"), token.text))
        parser.feed_eof()
    except (UnexpectedToken, KeyError):
        return False
    return True


def automaton_accepts(text: str) -> bool:
    lexed = tokenize(text, tables.load().pattern)
    context = Context(text, lexed, Reporter(), [])
    faults = Reporter()
    nested = pair(text, lexed, faults)
    if faults.has_errors:
        return False  # brackets were mended
    run = start_run(tables.load(), nested, 0, len(nested.tokens), "item")
    return finish(run, productions(), context) is not None and not context.errors


ITEMS = [
    "fn f < 'a , T : A + 'a , const N : i32 > ( mut a : & 'a T , b : ( i32 , f32 ) ) -> [ i32 ; 4 ] where T : A { }",
    "fn f ( ) { let ( mut a , _ ) : A < C > = if a { b } else { c } ; a . b ( c , d = e ) . 0 [ .. ] += - x as i8 ; }",
    "fn f ( ) { 'a : loop { break 'a 1 ; } while a < b { continue } for i in 0 .. n { } }",
    "fn f ( ) { match n { 1 | 2 if a => b , _ => { } } ; 1 .. 2 }",
    "pub const N : i32 = f :: < T , { 1 } > ( & [ a , b ] , | x , y | x + y , r ) ;",
]
WORDS = sorted(
    {word for item in ITEMS for word in item.split()} | {"=>", "::", "return", '"s"', "1.5", "!", "&&", "..="}
)


def test_items_are_accepted() -> None:
    for item in ITEMS:
        assert lark_accepts(item), item
        assert automaton_accepts(item), item


@given(st.sampled_from(ITEMS), st.lists(st.tuples(st.integers(0, 60), st.sampled_from([*WORDS, ""])), max_size=3))
@settings(max_examples=300, deadline=None)
def test_automaton_agrees_with_lark(item: str, changes: list[tuple[int, str]]) -> None:
    words = item.split()
    for place, word in changes:
        words[place % len(words)] = word
    text = " ".join(words)
    assert automaton_accepts(text) == lark_accepts(text)
