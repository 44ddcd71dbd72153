"""Planted faults: each file of `planted/` has a kernel `planted` with one fault, marked by hand, and its twin `right`.

The first lines say what is shown, and how both are run: `// grid: 3`, `// arguments: x=arange(20) n=20`, in the forms
of `teenyc run`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from teenyc.driver import Compiled, Options, compile_source
from teenyc.evaluate.launch import pointed
from teenyc.runtime.forms import array_of, number_of
from teenyc.runtime.run import run_checked
from teenyc.types import DType

HOME = Path(__file__).parent / "planted"
MARK = re.compile(r"//~((?:\s*[EW]\d{4})+)")
OPTION = re.compile(r"^// (grid|arguments|set): (.*)$", re.MULTILINE)
ARGUMENT = re.compile(r"(\w+)=(\w+\([^)]*\)|\S+)")
UNDEFINED = ("E0410", "E0411")
"""What the checker says of lanes that a mask left out, before a run can."""

Found = Counter[tuple[int, str]]


@dataclass(frozen=True)
class Plant:
    """One file."""

    path: Path

    @property
    def topic(self) -> str:
        return self.path.parent.name

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def due(self) -> Found:
        """The codes that are due, each with its line."""
        lines = enumerate(self.text.splitlines(), 1)
        return Counter((number, code) for number, line in lines for m in MARK.finditer(line) for code in m[1].split())

    def found(self, kernel: str) -> Found:
        """What the sanitizer finds in one of the two kernels."""
        options = dict(OPTION.findall(self.text))
        compiled = self.compiled()
        assert compiled.checked is not None, [d.message() for d in compiled.diagnostics]
        grid = tuple(map(int, options["grid"].split(",")))
        given = _given(compiled, kernel, options["arguments"])
        finished = run_checked(compiled, kernel, grid, given, {}, sanitize=True, say=lambda text: None)
        return Counter(
            (compiled.file.position(d.span.start).line if d.span is not None else 1, d.code) for d in finished.findings
        )

    def compiled(self) -> Compiled:
        """The file, checked; what the checker knows of left-out lanes is set aside, so that a run may find them."""
        with mock.patch("teenyc.check.undefined.check_undefined", return_value=None):
            return self.checked()

    def checked(self) -> Compiled:
        return compile_source(self.text, name=self.path.name, options=Options(generate=False, tile=False))


def _given(compiled: Compiled, name: str, text: str) -> dict[str, Any]:
    assert compiled.checked is not None
    kernel = next(k for k in compiled.checked.kernels if k.name == name)
    given: dict[str, Any] = {}
    forms = dict(ARGUMENT.findall(text))
    for parameter in kernel.parameters:
        element = pointed(parameter.value.type)
        form = forms[parameter.name]
        given[parameter.name] = (
            array_of(form, parameter.name, element, 0) if isinstance(element, DType) else number_of(form)
        )
    return given


PLANTS = [Plant(path) for path in sorted(HOME.glob("*/*.tk"))]
