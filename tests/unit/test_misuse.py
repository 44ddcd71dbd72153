"""Misuses: every parameter of every record is given what it does not take; each is one report, on that argument.

Nothing here lists functions. A valid call of a record is found by trying arguments of each role, so that a new record
is tested as soon as it is in the table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, islice, product

import pytest

from teenyc import Options, compile_source
from teenyc.diagnostics.model import Diagnostic
from teenyc.intrinsics import OPERATORS, TABLE
from teenyc.intrinsics.spec import REQUIRED, Intrinsic, Operator, Param, Role
from teenyc.source import Span

Record = Intrinsic | Operator

KERNEL = """\
fn plus(a: f32, b: f32) -> f32 { a + b }
fn twice(a: f32) -> f32 { a + a }
#[kernel]
fn k<D: Float, const N: i32, const B: bool>(
    f_ptr: Pointer<f32>, i_ptr: Pointer<i32>, u_ptr: Pointer<u32>, d_ptr: Pointer<D>,
    e_ptr: Pointer<f8e4m3>, n: i32, s: f32, j: i64
) {
    let off = arange(0, 16);
    let wide = reshape(arange(0, 512), &[16, 32]);
    let f = load(f_ptr + off);
    let i = load(i_ptr + off);
    let u = load(u_ptr + off);
    let m = off < n;
    let f2 = load(f_ptr + wide);
    let g2 = trans(f2);
    let h = reshape(f, &[8, 2]);
    let one = reshape(load(f_ptr + arange(0, 1)), &[1]);
    let other = load(f_ptr + arange(0, 64));
    let desc = make_tensor_descriptor(f_ptr, &[n, n], &[n, 1], &[16, 32]);
    let rows = make_tensor_descriptor(f_ptr, &[n, n], &[n, 1], &[1, 32]);
    let ints = make_tensor_descriptor(i_ptr, &[n], &[1], &[16]);
    let blocks = make_block_ptr(f_ptr, &[n, n], &[n, 1], &[0, 0], &[16, 32], &[1, 0]);
    let e = load(e_ptr + arange(0, 128)[(.., None)] * 128 + arange(0, 128));
    CALL;
}
"""
START = KERNEL.index("CALL")

VALUES = ("f", "i", "u", "f2", "g2", "h", "one", "m", "n", "s", "f as f64", "i as i64", "u as u64", "e")
FITTING: dict[Role, tuple[str, ...]] = {
    Role.VALUE: VALUES,
    Role.POINTER: ("f_ptr + off", "i_ptr + off", "f_ptr", "desc", "rows", "ints", "blocks"),
    Role.MASK: ("m", "n > 0"),
    Role.SHAPE: ("&[16]", "&[8, 2]", "&[16, 32]"),
    Role.INDICES: ("&[0]", "&[0, 0]"),
    Role.EXTENT: ("0", "16", "8"),
    Role.AXIS: ("0",),
    Role.AXES: ("&[1, 0]", "&[]"),
    Role.FLAG: ("true", "N == 16"),
    Role.DTYPE: ("f32", "i32"),
    Role.TEXT: ('"text"',),
}
"""What may fit a parameter, by its role; a role that is not here may take any of it, or the function."""

NEVER: dict[str, str] = {
    "|a, b| a + b": "a closure",
    "0..n": "a range",
    '"text"': "a string",
    "&[4, 4]": "a list",
    "(4, 4)": "a tuple",
    "i32": "the type `i32`",
    "plus": "the function `plus`",
}
"""What has no value, and how reports call it."""

TAKES: dict[Role, tuple[str, ...]] = {
    Role.SHAPE: ("a list", "a tuple"),
    Role.AXES: ("a list", "a tuple"),
    Role.INDICES: ("a list", "a tuple"),
    Role.DTYPE: ("the type `i32`",),
    Role.TEXT: ("a string",),
}
"""Which of that a role takes."""

WRONG: dict[Role, tuple[str, ...]] = {
    Role.POINTER: ("f", "n", "m", "1"),
    Role.MASK: ("f", "i", "n", "1", "f_ptr"),
    Role.SHAPE: ("16", "&[n]", "&[1.5]", "&[-4]", "&[f]", "n"),
    Role.INDICES: ("1", "&[1.5]", "&[f]", "&[m]", "f"),
    Role.EXTENT: ("n", "1.5", "f", "m"),
    Role.AXIS: ("99", "-99", "n", "1.5", "f", "N"),
    Role.AXES: ("1", "&[7, 9]", "&[n]", "&[0, 0]", "n"),
    Role.FLAG: ("1", "n > 0", "m", "f", "0.5"),
    Role.DTYPE: ("5", "float", "Tensor"),
    Role.CHOICE: ('"zzz"', "5", "Zzz", "n"),
    Role.TEXT: ("5", "n"),
}
"""What no parameter of a role takes."""

DOUBTFUL: dict[Role, tuple[str, ...]] = {
    Role.VALUE: ("f_ptr", "f_ptr + off", "m", "i", "f", "u", "n", "s", "j", "1", "1.5", "f2", "h", "other", "true"),
    Role.MASK: ("off < j as i32", "arange(0, 64) < n"),
    Role.POINTER: ("i_ptr + off", "d_ptr + off", "f_ptr + arange(0, 64)", "f_ptr"),
    Role.INDICES: ("&[]", "&[0, 0, 0]", "&[j]"),
    Role.EXTENT: ("-1", "0", "3", "N", "100000"),
    Role.SHAPE: ("&[]", "&[3]", "&[N]", "&[64]", "&[16, 16]"),
}
"""What some functions take and others do not: then the report must be as good."""

EXPECTING = (
    *("must", "needs", "takes", "expected", "does not", "do not", "cannot", "has no"),
    *("meets", "is given", "holds", "works on", "fit", "is moved by", "twice"),
)


def _different() -> Iterator[str]:
    """The records; of libdevice's functions, which share their rules, one for each rule and list of parameters."""
    seen = set()
    for name, record in TABLE.items():
        kind = (record.rule, record.params) if "libdevice" in record.family else name
        if kind not in seen:
            seen.add(kind)
            yield name
    yield from OPERATORS


@pytest.fixture(scope="module", params=_different())
def record(request: pytest.FixtureRequest) -> Record:
    name = str(request.param)
    return OPERATORS[name] if name in OPERATORS else TABLE[name]


def reports(call: str) -> tuple[Diagnostic, ...]:
    """The errors of a kernel with that call, which begins at `START`."""
    return all_reports([call])[0]


def all_reports(calls: list[str]) -> list[tuple[Diagnostic, ...]]:
    """The errors that each call makes in one kernel with all of them, with places as if it stood alone."""
    text = KERNEL.replace("CALL;", ";\n".join([*calls, ""]))
    compiled = compile_source(text, options=Options(generate=False))
    starts = list(accumulate((len(call) + 2 for call in calls), initial=START))
    found: list[list[Diagnostic]] = [[] for _ in calls]
    for report in compiled.diagnostics:
        if report.code.startswith("E"):
            assert report.span is not None
            index = bisect_right(starts, report.span.start) - 1
            found[index].append(report)
    return [tuple(each) for each in found]


def spelling(record: Record) -> str:
    """The name that a source can use."""
    return next(n for n in (record.name, *record.aliases) if n not in ("where",))


@cache
def valid(name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A call without errors: its function with a turbofish, and its arguments by name."""
    record: Record = OPERATORS[name] if name in OPERATORS else TABLE[name]
    needed = [p for p in record.params if p.default is REQUIRED]
    for turbofish in ("", "::<f32>", "::<f32, f32>", "::<f32, i32>"):
        tries = _tries(needed)
        while some := tuple(islice(tries, 100)):
            calls = [written(spelling(record) + turbofish, arguments) for arguments in some]
            for arguments, found in zip(some, all_reports(calls), strict=True):
                if not found:
                    return spelling(record) + turbofish, arguments
    raise AssertionError(f"no valid call of `{name}` was found: say in FITTING what its roles take")


def _tries(needed: list[Param]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Arguments for the parameters; one that must meet another is tried with the same first."""
    free = [p for p in needed if p.meets not in {q.name for q in needed} or p.role is not Role.VALUE]
    for meeting in (True, False):
        tried = free if meeting else needed
        for texts in product(*(_fitting(p) for p in tried)):
            found = dict(zip((p.name for p in tried), texts, strict=True))
            for param in needed:
                if param.name not in found:
                    found[param.name] = _met(found.get(param.meets or "", "f"))
            yield tuple((p.name, found[p.name]) for p in needed)


def _met(text: str) -> str:
    return {"f_ptr + off": "f", "i_ptr + off": "i", "f_ptr": "s", "f2": "g2"}.get(text, text)


def _fitting(param: Param) -> tuple[str, ...]:
    if param.role is Role.CHOICE:
        return tuple(f'"{choice}"' for choice in param.choices)
    every = tuple(text for texts in FITTING.values() for text in texts)
    return FITTING.get(param.role) or (*every, "plus", "twice")


def written(function: str, arguments: tuple[tuple[str, str], ...]) -> str:
    return f"{function}({', '.join(f'{name} = {text}' for name, text in arguments)})"


def misuses(param: Param) -> Iterator[tuple[str, bool]]:
    """Arguments that do not fit a parameter, and whether one that fits is among them by chance."""
    for text, form in NEVER.items():
        takes = (*TAKES.get(param.role, ()), *(("a list", "a tuple") if param.several else ()))
        if param.role in FITTING and form not in takes:
            yield text, False
    yield from ((text, False) for text in WRONG.get(param.role, ()))
    yield from ((text, True) for text in DOUBTFUL.get(param.role, ()))


def said(report: Diagnostic) -> str:
    parts = [report.message(), report.label(), *(label.text for label in report.secondary()), *report.notes()]
    return "\n".join([*parts, report.help() or ""])


# ---- counts and names -----------------------------------------------------------------------------------------------


def test_missing_arguments_are_named(record: Record) -> None:
    function, arguments = valid(record.name)
    for index, (name, _) in enumerate(arguments):
        (report,) = reports(written(function, arguments[:index] + arguments[index + 1 :]))
        assert report.code == "E0307"
        assert report.message() == f"`{spelling(record)}` misses its argument `{name}`"
        assert report.span is not None
        assert report.span.start == START, "it points at the function"


def test_an_argument_too_many_is_pointed_at(record: Record) -> None:
    function, arguments = valid(record.name)
    by_place = [p for p in record.params if not p.by_name_only]
    given = dict(arguments)
    texts = [given.get(p.name, "None") for p in by_place]
    call = f"{function}({', '.join([*texts, 'n'])})"
    (report,) = reports(call)
    assert report.code == "E0307"
    assert f"`{spelling(record)}` takes " in report.message()
    assert f"{len(by_place) + 1} given" in report.message()
    assert report.span == Span(START + len(call) - 2, START + len(call) - 1)


def test_unknown_and_repeated_names_are_pointed_at(record: Record) -> None:
    function, arguments = valid(record.name)
    call = written(function, (*arguments, ("zzz", "n")))
    (report,) = reports(call)
    assert report.code == "E0204"
    assert report.message() == f"`{spelling(record)}` has no parameter `zzz`"
    assert report.span is not None
    assert report.span.start == START + call.index("zzz")
    for name, text in arguments[:1]:
        call = written(function, (*arguments, (name, text)))
        (report,) = reports(call)
        assert report.code == "E0308"
        assert report.message() == f"the argument `{name}` of `{spelling(record)}` is given twice"
        assert report.span is not None
        assert report.span.start == START + call.rindex(f"{name} = ")


# ---- what arguments are ---------------------------------------------------------------------------------------------


def test_each_wrong_argument_is_one_report_on_it(record: Record) -> None:
    function, arguments = valid(record.name)
    faults = []
    for param in record.params:
        others = tuple(pair for pair in arguments if pair[0] != param.name)
        tried = [(text, may_fit, written(function, (*others, (param.name, text)))) for text, may_fit in misuses(param)]
        calls = [call for *_, call in tried]
        start = START
        for (text, may_fit, call), found in zip(tried, all_reports(calls), strict=True):
            argument = Span(start + len(call) - len(text) - 1, start + len(call) - 1)
            around = Span(start, start + len(call)) if may_fit else argument
            fault = judge(record, found, around, may_fit)
            faults += [f"{call}: {fault}"] if fault else []
            start += len(call) + 2
    assert not faults, "\n" + "\n".join(faults)


def judge(record: Record, found: tuple[Diagnostic, ...], argument: Span, may_fit: bool) -> str:
    """What is wrong with the reports of a misuse; empty where they are as they should be."""
    if not found:
        return "" if may_fit else "accepted"
    if len(found) > 1:
        return f"{len(found)} reports: " + "; ".join(f.message() for f in found)
    (report,) = found
    words = said(report)
    spans = [report.span, *(label.span for label in report.secondary())]
    if not any(s is not None and _is_on(s, argument) for s in spans):
        return f"not on the argument: {report.message()}"
    if report.code.startswith("E02") or report.code == "E0606":
        return ""  # a name that means nothing, or no value at all, has no function to speak of
    if spelling(record) not in words and isinstance(record, Intrinsic):
        return f"does not name the function: {words}"
    if not any(word in words for word in EXPECTING):
        return f"does not say what is expected: {words}"
    return ""


def _is_on(span: Span, argument: Span) -> bool:
    """Whether a place is in an argument, or spans several of which it is one."""
    is_within = argument.start <= span.start and span.end <= argument.end
    return is_within or (START < span.start <= argument.start and argument.end <= span.end)
