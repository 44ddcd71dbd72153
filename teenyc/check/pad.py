"""`pad(NAME)` of right kernels: a kernel goes in, a report comes out for every place where padding would be seen."""

from __future__ import annotations

from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir


def check_padding(kernel: ir.Kernel, reporter: Reporter) -> None:
    """Reports what of a kernel cannot be padded; pass `pad-extents` pads the rest."""
    names = kernel.attributes.pad
    if not names:
        return
    from teenyc.ir.pad.analysis import padding, refusals

    for refusal in refusals(kernel, padding(kernel, names)):
        from teenyc.diagnostics.catalog.padding import CannotPad

        reporter.report(CannotPad(span=refusal.span, why=refusal.why, names=names, kernel_span=kernel.span))
