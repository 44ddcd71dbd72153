"""The documents tell the truth: commands, snippets and links of README, CONTRIBUTING, CHANGELOG and `docs/`.

`pytest --bless` puts the real output into the blocks of README that show output.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from teenyc import compile_source
from teenyc.cli.commands import teenyc as command
from teenyc.cli.safety import explanation_text
from teenyc.diagnostics.catalog.lints import lint_kinds
from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.diagnostics.render import Report, render
from teenyc.passes import PIPELINE

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


@pytest.fixture
def readme() -> str:
    return README.read_text(encoding="utf-8")


def test_module_in_readme_is_what_the_source_gives(readme: str, request: pytest.FixtureRequest) -> None:
    module = compile_source(_block(readme, "source"), name="softmax.tk").source
    assert module is not None
    kernel = module[module.index("@triton.jit\ndef softmax(") :].partition("\n\n\n")[0] + "\n"
    _expect(readme, "module", kernel, request)


def test_report_in_readme_is_what_a_mistake_gives(readme: str, request: pytest.FixtureRequest) -> None:
    source = _block(readme, "source").replace("row * cols + col,\n        e", "row * colls + col,\n        e")
    compiled = compile_source(source, name="softmax.tk")
    reports = [Report(diagnostic, compiled.file) for diagnostic in compiled.diagnostics]
    _expect(readme, "report", render(reports, format="human") + "\n", request)


def test_verdicts_of_a_page_are_those_of_its_kernel(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teenyc.cli.safety.is_installed", lambda: False)
    page = ROOT / "docs" / "safety.md"
    text = page.read_text(encoding="utf-8")
    source = next(body for language, body in _fences(text) if language == "rust")
    verdicts = explanation_text(compile_source(source, name="scaled.tk"))
    found = re.search(r"<!-- safety -->\n```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    if request.config.getoption("--bless") and found[1] != verdicts:
        page.write_text(text[: found.start(1)] + verdicts + text[found.end(1) :], encoding="utf-8")
        return
    assert found[1] == verdicts


def test_every_lint_is_listed(request: pytest.FixtureRequest) -> None:
    page = ROOT / "docs" / "lints.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- lints -->\n")
    whole = f"{before}<!-- lints -->\n{_lint_table()}<!-- end -->{rest.partition('<!-- end -->')[2]}"
    if request.config.getoption("--bless"):
        page.write_text(whole, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == whole


def _lint_table() -> str:
    """A row for each lint: its name, its code, what it is about, whether it may come with a fix, and who finds it."""
    rows: list[str] = []
    for name, kinds in lint_kinds().items():
        for kind in kinds:
            summary = " ".join((kind.__doc__ or "").split("\n\n")[0].split()).partition(". ")[0].removesuffix(".")
            fix = "yes" if kind.fix is not Diagnostic.fix else ""
            rows.append(f"| `{name}` | {kind.code} | {summary.replace('|', chr(92) + '|')} | {fix} |")
    rows.sort(key=lambda row: row.split(" | ")[1])
    return "\n".join(["| name | code | | fix |", "|---|---|---|---|", *rows, ""])


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_kernels_of_a_page_compile(page: Path) -> None:
    for language, body in _fences(page.read_text(encoding="utf-8")):
        if language == "rust" and "#[kernel" in body:
            compiled = compile_source(body, name="page.tk")
            assert not [d.message() for d in compiled.diagnostics if d.severity is Severity.ERROR]


def test_every_pass_is_named(readme: str) -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for each in PIPELINE:
        assert f" {each.name} " in readme or f" {each.name}\n" in readme
        assert f"`{each.name}`" in changes


def test_python_snippets_run(readme: str) -> None:
    snippets = [body for language, body in _fences(readme) if language == "python" and "import teenyc" in body]
    snippets += [body for language, body in _fences(readme) if language == "python" and "functional" in body]
    setup = (
        "import os, torch\n"
        "device = 'cpu' if os.environ.get('TRITON_INTERPRET') == '1' else 'cuda'\n"
        "bh, n_q, n_k, scale = 2, 3, 5, 0.125\n"
        "q, k, v = (torch.randn(bh, n, 64, device=device) for n in (n_q, n_k, n_k))\n"
        "o, l = torch.empty_like(q), torch.empty(bh, n_q, device=device)\n"
        "expected = torch.softmax(q @ k.mT * scale, -1) @ v\n"
        "def check():\n"
        "    assert torch.allclose(o, expected, atol=1e-4)\n"
        "    o.zero_()\n"
    )
    assert len(snippets) == 2
    program = setup + "".join(snippet + "check()\n" for snippet in snippets)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_both_commands_are_one_line_each_and_ci_takes_the_second(readme: str) -> None:
    for name in ("build", "tests"):
        assert _block(readme, name).count("\n") == 1
        assert _block(readme, name).startswith("python3 -m venv .venv && ")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extraction = re.search(r"^test_command=\$\((.*)\)$", script, re.MULTILINE)
    assert extraction is not None
    taken = subprocess.run(["bash", "-c", extraction[1]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert taken.stdout == _block(readme, "tests")
    assert "$test_command" in script.replace(extraction[0], "")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_and_flags_that_a_page_names_exist(page: Path) -> None:
    known = {flag for each in _commands().values() for param in each.params for flag in param.opts}
    known |= {"--help", "--version"}
    for text in re.findall(
        r"`(?:[^`]*/)?teenyc ([^`]*)`|^\S*teenyc ([a-z].*)$", page.read_text(encoding="utf-8"), re.M
    ):
        words = (text[0] or text[1]).split()
        assert words[0] in {*_commands(), "--version", "fmt", "CODE"}, words
        assert {re.sub(r"[,;.`]$", "", w) for w in words if w.startswith("--")} <= known, words


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`]*`", "", text)
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", prose) if "://" not in link]
    paths = re.findall(r"`((?:teenyc|tests|kernels|docs|grammar|templates|benchmarks)/[\w./-]*)`", text)
    lost = [link for link in links if not (page.parent / link).exists()]
    lost += [path for path in paths if not (ROOT / path).exists() and "/my" not in path]
    assert not lost


def _commands() -> dict[str, click.Command]:
    assert isinstance(command, click.Group)
    return command.commands


def _block(text: str, name: str) -> str:
    """The body of the fenced block that follows the comment `<!-- name -->`."""
    found = re.search(rf"<!-- {name} -->\n```\w*\n(.*?)```", text, re.DOTALL)
    assert found is not None, f"README.md has no block {name}"
    return found[1]


def _fences(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def _expect(readme: str, name: str, text: str, request: pytest.FixtureRequest) -> None:
    """Compares a block of README with what it should show, or writes it under `--bless`."""
    if not request.config.getoption("--bless"):
        assert _block(readme, name) == text
        return
    body = re.search(rf"<!-- {name} -->\n```\w*\n(.*?)```", readme, re.DOTALL)
    assert body is not None
    README.write_text(readme[: body.start(1)] + text + readme[body.end(1) :], encoding="utf-8")
