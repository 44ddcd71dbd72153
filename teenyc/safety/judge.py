"""Safety of kernels: a checked program goes in; for each kernel verdicts on every access of memory come out."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.ir.expand import expanded
from teenyc.ir.flow import Flow, flow_of, reached
from teenyc.ir.intervals import Interval, fits, of_type
from teenyc.ir.nodes import Kernel, Program
from teenyc.ir.ranges import ranges
from teenyc.ir.walk import values_of, with_unique_ids
from teenyc.safety.bounds import bounds_of
from teenyc.safety.launch import Launch
from teenyc.safety.machine import Machine, run
from teenyc.safety.numbers import Numbers
from teenyc.safety.races import races_of
from teenyc.safety.symbols import Access
from teenyc.safety.terms import Terms, atoms_of
from teenyc.safety.verdicts import PROVEN, UNPROVEN, AccessSafety, KernelSafety, Verdict
from teenyc.types import DType, TensorType, is_integer


def judge(program: Program) -> tuple[KernelSafety, ...]:
    """The safety of every kernel of a program without descriptors, which a pass has turned into pointers."""
    program = with_unique_ids(program)
    flow = flow_of(program)
    exact = reached(flow.addresses, flow.same)
    return tuple(judge_kernel(kernel, program, exact) for kernel in program.kernels)


def judge_kernel(kernel: Kernel, program: Program, exact: frozenset[int]) -> KernelSafety:
    """The safety of one kernel; `exact` are the integers that do not wrap."""
    own = frozenset(v.id for v in values_of(kernel))
    whole = expanded(kernel, {f.name: f for f in program.functions})
    kernel = whole.kernel
    alone = Program(doc="", kernels=(kernel,))
    flow = flow_of(alone)
    kept = frozenset(
        v.id
        for v in values_of(kernel)
        if (v.id in own and v.id in exact) or (v.id in whole.origins and whole.origins[v.id][1] in exact)
    )
    intervals = ranges(alone, flow) if flow.addresses <= kept else {}
    machine = _machine(kernel, kept, intervals)
    run(machine, kernel.body)
    races = races_of(machine)
    judged = [
        _judged(machine, access, race, flow, intervals) for access, race in zip(machine.accesses, races, strict=True)
    ]
    return KernelSafety(kernel=kernel.name, span=kernel.span, accesses=tuple(judged))


def _machine(kernel: Kernel, exact: frozenset[int], intervals: Mapping[int, Interval]) -> Machine:
    terms = Terms()
    is_contiguous = not any("stride" in p.name.lower() for p in kernel.parameters)
    launch = Launch(kernel, terms, is_contiguous)
    launch.describe()
    return Machine(launch, Numbers(terms, launch.known), exact, intervals, launch.known)


def _judged(
    machine: Machine, access: Access, race: Verdict | None, flow: Flow, intervals: Mapping[int, Interval]
) -> AccessSafety:
    bounds, limit = bounds_of(machine, access)
    bits, width = _width(machine, access, intervals)
    return AccessSafety(
        kind=access.kind,
        tensor=access.address.root.name if access.address is not None else "",
        span=access.span,
        limit=limit,
        bounds=bounds,
        width=width,
        bits=bits,
        race=race,
    )


def _width(machine: Machine, access: Access, intervals: Mapping[int, Interval]) -> tuple[int, Verdict]:
    """In how many bits an offset is computed, and whether it certainly does not wrap in them."""
    if access.address is None:
        return 64, Verdict(status=UNPROVEN, reason="where the address comes from is not known")
    for number in sorted({n for n, _ in atoms_of(access.address.offset)}):
        source = machine.terms.sources.get(number)
        if source is not None and source.wraps:
            return 64, Verdict(
                status=UNPROVEN,
                reason=f"the offset goes through {source.text}",
                help="leave the cast or the `wrapping_…` out: offsets are computed exactly",
                place=source.span,
            )
    narrow = all(_is_narrow(machine, id, intervals) for id in access.address.steps)
    return 32 if narrow else 64, Verdict(status=PROVEN)


def _is_narrow(machine: Machine, id: int, intervals: Mapping[int, Interval]) -> bool:
    """Whether 32 bits are proven to hold an offset, so that the compiler leaves it as it is."""
    value = next((v for v in values_of(machine.launch.kernel) if v.id == id), None)
    element = value.type.element if value is not None and isinstance(value.type, TensorType) else None
    if not isinstance(element, DType) or not is_integer(element) or element.bits > 32:
        return False
    return id in intervals and fits(intervals[id], of_type(element))
