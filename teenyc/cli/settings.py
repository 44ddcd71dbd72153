"""What a command line asked for, as values: click's callbacks make a `Settings`, the commands only read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from teenyc.record import record

CHECK = "check"
"""What `--emit-after` calls the program as the checker made it, before any pass."""


@record(kw_only=True)
class Settings:
    """The arguments of `build` and `check`; `writes` is what tells the two apart. `fix` and `diff` are of `check`.

    `output` is the folder for generated files, or one file whose name ends in `.py`; None puts each beside its source.
    """

    files: tuple[str, ...]
    writes: bool
    output: Path | None = None
    to_stdout: bool = False
    compare: bool = False
    force: bool = False
    watch: bool = False
    emit: str | None = None
    emit_after: str | None = None
    explain_tiling: bool = False
    explain_effects: bool = False
    safety: bool = False
    constants: Mapping[str, int | bool]
    dtypes: Mapping[str, str]
    targets: tuple[str, ...] = ()
    resources: bool = False
    tile: bool | None = None
    verify_ir: bool = False
    format: str = "human"
    deny_warnings: bool = False
    color: bool = False
    fix: bool = False
    diff: bool = False

    @property
    def prints(self) -> bool:
        """Whether modules or stages are printed and nothing is written."""
        return self.to_stdout or self.emit is not None or self.emit_after is not None or self.explains

    @property
    def explains(self) -> bool:
        """Whether kernels are explained, and nothing else is made of them."""
        return self.explain_tiling or self.explain_effects or self.safety

    @property
    def code_on_stdout(self) -> bool:
        """Whether standard output holds generated text, so that nothing else may go there."""
        if self.fix or self.diff:
            return self.diff or "-" in self.files
        return self.prints or (self.writes and self.output is None and "-" in self.files)

    @property
    def machine_readable(self) -> bool:
        """Whether the reports are one document for a program to read."""
        return self.format in ("json", "sarif")
