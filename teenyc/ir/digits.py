"""Digits of program indices: a kernel goes in; for each value the parts of `program_id` that it depends on come out.

A kernel often takes an index apart: `pid / n` and `pid % n` are two digits, and only together do they tell all programs
apart. A digit is known by its number in `Masks`; `pid - pid / n * n` is the remainder too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias, assert_never

from teenyc.ir.masks import Masks
from teenyc.ir.nodes import Binary, Call, For, If, Kernel, Let, Operand, Return, Statement, Value, While
from teenyc.ir.walk import operands_of, statements_of

Numbers: TypeAlias = "frozenset[int]"
NONE: Numbers = frozenset()

EVERYTHING: Final = -1
"""The digit of what differs between any two programs, such as the result of an atomic."""

LOADED: Final = -2
"""The digit of what depends on memory, beside those of the address."""


class Digits:
    """The digits of values by id, the numbers of whole indices by program axis, and what was taken apart."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        self.known: dict[int, Numbers] = {}
        self.axes: dict[int, int] = {}
        self.parts: dict[tuple[int, int], dict[str, int]] = {}
        self.made: dict[int, Binary] = {}
        self.indices: dict[int, list[tuple[int, dict[str, int]]]] = {}
        self.has_changed = True

    def of(self, operand: Operand | None) -> Numbers:
        """The digits that an operand depends on."""
        return self.known.get(operand.id, NONE) if isinstance(operand, Value) else NONE

    def composed(self, digits: Iterable[int]) -> Numbers:
        """Digits and what they make up: an index whose quotient and remainder are both there is there too."""
        found = set(digits) - {LOADED}
        pending = list(found)
        while pending:
            for index, parts in self.indices.get(pending.pop(), ()):
                if index not in found and len(parts) == 2 and found.issuperset(parts.values()):
                    found.add(index)
                    pending.append(index)
        return frozenset(found)

    def are_told(self, digits: Numbers, by: Numbers) -> bool:
        """Whether digits are fixed by others: each is there, or is a part of one that is."""
        whole = self.composed(by)
        pending = list(digits - {LOADED})
        while pending:
            digit = pending.pop()
            if digit in whole:
                continue
            indices = self.indices.get(digit, ())
            if not indices:
                return False
            pending.extend(index for index, _ in indices)
        return True

    def shared_axes(self, digits: Iterable[int]) -> frozenset[int]:
        """The program axes along which digits do not tell programs apart."""
        found = self.composed(digits)
        return NONE if EVERYTHING in found else frozenset(a for a, number in self.axes.items() if number not in found)

    # ---- the analysis -----------------------------------------------------------------------------------------------

    def give(self, value: Value, *digits: Numbers) -> None:
        old = self.known.get(value.id, NONE)
        new = old.union(*digits)
        if new != old:
            self.known[value.id] = new
            self.has_changed = True

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self.let(statement)
            case If():
                for block in (statement.then, statement.otherwise):
                    for result, operand in zip(statement.results, block.yields, strict=False):
                        self.give(result, self.of(operand), self.of(statement.condition))
            case For() | While():
                self.loop(statement)
            case Return():
                pass
            case _:
                assert_never(statement)

    def loop(self, loop: For | While) -> None:
        bounds = (loop.start, loop.stop, loop.step) if isinstance(loop, For) else loop.condition.yields
        steers = NONE.union(*(self.of(bound) for bound in bounds))
        if isinstance(loop, For):
            self.give(loop.counter, self.of(loop.start), self.of(loop.step))
        for carried, following in zip(loop.carried, loop.body.yields, strict=True):
            self.give(carried.inside, self.of(carried.initial), self.of(following))
            self.give(carried.result, self.of(carried.inside), steers)

    def let(self, let: Let) -> None:
        operation = let.operation
        if isinstance(operation, Call):
            self.call(let, operation)
            return
        digits = NONE.union(*(self.of(o) for o in operands_of(operation)))
        if not digits:
            return
        if isinstance(operation, Binary):
            digits = self.split(operation, let.results[0]) or digits
        for value in let.results:
            self.give(value, digits)

    def call(self, let: Let, call: Call) -> None:
        from teenyc.intrinsics import TABLE
        from teenyc.intrinsics.spec import Effect

        digits = NONE.union(*(self.of(o) for o in operands_of(call)))
        axis = call.attribute("axis", 0)
        if call.intrinsic == "program_id" and isinstance(axis, int):
            number, _ = self.masks.view(let.results[0])
            self.axes[axis] = number
            digits = frozenset({number})
        elif Effect.ATOMIC in TABLE[call.intrinsic].effects:
            digits = frozenset({EVERYTHING})
        elif Effect.READS in TABLE[call.intrinsic].effects:
            digits |= {LOADED}
        for value in let.results:
            self.give(value, digits)

    def split(self, binary: Binary, value: Value) -> Numbers:
        """The digit that a quotient or a remainder is; none for other operations."""
        number, _ = self.masks.view(value)
        self.made[number] = binary
        if binary.operator in ("div", "rem"):
            return self.part(binary.operator, binary.left, binary.right, number)
        if binary.operator == "sub" and (divisor := self.divisor(binary)) is not None:
            return self.part("rem", binary.left, divisor, number)
        return NONE

    def part(self, kind: str, index: Operand, divisor: Operand, number: int) -> Numbers:
        if not self.of(index):
            return NONE
        whole = self.masks.view(index)[0]
        parts = self.parts.setdefault((whole, self.masks.view(divisor)[0]), {})
        if kind not in parts:
            parts[kind] = number
            self.indices.setdefault(number, []).append((whole, parts))
        return frozenset({parts[kind]}) | self.of(divisor)

    def divisor(self, binary: Binary) -> Operand | None:
        """The `n` of `x - x / n * n`."""
        product = self.made.get(self.masks.view(binary.right)[0])
        if product is None or product.operator != "mul":
            return None
        for quotient, factor in ((product.left, product.right), (product.right, product.left)):
            found = self.made.get(self.masks.view(quotient)[0])
            if found is None or found.operator != "div" or self.masks.view(found.right) != self.masks.view(factor):
                continue
            if self.masks.view(found.left) == self.masks.view(binary.left):
                return factor
        return None


def program_digits(kernel: Kernel, masks: Masks) -> Digits:
    """The digits of every value of a kernel."""
    digits = Digits(masks)
    while digits.has_changed:
        digits.has_changed = False
        for _, statement in statements_of(kernel.body):
            digits.statement(statement)
    return digits
