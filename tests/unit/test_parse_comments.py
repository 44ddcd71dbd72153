"""Comments and docs go to what they stand at; nesting and long chains are followed to their limits."""

from __future__ import annotations

import pytest
from syntax_helpers import codes_of, expression_of, function_of, module_of, parse_text, statements_of

from teenyc.source import Comments
from teenyc.syntax import ast

# ---- comments and docs ----------------------------------------------------------------------------------------------


def test_comments_of_statements() -> None:
    first, second, third, fourth = statements_of(
        """
        // ── one ──
        //// two
        let a = 1; // behind a

        /* block */ // three
        b = 2;
        for i in 0..n { // opens
            f(); // behind f
            // last
        } // behind for
        /// doc-like
        #[allow(x)]
        // four
        g( // inside
            1,
        );
        """
    )
    assert first.comments == Comments(("── one ──", "two"), "behind a")
    assert second.comments == Comments(("three",), "")
    assert isinstance(third, ast.For)
    assert third.comments == Comments((), "behind for")
    assert third.body.statements[0].comments == Comments(("opens",), "behind f")
    assert third.body.comments == Comments(("last",), "")
    assert fourth.comments == Comments(("doc-like", "four"), "")


def test_comments_at_the_value_of_a_block() -> None:
    body = function_of("fn f() -> i32 {\n    g();\n    // why\n    a + b // sum\n}").body
    assert body.comments == Comments(("why",), "sum")
    body = function_of("fn f() -> i32 {\n    // why\n    if a { 1 } else { 2 } // which\n}").body
    assert body.comments == Comments(("why",), "which")


def test_comments_of_parameters() -> None:
    function = function_of(
        """fn f(
            // first
            a: i32, // behind a
            b: i32, /* block */
            // third
            c: i32 // behind c
        ) {}"""
    )
    assert [p.comments for p in function.parameters] == [
        Comments(("first",), "behind a"),
        Comments(),
        Comments(("third",), "behind c"),
    ]


@pytest.mark.parametrize(
    ("before", "doc"),
    [
        ("/// One.\n///\n///     code\n/// Two.", "One.\n\n    code\nTwo."),
        ("///One\n/// Two", "One\n Two"),
        ("/** One. */", "One."),
        ("/**\n * One.\n *   Two.\n */", "One.\n  Two."),
        ('#[doc = "One \\"x\\"."]', 'One "x".'),
        ('#[doc = r"One"]\n/// Two\n#[inline]\n/// Three', "One\n Two\n Three"),
        ("/// A\r\n/// B\r", "A\nB"),
        ("//// no doc\n/*** no doc */ /**/", ""),
        ("/// other\nstruct S;\n/// mine", "mine"),
        ("/// ends\n// plain\n#[kernel]", "ends"),
    ],
)
def test_docs(before: str, doc: str) -> None:
    (function,) = module_of(f"{before}\npub fn f() {{}}").items
    assert isinstance(function, ast.Function)
    assert function.doc == doc


def test_module_doc() -> None:
    text = "// License\n//! One\r\n//! two\r\n#![allow(x)]\n/*! three */\nuse a;\n//! late\nfn f() {}"
    assert parse_text(text)[0].doc == "One\ntwo\nthree"
    assert parse_text("//! alone")[0].doc == "alone"


def test_byte_order_mark_and_line_ends_do_not_matter() -> None:
    text = "//! A\n\n/// B\n#[kernel]\nfn f(a: i32) { // c\n    g(a,\n      1);\n}\n"
    assert module_of(text) == module_of(text.replace("\n", "\r\n"))


# ---- depth ----------------------------------------------------------------------------------------------------------


def test_brackets_nest_256_deep() -> None:
    assert isinstance(expression_of("(" * 256 + "1" + ")" * 256), ast.IntegerLiteral)
    assert codes_of("fn f() { let x = " + "(" * 257 + "1" + ")" * 257 + "; }") == ["E0008"]
    assert codes_of("fn f() { let x = " + "(" * 5000 + "1" + ")" * 5000 + "; }\nfn g() { let = 1; }") == [
        "E0008",
        "E0101",
    ]
    assert codes_of("impl A { fn f() { " + "(" * 300 + ")" * 300 + " } }") == []


@pytest.mark.parametrize("count", [900, 5000])
@pytest.mark.parametrize(
    "parts",
    [
        ("a", " + a"),
        ("a", ".f()"),
        ("a", "()"),
        ("a", "[0]"),
        ("a", " as i32"),
        ("if a {}", " else if a {}"),
    ],
    ids=lambda parts: parts[1].strip(),
)
def test_long_chains(parts: tuple[str, str], count: int) -> None:
    start, more = parts
    assert codes_of(f"fn f() {{ x = {start}{more * count}; }}") == (["E0008"] if count > 1000 else [])


def test_long_lists_are_no_depth() -> None:
    assert codes_of("fn f() { g(" + "a + b, " * 3000 + "); " + "x = a + b; " * 3000 + "if a {} " * 3000 + "}") == []
