"""What all lints share."""

from __future__ import annotations

from typing import ClassVar

from teenyc.diagnostics.model import Diagnostic, Severity
from teenyc.record import record


@record(kw_only=True)
class Lint(Diagnostic):
    """A report that does not stop the build unless `--deny-warnings` is given. Each kind has its own code and text.

    `lint` is the name by which `#[allow(…)]` silences it, Rust's own where Rust has that lint; what states none is
    called as its class, in words. One that `depends` is found by a run, for a target, or with options that fix
    constants or dtypes: a check cannot say that it is allowed for nothing.
    """

    severity = Severity.LINT
    lint: ClassVar[str] = ""
    depends: ClassVar[bool] = False

    @classmethod
    def lint_name(cls) -> str:
        """`same_address`."""
        return cls.lint or "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__).lstrip("_")


def of_name(name: str) -> str:
    return f" in `{name}`" if name else ""
