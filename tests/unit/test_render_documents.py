"""Reports as documents for programs: JSON as the docs describe it, and SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sample_reports import SAMPLE, Sample, at, unknown

from teenyc.diagnostics.catalog.inputs import FileMissing
from teenyc.diagnostics.catalog.lints import UnusedVariable
from teenyc.diagnostics.catalog.types import LiteralKind
from teenyc.diagnostics.model import Fix, Label
from teenyc.diagnostics.render import Report, render
from teenyc.source import SourceFile, Span

DOCS = Path(__file__).parents[2] / "docs" / "diagnostics-json.md"

# ---- JSON


def test_json_is_what_the_docs_show() -> None:
    shown = re.search(r"```json\n(.*?)\n```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert render([unknown()], format="json") == shown[1]


def test_json_fields_are_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    reports = [Report(LiteralKind(literal="2", other="f32", is_float=False, span=Span(0, 1)), SourceFile("k.tk", "2"))]
    assert [key for key in _keys(json.loads(render(reports, format="json"))) if not re.search(rf"\b{key}`", text)] == [
        "summary"  # its fields stand there as `summary.errors` and so on
    ]


def test_json_without_reports() -> None:
    assert json.loads(render([], format="json")) == {
        "version": 1,
        "diagnostics": [],
        "summary": {"errors": 0, "warnings": 0, "omitted": 0},
    }


def test_json_without_a_place() -> None:
    (report,) = json.loads(render([Report(FileMissing(path="x.tk"))], format="json"))["diagnostics"]
    assert report["span"] is None
    assert report["file"] is None
    assert report["labels"] == []


def test_json_places_count_code_points_and_bytes() -> None:
    text = "é\t变\r\nx"
    source = SourceFile("k.tk", text, bom=True)
    others = (Label(at(text, "x"), "there"),)
    report = Report(Sample(span=at(text, "变"), others=others, edit=Fix(at(text, "变"), "v")), source)
    (data,) = json.loads(render([report], format="json"))["diagnostics"]
    place = {"file": "k.tk", "line": 1, "column": 3, "end_line": 1, "end_column": 4, "start_byte": 6, "end_byte": 9}
    assert data["span"] == place
    assert data["labels"][0] == {"span": place, "text": "here", "primary": True}
    assert data["labels"][1]["text"] == "there"
    assert (data["labels"][1]["span"]["line"], data["labels"][1]["span"]["start_byte"]) == (2, 11)
    assert data["fix"] == {"span": place, "replacement": "v", "edits": [{"span": place, "replacement": "v"}]}


# ---- SARIF


def sarif(*reports: Report) -> dict[str, Any]:
    (run,) = json.loads(render(reports, format="sarif"))["runs"]
    return dict(run)


def test_sarif_names_its_version_without_reports_too() -> None:
    log = json.loads(render([], format="sarif"))
    assert log["version"] == "2.1.0"
    assert log["runs"][0]["results"] == []
    assert log["runs"][0]["columnKind"] == "unicodeCodePoints"


def test_sarif_rules_explain_and_results_point_to_them() -> None:
    lint = Report(UnusedVariable(name="b", span=at(SAMPLE, "b")), SourceFile("other.tk", SAMPLE))
    run = sarif(lint, unknown(), Report(FileMissing(path="x.tk")))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["E0001", "E0201", "W0101"]
    assert rules[1]["name"] == "UnknownName"
    assert rules[1]["shortDescription"]["text"] == "A value is used under a name that nothing in scope has."
    assert "    let a = scale + 1.0;" in rules[1]["fullDescription"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["defaultConfiguration"]["level"] == result["level"]
    assert [result["level"] for result in run["results"]] == ["warning", "error", "error"]


def test_sarif_result() -> None:
    text = "let n = 1;\nlet y = 变 * 2;\n"
    others = (Label(at(text, "n"), "there"),)
    diagnostic = Sample(
        span=at(text, "2"), others=others, facts=("a fact",), advice="do", edit=Fix(at(text, "2"), "2.0")
    )
    (result,) = sarif(Report(diagnostic, SourceFile("dir name/k.tk", text)))["results"]
    assert result["message"]["text"] == "words: here\nnote: a fact\nhelp: do"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "dir%20name/k.tk"
    assert place["region"] == {"startLine": 2, "startColumn": 13, "endLine": 2, "endColumn": 14}
    assert result["relatedLocations"][0]["message"]["text"] == "there"
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [{"deletedRegion": place["region"], "insertedContent": {"text": "2.0"}}]


def test_sarif_messages_hold_no_placeholders_and_no_links() -> None:
    (result,) = sarif(Report(Sample(words="expected `{0}`"), SourceFile("k.tk", "")))["results"]
    assert result["message"]["text"] == "expected `{{0}}`: here"
    (result,) = sarif(Report(Sample(words="shape [M](1)"), SourceFile("k.tk", "")))["results"]
    assert result["message"]["text"] == "shape \\[M\\](1): here"


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("<source>", "%3Csource%3E"),
        ("a:b.tk", "a%3Ab.tk"),
        ("/tmp/k.tk", "file:///tmp/k.tk"),
        ("\udcff.tk", "%FF.tk"),
        ("\ud800.tk", "%3F.tk"),
    ],
)
def test_sarif_uris(name: str, uri: str) -> None:
    (result,) = sarif(Report(Sample(), SourceFile(name, "")))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def _keys(value: object) -> list[str]:
    """All keys of a JSON value, each once, in order."""
    if isinstance(value, list):
        return list(dict.fromkeys(key for item in value for key in _keys(item)))
    if isinstance(value, dict):
        return list(dict.fromkeys([*value, *(key for item in value.values() for key in _keys(item))]))
    return []
