"""What kernels do to memory, and whether two launches give the same bits: one rule after the other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shell import BAD, Shell

from teenyc import compile_source
from teenyc.driver import Options
from teenyc.resources import kernels_directory

HEAD = "fn k(x: Pointer<f32>, y: Pointer<f32>, n: Pointer<i32>, m: i32) {"


def facts_of(body: str, before: str = "", attribute: str = "#[kernel]", options: Options | None = None) -> Any:
    """The metadata of a kernel with that body, from line 3 on; `i` is the index of the program."""
    text = f"{attribute}\n{HEAD} let i = program_id(0);\n{body}\n}}\n{before}"
    compiled = compile_source(text, options=options)
    assert compiled.source is not None, [d.message() for d in compiled.diagnostics]
    kernels: Any = compiled.metadata["kernels"]
    return kernels["k"]


def said(facts: Any, key: str) -> list[str]:
    """`3:1 the text: tensors`."""
    return [
        f"{r['at']} {r['text']}" + (f": {', '.join(r['tensors'])}" if "tensors" in r else "")
        for r in facts.get(key, ())
    ]


# ---- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reads", "writes", "atomics"),
    [
        ("store(y + i, load(x + i));", ["x"], ["y"], []),
        ("store(x + i, load(x + i) + 1.0);", ["x"], ["x"], []),
        ("atomic_add(n, 1);", ["n"], ["n"], ["n"]),
        ("atomic_add(n + i, 1, mask = m > 0);", ["n"], ["n"], ["n"]),
        ("let old = atomic_max(x + i, 2.0); store(y + i, old);", ["x"], ["x", "y"], ["x"]),
        ("let c = atomic_load(n); store(x + i, c as f32);", ["n"], ["x"], []),
        ("let c = atomic_poll(n, 1); assume(c);", ["n"], [], []),
        ("atomic_store(n + i, m);", [], ["n"], ["n"]),
        ("atomic_xchg(n + i, m);", [], ["n"], ["n"]),
        ("let old = atomic_xchg(n + i, m); store(x + i, old as f32);", ["n"], ["x", "n"], ["n"]),
        ("atomic_cas(n, 0, 1);", ["n"], ["n"], ["n"]),
        ("bump(n, 1); bump(x, 1.0);", ["x", "n"], ["x", "n"], ["x", "n"]),
        ("let d = make_tensor_descriptor(x, &[m], &[1], &[16]); d.store([0], d.load([0]) + 1.0);", ["x"], ["x"], []),
        (
            "let d = make_tensor_descriptor(x, &[m], &[1], &[16]); d.atomic_add([0], full(&[16], 1.0));",
            ["x"],
            ["x"],
            ["x"],
        ),
    ],
)
def test_tensors_are_read_written_or_changed_by_atomics(
    body: str, reads: list[str], writes: list[str], atomics: list[str]
) -> None:
    facts = facts_of(body, "fn bump<T: Num>(p: Pointer<T>, v: T) { atomic_add(p, v); }\n")
    assert (facts["reads"], facts["writes"], facts.get("atomics", [])) == (reads, writes, atomics)


# ---- launches -------------------------------------------------------------------------------------------------------

FUNCTIONS = """fn bump<T: Num>(p: Pointer<T>, v: T) { atomic_add(p, v); }
fn next(p: Pointer<i32>) -> i32 { atomic_add(p, 1) }
fn again(p: Pointer<i32>) -> i32 { next(p) }
"""
FIRST = "depends on which program comes first"
VOLATILE = 'inline_asm_elementwise::<i32>("mov.u32 $0, %clock;", "=r", false, 1)'
PURE = 'inline_asm_elementwise::<i32>("mov.u32 $0, 7;", "=r", true, 1)'
LOCKED = "while atomic_cas(n, 0, 1) == 1 { }\nstore(y, load(y) + load(x + i));\natomic_xchg(n, 0);"


@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        ("store(y + i, load(x + i));", []),
        # sums of floats round, sums of integers do not
        ("atomic_add(x, 1.0);", ["3:1 `atomic_add` adds floats in no fixed order: x"]),
        ("atomic_add(n, 1);", []),
        (
            "atomic_max(x, load(y + i)); atomic_min(y + 1, 2.0);",
            ["3:15 `load` comes before or after `atomic_min` of other programs: y"],
        ),
        ("atomic_max(x, 1.0);", []),
        ("atomic_or(n, 1); atomic_and(n + 1, 6); atomic_xor(n + 2, 3);", []),
        # which of the functions' instances are integers
        ("bump(n, 1);", []),
        ("bump(x, 1.0);", ["5:40 `atomic_add` adds floats in no fixed order: x"]),
        # what the result of an atomic is used for
        ("next(n);", []),
        ("let old = again(n); store(x + i, old as f32);", [f"6:35 the result of `atomic_add` {FIRST}: n"]),
        ("let old = atomic_add(n, 1); store(x + i, old as f32);", [f"3:11 the result of `atomic_add` {FIRST}: n"]),
        ("let old = atomic_load(n); store(x + i, old as f32);", []),
        ("let old = atomic_load(n); atomic_add(n, old);", [f"3:11 the result of `atomic_load` {FIRST}: n"]),
        # what comes last
        ("atomic_xchg(n, i as i32);", ["3:1 `atomic_xchg` leaves what the last program wrote: n"]),
        ("atomic_store(n, 1);", []),
        (
            "atomic_store(n, 1); atomic_store(n, 2);",
            [
                "3:1 `atomic_store` leaves what the last program wrote: n",
                "3:21 `atomic_store` leaves what the last program wrote: n",
            ],
        ),
        (
            LOCKED,
            [
                "3:7 `atomic_cas` leaves what the last program wrote: n",
                f"3:7 the result of `atomic_cas` {FIRST}: n",
                "4:1 every program writes to the same address: y",
                "5:1 `atomic_xchg` leaves what the last program wrote: n",
            ],
        ),
        # atomics beside plain accesses
        (
            "atomic_add(n + 1, 1); store(n + i, m);",
            ["3:23 `store` comes before or after `atomic_add` of other programs: n"],
        ),
        ("atomic_add(n, 1); store(x + i, load(y + i));", []),
        # races
        ("store(y, load(x + i));", ["3:1 every program writes to the same address: y"]),
        ("store(y, 1.0);", []),
        ("store(y, load(x));", []),
        ("store(y, load(y) + 1.0);", ["3:1 every program writes to the same address: y"]),
        ("if i == 0 { store(y, load(x)); }", []),
        ("#[allow(same_address)]\nstore(y, load(x + i));", ["4:1 every program writes to the same address: y"]),
        ("store(y + i / 2, load(y + i / 2) + 1.0);", ["3:1 several programs write to the same address: y"]),
        ("store(y + i / 2, load(x + i / 2) + 1.0);", []),
        (
            "let p = y + i + full(&[16], 0);\nstore(p, load(x + arange(0, 16)));",
            ["4:1 several lanes write different values to one address in `p`: y"],
        ),
        (
            "store(x + i * m, sum(load(x + i + m * arange(0, 16))));",
            ["3:22 this reads what other programs write in `x`: x"],
        ),
        # chance
        (
            "let t = globaltimer(); store(x + i, t as f32);",
            ["3:9 what `globaltimer` gives differs from launch to launch"],
        ),
        ("store(x + i, smid() as f32);", ["3:14 what `smid` gives differs from launch to launch"]),
        ("store(x + i, rand(42, i as i32));", []),
        (f"store(n + i, {VOLATILE});", ["3:14 assembly that is not pure may do anything"]),
        (f"store(n + i, {PURE});", []),
    ],
)
def test_why_launches_may_differ_is_said_with_its_place(body: str, reasons: list[str]) -> None:
    facts = facts_of(body, FUNCTIONS)
    assert said(facts, "nondeterministic") == reasons
    assert facts["deterministic"] == (not reasons)
    assert "provided" not in facts


def test_a_dtype_that_the_build_fixes_decides() -> None:
    text = "#[kernel]\nfn k<D: Num>(x: Pointer<D>) { atomic_add(x, D::from_f64(1.0)); }\n"
    for dtype, is_exact in (("i32", True), ("f32", False), (None, False)):
        compiled = compile_source(text, options=Options(dtype={"D": dtype} if dtype else {}))
        kernels: Any = compiled.metadata["kernels"]
        assert kernels["k"]["deterministic"] == is_exact


# ---- conditions -----------------------------------------------------------------------------------------------------

ROWS = "let mut t = 0.0;\nfor k in 0..m { t += load(x + i * m + k); }\nstore(y + i, t);"
ONE = "one configuration: the order of sums depends on the blocks that are chosen"


@pytest.mark.parametrize(
    ("attribute", "body", "conditions"),
    [
        ("#[kernel]", "store(y + i, sum(load(x + arange(0, 16))));", []),
        (
            "#[kernel]",
            "store(y + load(n + i), 1.0);",
            ["3:1 no two of the places that are loaded for it are the same: y"],
        ),
        ("#[kernel]", "store(x + i, load(x + i + 1));", ["3:14 no other program stores to what this loads: x"]),
        ("#[kernel(grid = [])]", "store(x, load(x + 1));", []),
        ("#[kernel(tile)]", ROWS, [f"4:1 {ONE}"]),
        ("#[kernel]", ROWS, []),
        ("#[kernel(tile)]", ROWS.replace("+= load", "= maximum(t, load").replace("k);", "k));"), []),
    ],
)
def test_what_must_hold_for_launches_to_be_alike_is_said(attribute: str, body: str, conditions: list[str]) -> None:
    facts = facts_of(body, attribute=attribute)
    assert facts["deterministic"]
    assert said(facts, "provided") == conditions


@pytest.mark.parametrize(("configs", "is_said"), [("config(N = 16), config(N = 32)", True), ("config(N = 16)", False)])
def test_constants_that_a_launch_chooses_order_sums(configs: str, is_said: bool) -> None:
    head = f"#[kernel(configs = [{configs}])]\nfn k<const N: i32>(x: Pointer<f32>, y: Pointer<f32>) {{\n"
    text = head + "store(y, sum(load(x + arange(0, N))));\n}\n"
    kernels: Any = compile_source(text).metadata["kernels"]
    assert said(kernels["k"], "provided") == ([f"3:10 {ONE}"] if is_said else [])


@pytest.mark.parametrize("path", sorted(kernels_directory().glob("*.tk")), ids=lambda path: path.stem)
def test_bundled_kernels_repeat(path: Any) -> None:
    kernels: Any = compile_source(path.read_text(encoding="utf-8")).metadata["kernels"]
    assert all(facts["deterministic"] for facts in kernels.values())


# ---- the command ----------------------------------------------------------------------------------------------------

COUNTS = """
#[kernel]
fn counts(x: Pointer<i32>, y: Pointer<f32>, n: Pointer<f32>) {
    let i = program_id(0);
    store(y + load(x + i), 1.0);
    atomic_add(n, 1.0);
}
"""
TEXT = """kernel `counts` may give other bits in each launch
  --> counts.tk:3:4
  reads   x
  writes  y
  atomics n
  because
  6:5     `atomic_add` adds floats in no fixed order: n
  provided that
  5:5     no two of the places that are loaded for it are the same: y
"""


def test_effects_are_printed_and_nothing_is_written(shell: Shell) -> None:
    shell.write("counts.tk", COUNTS)
    done = shell("build", "counts.tk", "--explain-effects")
    assert (done.status, done.out) == (0, TEXT)
    assert shell.files() == ["counts.tk"]
    shell.write("bad.tk", BAD)
    assert shell("build", "bad.tk", "--explain-effects").out == ""
    assert shell("build", "counts.tk", "--explain-effects", "--explain-tiling").status == 2


def test_effects_and_metadata_are_documents_too(shell: Shell) -> None:
    shell.write("counts.tk", COUNTS)
    (kernel,) = json.loads(shell("build", "counts.tk", "--explain-effects", "--format", "json").out)["kernels"]
    assert (kernel["kernel"], kernel["file"], kernel["span"]["line"]) == ("counts", "counts.tk", 3)
    whole = json.loads(shell("build", "counts.tk", "--emit", "metadata").out)["kernels"]["counts"]
    for key in ("reads", "writes", "atomics", "deterministic", "nondeterministic", "provided"):
        assert kernel[key] == whole[key]
