"""The command line: what it writes and prints, usage, and ends that nobody asked for."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from shell import BAD, GOOD, TWO, Shell

# ---- what is written -------------------------------------------------------------------------------------------------


def test_build_writes_beside_the_source_and_says_so(shell: Shell) -> None:
    shell.write("kernels/one.tk", GOOD)
    done = shell("build", "kernels/one.tk")
    assert (done.status, done.out, done.err) == (0, "wrote kernels/one.py: 1 kernel\n", "")
    assert "def one(" in (shell.folder / "kernels/one.py").read_text()


def test_build_is_the_same_from_any_folder(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    source = shell.write("kernels/one.tk", GOOD)
    shell("build", "kernels/one.tk", "-o", "a")
    shell("build", str(source), "-o", "b")
    monkeypatch.chdir(shell.folder / "kernels")
    shell("build", "one.tk", "-o", "../c")
    assert len({(shell.folder / folder / "one.py").read_bytes() for folder in "abc"}) == 1


def test_output_folder_is_made_and_keeps_the_way_below_a_searched_folder(shell: Shell) -> None:
    shell.write("src/deep/one.tk", GOOD)
    shell.write("src/two.rs", TWO)
    shell.write("src/host.rs", "fn main() {}")
    shell.write("src/.hidden/three.tk", GOOD)
    done = shell("build", "src", "-o", "made/out")
    assert done.out.splitlines() == ["wrote made/out/two.py: 2 kernels", "wrote made/out/deep/one.py: 1 kernel"]


def test_output_may_be_one_file(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    shell.write("two.tk", TWO)
    assert shell("build", "one.tk", "-o", "out/mine.py").out == "wrote out/mine.py: 1 kernel\n"
    assert "E0011" in shell("build", "one.tk", "two.tk", "-o", "out/mine.py").err


def test_stdout_writes_nothing(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    done = shell("build", "one.tk", "--stdout")
    assert "def one(" in done.out
    assert shell.files() == ["one.tk"]


def test_tile_and_no_tile_override_the_attribute(shell: Shell) -> None:
    body = """(x: Pointer<f32>, y: Pointer<f32>, n: i32) {
        let row = program_id(0);
        let mut total = 0.0f32;
        for i in 0..n {
            total += load(x + row * n + i);
        }
        store(y + row, total);
    }"""
    shell.write("asked.tk", f"#[kernel(tile)]\nfn asked{body}")
    shell.write("silent.tk", f"#[kernel]\nfn silent{body}")
    tiled = {
        (name, flag): "_Launcher(" in shell("build", f"{name}.tk", "--stdout", *flag).out
        for name in ("asked", "silent")
        for flag in ((), ("--tile",), ("--no-tile",))
    }
    assert [key for key, is_tiled in tiled.items() if is_tiled] == [
        ("asked", ()),
        ("asked", ("--tile",)),
        ("silent", ("--tile",)),
    ]


def test_standard_input_goes_to_standard_output(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(GOOD.encode())))
    done = shell("build", "-")
    assert done.status == 0
    assert "def one(" in done.out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BAD.encode())))
    done = shell("build", "-")
    assert (done.status, done.out) == (1, "")
    assert "<stdin>:4:30" in done.err


def test_check_writes_nothing(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    done = shell("check", "one.tk")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert shell.files() == ["one.tk"]


def test_a_file_with_errors_keeps_its_old_output_and_others_are_written(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    shell("build", "one.tk")
    before = (shell.folder / "one.py").read_bytes()
    shell.write("one.tk", BAD)
    shell.write("two.tk", GOOD)
    done = shell("build", "one.tk", "two.tk")
    assert (done.status, done.out) == (1, "wrote two.py: 1 kernel\n")
    assert "error[E0201]" in done.err
    assert (shell.folder / "one.py").read_bytes() == before


def test_somebodys_own_file_is_not_overwritten(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    shell.write("one.py", "mine = 1\n")
    done = shell("build", "one.tk")
    assert done.status == 1
    assert "E0012" in done.err
    assert (shell.folder / "one.py").read_text() == "mine = 1\n"
    assert shell("build", "one.tk", "--force").status == 0
    assert "mine" not in (shell.folder / "one.py").read_text()


def test_two_sources_of_one_output_write_nothing(shell: Shell) -> None:
    shell.write("a/one.tk", GOOD)
    shell.write("b/one.tk", GOOD)
    done = shell("build", "a/one.tk", "b/one.tk", "-o", "out")
    assert done.status == 1
    assert "E0011" in done.err
    assert not shell.exists("out")


def test_a_source_named_twice_is_built_once(shell: Shell) -> None:
    shell.write("src/one.tk", GOOD)
    assert shell("build", "src/one.tk", "src", "./src/one.tk").out == "wrote src/one.py: 1 kernel\n"


def test_output_that_cannot_be_written_is_reported(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    (shell.folder / "one.py").mkdir()
    done = shell("build", "one.tk")
    assert done.status == 1
    assert "error[E0007]: cannot write `one.py`" in done.err
    done = shell("build", "one.tk", "-o", "one.tk/out")
    assert "E0007" in done.err


def test_a_full_disk_is_reported_and_leaves_what_was_there(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write("one.tk", GOOD)
    shell("build", "one.tk")
    before = (shell.folder / "one.py").read_bytes()
    shell.write("one.tk", TWO)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = shell("build", "one.tk")
    assert done.status == 1
    assert "cannot write `one.py`: disk full" in done.err
    assert (shell.folder / "one.py").read_bytes() == before
    assert shell.files() == ["one.py", "one.tk"]


def test_build_check_compares_with_what_is_on_disk(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    done = shell("build", "--check", "one.tk")
    assert (done.status, shell.files()) == (1, ["one.tk"])
    assert "error[E0013]: `one.py` is missing" in done.err
    shell("build", "one.tk")
    assert shell("build", "--check", "one.tk").status == 0
    shell.write("one.tk", TWO)
    done = shell("build", "--check", "one.tk")
    assert done.status == 1
    assert "`one.py` is out of date" in done.err


# ---- stages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--emit", "ast"], "name: `one`"),
        (["--emit", "ir"], "kernel one("),
        (["--emit", "triton"], "@triton.jit"),
        (["--emit-after", "check"], "kernel one("),
        (["--emit", "ir", "--emit-after", "fold-constants"], "kernel one("),
    ],
)
def test_any_stage_can_be_printed(shell: Shell, flags: list[str], text: str) -> None:
    shell.write("one.tk", GOOD)
    done = shell("build", "one.tk", "--verify-ir", *flags)
    assert done.status == 0
    assert text in done.out
    assert shell.files() == ["one.tk"]


# ---- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["build"],
        ["nonsense"],
        ["build", "one.tk", "--set", "N"],
        ["build", "one.tk", "--set", "N=1.5"],
        ["build", "one.tk", "--dtype", "D=float"],
        ["build", "one.tk", "--target", "tpu"],
        ["build", "one.tk", "--emit-after", "no-such-pass"],
        ["build", "one.tk", "--stdout", "-o", "out"],
        ["build", "one.tk", "--emit", "ast", "--emit-after", "fold-constants"],
        ["build", "one.tk", "--emit", "ir", "--check"],
        ["build", "-", "--watch"],
        ["explain", "E9999"],
        ["kernels", "no-such-kernel"],
    ],
    ids=" ".join,
)
def test_wrong_usage_has_status_2(shell: Shell, arguments: list[str]) -> None:
    shell.write("one.tk", GOOD)
    done = shell(*arguments)
    assert done.status == 2
    assert done.err.startswith("Usage: teenyc")
    assert shell.files() == ["one.tk"]


def test_constants_and_dtypes_reach_the_compiler(shell: Shell) -> None:
    shell.write("fill.tk", "#[kernel]\nfn fill<const N: i32>(x: Pointer<f32>) { store(x + arange(0, N), 1.0); }\n")
    done = shell("build", "fill.tk", "--set", "N=96", "--stdout")
    assert done.status == 1
    assert "the next power of two is 128" in done.err
    assert shell("build", "fill.tk", "--set", "N=64", "--stdout").status == 0


def test_a_dtype_is_fixed_for_launches_and_the_text_of_the_kernel_stays(shell: Shell) -> None:
    shell.write("copy.tk", "#[kernel]\nfn copy<D: Float>(x: Pointer<D>) { store(x, load(x) * 2.0); }\n")
    plain, fixed = (shell("build", "copy.tk", "--stdout", *flags).out for flags in ([], ["--dtype", "D=f8e4m3"]))
    assert fixed == plain.replace(
        '"dtypes": {"D": "Float"},', '"dtypes": {"D": "Float"},\n            "fixed": {"D": "f8e4m3"},'
    )
    assert fixed != plain
    assert "a similar type is f8e4m3" in shell("build", "copy.tk", "--dtype", "D=f8e4m3fn").err


def test_an_option_is_for_those_sources_that_have_it(shell: Shell) -> None:
    shell.write("one.tk", "#[kernel]\nfn one<const BLOCK: i32>(x: Pointer<i32>) { store(x + program_id(0), BLOCK); }\n")
    shell.write(
        "two.tk", "#[kernel]\nfn two<D: Float>(x: Pointer<D>) { let p = x + program_id(0); store(p, load(p)); }\n"
    )
    done = shell("check", "one.tk", "two.tk", "--set", "BLOCK=8", "--dtype", "D=f32")
    assert (done.status, "E0010" in done.err) == (0, False)
    done = shell("check", "one.tk", "two.tk", "--set", "BLOCKS=8")
    assert done.status == 1
    assert done.err.count("error[E0010]") == 1, "no source has it: reported once"


def test_explain_prints_the_explanation_or_all_codes(shell: Shell) -> None:
    assert "does not have" not in shell("explain", "e0201").out
    assert shell("explain", "e0201").out.startswith("error[E0201]\n")
    lines = shell("explain").out.splitlines()
    assert [line[:5] for line in lines] == sorted(line[:5] for line in lines)
    assert any(line.startswith("E0201  ") for line in lines)


def test_kernels_lists_what_is_bundled(shell: Shell) -> None:
    assert "flash_attn2" in shell("kernels").out
    assert Path(shell("kernels", "flash_attn2").out.strip()).is_file()


def test_version(shell: Shell) -> None:
    from teenyc import __version__

    assert shell("--version").out == f"teenyc {__version__}\n"


# ---- ends that nobody asked for --------------------------------------------------------------------------------------


def test_a_bug_is_shown_as_one(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AssertionError("value 7 is defined twice")

    monkeypatch.setattr("teenyc.cli.build.compile_source", broken)
    monkeypatch.delenv("TEENYC_DEBUG", raising=False)
    shell.write("one.tk", GOOD)
    done = shell("build", "one.tk")
    assert done.status == 101
    assert "this is a bug in teenyc: AssertionError: value 7 is defined twice" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("TEENYC_DEBUG", "1")
    with pytest.raises(AssertionError):
        shell("build", "one.tk")


def test_an_interrupt_ends_quietly(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("teenyc.cli.build.compile_source", interrupted)
    shell.write("one.tk", GOOD)
    done = shell("build", "one.tk")
    assert (done.status, done.err) == (130, "interrupted\n")


def test_a_closed_pipe_is_no_error(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    command = f"'{sys.executable}' -m teenyc build --stdout one.tk one.tk; echo $? >&2"
    done = subprocess.run(["bash", "-c", f"({command}) | true"], capture_output=True, text=True, cwd=shell.folder)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert done.stderr.strip() in ("0", "141")


def test_watch_builds_again_after_a_change(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shell.write("one.tk", BAD)
    changes = iter([GOOD])

    def sleep(_: float) -> None:
        text = next(changes, None)
        if text is None:
            raise KeyboardInterrupt
        path.write_text(text)

    monkeypatch.setattr("time.sleep", sleep)
    done = shell("build", "--watch", "one.tk")
    assert done.status == 130
    assert "error[E0201]" in done.err
    assert done.out == "wrote one.py: 1 kernel\n"
    assert "watching 1 source" in done.err


def test_build_and_check_import_no_gpu_stack(shell: Shell) -> None:
    shell.write("one.tk", GOOD)
    program = (
        "import sys\nfrom teenyc.cli import main\n"
        "assert main(['build', 'one.tk']) == main(['check', 'one.tk']) == 0\n"
        "print([m for m in ('torch', 'triton', 'numpy', 'lark', 'jinja2', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=shell.folder)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_the_process_ends_with_the_status_when_all_is_written_and_others_are_done(shell: Shell) -> None:
    shell.write("bad.tk", BAD)
    shell.write("one.tk", GOOD)
    program = (
        "import atexit, sys\nfrom teenyc import cli\nsys.argv[1:] = {}\nmain = cli.main\n"
        "cli.main = lambda: print('first') or atexit.register(print, 'last') and main()\nsys.exit(cli.command())"
    )
    for arguments, status in ((["check", "one.tk"], 0), (["check", "bad.tk"], 1), (["check"], 2)):
        text = program.format(arguments)
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=shell.folder)
        assert (done.returncode, done.stdout) == (status, "first\nlast\n"), done.stderr
