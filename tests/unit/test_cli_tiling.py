"""The command line: what `--explain-tiling` and `--emit plan` print, and the lints of kernels that ask for blocks."""

from __future__ import annotations

import json

from shell import BAD, GOOD, Shell

SUM = """
#[kernel(tile)]
fn row_sums(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
    let row = program_id(0);
    let mut total = 0.0;
    for k in 0..n {
        total += load(x + row * n + k);
    }
    store(y + row, total);
}
"""
COPY = """
#[kernel(tile)]
fn copy<const N: i32>(x: Pointer<f32>, y: Pointer<f32>) {
    let at = program_id(0) * N + arange(0, N);
    store(y + at, load(x + at));
}
"""


def test_explanation_is_printed_and_nothing_is_written(shell: Shell) -> None:
    shell.write("sums.tk", SUM)
    done = shell("build", "sums.tk", "--explain-tiling")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("kernel `row_sums` takes blocks\n  --> sums.tk:3:4\n")
    assert "`total`: sum, total' = total + Σ_k load(x + row·n + k)" in done.out
    assert shell.files() == ["sums.tk"]


def test_a_kernel_that_asks_for_nothing_is_explained_as_what_tile_would_do(shell: Shell) -> None:
    shell.write("sums.tk", SUM.replace("(tile)", ""))
    head = shell("build", "sums.tk", "--explain-tiling").out.partition("\n")[0]
    assert head == "kernel `row_sums` asks for no blocks; with `tile` it would take them"
    asked = shell("build", "sums.tk", "--tile", "--explain-tiling").out.partition("\n")[0]
    assert asked == "kernel `row_sums` takes blocks"


def test_json_is_one_document_of_all_sources(shell: Shell) -> None:
    shell.write("sums.tk", SUM)
    shell.write("copy.tk", COPY)
    done = shell("build", "sums.tk", "copy.tk", "--explain-tiling", "--format", "json")
    document = json.loads(done.out)
    assert document["version"] == 1
    assert [(k["kernel"], k["file"], k["asked"], k["tiled"]) for k in document["kernels"]] == [
        ("row_sums", "sums.tk", True, True),
        ("copy", "copy.tk", True, False),
    ]
    law = next(r for r in document["kernels"][0]["remarks"] if r["kind"] == "law")
    assert (law["subject"], law["span"]["line"], law["depth"]) == ("total", 7, 1)
    (refused,) = document["kernels"][1]["remarks"]
    assert (refused["kind"], refused["span"]["file"]) == ("refused", "copy.tk")
    assert json.loads(done.err)["summary"]["warnings"] == 1


def test_plans_are_printed(shell: Shell) -> None:
    shell.write("sums.tk", SUM + COPY)
    done = shell("build", "sums.tk", "--emit", "plan")
    assert "plan of row_sums\n" in done.out
    assert "no plan of copy: nothing that is loaded is used by several rows" in done.out
    assert shell.files() == ["sums.tk"]


def test_mistakes_are_reported_and_their_source_is_not_explained(shell: Shell) -> None:
    shell.write("bad.tk", BAD)
    shell.write("one.tk", GOOD)
    done = shell("build", "bad.tk", "one.tk", "--explain-tiling")
    assert (done.status, done.out.count("kernel `"), "error[" in done.err) == (1, 1, True)


def test_a_refusal_is_a_lint_where_the_kernel_asked_and_no_lint_where_the_command_did(shell: Shell) -> None:
    shell.write("copy.tk", COPY)
    assert "warning[W0140]" in shell("build", "copy.tk").err
    assert shell("build", "copy.tk", "--deny-warnings").status == 1
    shell.write("plain.tk", COPY.replace("(tile)", ""))
    done = shell("build", "plain.tk", "--tile", "--deny-warnings", "--stdout")
    assert (done.status, done.err) == (0, "")
    assert "asks for blocks and stays as it is" in shell("build", "plain.tk", "--tile", "--explain-tiling").out


def test_a_check_says_of_blocks_what_a_build_does(shell: Shell) -> None:
    shell.write("both.tk", COPY + SUM.replace("(tile)", "(tile(row, k))").replace("0.0;", "1.0;"))
    checked, built = shell("check", "both.tk"), shell("build", "both.tk")
    assert (checked.err, checked.out) == (built.err, "")
    assert "warning[W0140]" in checked.err
    assert shell("check", "both.tk", "--deny-warnings").status == 1


def test_other_outputs_exclude_it(shell: Shell) -> None:
    for flags in (["--stdout"], ["--emit", "ir"], ["-o", "out"]):
        assert shell("build", "sums.tk", "--explain-tiling", *flags).status == 2
