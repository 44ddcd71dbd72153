"""Properties of the front end for any text: what is printed parses back, and nothing makes it fail or lose text."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from source_printer import print_expression, print_string
from syntax_helpers import expression_of, parse_text

from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.syntax.build_operators import PRECEDENCE
from teenyc.syntax.tables import load
from teenyc.syntax.tokens import KEYWORDS, Token, tokenize

NOWHERE = Span(0, 0)


def tokens_of(text: str) -> list[Token]:
    return tokenize(text, load().pattern).tokens


# ---- random syntax trees --------------------------------------------------------------------------------------------


def name(text: str) -> ast.Name:
    return ast.Name(text, NOWHERE)


NAMES = st.one_of(
    st.sampled_from(["a", "x_1", "_unused", "HEAD_DIM", "lambda", "日本", "é", "r", "b", "e5", "f32"]),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(lambda t: t not in KEYWORDS),
).map(name)
INTEGERS = st.builds(
    ast.IntegerLiteral,
    value=st.integers(0, 2**64 - 1),
    suffix=st.sampled_from(["", "", "i32", "i64", "u8", "u64"]),
    span=st.just(NOWHERE),
)
FLOATS = st.builds(
    ast.FloatLiteral,
    value=st.floats(min_value=0, allow_nan=False, allow_infinity=False).map(abs),
    suffix=st.sampled_from(["", "", "f32", "f64", "f16", "bf16"]),
    span=st.just(NOWHERE),
)
STRINGS = st.builds(ast.StringLiteral, value=st.text(max_size=8), span=st.just(NOWHERE))
BOOLS = st.builds(ast.BoolLiteral, value=st.booleans(), span=st.just(NOWHERE))


def path_types(depth: int = 2) -> st.SearchStrategy[ast.PathType]:
    generics = st.just(()) if depth == 0 else st.lists(path_types(depth - 1) | INTEGERS, max_size=2).map(tuple)
    segments = st.lists(st.builds(ast.Segment, name=NAMES, generics=generics), min_size=1, max_size=2).map(tuple)
    return st.builds(ast.PathType, segments=segments, span=st.just(NOWHERE))


def segments(count: int) -> st.SearchStrategy[tuple[ast.Segment, ...]]:
    generics = st.lists(path_types() | INTEGERS, max_size=2).map(tuple)
    return st.lists(st.builds(ast.Segment, name=NAMES, generics=generics), min_size=1, max_size=count).map(tuple)


PATHS = st.builds(ast.PathExpression, segments=segments(3), span=st.just(NOWHERE))
LEAVES = PATHS | INTEGERS | FLOATS | STRINGS | BOOLS


def arguments(values: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[tuple[ast.Argument, ...]]:
    plain = st.lists(st.builds(ast.Argument, value=values, span=st.just(NOWHERE)), max_size=2)
    named = st.lists(st.builds(ast.Argument, value=values, name=NAMES, span=st.just(NOWHERE)), max_size=2)
    return st.builds(lambda a, b: (*a, *b), plain, named)


def blocks(values: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Block]:
    value = values | st.none()
    return st.builds(ast.Block, statements=st.just(()), value=value, span=st.just(NOWHERE))


def compound(inner: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Expression]:
    here = st.just(NOWHERE)
    items = st.lists(inner, max_size=3).map(tuple)
    cast_path = st.builds(ast.PathType, segments=segments(2), span=here)
    field_name = NAMES | st.sampled_from(["0", "1", "12"]).map(name)
    method = segments(1).map(lambda s: s[0])
    return st.one_of(
        st.builds(ast.Unary, operator=st.sampled_from("-!"), operand=inner, span=here),
        st.builds(
            ast.Binary,
            operator=st.sampled_from(sorted(PRECEDENCE)),
            left=inner,
            right=inner,
            operator_span=here,
            span=here,
        ),
        st.builds(ast.Cast, operand=inner, target=cast_path, span=here),
        st.builds(ast.Call, callee=inner, arguments=arguments(inner), span=here),
        st.builds(ast.MethodCall, receiver=inner, method=method, arguments=arguments(inner), span=here),
        st.builds(ast.FieldAccess, operand=inner, name=field_name, span=here),
        st.builds(ast.Index, operand=inner, index=inner, span=here),
        st.builds(ast.Array, items=items, span=here),
        st.builds(ast.Tuple, items=items, span=here),
        st.builds(ast.Range, start=inner | st.none(), stop=inner | st.none(), inclusive=st.just(False), span=here),
        st.builds(ast.Range, start=inner | st.none(), stop=inner, inclusive=st.just(True), span=here),
        st.builds(ast.If, condition=inner, then=blocks(inner), otherwise=blocks(inner), span=here),
    )


EXPRESSIONS = st.recursive(LEAVES, compound, max_leaves=14)


# ---- what is printed parses back ------------------------------------------------------------------------------------


@given(EXPRESSIONS, st.booleans())
@settings(max_examples=300, deadline=None)
def test_expressions_parse_back(node: ast.Expression, redundant: bool) -> None:
    assert expression_of(print_expression(node, redundant=redundant)) == node


GAPS = st.sampled_from(["", " ", "\n", "\t", "\r\n", " // words ) \n", "/* a */", " /* { /* nested */ ' */ ", "\u2028"])


@given(EXPRESSIONS, st.data())
@settings(max_examples=150, deadline=None)
def test_gaps_between_tokens_do_not_matter(node: ast.Expression, data: st.DataObject) -> None:
    text = print_expression(node)
    assert expression_of(with_gaps(text, data)) == node


def with_gaps(text: str, data: st.DataObject) -> str:
    """The text with spaces and comments put between tokens, but not inside `>=` and `>>`, which are two tokens."""
    parts: list[str] = []
    end = 0
    last = ""
    for token in tokens_of(text):
        gap = text[end : token.start]
        if gap or not (last == ">" and token.kind in (">", "=")):
            gap += data.draw(GAPS)
        parts += [gap, token.text]
        end, last = token.end, token.kind
    return "".join(parts) + text[end:]


# ---- literals -------------------------------------------------------------------------------------------------------


@given(st.text(max_size=40))
def test_strings_with_escapes_read_back(value: str) -> None:
    node = expression_of(print_string(value))
    assert isinstance(node, ast.StringLiteral)
    assert node.value == value


@given(st.text(alphabet=st.characters(exclude_characters='"\r', exclude_categories=["Cs"]), max_size=40))
def test_raw_strings_read_back(value: str) -> None:
    node = expression_of(f'r#"{value}"#')
    assert isinstance(node, ast.StringLiteral)
    assert node.value == value


@given(
    st.integers(0, 2**64 - 1),
    st.sampled_from([("", "d"), ("0x", "x"), ("0x", "X"), ("0o", "o"), ("0b", "b")]),
    st.data(),
)
def test_integers_read_back(value: int, base: tuple[str, str], data: st.DataObject) -> None:
    prefix, form = base
    digits = "".join(d + "_" * data.draw(st.integers(0, 1)) for d in format(value, form))
    suffix = data.draw(st.sampled_from(["", "i64", "_u64", "usize"]))
    node = expression_of(prefix + digits + suffix)
    assert node == ast.IntegerLiteral(value=value, suffix=suffix.lstrip("_"), span=NOWHERE)


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".17e", ".17E"]))
def test_floats_read_back(value: float, form: str) -> None:
    text = repr(value) if form == "r" else format(value, form)
    node = expression_of(text)
    assert isinstance(node, ast.FloatLiteral)
    assert math.copysign(1, node.value) * node.value == abs(value)


# ---- any text -------------------------------------------------------------------------------------------------------

SOUP = st.lists(
    st.sampled_from(
        'let mut fn if else for while loop match in as return break const mod struct impl #[kernel] #![a] #[doc="a"] '
        'a b T::x 1 1.5 0x 1e \'a \'b\' " r#" b" "s" ( ) [ ] { } < > << >>= = == => -> :: : ; , . .. ..= ... + - * / % '
        "^ ! != & && | || ? @ $ ~ \\ // /* */ /// //! é 🙂 \u2028 \0 _ self Self crate move unsafe dyn true None".split(
            " "
        )
    ),
    max_size=60,
).map(" ".join)


@given(st.text(max_size=60) | SOUP)
@settings(max_examples=300, deadline=None)
def test_tokens_are_ordered_and_lose_nothing(text: str) -> None:
    tokens = tokens_of(text)
    end = 0
    for token in tokens:
        assert end <= token.start < token.end <= len(text)
        assert token.text == text[token.start : token.end]
        end = token.end
    again = " ".join(t.text for t in tokens if t.kind != "UNTERMINATED")
    assert [t.text for t in tokens_of(again)] == [t.text for t in tokens if t.kind != "UNTERMINATED"] or "'" in text


@given(
    SOUP | st.text(max_size=60),
    st.sampled_from(["{}", "#[kernel] fn f() {{ {} }}", "fn f() {{ let x = {}; }}\nfn g() {{}}"]),
)
@settings(max_examples=400, deadline=None)
def test_any_text_is_parsed_or_reported(text: str, frame: str) -> None:
    source = frame.format(text)
    module, reports = parse_text(source)
    assert parse_text(source) == (module, reports)
    for report in reports:
        assert report.span is not None
        assert 0 <= report.span.start <= report.span.end <= len(source)
        assert report.message()
        assert report.message()[0] != report.message()[0].upper() or not report.message()[0].isalpha()
