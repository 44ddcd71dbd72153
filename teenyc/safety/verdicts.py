"""What safety finds out, as values: for each access of a kernel a verdict on its bounds, its offsets and on races."""

from __future__ import annotations

from teenyc.ir.nodes import Guard as Guard
from teenyc.record import record
from teenyc.source import Span

PROVEN, GUARDED, UNPROVEN = "proven", "guarded", "unproven"


@record(kw_only=True)
class Verdict:
    """`proven`, `guarded` by conditions that all must hold, or `unproven` for a reason; `help` says what would do.

    `assumed` are the places of `assume` and `device_assert` without which it would not be so.
    """

    status: str
    guards: tuple[Guard, ...] = ()
    reason: str = ""
    help: str = ""
    place: Span | None = None
    assumed: tuple[Span, ...] = ()


@record(kw_only=True)
class AccessSafety:
    """One access: what it is, of which parameter, and the verdicts on it.

    `limit` is the number of elements that offsets are proven to stay below. `width` is the verdict on the arithmetic of
    the offset, of which `bits` says in how many bits it is done. `race` is None for what only reads a tensor that no
    program writes, and for what is atomic.
    """

    kind: str
    tensor: str
    span: Span
    limit: str
    bounds: Verdict
    width: Verdict
    bits: int
    race: Verdict | None


@record(kw_only=True)
class KernelSafety:
    """One kernel, with its accesses in the order of the source."""

    kernel: str
    span: Span
    accesses: tuple[AccessSafety, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts, in the order of accesses."""
        return tuple(v for a in self.accesses for v in (a.bounds, a.width, a.race) if v is not None)

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The conditions of all guarded verdicts, each once."""
        return tuple(dict.fromkeys(guard for verdict in self.verdicts for guard in verdict.guards))

    @property
    def status(self) -> str:
        """The worst of all."""
        found = {verdict.status for verdict in self.verdicts}
        return next((status for status in (UNPROVEN, GUARDED) if status in found), PROVEN)
