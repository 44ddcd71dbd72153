"""Lints for tiles: tensors that are updated in place while others read of them, and tiles that run over an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from teenyc.check.facts import Facts
from teenyc.diagnostics.model import Reporter
from teenyc.ir.addresses import Access
from teenyc.ir.digits import LOADED, NONE, Numbers
from teenyc.ir.masks import View
from teenyc.ir.polynomials import Factors, Polynomial
from teenyc.types import Extent

Terms: TypeAlias = "frozenset[tuple[tuple[int, ...], int]]"
"""Terms of a polynomial: the numbers of the factors, ascending, and the coefficient."""

Places: TypeAlias = "tuple[Terms, ...]"


def lint_tiles(facts: Facts, reporter: Reporter) -> None:
    """Reports reads of what other programs write, and stores of tiles that no mask keeps from the next row or batch."""
    tiles = _Tiles(facts, facts.accesses, reporter)
    if facts.kernel.attributes.grid != () and facts.digits.axes:
        tiles.in_place()
        tiles.unmasked()


class _Tiles:
    def __init__(self, facts: Facts, found: tuple[Access, ...], reporter: Reporter) -> None:
        self.facts = facts
        self.masks = facts.masks
        self.found = found
        self.reporter = reporter
        self.digits: dict[int, Numbers] = {}
        for id, (number, _) in facts.masks.views.items():
            self.digits[number] = self.digits.get(number, NONE) | (facts.digits.known.get(id, NONE) - {LOADED})

    def is_of_program(self, view: View) -> bool:
        return bool(self.digits.get(view[0]))

    def of_program(self, offset: Polynomial) -> Terms:
        """The terms of an offset that depend on the program, whatever lanes they are laid along."""
        return frozenset(
            (tuple(sorted(number for number, _ in factors)), coefficient)
            for factors, coefficient in offset.items()
            if any(map(self.is_of_program, factors))
        )

    # ---- in place ---------------------------------------------------------------------------------------------------

    def in_place(self) -> None:
        """A read of a parameter that is written too must be of the tile that this program writes."""
        roots: dict[int, list[Access]] = {}
        for access in self.found:
            roots.setdefault(access.root.id, []).append(access)
        for group in roots.values():
            writes = {a.key: a for a in group if a.is_write}
            reads = {a.key: a for a in group if not a.is_write and a.key not in writes} if writes else {}
            placed = {self.places(w): w for w in writes.values()}
            for read in reads.values():
                foreign = next((w for places, w in placed.items() if not _is_within(self.places(read), places)), None)
                if foreign is not None:
                    from teenyc.diagnostics.catalog.lints import InPlaceTiles

                    name = read.root.name
                    self.reporter.report(InPlaceTiles(span=read.let.span, name=name, store=foreign.let.span))
                    break

    def places(self, access: Access) -> Places:
        """For each axis of an access the terms that place it in the program's tile."""
        return tuple(self.of_program(offset) for offset in access.offsets)

    # ---- over the end -----------------------------------------------------------------------------------------------

    def unmasked(self) -> None:
        for access in self.found:
            if access.is_write and any(self.runs_over(access)):
                from teenyc.diagnostics.catalog.lints import UnmaskedTile

                self.reporter.report(UnmaskedTile(span=access.let.span, name=access.root.name))

    def runs_over(self, access: Access) -> Iterator[bool]:
        """For each tile of a store whether its last lanes may be those of the next row or batch."""
        if access.block is not None:
            for offset, extent in zip(access.offsets[1:], access.block, strict=False):
                yield self.meets_next(offset, (), extent)
            return
        (offset,) = access.offsets
        mask = access.call.operand("mask")
        guarded = {p for _, _, at in self.masks.conditions(mask) for p in at} if mask is not None else set()
        for factors, coefficient in offset.items():
            lanes = [view for view in factors if view[0] in self.facts.lanes]
            if len(lanes) == 1 and coefficient == 1 and guarded.isdisjoint(lanes[0][1]):
                stride = tuple(view for view in factors if view != lanes[0])
                yield self.meets_next(offset, stride, self.facts.lanes[lanes[0][0]])

    def meets_next(self, offset: Polynomial, stride: Factors, extent: Extent) -> bool:
        """Whether an offset has a tile of that extent and, farther out, a term that is no multiple of whole tiles."""
        terms = [(f, c) for f, c in offset.items() if any(map(self.is_of_program, f))]
        size = self.size(extent)
        if size is None or len(terms) < 2:
            return False
        tile = self.rest((*size[0], *stride))
        for factors, coefficient in terms:
            if self.rest(factors) != tile or coefficient != size[1]:
                continue
            outer = (self.rest(f) for f, _ in terms if f != factors)
            return any(self.holds(rest, self.rest(stride)) and not self.holds(rest, tile) for rest in outer)
        return False

    def rest(self, factors: Factors) -> Counter[int]:
        """The factors that are the same for all programs."""
        return Counter(view[0] for view in factors if not self.is_of_program(view))

    def holds(self, outer: Counter[int], inner: Counter[int]) -> bool:
        return not inner - outer

    def size(self, extent: Extent) -> tuple[Factors, int] | None:
        """An extent as a product."""
        if len(extent.terms) != 1:
            return None
        ((names, coefficient),) = extent.terms
        views = []
        for name in names:
            number = self.masks.numbers.get(("constant", name))
            if number is None:
                return None
            views.append((number, ()))
        return tuple(views), coefficient


def _is_within(read: Places, write: Places) -> bool:
    """Whether a read is bound to the program as a write is: what places the write places the read."""
    return all(w <= r for r, w in zip(read, write, strict=False))
