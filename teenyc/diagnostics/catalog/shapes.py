"""E032x to E036x: what single intrinsics ask of the shapes of their arguments, and of the axes that are stated."""

from __future__ import annotations

from teenyc.diagnostics.catalog.types import of_two
from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class TooFewAxes(Diagnostic):
    """A function works on axes that its argument does not have.

    let s = sum(load(p));                       // one number: nothing to sum
    let s = sum(load(p + arange(0, N)));
    """

    code = "E0323"
    function: str
    name: str
    needs: str
    found: str

    def message(self) -> str:
        return f"the argument `{self.name}` of `{self.function}` needs {self.needs}"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str | None:
        return of_two(self.function)


@record(kw_only=True)
class AxisOutOfRange(Diagnostic):
    """An axis is stated that the value does not have.

    Axes count from 0, or from -1 at the end: a value of shape `[M, N]` has the axes 0 and 1, which are -2 and -1 too.

        let s = sum(x, axis = 2);           // x: [M, N]
        let s = sum(x, axis = 1);
    """

    code = "E0324"
    function: str
    axis: int
    rank: int
    shape: str

    def message(self) -> str:
        return f"axis {self.axis} of `{self.function}` does not exist"

    def label(self) -> str:
        return f"the shape is `{self.shape}`" if self.shape else ""

    def help(self) -> str:
        return f"axes are 0 to {self.rank - 1}, or {-self.rank} to -1 from the end" if self.rank > 1 else "it is axis 0"


@record(kw_only=True)
class NotAPermutation(Diagnostic):
    """The axes that `permute` or `trans` are given are not each axis of the value once.

    let y = permute(x, &[0, 0]);
    let y = permute(x, &[1, 0]);
    """

    code = "E0325"
    function: str
    dims: tuple[int, ...]
    value: str
    rank: int
    value_span: Span

    def message(self) -> str:
        found = ", ".join(map(str, self.dims))
        return f"`{self.function}` needs each axis of the value once, found `[{found}]`"

    def label(self) -> str:
        return f"the axes are {', '.join(map(str, range(self.rank)))}" if self.rank else ""

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.value_span, self.value),)


@record(kw_only=True)
class MissingAxis(Diagnostic):
    """An index along an axis is asked for, but no axis is stated.

    let (v, i) = max(x, return_indices = true);
    let (v, i) = max(x, axis = 0, return_indices = true);
    """

    code = "E0326"
    function: str

    def message(self) -> str:
        return f"`{self.function}` with indices needs an axis"

    def help(self) -> str:
        return "state it: `axis = 0`"


@record(kw_only=True)
class DoesNotBroadcast(Diagnostic):
    """A value does not stretch to the shape that is asked for.

    Shapes align at the last axis; only an axis of extent 1 stretches.

        let y = broadcast_to(x, &[M, N]);                   // x: [M]
        let y = broadcast_to(x[(.., None)], &[M, N]);
    """

    code = "E0327"
    function: str
    found: str
    target: str
    value_span: Span

    def message(self) -> str:
        return f"`{self.function}` cannot stretch shape `{self.found}` to `{self.target}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.value_span, f"shape `{self.found}`"),)

    def help(self) -> str:
        return "add axes of extent 1 with `x[(.., None)]` or `x[(None, ..)]`"


@record(kw_only=True)
class ElementCount(Diagnostic):
    """`reshape` would change the number of elements for some value of the constants.

    let y = reshape(x, &[N, 2]);        // x: [N]
    let y = reshape(x, &[N / 2, 2]);
    """

    code = "E0328"
    function: str
    found: str
    target: str
    counts: tuple[str, str]
    value_span: Span

    def message(self) -> str:
        return f"`{self.function}` cannot make `{self.target}` of `{self.found}`"

    def label(self) -> str:
        return f"{_elements(self.counts[1])}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.value_span, f"{_elements(self.counts[0])}"),)


@record(kw_only=True)
class DifferentShapes(Diagnostic):
    """Two arguments must have the same shape, and the function does not broadcast.

    let y = cat(a, b);      // a: [N], b: [M]
    """

    code = "E0329"
    function: str
    names: tuple[str, str]
    left: str
    right: str
    left_span: Span
    but: str = ""

    def message(self) -> str:
        first, second = self.names
        return f"the arguments `{first}` and `{second}` of `{self.function}` must have the same shape{self.but}"

    def label(self) -> str:
        return f"shape `{self.right}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.left_span, f"shape `{self.left}`"),)


def _elements(count: str) -> str:
    return f"{count} element{'' if count == '1' else 's'}"


@record(kw_only=True)
class NotTwoHalves(Diagnostic):
    """`split` takes a value apart along its last axis, which must have two elements.

    let (a, b) = split(x);                              // x: [N]
    let (a, b) = split(reshape(x, &[N / 2, 2]));
    """

    code = "E0330"
    found: str

    def message(self) -> str:
        return "the last axis of what `split` takes must have extent 2"

    def label(self) -> str:
        return f"the shape is `{self.found}`"

    def help(self) -> str:
        return "reshape it first: `split(reshape(x, &[N / 2, 2]))`"


@record(kw_only=True)
class EmptyRange(Diagnostic):
    """`arange` counts up from `start` to before `end`, and must give at least one number of 32 bits.

    let i = arange(8, 0);
    let i = 7 - arange(0, 8);
    """

    code = "E0331"
    function: str
    start: str
    end: str

    def message(self) -> str:
        return f"`{self.function}` from {self.start} to {self.end} is empty"

    def help(self) -> str:
        return "`end` must be greater than `start`"


@record(kw_only=True)
class TooManyElements(Diagnostic):
    """A tensor would have more elements than Triton allows, 1048576; one program works on a block of the data.

    let x = zeros::<f32>(&[2048, 1024]);
    let x = zeros::<f32>(&[1024, 1024]);
    """

    code = "E0332"
    shape: str
    count: int
    limit: int

    def message(self) -> str:
        return f"a tensor of shape `{self.shape}` has {self.count} elements, over the limit of {self.limit}"

    def help(self) -> str:
        return "let each program work on a smaller block"


@record(kw_only=True)
class OnlyLastAxis(Diagnostic):
    """`sort` works along the last axis only.

    let y = sort(x, dim = 0);                                       // x: [M, N]
    let y = permute(sort(permute(x, &[1, 0])), &[1, 0]);
    """

    code = "E0335"
    function: str
    axis: int
    rank: int

    def message(self) -> str:
        return f"`{self.function}` works along the last axis, not along axis {self.axis} of {self.rank}"

    def help(self) -> str:
        return "bring the axis to the end with `permute`, and back afterwards"


@record(kw_only=True)
class HintCount(Diagnostic):
    """A hint to the compiler holds one number for each axis of the value.

    let i = multiple_of(i, &[16, 1]);       // i: [N]
    let i = multiple_of(i, &[16]);
    """

    code = "E0336"
    function: str
    needed: int
    found: int

    def message(self) -> str:
        plural = "" if self.needed == 1 else "s"
        return f"`{self.function}` needs {self.needed} number{plural}, one for each axis, {self.found} given"


@record(kw_only=True)
class DotShapes(Diagnostic):
    """The operands of `dot` are `[M, K]` and `[K, N]`, or batches `[B, M, K]` and `[B, K, N]` of them.

    let s = dot(q, k);              // q: [M, D], k: [N, D]
    let s = dot(q, trans(k));
    """

    code = "E0342"
    function: str
    left: str
    right: str
    left_span: Span
    right_span: Span
    why: str
    advice: str | None = None

    def message(self) -> str:
        return f"`{self.function}` cannot multiply `{self.left}` by `{self.right}`: {self.why}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.left_span, f"shape `{self.left}`"), Label(self.right_span, f"shape `{self.right}`"))

    def help(self) -> str | None:
        return self.advice


@record(kw_only=True)
class DotTooSmall(Diagnostic):
    """The inner extent of a `dot`, K of `[M, K]` by `[K, N]`, is below what matrix units take.

    It must be at least 16, or 32 for 8-bit elements.

        let c = dot(a, b);                                              // a: [16, 8], b: [8, 16]
        let c = sum(a[(.., .., None)] * b[(None, .., ..)], axis = 1);
    """

    code = "E0343"
    function: str
    extent: int
    minimum: int
    shapes: tuple[str, str]

    def message(self) -> str:
        return f"the inner extent K of `{self.function}` must be at least {self.minimum}, found {self.extent}"

    def label(self) -> str:
        return f"`{self.shapes[0]}` by `{self.shapes[1]}`"

    def help(self) -> str:
        return f"use blocks with K of {self.minimum} or more, padded with zeros, or multiply and `sum`"


@record(kw_only=True)
class TooFewElements(Diagnostic):
    """More elements are asked for than there are along the axis.

    let best = topk(x, 16);             // x: [8]
    let best = topk(x, 8);
    """

    code = "E0350"
    wanted: str
    found: str
    of: Span

    def message(self) -> str:
        return f"`topk` needs {self.wanted} elements along the last axis"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.of, f"this is `{self.found}`"),)


@record(kw_only=True)
class NotOneElement(Diagnostic):
    """An axis is taken away, or a number taken out, where there is more than one element.

    let row = squeeze(x, 0);            // x: [4, N]
    let row = squeeze(sum(x, axis = 0, keep_dims = true), 0);
    """

    code = "E0351"
    function: str
    what: str
    found: str
    value_span: Span

    def message(self) -> str:
        return f"`{self.function}` needs an extent of 1"

    def label(self) -> str:
        return f"{self.what} has extent {self.found}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.value_span, "of this value"),) if self.value_span != self.span else ()

    def help(self) -> str:
        return "bring the elements together first: `sum`, `max`, …"
