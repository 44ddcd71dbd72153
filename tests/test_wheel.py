"""The wheel alone is enough: installed in an empty environment, away from the checkout, it builds what it brings."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return next(folder.glob("*.whl"))


def test_wheel_holds_the_package_and_its_data_and_nothing_generated(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "teenyc/py.typed" in names
    assert "teenyc/_data/grammar/teenyc.lark" in names
    assert "teenyc/_data/kernels/flash_attn2.tk" in names
    assert any(name.startswith("teenyc/_data/templates/") for name in names)
    assert "teenyc/_data/kernels/flash_attn2.tuned.json" in names
    kept = (".tk", ".rs", ".tuned.json")
    assert not [n for n in names if n.startswith("teenyc/_data/kernels/") and not n.endswith(kept)]
    assert not [n for n in names if "__pycache__" in n or n.startswith("tests/")]


def test_installed_wheel_builds_the_bundled_kernel(wheel: Path, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=300)
    python = tmp_path / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)]
    subprocess.run(pip, check=True, cwd=tmp_path, env=environment, timeout=300)

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    teenyc = str(tmp_path / "venv" / "bin" / "teenyc")
    source = run(teenyc, "kernels", "flash_attn2").strip()
    assert source.startswith(str(tmp_path))
    assert run(teenyc, "build", source, "-o", "out") == "wrote out/flash_attn2.py: 3 kernels\n"
    assert "def flash_attention2_forward_plain(" in (tmp_path / "out" / "flash_attn2.py").read_text()
    absent = "import importlib.util as u; print(u.find_spec('torch'), u.find_spec('triton'))"
    assert run(str(python), "-c", absent) == "None None\n"
