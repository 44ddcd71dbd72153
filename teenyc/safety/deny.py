"""`deny(unproven)`: the safety of a kernel goes in; what is unproven is reported."""

from __future__ import annotations

from teenyc.diagnostics.model import Reporter
from teenyc.safety.verdicts import UNPROVEN, KernelSafety


def report_unproven(safety: KernelSafety, reporter: Reporter) -> None:
    """Reports each verdict that is `unproven` where the access stands."""
    for access in safety.accesses:
        verdicts = (
            ("in bounds", access.bounds),
            ("to have an offset that does not wrap", access.width),
            ("free of races", access.race),
        )
        for what, verdict in verdicts:
            if verdict is None or verdict.status != UNPROVEN:
                continue
            from teenyc.diagnostics.catalog.safety import UnprovenAccess

            reporter.report(
                UnprovenAccess(
                    span=access.span,
                    kind=access.kind,
                    tensor=access.tensor,
                    what=what,
                    reason=verdict.reason,
                    advice=verdict.help,
                    place=verdict.place,
                )
            )
