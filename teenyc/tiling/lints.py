"""Lints of tiling: kernels that ask for blocks go in; a report comes out for each that does not get what it asks."""

from __future__ import annotations

from teenyc.diagnostics.model import Reporter
from teenyc.ir.nodes import Certificate, Kernel, Program, Remark


def lint_tiling(program: Program, reporter: Reporter) -> None:
    """Reports on the kernels of a program after pass `tile`."""
    for kernel in program.kernels:
        if kernel.tiling is None and kernel.certificate is not None:
            _lint(kernel, kernel.certificate, reporter)


def _lint(kernel: Kernel, certificate: Certificate, reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.lints import AxisNotTiled, TilingRefused

    if not certificate.is_tiled:
        (said,) = certificate.remarks
        reporter.report(
            TilingRefused(span=said.span, kernel=kernel.name, kernel_span=kernel.span, why=said.text, instead=said.help)
        )
        return
    blocked = {remark.subject for remark in certificate.remarks if remark.kind in ("program", "loop")}
    for name in kernel.attributes.tile or ():
        if name not in blocked:
            said = _reason(name, kernel, certificate)
            reporter.report(
                AxisNotTiled(span=said.span, kernel=kernel.name, name=name, why=said.text, instead=said.help)
            )


def _reason(name: str, kernel: Kernel, certificate: Certificate) -> Remark:
    """Why an axis stays as it is, as far as that is known."""
    left = (remark for remark in certificate.remarks if remark.kind == "left" and remark.subject == name)
    return next(left, Remark("left", "it is not one of the axes of which blocks are taken", kernel.span, subject=name))
