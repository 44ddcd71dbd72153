"""E04xx: loads, stores and atomics: addresses, masks, and what is written."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Fix, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class PointerNeeded(Diagnostic):
    """An access to memory needs an address, a `Pointer<…>` or a pointer plus offsets.

    let x = load(off);              // off: integers
    let x = load(x_ptr + off);
    """

    code = "E0401"
    function: str
    found: str

    def message(self) -> str:
        return f"`{self.function}` needs a pointer"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str:
        return "add the offsets to a pointer parameter: `x_ptr + off`"


@record(kw_only=True)
class MaskNeeded(Diagnostic):
    """A mask or a condition is `bool`, as comparisons give it.

    let x = load(p + off, mask = n - off);          // numbers
    let x = load(p + off, mask = off < n);
    """

    code = "E0402"
    function: str
    name: str
    found: str

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` must be `bool`"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str:
        return "compare: `off < n`"


@record(kw_only=True)
class AccessShape(Diagnostic):
    """A mask, or what stands for masked lanes, does not fit the addresses that it goes with.

    It broadcasts with the pointers; a single pointer takes single values only.

        let x = load(p, mask = arange(0, 8) < n);               // one address, eight lanes
        let x = load(p + arange(0, 8), mask = arange(0, 8) < n);
    """

    code = "E0403"
    function: str
    name: str
    found: str
    pointer: str
    pointer_span: Span

    def message(self) -> str:
        return (
            f"`{self.name}` of `{self.function}` has shape `{self.found}`, which does not fit"
            f" {_addresses(self.pointer)}"
        )

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.pointer_span, _addresses(self.pointer)),)

    def help(self) -> str:
        if self.pointer == "[]":
            return "add a tensor of offsets to the pointer: `x_ptr + arange(0, N)`"
        return "add axes of extent 1 with `x[(.., None)]` or `x[(None, ..)]`"


def _addresses(shape: str) -> str:
    return "a single address" if shape == "[]" else f"addresses of shape `{shape}`"


@record(kw_only=True)
class OtherWithoutMask(Diagnostic):
    """`other` stands for the lanes that a mask leaves out; without a mask there are none.

    let x = load(p + off, other = 0.0);
    let x = load(p + off, mask = off < n, other = 0.0);
    """

    code = "E0404"
    function: str

    def message(self) -> str:
        return f"`other` of `{self.function}` is given without a mask"

    def help(self) -> str:
        return "add `mask = …`, or leave `other` out"


@record(kw_only=True)
class StoredShape(Diagnostic):
    """What is written does not fit the addresses: one value an address, or one value for all of them.

    store(out, x);                          // one address, x: [N]
    store(out + arange(0, N), x);
    """

    code = "E0405"
    function: str
    name: str
    found: str
    pointer: str
    pointer_span: Span

    def message(self) -> str:
        return (
            f"`{self.name}` of `{self.function}` has shape `{self.found}`, which does not fit"
            f" {_addresses(self.pointer)}"
        )

    def label(self) -> str:
        return f"shape `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.pointer_span, _addresses(self.pointer)),)

    def help(self) -> str:
        if self.pointer == "[]":
            return "add a tensor of offsets to the pointer: `out + arange(0, N)`"
        return "give the pointer and the value the same axes with `x[(.., None)]` or `x[(None, ..)]`"


@record(kw_only=True)
class StoredType(Diagnostic):
    """What is written, compared or filled in has another element type than the memory.

    store(out, n);              // out: Pointer<f32>, n: i32
    store(out, n as f32);
    """

    code = "E0406"
    function: str
    name: str
    found: str
    memory: str
    pointer_span: Span

    def message(self) -> str:
        return (
            f"the argument `{self.name}` of `{self.function}` is `{self.found}`, but the memory holds `{self.memory}`"
        )

    def label(self) -> str:
        return f"this is `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.pointer_span, f"addresses of `{self.memory}`"),)

    def help(self) -> str:
        return f"convert it: `cast::<{self.found}, {self.memory}>(…)`, or `as {self.memory}`"


@record(kw_only=True)
class BlockPointerOption(Diagnostic):
    """`boundary_check` and `padding_option` belong to block pointers, which know where a tensor ends; pointers do not.

    let x = load(p + off, boundary_check = &[0]);
    let x = load(p + off, mask = off < n, other = 0.0);
    """

    code = "E0407"
    function: str
    name: str

    def message(self) -> str:
        return f"`{self.name}` has no meaning for `{self.function}` of a pointer"

    def help(self) -> str:
        return "state which lanes are inside with `mask`, and what the others get with `other`"


@record(kw_only=True)
class AtomicType(Diagnostic):
    """Hardware has no such atomic for the memory's element type.

    8- and 16-bit integers have none, 16-bit floats only `atomic_add`, floats no `atomic_and`, `atomic_or` and
    `atomic_xor`.

        atomic_add(count, 1);           // count: Pointer<i8>
        atomic_add(count, 1);           // count: Pointer<i32>
    """

    code = "E0408"
    function: str
    element: str
    need: str

    def message(self) -> str:
        return f"`{self.function}` works on {self.need}, not on `{self.element}`"

    def label(self) -> str:
        return f"addresses of `{self.element}`"


@record(kw_only=True)
class AtomicRank(Diagnostic):
    """The arguments of an atomic have as many axes as its pointers, or none.

    atomic_add(p + at, row);                    // p + at: [M, N], row: [N]
    atomic_add(p + at, row[(None, ..)]);
    """

    code = "E0409"
    function: str
    name: str
    found: str
    pointer: str
    pointer_span: Span

    def message(self) -> str:
        return f"`{self.name}` of `{self.function}` must have the axes of its addresses"

    def label(self) -> str:
        return f"shape `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.pointer_span, f"addresses of shape `{self.pointer}`"),)

    def help(self) -> str:
        return "add axes of extent 1: `x[(None, ..)]`"


@record(kw_only=True)
class UndefinedLanes(Diagnostic):
    """Lanes that a mask left out of a load have no value, and here they would make a difference.

    A load under a mask reads nothing in the lanes where the mask is false; without `other` they are undefined. They may
    go through work lane by lane, and be stored under the same mask. A sum, an address or a condition would see them.

        let x = load(p + off, mask = off < n);
        store(out, sum(x));                                     // adds whatever the masked lanes hold
        let x = load(p + off, mask = off < n, other = 0.0);     // they add nothing
        store(out, sum(where_(off < n, x, 0.0)));                // the same
    """

    code = "E0410"
    name: str
    sink: str
    load: Span
    other: str | None
    is_one: bool = True
    edit: Fix | None = None

    def message(self) -> str:
        return f"masked lanes{_of(self.name)} are undefined, but reach {self.sink}"

    def label(self) -> str:
        return "what the mask left out is not neutral here"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.load, "the masked lanes of this load hold no value: it has no `other`"),)

    def help(self) -> str:
        if self.other is None:
            return "give the load an `other` that makes no difference here, or put `where_(mask, …, …)` before"
        if not self.is_one:
            return f"put `where_(mask, …, {self.other})` before, or load once more for this with `other = {self.other}`"
        return f"say what they hold: `other = {self.other}`, or put `where_(mask, …, …)` before"

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class UndefinedStore(Diagnostic):
    """Lanes that a mask left out of a load have no value, and a store writes them.

    The store needs the mask of the load, or one that implies it, such as `mask & (x > 0.0)`.

        let x = load(p + off, mask = off < n);
        store(out + off, x);                        // writes whatever the masked lanes hold
        store(out + off, x, mask = off < n);
    """

    code = "E0411"
    function: str
    name: str
    load: Span
    other: str | None
    edit: Fix | None = None

    def message(self) -> str:
        return f"masked lanes{_of(self.name)} are undefined, but `{self.function}` writes them"

    def label(self) -> str:
        return "the mask of the load does not guard this"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.load, "the masked lanes of this load hold no value: it has no `other`"),)

    def help(self) -> str:
        other = f": `other = {self.other}`" if self.other is not None else ""
        return f"write under the mask of the load, or say what the lanes hold{other}"

    def fix(self) -> Fix | None:
        return self.edit


def _of(name: str) -> str:
    return f" of `{name}`" if name else ""
