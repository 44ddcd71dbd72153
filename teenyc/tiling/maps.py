"""Maps: a loop that stores goes in; a proof that each iteration has addresses of its own comes out, or a refusal.

An address is a sum of products: the counter times a stride, lanes times theirs, and what is the same in all iterations.
No two iterations meet where these are digits: in some order, each stride is no less than the digits below it reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir.addresses import Access, Addresses
from teenyc.ir.masks import Masks, masks
from teenyc.ir.nodes import Apart, Call, Constant, For, Let, Value
from teenyc.ir.polynomials import Factors, Polynomial, difference, product
from teenyc.ir.walk import statements_of
from teenyc.record import record
from teenyc.tiling.analyses import Analyses
from teenyc.tiling.plan import Refusal, Stored
from teenyc.tiling.strides import Digit, apart, are_digits, extents_of
from teenyc.tiling.wording import Wording
from teenyc.types import Extent, TensorType, Type, is_integer

OWN = "a loop takes blocks where each iteration stores to an address of its own, such as `y + row * n + {}`"
ALONE = "a loop takes blocks where nothing else reads or changes what it stores"


@record
class Place:
    """Where a loop stores: how far an iteration goes, the lanes, and what all iterations share."""

    step: Polynomial
    lanes: tuple[Digit, ...]
    rest: Polynomial


class Stores:
    """What the loops of a kernel store, and where; analysed when first asked for."""

    def __init__(self, source: Analyses) -> None:
        self.kernel, self.lets = source.kernel, source.lets

    def of(self, loop: For) -> tuple[Stored, ...] | Refusal:
        """The stores of a loop, each proven to go to another address in every iteration."""
        stores = [s for _, s in statements_of(loop.body) if isinstance(s, Let) and _writes(s)]
        places: dict[int, Place] = {}
        found: list[Stored] = []
        for n, store in enumerate(stores):
            place = self.place(store, loop)
            if isinstance(place, Refusal):
                return place
            places[id(store)] = place
            refusal = self.shared(store, stores) or self.met(store, stores[:n], places, loop)
            if refusal is not None:
                return refusal
            apart = self.apart(place, loop)
            assert apart is not None, "a place is that of digits"
            found.append(self.stored(store, loop, apart))
        return tuple(found)

    def stored(self, store: Let, loop: For, apart: Apart) -> Stored:
        address = self.accesses[id(store)][0].offsets[0]
        used = {
            number
            for polynomial in (address, self.addresses.polynomials.of(loop.step))
            for f in polynomial
            for number, _ in f
        }
        names = tuple(sorted(name for number, name in self.masks.constants.items() if number in used))
        return Stored(self.root(store), self.text(store), names, apart, store.span)

    def place(self, store: Let, loop: For) -> Place | Refusal:
        """Where a store goes, if it goes to another address in every iteration."""
        found = self.accesses.get(id(store), ())
        place = self.taken_apart(found[0].offsets[0], loop) if [len(a.offsets) for a in found] == [1] else None
        help, text = OWN.format(loop.counter.name or "k"), f"`{self.text(store)}` in the loop"
        if place is None:
            return Refusal(f"{text} may go to one address in several iterations", store.span, help)
        if not place.step:
            return Refusal(f"{text} goes to the same address in every iteration", store.span, help)
        if self.apart(place, loop) is None:
            reason = f"{text} may go to one address in several iterations: its strides may let them meet"
            return Refusal(reason, store.span, help)
        return place

    def shared(self, store: Let, stores: Sequence[Let]) -> Refusal | None:
        """A refusal where the kernel reads what a loop stores, or stores to the same tensor elsewhere."""
        root = self.root(store)
        for _, statement in statements_of(self.kernel.body):
            if not isinstance(statement, Let) or any(statement is s for s in stores) or not _touches(statement):
                continue
            found = self.accesses.get(id(statement), ())
            if not found or any(access.root.name == root for access in found):
                does = "changes" if _writes(statement) else "reads"
                reason = f"`{self.text(store)}` in the loop changes what `{self.text(statement)}` {does}"
                return Refusal(reason, store.span, ALONE)
        return None

    def met(self, store: Let, others: Sequence[Let], places: Mapping[int, Place], loop: For) -> Refusal | None:
        """A refusal where two stores of a loop may go to one address in different iterations."""
        place = places[id(store)]
        for other in others:
            beside = places[id(other)]
            if self.root(other) != self.root(store):
                continue
            apart = difference(place.rest, beside.rest)
            digits = (Digit(apart, {(): 2}),) if apart else ()
            is_alike = (place.step, place.lanes) == (beside.step, beside.lanes)
            if not is_alike or (digits and not self.are_digits((self.counter(place, loop), *place.lanes, *digits))):
                texts = f"`{self.text(other)}` and `{self.text(store)}` in the loop"
                return Refusal(f"{texts} may go to one address in different iterations", store.span, ALONE)
        return None

    # ---- addresses --------------------------------------------------------------------------------------------------

    def taken_apart(self, address: Polynomial, loop: For) -> Place | None:
        """An address as what an iteration moves, lanes, and the rest; None where it is more than that."""
        counter = self.masks.view(loop.counter)
        moved, rest = dict[Factors, int](), dict[Factors, int]()
        lanes: dict[tuple[int, tuple[int, ...]], dict[Factors, int]] = {}
        for factors, c in address.items():
            others = tuple(f for f in factors if f != counter)
            along = [f for f in others if f[1]]
            if any(id(loop) in self.masks.loops[number] for number, _ in others):
                return None
            if len(factors) - len(others) + len(along) > 1:
                return None
            if along:
                lanes.setdefault(along[0], {})[tuple(f for f in others if f != along[0])] = c
            else:
                (rest if others == factors else moved)[others] = c
        if any(number not in self.extents for number, _ in lanes):
            return None
        digits = tuple(Digit(stride, self.extents[lane[0]]) for lane, stride in sorted(lanes.items()))
        step = product(moved, self.addresses.polynomials.of(loop.step))
        return Place(step, digits, rest) if step is not None else None

    def counter(self, place: Place, loop: For) -> Digit:
        """The iterations as a digit; how many there are is known where the counter goes on by one."""
        is_by_one = self.addresses.polynomials.of(loop.step) == {(): 1}
        trips = difference(self.addresses.polynomials.of(loop.stop), self.addresses.polynomials.of(loop.start))
        return Digit(place.step, trips if is_by_one else None)

    def apart(self, place: Place, loop: For) -> Apart | None:
        """What a launch must show, so that no two iterations store to one address; None where that is nothing known."""
        return apart((self.counter(place, loop), *place.lanes), self.masks, self.known)

    def known(self, polynomial: Polynomial) -> Extent | None:
        """A number as a launch knows it: by parameters and constants."""
        total = Extent.of(0)
        for factors, c in polynomial.items():
            term = Extent.of(c)
            for number, _ in factors:
                if number not in self.names:
                    return None
                term = term * Extent.of(self.names[number])
            total = total + term
        return total

    def are_digits(self, digits: Sequence[Digit]) -> bool:
        return are_digits(digits, self.masks)

    # ---- the kernel -------------------------------------------------------------------------------------------------

    def root(self, store: Let) -> str:
        """The parameter from which a store starts."""
        return self.accesses[id(store)][0].root.name

    def text(self, let: Let) -> str:
        """An access as a person writes it."""
        assert isinstance(let.operation, Call), "only calls reach memory"
        start = let.operation.operand("pointer") or let.operation.operand("desc")
        return f"{let.operation.intrinsic}({self.wording.text(start) if start is not None else '…'})"

    @cached_property
    def masks(self) -> Masks:
        return masks(self.kernel)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """The integers that a launch knows, by their numbers in `masks`."""
        given: list[Value | Constant] = [p.value for p in self.kernel.parameters if _is_integer(p.value.type)]
        given += [Constant(c.name, c.type) for c in self.kernel.constants]
        return {self.masks.view(each)[0]: each.name for each in given}

    @cached_property
    def addresses(self) -> Addresses:
        return Addresses(self.kernel, self.masks)

    @cached_property
    def accesses(self) -> Mapping[int, tuple[Access, ...]]:
        """The accesses of each load and store, by identity: several where it may start from several parameters."""
        found: dict[int, tuple[Access, ...]] = {}
        for access in self.addresses.all():
            found[id(access.let)] = (*found.get(id(access.let), ()), access)
        return found

    @cached_property
    def extents(self) -> Mapping[int, Polynomial]:
        return extents_of(self.kernel, self.masks)

    @cached_property
    def wording(self) -> Wording:
        return Wording.of(self.lets)


def _is_integer(type: Type) -> bool:
    return isinstance(type, TensorType) and is_integer(type.element)


def _touches(let: Let) -> bool:
    """Whether a definition reads or changes memory."""
    return isinstance(let.operation, Call) and not TABLE[let.operation.intrinsic].effects.isdisjoint(
        {Effect.READS, Effect.WRITES, Effect.ATOMIC}
    )


def _writes(let: Let) -> bool:
    """Whether a definition changes memory."""
    return isinstance(let.operation, Call) and not TABLE[let.operation.intrinsic].effects.isdisjoint(
        {Effect.WRITES, Effect.ATOMIC}
    )
