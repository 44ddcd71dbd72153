"""E07xx: running a kernel on the CPU: what it is given, and what goes wrong while it runs."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# ---- what a kernel is given -----------------------------------------------------------------------------------------


@record(kw_only=True)
class UnknownKernel(Diagnostic):
    """The source has no kernel of that name. A kernel is a function under the attribute `#[kernel]`.

    teenyc run softmax.tk softmx --grid 4 …
    teenyc run softmax.tk softmax --grid 4 …
    """

    code = "E0701"
    name: str
    path: str
    known: tuple[str, ...]
    similar: str | None = None

    def message(self) -> str:
        return f"no kernel `{self.name}` in `{self.path}`"

    def notes(self) -> tuple[str, ...]:
        return (f"its kernels are {_listed(self.known)}",)

    def help(self) -> str | None:
        return f"there is a kernel with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class MissingArgument(Diagnostic):
    """A parameter of the kernel was given nothing, and what was given does not say what it is.

    The attribute `shape` says how large tensors are: then numbers are found from the shapes of tensors, and on the
    command line tensors that a kernel only writes are made.

        teenyc run scale.tk scale --grid 4 --arg 'x=randn(1024)'
        teenyc run scale.tk scale --grid 4 --arg 'x=randn(1024)' --arg 'y=zeros(1024)' --arg n=1024
    """

    code = "E0702"
    kernel: str
    name: str
    type: str
    example: str

    def message(self) -> str:
        return f"no argument for `{self.name}` of `{self.kernel}`"

    def label(self) -> str:
        return f"`{self.type}`"

    def help(self) -> str:
        return f"give one: `{self.example}`"


@record(kw_only=True)
class UnknownArgument(Diagnostic):
    """An argument names no parameter of the kernel. Constants are set with `--set`, or `set=` in Python.

    teenyc run scale.tk scale --grid 4 --arg BLOCK=256 …
    teenyc run scale.tk scale --grid 4 --set BLOCK=256 …
    """

    code = "E0703"
    kernel: str
    name: str
    known: tuple[str, ...]
    similar: str | None = None
    is_constant: bool = False

    def message(self) -> str:
        return f"`{self.kernel}` has no parameter `{self.name}`"

    def notes(self) -> tuple[str, ...]:
        return (f"its parameters are {_listed(self.known)}",)

    def help(self) -> str | None:
        if self.is_constant:
            return f"it is a constant: `--set {self.name}=…`, in Python `set={{'{self.name}': …}}`"
        return f"there is a parameter with a similar name: `{self.similar}`" if self.similar else None


@record(kw_only=True)
class WrongArgument(Diagnostic):
    """An argument is not what the parameter takes: an array where a number is needed or the other way round, a number
    that its type does not hold, or an array that the runner cannot reach, such as one on a GPU.

        teenyc.run("scale.tk", "scale", 4, {"x": 1.5, "n": 2**40})
        teenyc.run("scale.tk", "scale", 4, {"x": numpy.ones(1024, "float32"), "n": 1024})
    """

    code = "E0704"
    kernel: str
    name: str
    need: str
    found: str

    def message(self) -> str:
        return f"`{self.name}` of `{self.kernel}` takes {self.need}, and got {self.found}"


@record(kw_only=True)
class WrongDtype(Diagnostic):
    """An array has other elements than the parameter points to.

    The first pointer over a dtype parameter `D` says what `D` is. Other pointers over `D` must have the same
    elements, or wider floats.

        teenyc.run("copy.tk", "copy", 4, {"x": numpy.ones(64, "float64"), …})     # x: Pointer<f32>
        teenyc.run("copy.tk", "copy", 4, {"x": numpy.ones(64, "float32"), …})
    """

    code = "E0705"
    kernel: str
    name: str
    need: str
    found: str
    because: str = ""

    def message(self) -> str:
        return f"`{self.name}` of `{self.kernel}` holds `{self.found}`, not `{self.need}`"

    def label(self) -> str:
        return self.because

    def help(self) -> str:
        return f"give an array of `{self.need}`"


@record(kw_only=True)
class WrongShape(Diagnostic):
    """An array has fewer elements than the attribute `shape` of the kernel says, or axes that contradict it.

    #[kernel(shape(x = [rows, cols]))]
    teenyc run norm.tk norm --grid 4 --arg 'x=randn(4, 60)' --arg cols=64 …
    teenyc run norm.tk norm --grid 4 --arg 'x=randn(4, 64)' --arg cols=64 …
    """

    code = "E0706"
    kernel: str
    name: str
    need: str
    found: str

    def message(self) -> str:
        return f"`{self.name}` of `{self.kernel}` has the shape {self.found}, and {self.need}"


@record(kw_only=True)
class WrongGrid(Diagnostic):
    """A grid has one, two or three axes, and on each at least one program. Without `--grid` that of the attribute
    `grid` is taken.

        teenyc run scale.tk scale --grid 0 …
        teenyc run scale.tk scale --grid 4,2 …
    """

    code = "E0707"
    why: str

    def message(self) -> str:
        return f"{self.why}"

    def help(self) -> str:
        return "state one to three positive numbers: `--grid 64,4`"


@record(kw_only=True)
class UnreadableArgument(Diagnostic):
    """The value of `--arg` is none of the forms that there are. It is never run as Python.

    | | |
    |---|---|
    | `randn(4, 64)`, `rand(4, 64)` | normal numbers; uniform ones from 0 to 1; those of `--seed` |
    | `zeros(4, 64)`, `ones(4, 64)`, `full(4, 64, 0.5)` | all elements alike |
    | `empty(4, 64)` | nothing yet: reading an element before it is written is an error |
    | `arange(1024)` | 0, 1, 2, … |
    | `x.npy` | a file of NumPy |
    | `64`, `0.125`, `true` | a number |

        teenyc run scale.tk scale --grid 4 --arg 'x=np.ones(4)'
        teenyc run scale.tk scale --grid 4 --arg 'x=ones(4)'
    """

    code = "E0708"
    name: str
    text: str
    why: str

    def message(self) -> str:
        return f"cannot read `{self.text}` for `{self.name}`: {self.why}"

    def help(self) -> str:
        return "write `randn(4, 64)`, `zeros(64)`, `full(64, 0.5)`, `arange(64)`, `x.npy`, or a number"


@record(kw_only=True)
class UnsetConstant(Diagnostic):
    """A constant of the kernel has no value.

    teenyc run scale.tk scale --grid 4 …
    teenyc run scale.tk scale --grid 4 --set BLOCK=256 …
    """

    code = "E0710"
    kernel: str
    name: str

    def message(self) -> str:
        return f"the constant `{self.name}` of `{self.kernel}` has no value"

    def help(self) -> str:
        return f"give it one with `--set {self.name}=VALUE`, in Python `set={{'{self.name}': VALUE}}`"


@record(kw_only=True)
class NumpyMissing(Diagnostic):
    """Kernels run on the CPU with NumPy, which is not installed. Building kernels does not need it.

    pip install 'teenyc[run]'
    """

    code = "E0709"

    def message(self) -> str:
        return "running kernels on the CPU needs NumPy"

    def help(self) -> str:
        return "install it: `pip install numpy`"


# ---- while it runs --------------------------------------------------------------------------------------------------


@record(kw_only=True)
class _AtLane(Diagnostic):
    """Something that happens in programs and lanes; the first of them is shown."""

    program: tuple[int, ...]
    lane: tuple[int, ...]
    count: int

    def notes(self) -> tuple[str, ...]:
        return (first_of(self.program, self.lane, self.count),)


def along(name: str, place: tuple[int, ...]) -> str:
    """Where an element is along several axes."""
    return f", `{name}{list(place)}`" if place else ""


def first_of(program: tuple[int, ...], lane: tuple[int, ...], count: int) -> str:
    """Where something happened first, and how often."""
    where = f"in program {program}" + (f", lane {list(lane)}" if lane else "")
    return where + (f"; {count:,} lanes of the programs that ran with it did so" if count > 1 else "")


@record(kw_only=True)
class OutOfRange(_AtLane):
    """A kernel reads or writes what is not in the tensor. On a GPU this reads anything, overwrites anything, or ends
    the process.

    Mostly a mask is missing or covers too much: lanes beyond the end of a row must not reach memory.

        let x = load(x_ptr + at);
        let x = load(x_ptr + at, mask = at < n, other = 0.0);
    """

    code = "E0711"
    name: str
    index: int
    size: int
    is_write: bool
    place: tuple[int, ...] = ()

    def message(self) -> str:
        what = "written" if self.is_write else "read"
        return f"`{self.name}` is {what} outside of its elements" if self.name else f"no tensor is {what} here"

    def label(self) -> str:
        if not self.name:
            return "this address is in none"
        return f"element {self.index:,} of {self.size:,}{along(self.name, self.place)}"

    def help(self) -> str:
        return "mask the lanes that are outside: `mask = …`"


@record(kw_only=True)
class NeverWritten(_AtLane):
    """A kernel reads an element that has no contents: the tensor was given empty, and nothing has written it.

    let partial = load(scratch + 1);        // only element 0 was stored
    let partial = load(scratch);
    """

    code = "E0712"
    name: str
    index: int
    place: tuple[int, ...] = ()

    def message(self) -> str:
        return f"`{self.name}` is read where nothing was written"

    def label(self) -> str:
        return f"element {self.index:,}{along(self.name, self.place)}"

    def help(self) -> str:
        return "write it first, or give a tensor with contents"


@record(kw_only=True)
class DoesNotHold(_AtLane):
    """A condition that the author states with `device_assert`, `static_assert` or `assume` is false.

    assume(n % 16 == 0);        // and `n` is 20
    """

    code = "E0713"
    function: str
    text: str

    def message(self) -> str:
        return f"this `{self.function}` does not hold" + (f": {self.text}" if self.text else "")


@record(kw_only=True)
class NotOnCpu(Diagnostic):
    """A kernel does what the CPU runner cannot: it has no assembly of a GPU, for one.

    let y = inline_asm_elementwise("…", "=r,r", true, 1, args = &[x], dtype = i32);
    """

    code = "E0714"
    function: str
    why: str

    def message(self) -> str:
        return f"`{self.function}` does not run here: {self.why}"


@record(kw_only=True)
class NeverEnds(Diagnostic):
    """A loop goes on forever: an iteration has changed nothing, neither in memory nor of what it carries, so that all
    others are like it.

    Mostly what is counted is not counted on. Where a program waits for another one, programs run one after the other:
    none can wait for a later one, as it can on a GPU only if both are there at the same time.

        while atomic_load(flag) == 0 {}         // set by the next program
        while i < n { total += load(x + i); }   // `i` stays as it is
    """

    code = "E0717"
    program: tuple[int, ...]

    def message(self) -> str:
        return "this loop never ends"

    def notes(self) -> tuple[str, ...]:
        return (f"in program {self.program}, an iteration changes nothing",)

    def help(self) -> str:
        return "count on, or wait for nothing that only a later program does"


# ---- what the sanitizer finds ---------------------------------------------------------------------------------------


@record(kw_only=True)
class RaceBetweenPrograms(_AtLane):
    """Two programs, or two lanes of one program, reach the same element, one of them writes, and nothing says which
    comes first: on a GPU it is chance. Found by `teenyc run --sanitize`.

    Give each program elements of its own, or use atomics. What another program has written may be read where that one
    has released an address by an atomic, and this one has acquired it by an atomic whose result it uses. The lanes of a
    program see what its other lanes have stored behind `debug_barrier()`, or an atomic that is not relaxed.

        store(total, load(total) + x);      // in every program
        atomic_add(total, x);
    """

    code = "E0715"
    name: str
    index: int
    how: str  # "written", "updated", "read", "looked at"
    other: tuple[int, ...]
    other_span: Span
    place: tuple[int, ...] = ()
    other_lane: int | None = None  # of the same program; -1 where it has no lanes

    def message(self) -> str:
        return f"`{self.name}` is reached by two that do not wait for each other"

    def label(self) -> str:
        return f"element {self.index:,}{along(self.name, self.place)}, in program {self.program}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.other_span, f"{self.how} here {self.who()}"),)

    def who(self) -> str:
        if self.other_lane is None:
            return f"in program {self.other}"
        return f"by its lane {self.other_lane}" if self.other_lane >= 0 else "by itself as a whole"

    def help(self) -> str:
        if self.other_lane is None or self.other_span == self.span:
            return "let each program write elements of its own, or use an atomic"
        return "let the lanes of the program wait in between: `debug_barrier();`"


@record(kw_only=True)
class LeftOutLane(_AtLane):
    """A lane that a mask left out of a load without `other` holds nothing, and reaches a store, a reduction or a
    product. Found by `teenyc run --sanitize`.

        let x = load(x_ptr + at, mask = at < n);
        let x = load(x_ptr + at, mask = at < n, other = 0.0);
    """

    code = "E0716"
    function: str

    def message(self) -> str:
        return f"`{self.function}` takes lanes that a mask left out of a load"

    def help(self) -> str:
        return "say what these lanes hold: `other = …` of the load"
