"""`check --safety`: compiled sources go in; what is proven of each access comes out, as text or as one document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap

from teenyc.diagnostics.render.json_format import span_of
from teenyc.driver import Compiled
from teenyc.ir.nodes import Kernel
from teenyc.safety.solver import is_installed
from teenyc.safety.verdicts import GUARDED, PROVEN, UNPROVEN, AccessSafety, KernelSafety, Verdict
from teenyc.source import SourceFile, Span

VERSION = 1
"""Of the document that docs/safety.md describes: it rises when a field goes or changes its meaning."""

WIDTH = 120
PLACE = 8
"""Columns for `line:column`."""

STATUSES = (PROVEN, GUARDED, UNPROVEN)


def explanation_text(compiled: Compiled) -> str:
    """For each kernel of a source what is proven of its accesses, ending in a newline."""
    blocks = ("\n".join(_kernel_lines(each, kernel, compiled.file)) for each, kernel in _kernels(compiled))
    return "\n\n".join(blocks) + "\n"


def explanation_document(sources: Sequence[Compiled]) -> str:
    """The same of all sources as one JSON object; the schema is described in docs/safety.md."""
    kernels = [_kernel(each, kernel, source.file) for source in sources for each, kernel in _kernels(source)]
    return json.dumps({"version": VERSION, "kernels": kernels}, indent=2)


def _kernels(compiled: Compiled) -> Iterator[tuple[KernelSafety, Kernel]]:
    assert compiled.checked is not None, "a source with errors has no accesses"
    yield from zip(compiled.safety(), compiled.checked.kernels, strict=True)


def _is_denying(kernel: Kernel) -> bool:
    return "unproven" in kernel.attributes.deny


# ---- text -----------------------------------------------------------------------------------------------------------


def _kernel_lines(safety: KernelSafety, kernel: Kernel, source: SourceFile) -> Iterator[str]:
    """A head that counts, the accesses, and what launches check."""
    counts = Counter(_status(access) for access in safety.accesses)
    found = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]) or "no access of memory"
    position = source.position(safety.span.start)
    yield f"kernel `{safety.kernel}`: {found}"
    yield f"  --> {source.name}:{position.line}:{position.column}"
    names = [_name(access) for access in safety.accesses]
    width = max(map(len, names), default=0)
    for name, access in zip(names, safety.accesses, strict=True):
        yield from _access_lines(f"{name:<{width}}  ", access, source)
    if safety.guards:
        yield from _guard_lines(safety, _is_denying(kernel))
    if any(access.bounds.status == UNPROVEN for access in safety.accesses) and not is_installed():
        yield "  a solver may prove more bounds: the extra `safety`, `pip install 'teenyc[safety]'`"


def _status(access: AccessSafety) -> str:
    """The worst verdict on an access."""
    found = {v.status for v in (access.bounds, access.width, access.race) if v is not None}
    return max(found, key=STATUSES.index)


def _name(access: AccessSafety) -> str:
    return f"{access.kind} `{access.tensor}`" if access.tensor else access.kind


def _access_lines(name: str, access: AccessSafety, source: SourceFile) -> Iterator[str]:
    position = source.position(access.span.start)
    sentences = [*_bounds(access, source), *_race(access.race, source)]
    place = f"  {f'{position.line}:{position.column}':<{PLACE}}"
    indent = " " * (len(place) + len(name) + 4)
    text = f"{_status(access):<10}" + "; ".join(sentences)
    for index, line in enumerate(wrap(text, WIDTH - len(place) - len(name), subsequent_indent="    ")):
        yield (place + name + line) if index == 0 else " " * (len(place) + len(name)) + line
    helps = dict.fromkeys(v.help for v in (access.bounds, access.width, access.race) if v is not None and v.help)
    for help in helps:
        yield from wrap(f"help: {help}", WIDTH, initial_indent=indent, subsequent_indent=indent + "    ")


def _bounds(access: AccessSafety, source: SourceFile) -> Iterator[str]:
    """What is known of the offset."""
    verdict, width = access.bounds, access.width
    if verdict.status == UNPROVEN:
        yield verdict.reason + _place(verdict.place, source)
    else:
        yield f"0 <= offset < {access.limit}{_condition(verdict)}{_assumed(verdict, source)}"
    if width.status == UNPROVEN and width.reason != verdict.reason:
        yield f"{width.reason}{_place(width.place, source)}, which may wrap"
    elif width.status != UNPROVEN:
        yield f"{access.bits} bits"


def _race(verdict: Verdict | None, source: SourceFile) -> Iterator[str]:
    if verdict is None:
        return
    if verdict.status == UNPROVEN:
        yield verdict.reason + _place(verdict.place, source)
    else:
        yield f"no race{_condition(verdict)}{_assumed(verdict, source)}"


def _condition(verdict: Verdict) -> str:
    return " if " + " and ".join(f"`{guard}`" for guard in verdict.guards) if verdict.guards else ""


def _assumed(verdict: Verdict, source: SourceFile) -> str:
    places = ", ".join(_line(span, source) for span in verdict.assumed)
    return f", given what is assumed at {places}" if places else ""


def _place(span: Span | None, source: SourceFile) -> str:
    return f" ({_line(span, source)})" if span is not None else ""


def _line(span: Span, source: SourceFile) -> str:
    position = source.position(span.start)
    return f"{position.line}:{position.column}"


def _guard_lines(safety: KernelSafety, is_denying: bool) -> Iterator[str]:
    """Who checks the conditions."""
    if is_denying and safety.status != UNPROVEN:
        yield "  launches check:"
    else:
        yield "  no launch checks these, unless the kernel says `deny(unproven)`:"
    for guard in safety.guards:
        yield f"    {guard}"


# ---- the document ---------------------------------------------------------------------------------------------------


def _kernel(safety: KernelSafety, kernel: Kernel, source: SourceFile) -> dict[str, object]:
    return {
        "kernel": safety.kernel,
        "file": source.name,
        "span": span_of(safety.span, source),
        "status": safety.status,
        "denies": _is_denying(kernel),
        "guards": [str(guard) for guard in safety.guards],
        "accesses": [_access(access, source) for access in safety.accesses],
    }


def _access(access: AccessSafety, source: SourceFile) -> dict[str, object]:
    return {
        "kind": access.kind,
        "tensor": access.tensor or None,
        "span": span_of(access.span, source),
        "status": _status(access),
        "limit": access.limit or None,
        "bits": access.bits,
        "bounds": _verdict(access.bounds, source),
        "offset": _verdict(access.width, source),
        "race": _verdict(access.race, source) if access.race is not None else None,
    }


def _verdict(verdict: Verdict, source: SourceFile) -> dict[str, object]:
    return {
        "status": verdict.status,
        "guards": [str(guard) for guard in verdict.guards],
        "reason": verdict.reason or None,
        "help": verdict.help or None,
        "place": span_of(verdict.place, source),
        "assumed": [span_of(span, source) for span in verdict.assumed],
    }
