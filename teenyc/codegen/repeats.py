"""Whether launches give the same bits each time: what a kernel does goes in; why not, and conditions, come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from teenyc.codegen.effects import ASSEMBLY, CHANCE, COMBINE, EXPONENTIAL, KEEP, REPLACE, Access, Effects, bound
from teenyc.ir.nodes import Kernel, Operand
from teenyc.record import field, record, replace, state
from teenyc.source import SourceFile, Span
from teenyc.types import Element, is_integer

SUMS = frozenset({"atomic_add", "descriptor_atomic_add"})
"""Atomics that round what they leave, where it is a float."""

ORDERED = REPLACE | {"atomic_cas"}
"""Atomics of which the last one decides."""


@record
class Reason:
    """Why two launches may differ, or what must hold for them not to, and the parameters that it concerns."""

    text: str
    span: Span
    tensors: tuple[str, ...] = ()


def repeat_facts(
    forms: Sequence[tuple[Kernel, Effects]], spelled: Callable[[str], str], file: SourceFile | None
) -> dict[str, object]:
    """Whether two launches with the same arguments give the same bits: why not, and what must hold otherwise.

    The first of the forms is the kernel of the source, the others run in its place. `spelled` gives its parameters the
    names of the module; lines and columns are those of `file`.
    """
    found, given = _reasons(forms), _conditions(forms)

    def said(reason: Reason) -> dict[str, object]:
        at = {"at": file.place(reason.span.start)} if file is not None else {}
        return {**at, "text": reason.text, **({"tensors": [*map(spelled, reason.tensors)]} if reason.tensors else {})}

    return {
        "deterministic": not found,
        "nondeterministic": [*map(said, found)],
        "provided": [*map(said, given)],
    }


def _reasons(forms: Sequence[tuple[Kernel, Effects]]) -> tuple[Reason, ...]:
    """Why two launches with the same arguments may differ."""
    found = [r for kernel, effects in forms for r in _of_form(kernel, effects.accesses)]
    return _in_order(found, forms[0][0])


def _conditions(forms: Sequence[tuple[Kernel, Effects]]) -> tuple[Reason, ...]:
    """What must hold for two launches to be alike: where a launch has several ways, that they are launched in one."""
    kernel, effects = forms[0]
    given = [*_races(kernel, effects.accesses, "apart")]
    chooses = len(forms) > 1 or (kernel.attributes.chooses and len(kernel.attributes.configs) > 1)
    sums = [a.span for kernel, effects in forms for a in effects.accesses if _rounds(a, dict(kernel.elements))]
    powers = [a.span for _, effects in forms[1:] for a in effects.accesses if a.call == EXPONENTIAL]
    if chooses and sums:
        given.append(Reason("one configuration: the order of sums depends on the blocks that are chosen", min(sums)))
    elif powers:
        given.append(Reason("one configuration: exponentials of blocks may round otherwise", min(powers)))
    return _in_order(given, kernel)


def _in_order(found: Iterable[Reason], kernel: Kernel) -> tuple[Reason, ...]:
    """Each once, in the order of the source, with the tensors that a caller knows."""
    known = {parameter.name for parameter in kernel.parameters}
    kept = (replace(each, tensors=tuple(name for name in each.tensors if name in known)) for each in found)
    return tuple(sorted(dict.fromkeys(kept), key=lambda each: each.span))


def _of_form(kernel: Kernel, accesses: Sequence[Access]) -> Iterator[Reason]:
    known, changes = dict(kernel.elements), _changes(accesses)
    for access in accesses:
        for text in _of_access(access, [changes[t] for t in access.tensors if t in changes], known):
            yield Reason(text, access.span, _names(kernel, [access]))
    yield from _races(kernel, accesses, "race")


def _races(kernel: Kernel, accesses: Iterable[Access], kind: str) -> Iterator[Reason]:
    """What the checker found of that kind; the tensors are those of the accesses there."""
    there: dict[Span, list[Access]] = {}
    for access in accesses if kernel.races else ():
        there.setdefault(access.span, []).append(access)
    for race in kernel.races:
        if race.kind == kind:
            yield Reason(race.text, race.span, _names(kernel, there.get(race.span, ())))


def _names(kernel: Kernel, accesses: Iterable[Access]) -> tuple[str, ...]:
    return tuple(kernel.parameters[n].name for n in sorted(frozenset[int]().union(*(a.tensors for a in accesses))))


def _rounds(access: Access, known: Mapping[str, Element]) -> bool:
    return access.call in COMBINE and not _is_exact(access, known)


@state
class Changes:
    """What changes a tensor: an atomic, if one does, and what is left there, None for no number of the source."""

    atomic: str = ""
    left: set[Operand | None] = field(default_factory=set)


def _changes(accesses: Iterable[Access]) -> dict[int, Changes]:
    """The changes of each tensor that is written."""
    found: dict[int, Changes] = {}
    for access in accesses:
        for tensor in access.tensors if access.writes else ():
            changes = found.setdefault(tensor, Changes())
            changes.left.add(access.leaves)
            changes.atomic = changes.atomic or (access.call if access.is_atomic else "")
    return found


def _of_access(access: Access, changes: Sequence[Changes], known: Mapping[str, Element]) -> Iterator[str]:
    """Why an access makes launches differ; `changes` are those of its tensors."""
    name = access.call
    if name == ASSEMBLY and not access.is_pure:
        yield "assembly that is not pure may do anything"
    if name in CHANCE and access.is_used:
        yield f"what `{name}` gives differs from launch to launch"
    if not access.is_atomic:
        atomic = next((each.atomic for each in changes if each.atomic), None)
        if atomic is not None and (access.reads or access.writes) and name != ASSEMBLY:
            yield f"`{name}` comes before or after `{atomic}` of other programs"
        return
    if name in SUMS and not _is_exact(access, known):
        yield f"`{name}` adds floats in no fixed order"
    if name in ORDERED and (access.leaves is None or any(each.left != {access.leaves} for each in changes)):
        yield f"`{name}` leaves what the last program wrote"
    if access.is_used and (name not in KEEP or changes):
        yield f"the result of `{name}` depends on which program comes first"


def _is_exact(access: Access, known: Mapping[str, Element]) -> bool:
    """Whether the order of sums makes no difference: integers wrap alike in each; a function may do anything."""
    element = bound(access.element, known) if access.element is not None else None
    return element is not None and is_integer(element) and access.call not in ("reduce", "associative_scan")
