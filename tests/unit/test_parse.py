"""Parsing of expressions and statements: their shapes, their exact spans."""

from __future__ import annotations

import pytest
from source_printer import print_expression
from syntax_helpers import (
    expression_of,
    function_of,
    spans,
    statement_of,
    statements_of,
)

from teenyc.syntax import ast

# ---- expressions ----------------------------------------------------------------------------------------------------


def grouped(node: ast.Expression) -> str:
    """An expression with every operation in brackets, to show how it was read."""
    match node:
        case ast.Binary():
            return f"[{grouped(node.left)} {node.operator} {grouped(node.right)}]"
        case ast.Unary():
            return f"[{node.operator}{grouped(node.operand)}]"
        case ast.Cast():
            return f"[{grouped(node.operand)} as {print_expression(path_of(node.target))}]"
        case ast.Range():
            ends = (grouped(e) if e else "" for e in (node.start, node.stop))
            return "[" + (" ..= " if node.inclusive else " .. ").join(ends) + "]"
        case ast.FieldAccess():
            return f"[{grouped(node.operand)}.{node.name.text}]"
        case ast.MethodCall():
            return f"[{grouped(node.receiver)}.{node.method.name.text}()]"
        case ast.Index():
            return f"[{grouped(node.operand)} at {grouped(node.index)}]"
        case ast.Call():
            return f"[call {grouped(node.callee)}]"
        case _:
            return print_expression(node)


def path_of(type_: ast.TypeExpression) -> ast.PathExpression:
    assert isinstance(type_, ast.PathType)
    return ast.PathExpression(segments=type_.segments, span=type_.span)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a + b * c", "[a + [b * c]]"),
        ("a * b + c", "[[a * b] + c]"),
        ("a - b - c", "[[a - b] - c]"),
        ("a / b % c * d", "[[[a / b] % c] * d]"),
        ("a + b << c + d", "[[a + b] << [c + d]]"),
        ("a >> b >> c", "[[a >> b] >> c]"),
        ("a & b << c", "[a & [b << c]]"),
        ("a ^ b & c", "[a ^ [b & c]]"),
        ("a | b ^ c", "[a | [b ^ c]]"),
        ("a == b | c", "[a == [b | c]]"),
        ("a & b == c", "[[a & b] == c]"),
        ("(a == b) & (c >= d)", "[[a == b] & [c >= d]]"),
        ("a < b && c > d", "[[a < b] && [c > d]]"),
        ("a || b && c || d", "[[a || [b && c]] || d]"),
        ("a >= b + c", "[a >= [b + c]]"),
        ("a != b", "[a != b]"),
        ("-a * b", "[[-a] * b]"),
        ("-a as f32", "[[-a] as f32]"),
        ("a as f32 * b", "[[a as f32] * b]"),
        ("a * b as f32", "[a * [b as f32]]"),
        ("a as i32 as f64", "[[a as i32] as f64]"),
        ("a as i32 > b", "[[a as i32] > b]"),
        ("(a as i32) < b", "[[a as i32] < b]"),
        ("-a.f()", "[-[a.f()]]"),
        ("!a.b", "[![a.b]]"),
        ("- -a", "[-[-a]]"),
        ("!!a", "[![!a]]"),
        ("a.0.1", "[[a.0].1]"),
        ("a.0.f()", "[[a.0].f()]"),
        ("f(x).g()[i].0", "[[[[call f].g()] at i].0]"),
        ("(a.f)(x)", "[call [a.f]]"),
        ("a..b + 1", "[a .. [b + 1]]"),
        ("a..=b", "[a ..= b]"),
        ("a..", "[a .. ]"),
        ("..b", "[ .. b]"),
        ("..", "[ .. ]"),
        ("a || b..c", "[[a || b] .. c]"),
        ("a & -b", "[a & [-b]]"),
        ("a - -1", "[a - [-1]]"),
    ],
)
def test_operators_bind_as_in_rust(text: str, read: str) -> None:
    assert grouped(expression_of(text)) == read


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("1", "IntegerLiteral(value=1, suffix='')"),
        ("1_000i64", "IntegerLiteral(value=1000, suffix='i64')"),
        ("0xFF_u8", "IntegerLiteral(value=255, suffix='u8')"),
        ("0o17", "IntegerLiteral(value=15, suffix='')"),
        ("0b1010_1010", "IntegerLiteral(value=170, suffix='')"),
        ("017", "IntegerLiteral(value=17, suffix='')"),
        ("0x1f32", "IntegerLiteral(value=7986, suffix='')"),
        ("18446744073709551615", "IntegerLiteral(value=18446744073709551615, suffix='')"),
        ("1.5", "FloatLiteral(value=1.5, suffix='')"),
        ("1.", "FloatLiteral(value=1.0, suffix='')"),
        ("1f32", "FloatLiteral(value=1.0, suffix='f32')"),
        ("1_f64", "FloatLiteral(value=1.0, suffix='f64')"),
        ("2.5e-3_bf16", "FloatLiteral(value=0.0025, suffix='bf16')"),
        ("1e6", "FloatLiteral(value=1000000.0, suffix='')"),
        ("1E+6f16", "FloatLiteral(value=1000000.0, suffix='f16')"),
        ("1_0.0_1", "FloatLiteral(value=10.01, suffix='')"),
        ("true", "BoolLiteral(value=True)"),
        (r'"a\n\t\\\"\u{1F600}\x41\0"', "StringLiteral(value='a\\n\\t\\\\\"😀A\\x00')"),
        ('r"a\\n"', "StringLiteral(value='a\\\\n')"),
        ('r##"a"#b"##', "StringLiteral(value='a\"#b')"),
        ('"a \\\n      b"', "StringLiteral(value='a b')"),
        ('"a\nb"', "StringLiteral(value='a\\nb')"),
    ],
)
def test_literals(text: str, node: str) -> None:
    assert repr(expression_of(text)) == node


def test_line_ends_in_strings_count_as_one_character() -> None:
    assert expression_of('"a\r\nb\\\r\n  c"') == expression_of('"a\nbc"')
    assert expression_of('r"a\r\nb"') == expression_of('"a\\nb"')
    assert expression_of('"a\\r\r\nb"') == expression_of('"a\\r\\nb"')


def test_ranges_and_methods_of_numbers() -> None:
    assert grouped(expression_of("0..10")) == "[0 .. 10]"
    assert grouped(expression_of("1.max()")) == "[1.max()]"
    assert grouped(expression_of("(0..n).step_by(4)")) == "[[0 .. n].step_by()]"


def test_arguments_by_position_and_by_name() -> None:
    call = expression_of("load(p + off, mask = m, other = 0.0)")
    assert isinstance(call, ast.Call)
    assert [a.name.text if a.name else None for a in call.arguments] == [None, "mask", "other"]
    assert print_expression(call) == "load(p + off, mask = m, other = 0.0)"


@pytest.mark.parametrize(
    "text",
    [
        "T::load::<D, 1>(p, None, Some(m), &[], None, None, None, false)",
        "zeros::<D>([N, 4])",
        "x.cast::<f32>()",
        "x[(.., None)]",
        "x[(None, ..)]",
        "full::<T::Pointer<T::Pointer<D>>>([N], p)",
        "f::<-1, 2, true, i32>()",
        "f32::NEG_INFINITY",
        "Axis::X",
        "if a { b } else if c { d } else { e }",
        "(a,)",
        "()",
        "(a, b)",
        "[]",
        "[a, b]",
    ],
)
def test_expressions_print_back(text: str) -> None:
    assert print_expression(expression_of(text)) == text.replace("&[", "[")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("&[N, 4]", "[N, 4]"),
        ("f(a, b,)", "f(a, b)"),
        ("[a, b,]", "[a, b]"),
        ("(a, b,)", "(a, b)"),
        ("((a))", "a"),
        ("f::<{ N * 2 }>()", "f::<N>()"),
        ("<T as Triton>::load(p)", "T::load(p)"),
        ("r#match + 1", "match_ + 1"),
        ("f(/* a */ a, // b\n b /* /* c */ */)", "f(a, b)"),
        ("a >=b", "a >= b"),
    ],
)
def test_other_spellings(text: str, same: str) -> None:
    if "N * 2" in text or "match" in text:
        return_text = print_expression(expression_of(text))
        assert return_text in ("f::<N * 2>()", "match + 1")
    else:
        assert expression_of(text) == expression_of(same)


def test_names_are_normalized() -> None:
    assert expression_of("cafe\u0301 + 日本語") == expression_of("caf\u00e9 + 日本語")


def test_match_is_read() -> None:
    node = expression_of(
        "match n { 0 | 1 => a, -2..=2 if b => { c } N => return, (1, _) => d, 1..5 | 7.. | ..0 | ..=9 => f, _ => e }"
    )
    assert isinstance(node, ast.Match)
    first, second, third, fourth, fifth, last = node.arms
    assert len(first.patterns) == 2
    assert isinstance(second.patterns[0], ast.Range)
    assert second.patterns[0].inclusive
    assert second.guard is not None
    assert isinstance(third.value, ast.Block)
    assert isinstance(third.value.statements[0], ast.Jump)
    assert isinstance(fourth.patterns[0], ast.Tuple)
    ends = [(p.start is None, p.stop is None, p.inclusive) for p in fifth.patterns if isinstance(p, ast.Range)]
    assert ends == [(False, False, False), (False, True, False), (True, False, False), (True, False, True)]
    assert print_expression(last.patterns[0]) == "_"


def test_closures_are_kept_for_the_checker() -> None:
    for text in ("|a, b| a + b", "|| 1", "move |x: i32| -> i32 { x }", "|(a, _), mut b| a"):
        call = expression_of(f"reduce(v, {text})")
        assert isinstance(call, ast.Call)
        assert isinstance(call.arguments[1].value, ast.Closure), text


# ---- spans ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", ["Binary a + b", "PathExpression a", "PathExpression b"]),
        ("(a + b) * -c", ["Binary (a + b) * -c", "Binary (a + b)", "PathExpression a", "PathExpression b", "Unary -c"]),
        ("x as f32", ["Cast x as f32", "PathExpression x", "PathType f32"]),
        (
            "load(p, mask = m)",
            ["Call load(p, mask = m)", "PathExpression load", "Argument p", "PathExpression p", "Argument mask = m"],
        ),
        ("a.b(c).0", ["FieldAccess a.b(c).0", "MethodCall a.b(c)", "PathExpression a", "Argument c"]),
        ("a.0.1", ["FieldAccess a.0.1", "FieldAccess a.0", "PathExpression a"]),
        (
            "x[(.., None)]",
            ["Index x[(.., None)]", "PathExpression x", "Tuple (.., None)", "Range ..", "PathExpression None"],
        ),
        ("&[N, 1.5]", ["Array &[N, 1.5]", "PathExpression N", "FloatLiteral 1.5"]),
        ("zeros::<T::Pointer<D>>()", ["Call zeros::<T::Pointer<D>>()", "PathExpression zeros::<T::Pointer<D>>"]),
        (
            "if a { b } else { c }",
            ["If if a { b } else { c }", "PathExpression a", "Block { b }", "PathExpression b", "Block { c }"],
        ),
        ('f("é" , 1)', ['Call f("é" , 1)', "PathExpression f", 'Argument "é"', 'StringLiteral "é"', "Argument 1"]),
        ("a /* 1 */ + /* 2 */ b", ["Binary a /* 1 */ + /* 2 */ b", "PathExpression a", "PathExpression b"]),
        ("-1", ["Unary -1", "IntegerLiteral 1"]),
        ("(0..n)", ["Range (0..n)", "IntegerLiteral 0", "PathExpression n"]),
        ("match n { 1 => a }", ["Match match n { 1 => a }", "PathExpression n", "MatchArm 1 => a", "IntegerLiteral 1"]),
    ],
)
def test_spans_cover_exactly_the_text(text: str, expected: list[str]) -> None:
    source = f"fn f() {{ let x = {text}; }}"
    (statement,) = function_of(source).body.statements
    assert isinstance(statement, ast.Let)
    found = [f"{kind} {covered}" for kind, covered in spans(source, statement.value)]
    assert [e for e in expected if e not in found] == []
    assert found[0] == expected[0]


@pytest.mark.parametrize("operator", ["+", "<<", ">>", ">=", ">", "&&", "!=", "%"])
def test_operator_spans(operator: str) -> None:
    source = f"fn f() {{ let é = a {operator} b; }}"
    (statement,) = function_of(source).body.statements
    assert isinstance(statement, ast.Let)
    assert isinstance(statement.value, ast.Binary)
    span = statement.value.operator_span
    assert source[span.start : span.end] == operator == statement.value.operator


@pytest.mark.parametrize(
    "text",
    [
        "let mut x: i32 = 1;",
        "x += 1;",
        "store(p, v);",
        "for i in 0..n { f(i); }",
        "while a < b { f(); }",
        "'a: loop { break 'a; }",
        "return x;",
        "if a { f(); }",
        "{ f(); }",
        "const N: i32 = 1;",
        "fn g(a: i32) -> i32 { a }",
    ],
)
def test_statement_spans(text: str) -> None:
    source = f"fn f() {{ {text} g(); }}"
    statement = function_of(source).body.statements[0]
    assert source[statement.span.start : statement.span.end] == text


# ---- statements -----------------------------------------------------------------------------------------------------


def test_let_forms() -> None:
    plain, typed, open_, pair, nothing = statements_of(
        "let a = 1; let mut b: T::Pointer<D> = p; let c; let (d, (mut e, _)) = f(); let _ = g();"
    )
    assert isinstance(plain, ast.Let)
    assert isinstance(plain.pattern, ast.NamePattern)
    assert not plain.pattern.mutable
    assert isinstance(typed, ast.Let)
    assert isinstance(typed.pattern, ast.NamePattern)
    assert typed.pattern.mutable
    assert isinstance(typed.annotation, ast.PathType)
    assert [s.name.text for s in typed.annotation.segments] == ["T", "Pointer"]
    assert isinstance(open_, ast.Let)
    assert open_.value is None
    assert isinstance(pair, ast.Let)
    assert isinstance(pair.pattern, ast.TuplePattern)
    assert isinstance(pair.pattern.items[1], ast.TuplePattern)
    assert isinstance(nothing, ast.Let)
    assert isinstance(nothing.pattern, ast.NamePattern)
    assert nothing.pattern.name.text == "_"


@pytest.mark.parametrize("operator", ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
def test_assignments(operator: str) -> None:
    statement = statement_of(f"x {operator} y + 1;")
    assert isinstance(statement, ast.Assign)
    assert statement.operator == operator


def test_loops_and_jumps() -> None:
    loop, while_, for_ = statements_of(
        "'a: loop { break; } while x { continue 'a; } for (i, j) in range(0, n, num_stages = 2) { break 'a; return 1 }"
    )
    assert isinstance(loop, ast.While)
    assert loop.condition is None
    assert loop.label is not None
    assert loop.label.text == "'a"
    assert isinstance(while_, ast.While)
    assert isinstance(while_.body.statements[0], ast.Jump)
    assert while_.body.statements[0].label is not None
    assert isinstance(for_, ast.For)
    assert isinstance(for_.pattern, ast.TuplePattern)
    first, last = for_.body.statements
    assert isinstance(first, ast.Jump)
    assert first.label is not None
    assert isinstance(last, ast.Jump)
    assert last.keyword == "return"
    assert last.value is not None
    assert for_.body.value is None


def test_block_like_statements_end_without_semicolon() -> None:
    first, second, third, fourth = statements_of("if a { f(); } -1; match b { _ => c } (d, e) = g();")
    assert isinstance(first, ast.ExpressionStatement)
    assert isinstance(first.value, ast.If)
    assert isinstance(second, ast.ExpressionStatement)
    assert isinstance(second.value, ast.Unary)
    assert isinstance(third, ast.ExpressionStatement)
    assert isinstance(third.value, ast.Match)
    assert isinstance(fourth, ast.Assign)
    assert isinstance(fourth.target, ast.Tuple)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("f(); x + 1", ast.Binary),
        ("f(); if a { 1 } else { 2 }", ast.If),
        ("f(); { 1 }", ast.Block),
        ("f(); match a { _ => 1 }", ast.Match),
        ("f(); if a { g(); }", type(None)),
        ("f(); if a { g() } else if b { h() }", type(None)),
        ("f(); if a { 1 } else { 2 };", type(None)),
        ("f(); return 1", type(None)),
        ("f(); loop {}", type(None)),
        ("", type(None)),
    ],
)
def test_value_of_a_block(body: str, value: type) -> None:
    assert isinstance(function_of(f"fn f() {{ {body} }}").body.value, value)


def test_nested_functions_keep_docs_and_attributes() -> None:
    statement = statement_of("/// Inner.\n #[allow(x)] #[kernel] fn g() {}")
    assert isinstance(statement, ast.Function)
    assert statement.doc == "Inner."
    assert [a.name.text for a in statement.attributes] == ["allow", "kernel"]
