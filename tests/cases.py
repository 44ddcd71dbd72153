"""One case is one file: its first line is a comment that says what it shows, `// key: words` lines are directives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from teenyc import Options

TESTS = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A source with what its comments ask for.

    `// options: HEAD_DIM=64 D=bf16` are compiler options, `// compile: HEAD_DIM=64 D=f16,f32` says with which constants
    and dtypes a golden is compiled for a GPU.
    """

    path: Path
    text: str

    @property
    def summary(self) -> str:
        first = self.text.lstrip("\ufeff").partition("\n")[0]
        return first.removeprefix("//").strip() if first.startswith("// ") else ""

    def directive(self, key: str) -> dict[str, str]:
        found = re.search(rf"^// {key}: (.*)$", self.text, re.MULTILINE)
        return dict(word.split("=", 1) for word in found[1].split()) if found else {}

    @property
    def options(self) -> Options:
        words = self.directive("options")
        constants = {k: _constant(v) for k, v in words.items() if not v[0].isalpha() or v in ("true", "false")}
        return Options(set=constants, dtype={k: v for k, v in words.items() if k not in constants})

    def expected(self, suffix: str) -> Path:
        return self.path.with_suffix(suffix)


def cases(folder: str) -> list[Case]:
    """The cases of a folder under `tests/`, at any depth, in order."""
    return [Case(p, p.read_bytes().decode("utf-8-sig")) for p in sorted((TESTS / folder).rglob("*.tk"))]


def case_id(case: Case) -> str:
    return str(case.path.relative_to(TESTS).with_suffix(""))


def orphans(folder: str, suffix: str) -> list[str]:
    """Files of a folder that no case owns: neither a `.tk` nor what is expected of one."""
    files = [p for p in (TESTS / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    owned = {p for case in cases(folder) for p in (case.path, case.expected(suffix))}
    return [str(p.relative_to(TESTS)) for p in sorted(files) if p not in owned]


def _constant(text: str) -> int | bool:
    return text == "true" if text in ("true", "false") else int(text)
