"""Mistakes of syntax: which report, where, and that one mistake neither hides the next nor makes more of itself."""

from __future__ import annotations

import pytest
from syntax_helpers import codes_of, parse_text, reports_of

from teenyc.diagnostics.catalog import syntax
from teenyc.diagnostics.model import Diagnostic
from teenyc.source import SourceFile


def in_body(body: str) -> list[str]:
    """The reports of a function whose body begins on line 2."""
    return reports_of(f"#[kernel] fn f(n: i32) {{\n{body}\n}}\n")


@pytest.mark.parametrize(
    ("body", "reports"),
    [
        ("let a = 1\nlet b = 2;", ["2:10 E0101 expected `;`, found keyword `let`"]),
        ("let a = 1 let b = 2;", ["2:10 E0101 expected `;`, found keyword `let`"]),
        ("let a = 1 2;", ["2:11 E0101 expected `;`, found `2` [2]"]),
        ("let a = f()\n", ["2:12 E0101 expected `;`, found `}`"]),
        ("x = 3\ny = 4\nz = 5;", ["2:6 E0101 expected `;`, found `y`", "3:6 E0101 expected `;`, found `z`"]),
        ("return\nlet y = 4;", ["2:7 E0101 expected `;`, found keyword `let`"]),
        ("let a 1;", ["2:7 E0101 expected `:`, `=` or `;`, found `1` [1]"]),
        ("let = 1;", ["2:5 E0101 expected a pattern, found `=` [=]"]),
        ("let let = 1;", ["2:5 E0101 expected a pattern, found keyword `let` [let]"]),
        ("for i in 0..n..2 {}", ["2:14 E0101 expected `{`, found `..` [..]"]),
        ("let a = ;", ["2:9 E0101 expected an expression, found `;` [;]"]),
        ("let a: = 1;", ["2:8 E0101 expected a type, found `=` [=]"]),
        (
            "a + ;\nb * ;",
            ["2:5 E0101 expected an expression, found `;` [;]", "3:5 E0101 expected an expression, found `;` [;]"],
        ),
        ("f(a b);", ["2:5 E0101 expected `,` or `)`, found `b` [b]"]),
        ("f([1 2]);", ["2:6 E0101 expected `,` or `]`, found `2` [2]"]),
        ("for i 0..n {}", ["2:7 E0101 expected `in`, found `0` [0]"]),
        ("while {}", ["2:9 E0101 expected `{`, found `}`"]),
        ("if a b;", ["2:6 E0101 expected `{`, found `b` [b]"]),
        ("if a {} else b;", ["2:14 E0101 expected `{`, found `b` [b]"]),
        ("x.;", ["2:3 E0101 expected a name, found `;` [;]"]),
        ("x::;", ["2:4 E0101 expected a name, found `;` [;]"]),
        ("match n { 1 = 2 }", ["2:13 E0101 expected `=>`, found `=` [=]"]),
        ("in x;", ["2:1 E0101 expected a statement, found keyword `in` [in]"]),
        ("let a = if n {} {};", ["2:17 E0101 expected `;`, found `{` [{]"]),
        ("f(b'a');", ["2:3 E0101 expected an expression, found `b'a'` [b'a']"]),
    ],
)
def test_unexpected_tokens(body: str, reports: list[str]) -> None:
    assert in_body(body) == reports


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("fn f(a, b: i32) {}", ["1:7 E0101 expected `:`, found `,` [,]"]),
        ("fn f(a: i32 b: i32) {}", ["1:13 E0101 expected `,` or `)`, found `b` [b]"]),
        ("fn (a: i32) {}", ["1:4 E0101 expected a name, found `(` [(]"]),
        ("fn f(a: i32)\nfn g() {}", ["1:13 E0101 expected `{`, found keyword `fn`"]),
        ("fn f(type: i32) {}", ["1:6 E0101 expected a parameter, found keyword `type` [type]"]),
        ("const A = 3;", ["1:9 E0101 expected `:`, found `=` [=]"]),
        ("const A: i32 = 4\nfn g() {}", ["1:17 E0101 expected `;`, found keyword `fn`"]),
        (
            "const A: i32 = 4\nconst B: i32 = 5\n",
            ["1:17 E0101 expected `;`, found keyword `const`", "2:17 E0101 expected `;`, found the end"],
        ),
        ("#[kernel(a = )]\nfn f() {}", ["1:14 E0101 expected an expression, found `)` [)]"]),
        ("#[kernel row]\nfn f() {}", ["1:10 E0101 expected `]`, found `row` [row]"]),
    ],
)
def test_unexpected_tokens_in_headers(text: str, reports: list[str]) -> None:
    assert reports_of(text) == reports


def test_malformed_attributes_are_reported() -> None:
    assert codes_of("#[a b]\nfn f() {}") == ["E0101"]


@pytest.mark.parametrize(
    ("text", "reports"),
    [
        ("fn f() { g(a; }", ["1:11 E0102 unclosed delimiter `(` [(]"]),
        (
            "fn f() {\n    g(a\n    let b = 1;\n}",
            ["2:6 E0102 unclosed delimiter `(` [(]", "2:8 E0101 expected `;`, found keyword `let`"],
        ),
        ("fn f() { let a = [1, 2; }", ["1:18 E0102 unclosed delimiter `[` [[]"]),
        (
            "fn f() {\n    let a = 1;\n\nfn g() { let = 1; }",
            ["1:8 E0102 unclosed delimiter `{` [{]", "4:14 E0101 expected a pattern, found `=` [=]"],
        ),
        ("fn f() {\n    if n {\n        g();\n    h();\n}\nfn g() {}", ["2:10 E0102 unclosed delimiter `{` [{]"]),
        ("fn f(a: i32 {\n    g();\n}", ["1:5 E0102 unclosed delimiter `(` [(]"]),
        ("fn f() { g(a)); }", ["1:14 E0103 unexpected closing delimiter `)` [)]"]),
        ("fn f() { g(a]); }", ["1:13 E0103 unexpected closing delimiter `]` [ ]]".replace("[ ", "[")]),
        ("fn f() { let a = [1, 2); }", ["1:23 E0103 mismatched closing delimiter `)` [)]"]),
        ("fn f() { g(h([1, 2))); }", ["1:19 E0103 mismatched closing delimiter `)` [)]"]),
        (
            "fn f() {}\n}\nfn g() { let = 1; }",
            ["2:1 E0103 unexpected closing delimiter `}` [}]", "3:14 E0101 expected a pattern, found `=` [=]"],
        ),
        ("fn f() {\n    if n {\n        g();\n    }}\n    h();\n}", ["6:1 E0103 unexpected closing delimiter `}` [}]"]),
    ],
)
def test_brackets(text: str, reports: list[str]) -> None:
    assert reports_of(text) == reports


def test_unclosed_delimiter_says_where_it_should_close() -> None:
    text = "fn f() { store(p, load(q); }"
    (report,) = parse_text(text)[1]
    assert isinstance(report, syntax.UnclosedDelimiter)
    fix = report.fix()
    assert fix is not None
    fixed = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
    assert fixed == "fn f() { store(p, load(q)); }"
    assert codes_of(fixed) == []


@pytest.mark.parametrize(
    ("body", "code", "under"),
    [
        ('let a = "b;', "E0104", '"'),
        ('let a = r##"b"#;', "E0104", 'r##"'),
        ("/* a /* b */", "E0105", "/*"),
        ("let a = 0x;", "E0106", "0x"),
        ("let a = 0b12;", "E0106", "0b12"),
        ("let a = 0o8;", "E0106", "0o8"),
        ("let a = 1e;", "E0106", "1e"),
        ("let a = 1.5f;", "E0106", "1.5f"),
        ("let a = 1.5i32;", "E0106", "1.5i32"),
        ("let a = 0xG;", "E0106", "0xG"),
        ("let a = 5apples;", "E0106", "5apples"),
        ("let a = 18446744073709551616;", "E0107", "18446744073709551616"),
        ("let a = 1e999;", "E0107", "1e999"),
        (r'f("a\qb");', "E0108", r"\q"),
        (r'f("\u{110000}");', "E0108", r"\u{110000}"),
        (r'f("\u{D800}");', "E0108", r"\u{D800}"),
        (r'f("\x80");', "E0108", r"\x80"),
        (r'f("\u41");', "E0108", r"\u"),
        ("let a = b − c;", "E0109", "−"),
        ("let a = b @ c;", "E0120", "@"),
        ("let a = `b`;", "E0109", "`"),
        ("let a = é🙂;", "E0109", "🙂"),
        ("let a = 1 < n < 3;", "E0110", "<"),
        ("let a = n >= 0 & n < 3;", "E0110", "<"),
        ("let a = zeros<f32>(4);", "E0110", ">"),
        ("let a = n as i32 < 3;", "E0111", "<"),
        ("let a = 1 + n as i32 << 3;", "E0111", "<<"),
        ("load(mask = n, p);", "E0112", "p"),
        ("x.load(mask = n, p, q);", "E0112", "p"),
        ("if n = 3 {}", "E0113", "="),
        ("while n = /* = */ 3 {}", "E0113", "="),
        ("if n == 3 {}; else {}", "E0114", "else"),
        ("assert!(n > 3);", "E0117", "assert!"),
        ("let v = vec![1, 2];", "E0117", "vec!"),
        ("let a = *p;", "E0118", "*"),
        ("let a = &n;", "E0118", "&"),
        ("f(&mut n);", "E0118", "&"),
        ("let a = n ** 2;", "E0118", "**"),
        ("let a = n > = 3;", "E0119", "> ="),
        ("let a = n > > 3;", "E0119", "> >"),
    ],
)
def test_each_mistake_is_one_report(body: str, code: str, under: str) -> None:
    text = f"#[kernel] fn f(n: i32) {{\n{body}\n}}\n"
    (report,) = parse_text(text)[1]
    assert report.code == code
    assert report.span is not None
    assert text[report.span.start : report.span.end] == under


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("let x = 1;", "E0115"),
        ("def f(x):\n    return x\n", "E0115"),
        ("#[kernel]", "E0115"),
        ("#[kernel]\nstruct A {}", "E0116"),
        ("#[kernel]\nconst A: i32 = 1;", "E0116"),
        ("§", "E0109"),
    ],
)
def test_mistakes_at_file_level(text: str, code: str) -> None:
    assert codes_of(f"{text}\nfn f() {{}}" if "#" not in text or "A" in text else text) == [code]


def test_several_mistakes_are_reported_in_order() -> None:
    text = """
#[kernel]
fn first(p: Pointer<f32>) {
    let a = 1
    let b = ;
    if b { c( ) + }
    store(p, a < b < c);
}
garbage here;
fn second() { let = 1; }
mod inner {
    fn third() { 1x; }
    const N: i32 = ;
}
fn fourth() -> i32 { 1 }
"""
    assert [r.split(" ")[0] + " " + r.split(" ")[1] for r in reports_of(text)] == [
        "4:14 E0101",
        "5:13 E0101",
        "6:19 E0101",
        "7:20 E0110",
        "9:1 E0115",
        "10:19 E0101",
        "12:18 E0106",
        "13:20 E0101",
    ]
    assert [i.name.text for i in parse_text(text)[0].items] == ["inner", "fourth"]


def fixed_point(text: str) -> str:
    """The text with every fix of its reports applied, last first."""
    edits = [fix for report in parse_text(text)[1] if (fix := report.fix())]
    for fix in sorted(edits, key=lambda f: -f.span.start):
        text = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
    return text


@pytest.mark.parametrize(
    "body",
    [
        "let a = 1\n let b = 2;",
        "let a = n as i32 < 3;",
        "if n = 3 { f(); }",
        "let a = n > = 3;",
        "g(a; h(b);",
        "g(a)); h([1, 2));",
        "if n { g();\n",
    ],
)
def test_fixes_mend(body: str) -> None:
    text = f"fn f() {{\n    {body}\n}}\n"
    assert codes_of(text) != []
    assert codes_of(fixed_point(text)) == []


def test_reports_are_limited_and_places_are_in_the_file() -> None:
    text = "fn f() {" + "let ;" * 3000 + "}"
    reports = parse_text(text)[1]
    assert len(reports) == 1000
    source = SourceFile("x", text)
    assert all(r.span and source.position(r.span.end) for r in reports)


REPORTS: list[Diagnostic] = [
    syntax.TooDeep(what="brackets", limit=256),
    syntax.UnknownCharacter(character="−", point="U+2212 minus sign", instead="`-`"),
    syntax.UnknownCharacter(character="", point="U+0000"),
    syntax.HostExpression(operator="&"),
    syntax.HostExpression(operator="*"),
    syntax.HostExpression(operator="**"),
    syntax.BadNumber(problem="the exponent has no digits"),
    syntax.NumberTooLarge(kind="integer", limit="18446744073709551615"),
]


@pytest.mark.parametrize("report", REPORTS, ids=lambda r: r.message())
def test_wording(report: Diagnostic) -> None:
    for text in (report.message(), report.label(), report.help() or "", *report.notes()):
        assert not text.endswith(".")
        assert not text[:1].isupper()
