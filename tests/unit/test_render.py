"""How reports look to people: drawn into their source, or one a line. And that every format takes any report."""

from __future__ import annotations

import json
import re
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_reports import SAMPLE, Sample, at, unknown

from teenyc.diagnostics.catalog.inputs import FileMissing
from teenyc.diagnostics.catalog.lints import UnusedVariable
from teenyc.diagnostics.catalog.types import LiteralKind
from teenyc.diagnostics.model import LIMIT, Diagnostic, Fix, Label
from teenyc.diagnostics.render import FORMATS, Report, render
from teenyc.diagnostics.render.text import columns
from teenyc.source import SourceFile, Span


def human(text: str, *diagnostics: Diagnostic, width: int = 120, name: str = "k.tk") -> str:
    """The reports on a text, without the lines that close every output."""
    source = SourceFile(name, text)
    whole = render([Report(d, source) for d in diagnostics], format="human", width=width)
    return whole.rpartition("\n\n")[0] + "\n"


def expected(text: str) -> str:
    return dedent(text).lstrip("\n")


# ---- human


def test_whole_output() -> None:
    assert render([unknown()], format="human") + "\n" == expected("""
        error[E0201]: unknown name `scal`
         --> softmax.tk:3:13
          |
        3 |     let a = scal + 1;
          |             ^^^^ not found in this kernel
        help: a similar name is in scope: `scale`

        error: 1 error in softmax.tk
        for more information: teenyc explain E0201
        """)


def test_nothing_to_report() -> None:
    assert render([], format="human") == ""
    assert render([], format="short") == ""


def test_unknown_format() -> None:
    with pytest.raises(ValueError, match="xml"):
        render([], format="xml")


def test_marks_on_one_line_have_their_words_below_from_right_to_left() -> None:
    text = "let y = n * x;"
    others = (Label(at(text, "n"), "an integer"), Label(at(text, "x"), "a float"))
    assert human(text, Sample(span=at(text, "*"), others=others)) == expected("""
        error[E0999]: words
         --> k.tk:1:11
          |
        1 | let y = n * x;
          |         - ^ - a float
          |         | |
          |         | here
          |         an integer
        """)


def test_small_marks_are_drawn_over_large_ones() -> None:
    text = "let y = n * x;"
    others = (Label(at(text, "n"), "an integer"), Label(at(text, "x"), "a float"))
    assert human(text, Sample(span=at(text, "n * x"), under="", others=others)) == expected("""
        error[E0999]: words
         --> k.tk:1:9
          |
        1 | let y = n * x;
          |         -^^^- a float
          |         |
          |         an integer
        """)


def test_words_of_an_enclosing_mark_hang_below() -> None:
    text = "fn foo()"
    assert human(text, Sample(span=Span(0, 8), others=(Label(at(text, "foo"), "this"),))) == expected("""
        error[E0999]: words
         --> k.tk:1:1
          |
        1 | fn foo()
          | ^^^---^^
          | |  |
          | |  this
          | here
        """)


def test_marks_on_several_lines_are_in_order_with_dots_between_distant_ones() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 13))
    others = (Label(at(text, "line 4"), "there"), Label(at(text, "ine 2"), "first"))
    assert human(text, Sample(span=at(text, "line 10"), others=others)) == expected("""
        error[E0999]: words
          --> k.tk:10:1
           |
         2 | line 2
           |  ----- first
         3 | line 3
         4 | line 4
           | ------ there
        ...
        10 | line 10
           | ^^^^^^^ here
        """)


def test_mark_over_several_lines() -> None:
    text = "let a = foo(\n    x,\n    y,\n);\n"
    assert human(text, Sample(span=Span(8, text.index(")") + 1))) == expected("""
        error[E0999]: words
         --> k.tk:1:9
          |
        1 |   let a = foo(
          |  _________^
        ... |
        4 | | );
          | |_^ here
        """)


def test_nested_marks_over_several_lines() -> None:
    text = "if a {\n    foo(\n        x);\n}\nlet b = 1;\n"
    others = (Label(at(text, "foo(\n        x)"), "the call"), Label(at(text, "b"), "then"))
    assert human(text, Sample(span=Span(0, text.index("}") + 1), others=others)) == expected("""
        error[E0999]: words
         --> k.tk:1:1
          |
        1 | /  if a {
        2 | |/     foo(
        3 | ||         x);
          | ||__________- the call
        4 | |  }
          | |__^ here
        5 |    let b = 1;
          |        - then
        """)


@pytest.mark.parametrize(
    ("text", "span", "line", "column"),
    [
        ("a bc", Span(4, 4), 1, 5),  # at the end of the file
        ("a bc", Span(400, 500), 1, 5),  # behind it
        ("a bc\n", Span(5, 5), 2, 1),
        ("a bc\n", Span(4, 5), 1, 5),  # the line end itself
        ("a bc\r\nd", Span(4, 6), 1, 5),
        ("", Span(0, 0), 1, 1),
        ("abc", Span(1, 1), 1, 2),  # empty
    ],
)
def test_places_at_the_edge(text: str, span: Span, line: int, column: int) -> None:
    lines = human(text, Sample(span=span, under="")).splitlines()
    assert lines[1] == f" --> k.tk:{line}:{column}"
    assert lines[-1] == "  | " + " " * (column - 1) + "^"


def test_tabs_count_one_and_are_shown_as_four() -> None:
    text = "\tlet a\t= b;"
    assert human(text, Sample(span=at(text, "b"))) == expected("""
        error[E0999]: words
         --> k.tk:1:10
          |
        1 |     let a    = b;
          |                ^ here
        """)


@pytest.mark.parametrize(
    "text", ["变量 = X", "e\u0301e\u0301 = X", "\U0001f468\u200d\U0001f469 X", "ｗｉｄｅ X", "\u1112\u1161\u11ab X"]
)
def test_marks_stand_under_what_they_mark_at_any_width(text: str) -> None:
    lines = human(text, Sample(span=at(text, "X"))).splitlines()
    assert columns(lines[3].partition("X")[0]) == lines[4].index("^")


def test_wide_characters_have_wide_marks() -> None:
    assert human("变量", Sample(span=Span(0, 2))).splitlines()[-1] == "  | ^^^^ here"


def test_nothing_untrusted_reaches_the_terminal() -> None:
    evil = "\x1b[31m\x07\u202e\u2028\x9b\u200b\ud800\r"
    text = f"{evil}x"
    report = Report(
        Sample(
            span=at(text, "x"),
            words=evil,
            under=evil,
            facts=(evil,),
            advice=evil,
            edit=Fix(at(text, "x"), evil),
            others=(Label(Span(0, 1), evil),),
        ),
        SourceFile(f"{evil}\n.tk", text),
    )
    for format in ("human", "short"):
        output = render([report], format=format)
        assert not set(output) & set(evil.replace("[31m", ""))
    assert r"\u{1b}[31m\u{7}\u{202e}\u{2028}\u{9b}\u{200b}\u{d800}\rx" in render([report], format="human")
    assert r"\u{d800}\r\n.tk:1:13: error" in render([report], format="short")


def test_long_lines_are_trimmed_around_the_mark() -> None:
    text = "x" * 500 + " bad " + "y" * 500
    for line in human(text, Sample(span=at(text, "bad"), under=""), width=60).splitlines()[3:]:
        assert len(line) <= 60
    assert re.search(r"… ?x+ bad y+…$", human(text, Sample(span=at(text, "bad")), width=60), re.MULTILINE)


def test_trimmed_marks_stand_under_what_they_mark() -> None:
    text = "变" * 300 + "X" + "\t" * 300
    lines = human(text, Sample(span=at(text, "X"))).splitlines()
    assert columns(lines[3].partition("X")[0]) == lines[4].index("^")


def test_start_of_a_long_line_is_kept_where_it_fits() -> None:
    text = "let a = b;" + " " * 10 + "y" * 500
    lines = human(text, Sample(span=at(text, "b")), width=40).splitlines()
    assert lines[3].startswith("1 | let a = b;")
    assert lines[3].endswith("…")


def test_report_without_a_place() -> None:
    assert human("text", Sample(facts=("a fact", "two\nlines"), advice="do this")) == expected("""
        error[E0999]: words
         --> k.tk
          = note: a fact
          = note: two
                  lines
        help: do this
        """)


def test_report_without_a_source() -> None:
    assert render([Report(FileMissing(path="x.tk", similar="y.tk"))], format="human") + "\n" == expected("""
        error[E0001]: cannot find `x.tk`
        help: a file has a similar name: `y.tk`

        error: 1 error
        for more information: teenyc explain E0001
        """)


def test_notes_are_set_off_from_the_source() -> None:
    assert human("let a", Sample(span=Span(4, 5), facts=("a fact",))) == expected("""
        error[E0999]: words
         --> k.tk:1:5
          |
        1 | let a
          |     ^ here
          |
          = note: a fact
        """)


def test_fix_is_shown_as_the_edited_line() -> None:
    text = "let n = 1;\r\nlet y = x * 2;\r\n"
    diagnostic = LiteralKind(literal="2", other="f32", is_float=False, span=at(text, "2"))
    assert human(text, diagnostic).endswith(
        expected("""
        help: write `2.0`
          |
        2 | let y = x * 2.0;
          |             ~~~
        """)
    )


def test_fix_of_several_lines() -> None:
    text = "a\nb\nc"
    fix = Fix(Span(2, 3), "\n".join("123456789"))
    assert human(text, Sample(span=Span(0, 1), edit=fix)).endswith(
        expected("""
        help: write instead
          |
        2 | 1
        3 | 2
        4 | 3
        5 | 4
        6 | 5
        7 | 6
        ...
        """)
    )


def test_summary_counts_kinds_files_and_codes() -> None:
    lint = Report(UnusedVariable(name="b", span=at(SAMPLE, "b")), SourceFile("other.tk", SAMPLE))
    lines = render([unknown(), unknown(), lint], format="human").splitlines()
    assert lines[-2:] == [
        "error: 2 errors, 1 warning in 2 files",
        "for more information: teenyc explain E0201 (or W0101)",
    ]
    assert render([lint], format="human").splitlines()[-2] == "warning: 1 warning in other.tk"


def test_of_many_reports_the_errors_are_shown_and_the_rest_is_counted() -> None:
    text = "b" * 300
    source = SourceFile("k.tk", text)
    lints = [Report(UnusedVariable(name="b", span=Span(i, i + 1)), source) for i in range(LIMIT + 20)]
    reports = [*lints, Report(Sample(span=Span(299, 300)), source)]
    lines = render(reports, format="human").splitlines()
    assert lines[-3:-1] == ["note: 21 more reports not shown", "error: 1 error, 120 warnings in k.tk"]
    short = render(reports, format="short").splitlines()
    assert len(short) == LIMIT + 1
    assert "error[E0999]" in short[-2]
    assert short[-1] == "21 more reports not shown"
    data = json.loads(render(reports, format="json"))
    assert len(data["diagnostics"]) == LIMIT
    assert data["summary"] == {"errors": 1, "warnings": 120, "omitted": 21}


def test_color_adds_sequences_and_changes_nothing_else() -> None:
    text = "let a = foo(\n    x,\n    y,\n);\n"
    others = (Label(at(text, "a"), "that"),)
    reports = [
        Report(
            Sample(span=Span(8, 30), others=others, facts=("f",), advice="h", edit=Fix(Span(0, 3), "var")),
            SourceFile("k.tk", text),
        )
    ]
    plain, painted = render(reports, format="human"), render(reports, format="human", color=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31merror[E0999]\x1b[0m" in painted
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", painted).split("\n")] == plain.split("\n")


# ---- short


def test_short() -> None:
    reports = [unknown(), Report(Sample(), SourceFile("k.tk", "")), Report(FileMissing(path="x.tk"))]
    assert render(reports, format="short").splitlines() == [
        "softmax.tk:3:13: error[E0201]: unknown name `scal`",
        "k.tk: error[E0999]: words",
        "error[E0001]: cannot find `x.tk`",
    ]


# ---- all formats

TEXTS = st.text(st.sampled_from("ab {}\t\n\r变é\u0301\u200d\x1b\u202e\ud800"), max_size=60)
SPANS = st.builds(lambda start, length: Span(start, start + length), st.integers(0, 70), st.integers(0, 40))
LABELS = st.lists(st.builds(Label, SPANS, TEXTS), max_size=3).map(tuple)


@settings(max_examples=150, deadline=None)
@given(TEXTS, SPANS, LABELS, st.builds(Fix, SPANS, TEXTS), st.integers(0, 80))
def test_any_report_on_any_text_can_be_rendered(
    text: str, span: Span, others: tuple[Label, ...], edit: Fix, width: int
) -> None:
    report = Report(Sample(span=span, words=text, others=others, edit=edit), SourceFile("k.tk", text))
    outputs = {format: render([report], format=format, width=width) for format in FORMATS}
    assert outputs == {format: render([report], format=format, width=width) for format in FORMATS}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", outputs["human"] + outputs["short"])
    json.loads(outputs["json"])
    json.loads(outputs["sarif"])
    (outputs["json"] + outputs["sarif"]).encode("ascii")


def test_large_sources_are_rendered_quickly() -> None:
    text = "变 " * 30_000
    source = SourceFile("k.tk", text)
    reports = [
        Report(Sample(span=Span(i * 500, i * 500 + 1), others=(Label(Span(0, 59_000)),)), source) for i in range(LIMIT)
    ]
    output = render(reports, format="human")
    assert max(map(len, output.splitlines())) <= 120
