"""W: programs and lanes that meet in memory, or reach what is not theirs."""

from __future__ import annotations

from teenyc.diagnostics.catalog.lints.lint import Lint, of_name
from teenyc.diagnostics.model import Fix, Label
from teenyc.record import field, record
from teenyc.source import Span


@record(kw_only=True)
class SameAddress(Lint):
    """A store writes to addresses that do not tell programs apart, so several of them write the same place.

        store(out, v);                                  // all programs write `out`
        store(out + program_id(Axis::X), v);            // each its own
        store(out + program_id(Axis::X) % n, v);        // every n-th program writes the same place

    Which of them stays is not defined, and where each loads, adds and stores, some of the sums are lost. Sums over
    programs need `atomic_add`, or a second kernel that adds up. A kernel that is launched with one program only may
    write where it likes, and so may programs that write the same value along an axis.
    """

    code = "W0106"
    pointer: str
    axis: int | None = None
    is_partly: bool = False
    is_equal: bool = False
    """whether all of them write the same value"""

    def message(self) -> str:
        if self.axis is None:
            return "every program writes to the same address"
        if self.is_partly:
            return "several programs write to the same address"
        return f"every program along axis {self.axis} writes to the same address"

    def label(self) -> str:
        where = f" in `{self.pointer}`" if self.pointer else ""
        if self.is_partly:
            return f"the address{where} depends on a part of `program_id({self.axis})` only"
        index = "program_id" if self.axis is None else f"program_id({self.axis})"
        return f"the address{where} does not depend on `{index}`"

    def help(self) -> str:
        index = "program_id" if self.axis is None else f"program_id({self.axis})"
        whole = f"all of `{index}`" if self.is_partly else f"`{index}`"
        return f"add an offset that depends on {whole}, add up with `atomic_add`, or launch one program only"

    def race(self) -> str:
        return "" if self.is_equal else self.message()


@record(kw_only=True)
class PaddedLanes(Lint):
    """A reduction counts lanes that a mask left out: what they hold, `other` or what work made of it, is not neutral.

        let x = load(p + off, mask = off < n, other = 0.0);
        let total = sum(exp(x - top));                                      // each padded lane adds exp(-top)
        let total = sum(where_(off < n, exp(x - top), 0.0));
        let top = max(x);                                                   // 0 where all numbers are below
        let top = max(where_(off < n, x, f32::NEG_INFINITY));
        let x = load(p + off, mask = off < n, other = f32::NEG_INFINITY);   // right for both: exp(-inf) is 0

    A maximum that is only subtracted, as in a softmax, may be too great, and so may that of numbers which are not
    negative; these are not reported.
    """

    code = "W0112"
    load: Span
    number: str | None
    kind: str = "sum"
    neutral: str = "0.0"
    edit: Fix | None = field(default=None, compare=False)

    def message(self) -> str:
        return f"this {self.kind} counts lanes that a mask left out"

    def label(self) -> str:
        holds = f"{self.number} in each" if self.number is not None else "what is made of `other` in each"
        return f"{'adds' if self.kind == 'sum' else 'takes'} {holds}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.load, "the mask of this load left them out"),)

    def help(self) -> str:
        made = "0" if self.neutral == "0.0" else f"`{self.neutral}`"
        return (
            f"put `where_(mask, …, {self.neutral})` before the {self.kind}, or load an `other` of which {made} is made"
        )

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class HollowRow(Lint):
    """A mask that depends on memory may leave out a whole row: its maximum is then -inf, and `-inf - -inf` is NaN.

    let s = where_(flags, scores, f32::NEG_INFINITY);
    let p = exp(s - max(s));                            // NaN in a row without a flag
    let top = max(s);
    let p = exp(s - if top > f32::NEG_INFINITY { top } else { 0.0 });

    Masks that compare places with a parameter are not reported: they leave a lane in each row of a tensor that has any.
    """

    code = "W0113"
    mask: Span

    def message(self) -> str:
        return "a row that is masked as a whole gives NaN here"

    def label(self) -> str:
        return "`-inf - -inf` where no lane is left"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.mask, "puts -inf where loaded values say so, perhaps in every lane"),)

    def help(self) -> str:
        return "subtract 0 where the maximum is `f32::NEG_INFINITY`, or mask with a finite number"


@record(kw_only=True)
class LanesShareAddress(Lint):
    """Lanes of a store have different values and one address: which of them stays is not defined.

    let p = x + full(&[N], 0);
    store(p, v);                                // v: [N], one element of memory
    store(x, max(v));                           // one value
    store(p, v, mask = arange(0, N) == 0);      // one lane
    """

    code = "W0114"
    name: str

    def message(self) -> str:
        return f"several lanes write different values to one address{of_name(self.name)}"

    def label(self) -> str:
        return "the value varies along an axis along which the address does not"

    def help(self) -> str:
        return "reduce the value, or let a mask choose one lane"

    def race(self) -> str:
        return self.message()


@record(kw_only=True)
class InPlaceTiles(Lint):
    """A kernel writes a tile of a tensor of which other programs read: some see the old numbers, some the new ones.

    let a = load(x + row * n + k);                      // all of row `row`,
    store(x + row * n + column, a * b);                 // of which this program writes one element

    An update in place is right where each program reads only what it writes itself. Write to another tensor, or let one
    program do all of a row.
    """

    code = "W0115"
    name: str
    store: Span

    def message(self) -> str:
        return f"this reads what other programs write{of_name(self.name)}"

    def label(self) -> str:
        return "not only the tile that this program writes"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.store, "written in place, a tile a program"),)

    def help(self) -> str:
        return "write to another tensor, or launch one program"

    def race(self) -> str:
        return self.message()


@record(kw_only=True)
class UselessMask(Lint):
    """A mask holds in every lane whatever the arguments are, so that it guards nothing.

    let off = arange(0, N);
    load(x + off, mask = off < N, other = 0.0);     // `N` lanes, each below `N`
    load(x + off, mask = off < n, other = 0.0);
    load(x + off);
    """

    code = "W0125"
    name: str
    edit: Fix | None = field(default=None, compare=False)

    def message(self) -> str:
        return f"the mask of this access{of_name(self.name)} leaves no lane out"

    def label(self) -> str:
        return "always true"

    def help(self) -> str:
        return "compare with the extent of the tensor, or leave the mask out"

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class UnusedMask(Lint):
    """A mask is computed and nothing reads it, while an access behind it goes by the index that it keeps in bounds.

    let inside = off < n;
    store(x + off, v);                      // writes the lanes beyond `n` too
    store(x + off, v, mask = inside);
    let _inside = off < n;                  // says that this is meant
    """

    code = "W0127"
    name: str
    accesses: tuple[Span, ...]
    edit: Fix | None = field(default=None, compare=False)

    def message(self) -> str:
        return f"nothing reads the mask `{self.name}`"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "goes by the index in it, without a mask") for span in self.accesses)

    def help(self) -> str:
        return f"write `mask = {self.name}`, or call it `_{self.name}` if that is meant"

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class MissingMask(Lint):
    """An access has no mask, and a mask beside it keeps the very index of it below a bound.

        let v = load(x + off, mask = off < n, other = 0.0);
        store(out + off, v);                            // writes the lanes beyond `n` too
        store(out + off, v, mask = off < n);

    Reported are stores, and loads of a tensor that another access guards. A tensor whose extents the kernel states,
    `shape(out = [N])`, may be written in every lane.
    """

    code = "W0126"
    name: str
    index: str
    bound: str
    guarded: Span
    is_write: bool
    edit: Fix | None = field(default=None, compare=False)

    def message(self) -> str:
        verb = "written" if self.is_write else "read"
        return f"`{self.name}` is {verb} without the mask of the access beside it"

    def label(self) -> str:
        index = f"`{self.index}`" if self.index else "the index"
        return f"{index} may go beyond `{self.bound}`" if self.bound else f"{index} may go beyond its bound"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.guarded, "a mask keeps it below here"),)

    def help(self) -> str:
        return f"give it the mask too, or say with `shape({self.name} = […])` that all of it is there"

    def fix(self) -> Fix | None:
        return self.edit


@record(kw_only=True)
class UnmaskedTile(Lint):
    """A store writes whole tiles along an axis, and the last one runs into the next row or batch if it does not fit.

    let c = tile * BLOCK + arange(0, BLOCK);
    store(out + batch * channels + c, x);                           // `channels` need not be a multiple of `BLOCK`
    store(out + batch * channels + c, x, mask = c < channels);

    A tensor descriptor keeps a tile inside of its own extents only: give it the batch as an axis of its own.
    """

    code = "W0116"
    name: str

    def message(self) -> str:
        return f"the last tile along an axis may be written into the next row or batch{of_name(self.name)}"

    def label(self) -> str:
        return "no mask mentions the index of the tile's elements"

    def help(self) -> str:
        return "add a mask that compares the index with the extent, or make the axis one of the descriptor's"

    def race(self) -> str:
        return self.message()
