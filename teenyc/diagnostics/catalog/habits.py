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


@record(kw_only=True)
class MisspeltKernel(Diagnostic):
    """An attribute is nearly `#[kernel]`, or marks a kernel elsewhere; the function would be taken for a helper.

    #[kernal]
    fn scale(x: Pointer<f32>) {}

    #[kernel]
    fn scale(x: Pointer<f32>) {}
    """

    code = "E0121"
    name: str

    def message(self) -> str:
        return f"unknown attribute `{self.name}` on a function"

    def help(self) -> str:
        return "a kernel is marked by `#[kernel]`"

    def fix(self) -> Fix | None:
        return Fix(self.span, "#[kernel]") if self.span else None


@record(kw_only=True)
class KernelMethod(Diagnostic):
    """A kernel is a function of the file or of a module: it is launched by its name, and has no `self`.

    impl Scale {
        #[kernel]
        fn run(x: Pointer<f32>) {}
    }

    #[kernel]
    fn scale(x: Pointer<f32>) {}
    """

    code = "E0122"
    where: str

    def message(self) -> str:
        article = "an" if self.where == "impl" else "a"
        return f"a kernel inside of {article} `{self.where}`"

    def help(self) -> str:
        return f"move the function out of the `{self.where}`"
