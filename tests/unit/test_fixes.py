"""`check --fix`: what becomes of sources, by the fixes of all cases of `ui/`, of mutated sources, and on the disk."""

from __future__ import annotations

import json
import os
import random
import stat
import sys
from collections import Counter
from pathlib import Path

import pytest
from cases import Case, case_id, cases
from mutations import mutated, sources
from shell import BAD, GOOD, LINT, Shell

from teenyc import Compiled, Options, compile_source
from teenyc.diagnostics.edits import apart, as_one, edited
from teenyc.diagnostics.model import Diagnostic, Fix, Severity
from teenyc.fixes import fixed, is_better, stage_of
from teenyc.record import replace
from teenyc.runtime import files
from teenyc.source import SourceFile, Span

posix = pytest.mark.skipif(os.name != "posix", reason="about links and modes of POSIX")


def check(text: str, options: Options | None = None) -> Compiled:
    return compile_source(SourceFile("k.tk", text), options=replace(options or Options(), generate=False))


def after(text: str) -> str:
    return fixed(SourceFile("k.tk", text), Options(generate=False)).file.text


# ---- every fix is right ---------------------------------------------------------------------------------------------


FIXES = [case for case in cases("ui") if any(d.fix() for d in check(case.text, case.options).diagnostics)]


@pytest.mark.parametrize("case", FIXES, ids=case_id)
def test_each_fix_of_a_case_removes_its_report_and_brings_no_other(case: Case) -> None:
    before = check(case.text, case.options)
    for report in before.diagnostics:
        fix = report.fix()
        if fix is not None:
            made = check(edited(case.text, [fix]), case.options)
            assert is_better(before, made, [report]), (report, made.diagnostics)


@pytest.mark.parametrize("case", FIXES, ids=case_id)
def test_fixes_of_a_case_leave_a_text_without_what_they_fix(case: Case) -> None:
    found = fixed(SourceFile(case.path.name, case.text), replace(case.options, generate=False))
    assert found.count
    assert not found.refused


@pytest.mark.parametrize("batch", range(3))
def test_fixes_of_mutated_sources_never_make_them_worse(batch: int, pytestconfig: pytest.Config) -> None:
    generator = random.Random(batch)
    texts = sources()
    for _ in range(pytestconfig.getoption("--fuzz") // 15):
        source = files.decode(mutated(texts, generator), "fuzz.tk")
        if isinstance(source, SourceFile):
            before = compile_source(source, options=Options(generate=False))
            found = fixed(source, Options(generate=False))
            assert (found.count > 0) == (found.file.text != source.text)
            assert _counts(found.compiled.diagnostics) <= _counts(before.diagnostics)


def _counts(reports: tuple[Diagnostic, ...]) -> list[int]:
    """How many reports there are of each stage: a text is better the less there is of the first that differs."""
    counts = Counter(map(stage_of, reports))
    return [counts[stage] for stage in range(4)]


# ---- edits ----------------------------------------------------------------------------------------------------------


def test_a_fix_of_several_places_is_one_edit_or_several() -> None:
    text = "let a = b + c;"
    fix = Fix(Span(12, 13), "z", (Fix(Span(4, 5), "x"), Fix(Span(7, 7), "!")))
    assert edited(text, [fix]) == "let x =! b + z;"
    assert as_one(fix, text) == Fix(Span(4, 13), "x =! b + z")
    assert edited(text, [as_one(fix, text)]) == edited(text, [fix])


def test_of_overlapping_fixes_one_comes_after_the_other() -> None:
    touching = [Fix(Span(0, 2), "a"), Fix(Span(2, 3), "b"), Fix(Span(5, 5), "c", (Fix(Span(1, 1), "d"),))]
    assert apart(touching) == [0]
    assert apart(touching[1:]) == [0, 1]


def test_what_a_fix_makes_visible_is_fixed_too() -> None:
    masked = GOOD.replace(
        "store(x + program_id(0), 1.0)",
        "let off = arange(0, 16);\n    let v = load(x + off, mask = off < 3)\n    store(x + program_id(0), sum(v))",
    )
    text = after(masked)
    assert "mask = off < 3, other = 0.0);" in text
    assert not [d for d in check(text).diagnostics if d.severity is Severity.ERROR]


def test_a_variable_that_is_assigned_is_not_renamed() -> None:
    text = GOOD.replace("{\n", "{\n    let mut late = 1.0;\n    for _k in 0..3 {\n        late = 2.0;\n    }\n")
    assert after(text) == text


def test_parameters_are_renamed_where_nobody_names_them() -> None:
    text = "fn half(x: f32, y: f32, z: f32) -> f32 { x * 0.5 }\n" + GOOD.replace("1.0", "half(1.0, 2.0, z = 3.0)")
    assert "fn half(x: f32, _y: f32, z: f32)" in after(text)
    kernel = GOOD.replace("x: Pointer<f32>", "x: Pointer<f32>, n: i32")
    assert after(kernel) == kernel


# ---- the command ----------------------------------------------------------------------------------------------------


def test_fix_writes_what_is_fixed_and_says_so(shell: Shell) -> None:
    path = shell.write("lint.tk", LINT)
    shell.write("good.tk", GOOD)
    done = shell("check", "--fix", ".")
    assert (done.status, done.out, done.err) == (0, "", "fixed 1 problem in 1 file; none left\n")
    assert path.read_text() == LINT.replace("unused", "_unused")


def test_what_is_left_is_reported_and_decides_the_status(shell: Shell) -> None:
    path = shell.write("bad.tk", BAD.replace("{\n", "{\n    let a = 1\n"))
    done = shell("check", "--fix", "bad.tk")
    assert done.status == 1
    assert "error[E0201]" in done.err
    assert done.err.endswith("fixed 1 problem in 1 file; 1 left\n")
    assert "let a = 1;" in path.read_text()
    shell.write("lint.tk", LINT.replace("unused", "mut unused"))
    assert shell("check", "--fix", "--deny-warnings", "lint.tk").status == 0


def test_a_fix_that_would_do_harm_is_left_out_and_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from teenyc.diagnostics.catalog.lints import UnusedVariable

    monkeypatch.setattr(UnusedVariable, "fix", lambda self: Fix(self.span, "1"))
    path = shell.write("lint.tk", LINT)
    done = shell("check", "--fix", "lint.tk")
    assert done.status == 0
    assert "lint.tk:4:9: the fix of W0101 was left out: other mistakes would come of it\n" in done.err
    assert done.err.endswith("fixed 0 problems; 1 left\n")
    assert path.read_text() == LINT


def test_diff_writes_nothing(shell: Shell) -> None:
    path = shell.write("lint.tk", LINT.rstrip("\n").replace("1.0);\n}", "1.0); }"))
    before = path.read_bytes()
    done = shell("check", "--diff", "lint.tk")
    assert done.status == 1
    assert done.out.startswith("--- lint.tk\n+++ lint.tk\n@@ -1,5 +1,5 @@\n")
    assert "-    let unused = 1.0;\n+    let _unused = 1.0;\n" in done.out
    assert done.out.endswith("}\n\\ No newline at end of file\n")
    assert done.err == "would fix 1 problem in 1 file; none left\n"
    assert path.read_bytes() == before
    shell.write("good.tk", GOOD)
    assert shell("check", "--diff", "good.tk").status == 0


def test_a_document_holds_what_is_left(shell: Shell) -> None:
    shell.write("bad.tk", BAD.replace("{\n", "{\n    let a = 1\n"))
    done = shell("check", "--fix", "bad.tk", "--format", "json")
    assert [d["code"] for d in json.loads(done.out)["diagnostics"]] == ["E0201"]
    assert done.err == "fixed 1 problem in 1 file; 1 left\n"


def test_standard_input_is_printed_fixed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    from types import SimpleNamespace

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LINT.encode())))
    assert shell("check", "--fix", "-").out == LINT.replace("unused", "_unused")


def test_line_ends_and_a_byte_order_mark_stay(shell: Shell) -> None:
    text = ("\ufeff" + LINT.replace("\n", "\r\n")).encode()
    path = shell.write("lint.tk", text)
    shell("check", "--fix", "lint.tk")
    assert path.read_bytes() == text.replace(b"unused", b"_unused")


@posix
def test_mode_and_links_stay_and_a_link_to_nothing_is_left_alone(shell: Shell) -> None:
    path = shell.write("real/lint.tk", LINT)
    path.chmod(0o640)
    (shell.folder / "link.tk").symlink_to("real/lint.tk")
    shell("check", "--fix", "link.tk")
    assert (shell.folder / "link.tk").is_symlink()
    assert "_unused" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_source_that_changed_meanwhile_is_left_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    import teenyc.cli.fix as command

    path = shell.write("lint.tk", LINT)

    def changing(source: SourceFile, options: Options) -> object:
        path.write_text(GOOD)
        return fixed(source, options)

    monkeypatch.setattr(command, "fixed", changing)
    done = shell("check", "--fix", "lint.tk")
    assert done.status == 1
    assert "cannot write `lint.tk`: it changed while it was fixed" in done.err
    assert path.read_text() == GOOD


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_reported(shell: Shell, tmp_path: Path) -> None:
    path = shell.write("shut/lint.tk", LINT)
    path.parent.chmod(0o500)
    try:
        done = shell("check", "--fix", "shut/lint.tk")
    finally:
        path.parent.chmod(0o700)
    assert done.status == 1
    assert "cannot write" in done.err
    assert path.read_text() == LINT
