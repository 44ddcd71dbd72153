"""Lints of tiling: a kernel and what was done with it go in; a report comes out if that is not what it asks for."""

from __future__ import annotations

from teenyc.diagnostics.model import Reporter
from teenyc.ir.nodes import Certificate, Kernel, Remark


def lint_tiling(kernel: Kernel, certificate: Certificate, reporter: Reporter) -> None:
    """Reports what a kernel that asks for blocks does not get."""
    if not certificate.is_tiled:
        from teenyc.diagnostics.catalog.lints import TilingRefused

        (said,) = certificate.remarks
        reporter.report(
            TilingRefused(span=said.span, kernel=kernel.name, kernel_span=kernel.span, why=said.text, instead=said.help)
        )
        return
    blocked = {remark.subject for remark in certificate.remarks if remark.kind in ("program", "loop")}
    for name in kernel.attributes.tile or ():
        if name not in blocked:
            from teenyc.diagnostics.catalog.lints import AxisNotTiled

            said = _reason(name, kernel, certificate)
            reporter.report(
                AxisNotTiled(span=said.span, kernel=kernel.name, name=name, why=said.text, instead=said.help)
            )


def _reason(name: str, kernel: Kernel, certificate: Certificate) -> Remark:
    """Why an axis stays as it is, as far as that is known."""
    left = (remark for remark in certificate.remarks if remark.kind == "left" and remark.subject == name)
    return next(left, Remark("left", "it is not one of the axes of which blocks are taken", kernel.span, subject=name))
