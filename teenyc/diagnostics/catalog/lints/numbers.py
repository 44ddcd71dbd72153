"""W: numbers that lose more than the author may think."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint, of_name
from teenyc.diagnostics.model import Fix
from teenyc.record import field, record


@record(kw_only=True)
class FloatAtomic(Lint):
    """Programs add floats to one element in an order that differs from run to run, and so does the rounded result.

    atomic_add(out + bin, x);               // f32: the last digits differ between runs
    store(partial + program_id(0), x);      // one element a program, summed by a second kernel

    Integers, `atomic_max` and `atomic_min` give the same in every order.
    """

    code = "W0110"
    function: str
    variable: str | None = None

    def message(self) -> str:
        return f"`{self.function}` of floats gives another result in another order"

    def label(self) -> str:
        return "the order in which programs get here is not defined"

    def notes(self) -> tuple[str, ...]:
        if self.variable is None:
            return ()
        return (f"each step rounds to `{self.variable}` as it is in memory, so that with 16 bits small terms are lost",)

    def help(self) -> str:
        return "to get the same result each time, store one part a program and add the parts in a second kernel"


@record(kw_only=True)
class NarrowSum(Lint):
    """A sum is rounded to 16 or 8 bits at every step, so that terms below a 256th (`bf16`) of it are lost.

    Arithmetic on 16-bit floats is done in f32 between a load and a store. An atomic works in memory's type, and a cast
    to a named type rounds.

        acc = (acc + x) as bf16;        // in a loop: stops growing at 256 times x
        acc += x;                       // f32 until it is stored
    """

    code = "W0111"
    depends = True
    element: str
    function: str | None = None
    name: str = ""
    edit: Fix | None = field(default=None, compare=False)

    def message(self) -> str:
        if self.function is not None:
            return f"`{self.function}` adds in `{self.element}`"
        return f"a sum{of_name(self.name)} is rounded to `{self.element}` in every iteration"

    def label(self) -> str:
        return "small terms are lost"

    def help(self) -> str:
        if self.function is not None:
            return "add to memory of `f32`, and convert at the end"
        return "add in `f32`, and convert behind the loop"

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class RoundedInLoop(Lint):
    """A loop computes a value from its last one and rounds it in every iteration, so that the errors add up.

        h = (h * decay + x) as bf16;        // in a loop: 8 bits of every step
        h = h * decay + x;                  // f32 until it is stored

    Reported are casts to named floats of 16 or 8 bits, and from `f64` to `f32`. A maximum, a selection or a product
    with a power of two rounds nothing. A state that is to be kept in 16 bits says so:
    `#[allow(rounded_in_loop, reason = "as the model was trained")]`.
    """

    code = "W0123"
    element: str
    name: str = ""
    edit: Fix | None = field(default=None, compare=False)

    def message(self) -> str:
        return f"`{self.name}` is rounded to `{self.element}` in every iteration" if self.name else self._nameless()

    def _nameless(self) -> str:
        return f"what this loop carries is rounded to `{self.element}` in every iteration"

    def label(self) -> str:
        return "each iteration begins with the error of the one before"

    def help(self) -> str:
        return "carry it as it is computed, and convert it where it is stored"

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class ArithmeticOverflow(Lint):
    """An integer operation overflows whatever the arguments are, and wraps; or a shift count is not below the width.

    let big = 70_000 * 70_000;              // i32: 605032704
    let big = 70_000_i64 * 70_000;
    let high = 1 << 40;                     // the count is taken modulo 32: 256
    let hash = x.wrapping_mul(40503);       // says that wrapping is meant

    Constants that `--set` fixes count as known. Integers that reach an address do not wrap.
    """

    code = "W0117"
    depends = True
    operator: str
    type: str
    number: str | None

    def message(self) -> str:
        if self.operator in ("<<", ">>"):
            return f"`{self.operator}` shifts `{self.type}` by its width or more"
        return f"`{self.operator}` overflows `{self.type}`"

    def label(self) -> str:
        if self.number is None:
            return "for all values of the operands"
        return f"a count of {self.number}" if self.operator in ("<<", ">>") else f"{self.number} does not fit"

    def help(self) -> str:
        if self.operator in ("<<", ">>"):
            return "the count is taken modulo the width: write the count that is meant"
        return "compute in `i64`, or say that wrapping is meant with `wrapping_add`, `wrapping_sub` or `wrapping_mul`"
