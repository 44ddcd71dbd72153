"""E012x: what Rust, Python or C have and kernels do not."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Fix
from teenyc.record import record


@record(kw_only=True)
class NotInTheLanguage(Diagnostic):
    """Something is written as in Python or C, or as in Rust's host code, that kernels have no syntax for.

    The help says what to write.

        i++;                        // `i += 1`
        let a = c ? 1 : 2;          // `if c { 1 } else { 2 }`
        if n > 0 and n < 5 {}       // `&&`
        let y = x[:, None];         // `x[(.., None)]`
    """

    code = "E0120"
    construct: str
    instead: str
    replacement: str = ""

    def message(self) -> str:
        return f"{self.construct} is not in the language"

    def help(self) -> str:
        return self.instead

    def fix(self) -> Fix | None:
        return Fix(self.span, self.replacement) if self.replacement and self.span else None
