"""`teenyc.load` and the import hook: one module for one content, errors that point into the kernel file."""

from __future__ import annotations

import importlib
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import teenyc
from teenyc import CompileError
from teenyc.runtime import load as loader

SOURCE = """//! Adds and scales.

const OFFSET: i32 = 3;

#[kernel]
fn apply(x: Pointer<i32>, y: Pointer<i32>) {
    let off = arange(0, 8);
    store(y + off, load(x + off) + OFFSET);
}
"""
BROKEN = SOURCE.replace("+ OFFSET", "+ OFSET")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nothing loaded yet."""
    monkeypatch.setattr(loader, "_MODULES", {})
    place = tmp_path / "cache"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(place))
    return place


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "adder.tk"
    path.write_text(SOURCE, encoding="utf-8")
    return path


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The installed hook and an empty folder on `sys.path`."""
    before = set(sys.modules)
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    teenyc.install()
    yield folder
    teenyc.uninstall()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def offset_of(module: object, device: str) -> int:
    """What `apply` adds."""
    x = torch.arange(8, dtype=torch.int32, device=device)
    y = torch.zeros_like(x)
    module.apply[(1,)](x, y)  # type: ignore[attr-defined]
    assert torch.equal(y - x, (y - x)[0].expand(8))
    return int((y - x)[0])


# ---- load -----------------------------------------------------------------------------------------------------------


def test_the_module_runs_and_has_a_file(source: Path, own_cache: Path, device: str) -> None:
    module = teenyc.load(source)
    assert offset_of(module, device) == 3
    assert module.__doc__ is not None
    assert "Adds and scales." in module.__doc__
    assert os.path.isabs(str(module.__file__))
    assert Path(str(module.__file__)).parent == own_cache
    assert Path(str(module.__file__)).name.startswith("adder_")
    assert sys.modules[module.__name__] is module


def test_one_content_is_one_module(source: Path, tmp_path: Path) -> None:
    module = teenyc.load(source)
    copy = tmp_path / "elsewhere" / "adder.tk"
    copy.parent.mkdir()
    copy.write_bytes(source.read_bytes())
    assert teenyc.load(str(source)) is module
    assert teenyc.load(copy) is module
    assert teenyc.load(source, tile=None) is module
    assert teenyc.load(source, set={}, dtype={}) is module


def test_new_content_is_a_new_module_whatever_the_dates(source: Path, device: str) -> None:
    os.utime(source, (1_700_000_000, 1_700_000_000))
    first = teenyc.load(source)
    source.write_text(SOURCE.replace("= 3", "= 5"), encoding="utf-8")
    os.utime(source, (1_700_000_000, 1_700_000_000))
    second = teenyc.load(source)
    source.write_text(SOURCE, encoding="utf-8")
    assert (offset_of(first, device), offset_of(second, device)) == (3, 5)
    assert teenyc.load(source) is first


def test_threads_get_one_module(source: Path) -> None:
    modules: list[object] = []
    threads = [threading.Thread(target=lambda: modules.append(teenyc.load(source))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(modules) == 8
    assert len(set(map(id, modules))) == 1


def test_the_source_and_the_folder_may_go_away(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = teenyc.load("adder.tk")
    source.unlink()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert offset_of(module, "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda") == 3
    assert "def apply" in inspect.getsource(module)


def test_the_cache_may_go_away_while_the_module_is_in_use(source: Path, own_cache: Path, device: str) -> None:
    module = teenyc.load(source)
    file = Path(str(module.__file__))
    text = file.read_text(encoding="utf-8")
    file.unlink()
    assert offset_of(module, device) == 3
    assert inspect.getsource(module).rstrip() == text.rstrip()
    assert teenyc.load(source) is module
    assert file.read_text(encoding="utf-8") == text


def test_a_new_process_takes_what_the_cache_has(source: Path, own_cache: Path) -> None:
    entry = Path(str(teenyc.load(source).__file__))
    code = f"""
        import sys
        sys.modules["teenyc.driver"] = None  # compiling raises ImportError
        import teenyc
        assert teenyc.load({str(source)!r}).__file__ == {str(entry)!r}
    """
    assert run_python(code) == ""
    entry.write_text(entry.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    assert "teenyc.driver" in run_python(code)


def test_bound_kernels_of_a_loaded_module_can_be_pickled(source: Path, device: str) -> None:
    module = teenyc.load(source)
    bound = pickle.loads(pickle.dumps(module.Apply()))
    x, y = (torch.zeros(8, dtype=torch.int32, device=device) for _ in range(2))
    bound[1](x, y)
    assert y.tolist() == [3] * 8


@pytest.mark.parametrize("options", [{"tiles": False}, {"tile": "yes"}, {"tile": 2}])
def test_unknown_options_are_type_errors(source: Path, options: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="tile"):
        teenyc.load(source, **options)  # type: ignore[arg-type]


def test_options_make_modules_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "sized.tk"
    path.write_text(
        "#[kernel]\nfn copy<D: Float, const N: i32>(x: Pointer<D>, y: Pointer<D>) {\n"
        "    let i = arange(0, N);\n    store(y + i, load(x + i));\n}\n"
    )
    modules = [
        teenyc.load(path),
        teenyc.load(path, set={"N": 16}),
        teenyc.load(path, set={"N": 32}),
        teenyc.load(path, dtype={"D": "f16"}),
    ]
    assert len({id(module) for module in modules}) == 4
    with pytest.raises(CompileError, match="E0010"):
        teenyc.load(path, set={"M": 16})


def test_an_error_is_the_report(tmp_path: Path, own_cache: Path) -> None:
    path = tmp_path / "broken.tk"
    path.write_text(BROKEN, encoding="utf-8")
    with pytest.raises(CompileError) as caught:
        teenyc.load(path)
    text = str(caught.value)
    assert "error[E0201]: unknown name `OFSET`" in text
    assert f"{path}:8:" in text
    assert caught.value.diagnostics[0].code == "E0201"
    assert not list(own_cache.glob("*.py"))


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("missing.tk", None, "E0001"),
        ("folder.tk", "folder", "E0002"),
        ("latin.tk", b"// \xe4\n", "E0003"),
        ("pipe.tk", "pipe", "E0009"),
        ("nul\0.tk", None, "E0002"),
    ],
)
def test_what_cannot_be_read_is_a_compile_error(tmp_path: Path, name: str, content: object, code: str) -> None:
    path = f"{tmp_path}/{name}"
    if content == "folder":
        os.mkdir(path)
    elif content == "pipe":
        os.mkfifo(path)
    elif isinstance(content, bytes):
        Path(path).write_bytes(content)
    with pytest.raises(CompileError, match=code):
        teenyc.load(path)


def test_byte_order_mark_and_crlf_are_fine(tmp_path: Path, device: str) -> None:
    path = tmp_path / "windows.tk"
    path.write_bytes(b"\xef\xbb\xbf" + SOURCE.replace("\n", "\r\n").encode())
    assert offset_of(teenyc.load(path), device) == 3


# ---- import ---------------------------------------------------------------------------------------------------------


def test_kernel_files_are_imported(hook: Path, device: str) -> None:
    (hook / "adder.tk").write_text(SOURCE, encoding="utf-8")
    adder = importlib.import_module("adder")
    assert adder.__name__ == "adder"
    assert adder.__spec__.origin == str(hook / "adder.tk")
    assert str(adder.__file__).endswith(".py")
    assert offset_of(adder, device) == 3
    assert "def apply" in inspect.getsource(adder)
    assert importlib.import_module("adder") is adder


@pytest.mark.parametrize("package", [False, True], ids=["folder", "package"])
def test_kernel_files_in_folders_and_packages_are_imported(hook: Path, device: str, package: bool) -> None:
    (hook / "mine" / "deep").mkdir(parents=True)
    if package:
        (hook / "mine" / "__init__.py").touch()
    (hook / "mine" / "adder.tk").write_text(SOURCE, encoding="utf-8")
    (hook / "mine" / "deep" / "adder.tk").write_text(SOURCE.replace("= 3", "= 4"), encoding="utf-8")
    importlib.invalidate_caches()
    assert offset_of(importlib.import_module("mine.adder"), device) == 3
    assert offset_of(importlib.import_module("mine.deep.adder"), device) == 4


def test_python_modules_come_first(hook: Path) -> None:
    (hook / "adder.tk").write_text(BROKEN, encoding="utf-8")
    (hook / "adder.py").write_text("found = 'python'\n", encoding="utf-8")
    importlib.invalidate_caches()
    assert importlib.import_module("adder").found == "python"


def test_reload_compiles_anew(hook: Path, device: str) -> None:
    path = hook / "adder.tk"
    path.write_text(SOURCE, encoding="utf-8")
    adder = importlib.import_module("adder")
    path.write_text(SOURCE.replace("= 3", "= 9"), encoding="utf-8")
    assert importlib.reload(adder) is adder
    assert offset_of(adder, device) == 9


def test_an_import_error_points_into_the_kernel_file(hook: Path) -> None:
    (hook / "broken.tk").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(CompileError, match=r"broken\.tk:8:"):
        importlib.import_module("broken")
    assert "broken" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_kernel")


def test_install_is_idempotent_and_can_be_undone(hook: Path) -> None:
    teenyc.install()
    finders = [finder for finder in sys.meta_path if type(finder).__module__ == "teenyc.runtime.hook"]
    assert len(finders) == 1
    teenyc.uninstall()
    (hook / "late.tk").write_text(SOURCE, encoding="utf-8")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("late")
    teenyc.uninstall()


# ---- the module without its compiler --------------------------------------------------------------------------------


def test_the_file_imports_alone(source: Path, tmp_path: Path, device: str) -> None:
    (tmp_path / "alone.py").write_text(Path(str(teenyc.load(source).__file__)).read_text(encoding="utf-8"), "utf-8")
    code = f"""
        import sys
        sys.modules["teenyc"] = None
        sys.path.insert(0, {str(tmp_path)!r})
        import alone, torch
        x = torch.zeros(8, dtype=torch.int32, device={device!r})
        y = torch.zeros_like(x)
        alone.Apply()[(1,)](x, y)
        assert y.tolist() == [3] * 8
    """
    assert run_python(code) == ""


def run_python(code: str) -> str:
    """The error output of a new process, empty where it ends well."""
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""
