"""Configurations on a target: those that a launch may take go in; one for which there is room comes out.

With what each takes, and reports of those that cannot be launched, and of registers that spill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.record import record
from teenyc.runtime.signature import Signature
from teenyc.runtime.targets import Target
from teenyc.runtime.usage import Shortage, Usage, shortages, usage_of

Compiler: TypeAlias = Callable[[Signature, Reporter], Any]
"""Triton's result for a signature, None after a report."""

LITTLE = 512
"""So many bytes of a thread may be spilled where other configurations are at hand: as many as a launch allows."""


@record
class Tried:
    """A configuration that compiled, what it takes, and what the target lacks of that."""

    signature: Signature
    result: Any
    usage: Usage
    lacks: tuple[Shortage, ...]


@record
class Form:
    """One kernel that a host may launch, as it was chosen, and all that was tried for it."""

    chosen: Tried
    tried: tuple[Tried, ...]


def form_of(
    signatures: Iterable[Signature], compiled: Compiler, target: Target, reporter: Reporter, *, is_must: bool = True
) -> Form | None:
    """The first of the signatures that fits a target and spills little, or else the first that fits.

    None after a report, or where nothing compiles that no one must. Those to tell of are all compiled, and of what the
    source states each is reported that cannot be launched.
    """
    tried: list[Tried] = []
    failed: list[tuple[Signature, Diagnostic]] = []
    for signature in signatures:
        fitting = [each for each in tried if not each.lacks]
        is_found = any(map(_spills_little, fitting)) or (fitting and not signature.is_likely)
        if is_found and not signature.is_told:
            break
        own = Reporter()
        result = compiled(signature, own)
        failed += [(signature, diagnostic) for diagnostic in own]
        if result is not None:
            usage = usage_of(result, target)
            tried.append(Tried(signature, result, usage, shortages(usage, target)))
    fitting = [each for each in tried if not each.lacks]
    chosen = next((each for each in (*filter(_spills_little, fitting), *fitting)), None)
    if chosen is not None:
        meant = [each for each in tried if each is chosen or each.signature.place is not None]
        _lint(meant, failed, target, reporter)
        return Form(chosen, tuple(tried))
    _report_shortages(tried, target, reporter)
    for _, diagnostic in failed if is_must else ():
        reporter.report(diagnostic)
    return None


def _spills_little(tried: Tried) -> bool:
    return (tried.usage.spilled_bytes or 0) <= LITTLE


def _report_shortages(tried: list[Tried], target: Target, reporter: Reporter) -> None:
    """An error at each configuration that the source states, or one for that which needs least."""
    from teenyc.diagnostics.catalog.target import LacksRoom

    least = sorted(tried, key=lambda each: each.lacks[0].needed)[:1]
    for each in [each for each in tried if each.signature.place is not None] or least:
        lacks, facts = each.lacks[0], _facts(each.signature, target)
        room: dict[str, Any] = {"what": lacks.what, "unit": lacks.unit, "needed": lacks.needed, "limit": lacks.limit}
        reporter.report(LacksRoom(**facts, **room, configuration=each.signature.configuration))


def _lint(tried: list[Tried], failed: list[tuple[Signature, Diagnostic]], target: Target, reporter: Reporter) -> None:
    """Of what is left out beside a configuration that fits, and of what spills."""
    from teenyc.diagnostics.catalog.lints import ConfigurationLeftOut, RegistersSpill

    reasons = [(each.signature, _words(each.lacks[0])) for each in tried if each.lacks]
    reasons += [(signature, getattr(diagnostic, "reason", "")) for signature, diagnostic in failed]
    for signature, reason in reasons:
        if signature.place is not None:
            reporter.report(ConfigurationLeftOut(**_facts(signature, target), reason=reason))
    for each in tried:
        if each.usage.spilled_bytes and not each.lacks:
            facts, configuration = _facts(each.signature, target), each.signature.configuration
            reporter.report(RegistersSpill(**facts, bytes=each.usage.spilled_bytes, configuration=configuration))


def _facts(signature: Signature, target: Target) -> dict[str, Any]:
    return {"span": signature.span, "kernel": signature.source_name, "target": target.name}


def _words(lacks: Shortage) -> str:
    """`needs 393,216 bytes of shared memory, of 232,448`, `needs 2,048 threads, of 1,024`."""
    what = "" if lacks.what == lacks.unit else f" of {lacks.what}"
    return f"needs {lacks.needed:,} {lacks.unit}{what}, of {lacks.limit:,}"
