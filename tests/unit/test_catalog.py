"""The catalogue: every code is unique, well formed, in its phase's module, says something and is explained."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from teenyc.diagnostics import catalog
from teenyc.diagnostics.catalog import PHASES, all_codes, find
from teenyc.diagnostics.catalog.inputs import (
    FileMissing,
    FileTooLarge,
    FileUnreadable,
    NoKernel,
    NoSources,
    NotAFile,
    NotGenerated,
    NotUtf8,
    OutOfDate,
    OutputIsSource,
    OutputUnwritable,
    SameOutput,
    UnknownOption,
    reason_of,
)
from teenyc.diagnostics.explain import explain, explanation
from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.record import fields

INPUTS = [
    FileMissing(path="x.tk", similar="y.tk"),
    FileMissing(path="x.tk"),
    FileUnreadable(path="x.tk", reason="permission denied"),
    NotUtf8(path="x.tk", byte_offset=17, line=3),
    NoSources(path="src"),
    NoKernel(path="x.tk"),
    FileTooLarge(path="x.tk", size=20_000_000, limit=16_777_216),
    OutputUnwritable(path="x.py", reason="disk full"),
    NotAFile(path="/dev/null", what="a device"),
    UnknownOption(option="--set", what="constant", name="BLOCKS", known=("BLOCK",), similar="BLOCK"),
    UnknownOption(option="--dtype", what="dtype parameter", name="D"),
    SameOutput(output="softmax.py", first="a/softmax.tk", second="b/softmax.tk"),
    NotGenerated(path="softmax.py"),
    OutputIsSource(output="softmax.py", source="softmax.py"),
    OutOfDate(path="softmax.py", source="softmax.tk", exists=True),
    OutOfDate(path="softmax.py", source="softmax.tk", exists=False),
]


def kind_of(code: str) -> type[Diagnostic]:
    kind = find(code)
    assert kind is not None
    return kind


def test_codes_are_unique() -> None:
    codes = all_codes()
    assert len(codes) == len(set(codes))
    assert list(codes) == sorted(codes)


def test_every_module_is_a_phase() -> None:
    modules = {module.name for module in iter_modules(catalog.__path__)}
    assert modules <= {module for modules in PHASES.values() for module in modules}


@pytest.mark.parametrize("code", all_codes())
def test_code_fits_its_severity_and_module(code: str) -> None:
    kind = kind_of(code)
    assert re.fullmatch(r"[EW]\d{4}", code)
    assert kind.severity is (Severity.LINT if code.startswith("W") else Severity.ERROR)
    phase = kind.__module__.removeprefix(f"{catalog.__name__}.").partition(".")[0]
    assert phase in (PHASES.get(code[:3]) or PHASES[code[:1]])


def test_a_file_of_the_catalogue_is_not_long() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in Path(catalog.__path__[0]).rglob("*.py")}
    assert {path.name: n for path, n in lengths.items() if n > 500} == {}


@pytest.mark.parametrize("code", all_codes())
def test_report_says_something(code: str) -> None:
    kind = kind_of(code)
    assert kind.message is not Diagnostic.message
    assert "__slots__" in vars(kind), "a diagnostic is a record"
    assert all(field.kw_only for field in fields(kind))


@pytest.mark.parametrize("code", all_codes())
def test_explanation_says_why_and_shows_an_example(code: str) -> None:
    text = explanation(kind_of(code))
    prose, example = _split(text)
    assert example, "an example belongs under the words, indented by four columns"
    first = prose.partition("\n\n")[0]
    assert first[0].isupper() or first[0] in "`#"
    assert first.endswith((".", ":", ")"))
    assert len(re.findall(r"\w+", prose)) >= 5, "say what happens"
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("code", all_codes())
def test_fixed_words_follow_the_law(code: str) -> None:
    """Lower case and no full stop, read off the strings in the source of the methods that make words."""
    kind = kind_of(code)
    for method in ("message", "label", "help"):
        if getattr(kind, method) is getattr(Diagnostic, method):
            continue
        for words in re.findall(r'return f?"([^"]*)"', inspect.getsource(getattr(kind, method))):
            assert not re.match(r"[A-Z][a-z]", words), f"{method} begins in lower case: {words}"
            assert not words.endswith("."), f"{method} ends without a full stop: {words}"


@pytest.mark.parametrize("code", all_codes())
def test_explain_prints_code_severity_and_docstring(code: str) -> None:
    kind = kind_of(code)
    text = explain(code.lower())
    assert text is not None
    head, silencing = f"{kind.severity.value}[{code}]\n\n{explanation(kind)}", text.partition("\n\nWhere it is meant: ")
    assert silencing[0] == head
    assert bool(silencing[2]) is (kind.severity is Severity.LINT)
    assert not text.endswith("\n")


@pytest.mark.parametrize("code", ["", "E9999", "W9999", "X0101", "E02", "nonsense", "E0201 "])
def test_unknown_codes(code: str) -> None:
    assert find(code) is None
    if code.strip() != "E0201":
        assert explain(code) is None


def test_explanation_indents_an_example_that_lost_its_indentation() -> None:
    class Flat(Diagnostic):
        """What is wrong.

        let a = 1;      // so
        let b = 2;
        """

    class Deep(Diagnostic):
        """What is wrong.

        And why.

            let a = 1;
        """

    assert explanation(Flat) == "What is wrong.\n\n    let a = 1;      // so\n    let b = 2;"
    assert explanation(Deep) == "What is wrong.\n\nAnd why.\n\n    let a = 1;"


@pytest.mark.parametrize("report", INPUTS, ids=lambda report: report.code)
def test_input_reports_can_be_said(report: Diagnostic) -> None:
    texts = [report.message(), report.label(), *report.notes(), report.help() or ""]
    assert not any(text.endswith(".") or text[:1].isupper() for text in texts)
    assert report.span is None


def test_every_input_report_is_tried() -> None:
    module = import_module("teenyc.diagnostics.catalog.inputs")
    codes = {kind.code for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Diagnostic)}
    assert {report.code for report in INPUTS} == codes - {""}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "disk full"),
        (PermissionError(13, "Permission denied"), "permission denied"),
        (OSError(30, "Read-only file system"), "read-only file system"),
        (OSError(9999, "Strange Things"), "strange things"),
        (OSError("no number"), "unknown reason"),
    ],
)
def test_reasons(error: OSError, words: str) -> None:
    assert reason_of(error) == words


def test_reports_are_imported_when_needed() -> None:
    program = (
        "import sys; from teenyc.diagnostics.catalog import find; "
        "assert not [m for m in sys.modules if m.startswith('teenyc.diagnostics.catalog.')]; find('E0201'); "
        "print(*[m for m in sys.modules if m.startswith('teenyc.diagnostics.catalog.')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["teenyc.diagnostics.catalog.names"]


def _split(text: str) -> tuple[str, str]:
    """The words and the example of an explanation."""
    lines = text.splitlines()
    prose = "\n".join(line for line in lines if not line.startswith("    "))
    return prose.strip(), "\n".join(line for line in lines if line.startswith("    "))
