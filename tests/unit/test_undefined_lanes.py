"""Undefined lanes: every fix leaves a source without the report that offered it, and the cost stays linear."""

from __future__ import annotations

import pytest
from cases import TESTS

from teenyc import compile_source
from teenyc.diagnostics.edits import edited
from teenyc.diagnostics.model import Diagnostic
from teenyc.driver import Options
from teenyc.intrinsics import TABLE
from teenyc.ir.lanes import Lanes, lanes_of

SOURCE = (TESTS / "ui/memory/undefined_lanes.tk").read_text()


def reports(text: str) -> list[Diagnostic]:
    return [d for d in compile_source(text, options=Options(generate=False)).diagnostics if d.code.startswith("E")]


def sinks(text: str) -> list[str]:
    """The message of each report with its line."""
    return [f"{text[: d.span.start].count(chr(10))}: {d.message()}" for d in reports(text) if d.span is not None]


@pytest.mark.parametrize("index", [i for i, report in enumerate(reports(SOURCE)) if report.fix() is not None])
def test_fix_removes_its_report_and_adds_none(index: int) -> None:
    report = reports(SOURCE)[index]
    fix = report.fix()
    assert fix is not None
    fixed = SOURCE[: fix.span.start] + fix.replacement + SOURCE[fix.span.end :]
    before, after = sinks(SOURCE), sinks(fixed)
    assert before[index] not in after
    assert set(after) < set(before)


@pytest.mark.parametrize(
    ("load", "fixed"),
    [
        ("load(x + off, m)", "load(x + off, m, other = 0.0)"),
        ("load(x + off, mask = m,)", "load(x + off, mask = m, other = 0.0,)"),
        ("load(x + off, m, None)", "load(x + off, m, Some(0.0))"),
        ("load(x + off, mask = m, other = None)", "load(x + off, mask = m, other = Some(0.0))"),
        (
            "T::load(x.add_offsets(off), Some(m), None, &[], None, None, None, false)",
            "T::load(x.add_offsets(off), Some(m), Some(0.0), &[], None, None, None, false)",
        ),
    ],
)
def test_fix_fits_the_way_the_load_is_written(load: str, fixed: str) -> None:
    text = (
        "#[kernel]\nfn k<T: Triton, const N: i32>(x: Pointer<f32>, out: Pointer<f32>, n: i32) {\n"
        f"    let off = arange(0, N);\n    let m = off < n;\n    store(out + program_id(0), sum({load}));\n}}\n"
    )
    (report,) = reports(text)
    fix = report.fix()
    assert fix is not None
    assert text[: fix.span.start] + fix.replacement + text[fix.span.end :] == text.replace(load, fixed)
    assert not reports(text.replace(load, fixed))


@pytest.mark.parametrize(
    ("uses", "fixes"),
    [
        ("sum(v) + sum(v * 2.0)", [", other = 0.0"] * 2),
        ("sum(v) + max(v)", [None, None]),
        ("sum(v) + sum(v * v + s)", [None, None]),
    ],
)
def test_a_load_is_given_a_number_that_all_its_uses_can_do_with(uses: str, fixes: list[str | None]) -> None:
    text = (
        "#[kernel]\nfn k<const N: i32>(x: Pointer<f32>, out: Pointer<f32>, n: i32, s: f32) {\n"
        "    let off = arange(0, N);\n    let v = load(x + off, mask = off < n);\n"
        f"    store(out + program_id(0), {uses});\n}}\n"
    )
    assert [fix.replacement if (fix := report.fix()) else None for report in reports(text)] == fixes


@pytest.mark.parametrize(
    ("store", "fixed"),
    [
        ("store(out + off, v)", "store(out + off, v, mask = off < n)"),
        (
            "T::store(out.add_offsets(off), v, None, &[], None, None)",
            "T::store(out.add_offsets(off), v, Some(off < n), &[], None, None)",
        ),
        ("if n > 3 { store(out + off, v + 1.0,) }", "if n > 3 { store(out + off, v + 1.0, mask = off < n,) }"),
        ("store(out + off, v, mask = off < 3)", None),
        ("{ let off = off + 1; store(out + off, v); }", None),
        ("{ let n = 4; store(out + off * n, v); }", None),
        ("store(out + off[(.., None)], v[(.., None)])", None),
    ],
)
def test_a_store_is_given_the_mask_of_the_load_where_that_means_the_same(store: str, fixed: str | None) -> None:
    text = (
        "#[kernel]\nfn k<T: Triton, const N: i32>(x: Pointer<f32>, out: Pointer<f32>, n: i32) {\n"
        f"    let off = arange(0, N);\n    let v = load(x + off, mask = off < n);\n    {store};\n}}\n"
    )
    (report,) = reports(text)
    fix = report.fix()
    assert (edited(text, [fix]) if fix else None) == (text.replace(store, fixed) if fixed else None)
    assert not fix or not reports(edited(text, [fix]))


@pytest.mark.parametrize(
    ("element", "use", "other"),
    [
        ("f16", "max(v)", "f16::NEG_INFINITY"),
        ("f64", "min(v)", "f64::INFINITY"),
        ("i32", "max(v)", "i32::MIN"),
        ("u8", "min(v)", "u8::MAX"),
        ("i64", "sum(v)", "0"),
        ("bool", "sum(v as i32)", "false"),
        ("E", "sum(v)", "E::from_i32(0)"),
        ("D", "max(v)", "f32::NEG_INFINITY"),
        ("D", "sum(1.0 - v)", "1.0"),
        ("D", "sum(exp(0.0 - v))", "f32::INFINITY"),
    ],
)
def test_what_is_filled_in_has_the_type_of_the_memory(element: str, use: str, other: str) -> None:
    text = (
        f"#[kernel]\nfn k<D: Float, E: Num, const N: i32>(x: Pointer<{element}>, d: Pointer<D>, e: Pointer<E>, n: i32)"
        " {\n    let off = arange(0, N);\n    let v = load(x + off, mask = off < n);\n"
        f"    let _r = {use};\n    store(d, 0.0);\n    store(e, E::from_i32(0));\n}}\n"
    )
    (report,) = reports(text)
    fix = report.fix()
    assert fix is not None
    assert fix.replacement == f", other = {other}"
    assert not reports(text[: fix.span.start] + fix.replacement + text[fix.span.end :])


MIXED = {"atomics", "descriptors", "linear algebra", "memory", "order", "reduction", "scan"}
APART = {
    *("program", "creation", "math", "arithmetic", "bits", "conversion", "random", "debug", "hints", "device"),
    *("assembly", "shape", "libdevice"),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_intrinsics_do_with_lanes_is_stated_for_every_family(name: str) -> None:
    """A new family works lane by lane, or else `teenyc/ir/lanes.py` must say that it does not."""
    family = TABLE[name].family
    assert family in MIXED | APART
    assert (lanes_of(name) is Lanes.MIXED) is (family in MIXED or name in ("arange", "arange_f32", "gather"))


def test_no_fix_where_no_number_is_known_to_be_neutral() -> None:
    text = (
        "#[kernel]\nfn k<const N: i32>(x: Pointer<f32>, out: Pointer<f32>, n: i32, s: f32) {\n"
        "    let off = arange(0, N);\n    let v = load(x + off, mask = off < n);\n"
        "    store(out + program_id(0), sum(v * v + s));\n}\n"
    )
    (report,) = reports(text)
    assert report.fix() is None
    assert "where_(mask, …, …)" in (report.help() or "")
