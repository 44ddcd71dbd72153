"""E043x: tensor descriptors and block pointers: what they are made of, and the blocks that are read and written."""

from __future__ import annotations

from teenyc.diagnostics.model import Diagnostic, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class DescriptorNeeded(Diagnostic):
    """An access to a block needs what `make_tensor_descriptor` or `make_block_ptr` gives, each with its own functions.

    let x = load_tensor_descriptor(x_ptr, &[0]);
    let x_desc = make_tensor_descriptor(x_ptr, &[n], &[1], &[BLOCK]);
    let x = load_tensor_descriptor(x_desc, &[0]);
    """

    code = "E0430"
    function: str
    needed: str
    found: str
    maker: str

    def message(self) -> str:
        return f"`{self.function}` needs {self.needed}"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str:
        return f"make one: `{self.maker}(…)`"


@record(kw_only=True)
class AxisCount(Diagnostic):
    """Shape, strides, offsets and block of a descriptor state one number for each axis.

    let x_desc = make_tensor_descriptor(x_ptr, &[m, n], &[n], &[16, 16]);
    let x_desc = make_tensor_descriptor(x_ptr, &[m, n], &[n, 1], &[16, 16]);
    """

    code = "E0431"
    function: str
    name: str
    found: int
    rank: int
    of_span: Span

    def message(self) -> str:
        return f"`{self.name}` of `{self.function}` needs {_counted(self.rank)}, found {self.found}"

    def label(self) -> str:
        return _counted(self.found)

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.of_span, "one axis" if self.rank == 1 else f"{self.rank} axes"),)


@record(kw_only=True)
class NotAnIndex(Diagnostic):
    """Shapes, strides and offsets are integer scalars.

    let x = load_tensor_descriptor(x_desc, &[0.5]);
    let x = load_tensor_descriptor(x_desc, &[program_id(0) * BLOCK]);
    """

    code = "E0432"
    function: str
    name: str
    found: str
    needed: str = "integer scalars"

    def message(self) -> str:
        return f"`{self.name}` of `{self.function}` takes {self.needed}"

    def label(self) -> str:
        return f"this is `{self.found}`"

    def help(self) -> str | None:
        return "convert it: `as i32`" if self.found in ("f16", "bf16", "f32", "f64", "bool") else None


@record(kw_only=True)
class BlockValue(Diagnostic):
    """What is written to a block has the block's shape, or stretches to it.

    store_tensor_descriptor(y_desc, &[0, 0], x);        // a block of [16, 32], x: [32, 16]
    store_tensor_descriptor(y_desc, &[0, 0], trans(x));
    """

    code = "E0433"
    function: str
    found: str
    block: str
    descriptor_span: Span

    def message(self) -> str:
        return f"`{self.function}` is given shape `{self.found}`, which does not fit a block of shape `{self.block}`"

    def label(self) -> str:
        return f"shape `{self.found}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.descriptor_span, f"blocks of shape `{self.block}`"),)


@record(kw_only=True)
class DescriptorRank(Diagnostic):
    """A descriptor has one to five axes.

    let x_desc = make_tensor_descriptor(x_ptr, &[], &[], &[]);
    let x_desc = make_tensor_descriptor(x_ptr, &[n], &[1], &[BLOCK]);
    """

    code = "E0434"
    function: str
    rank: int

    def message(self) -> str:
        return f"`{self.function}` takes one to five axes, found {self.rank or 'none'}"

    def label(self) -> str:
        return f"{self.rank or 'no'} axes"


@record(kw_only=True)
class PaddingElement(Diagnostic):
    """Only floats can be padded with NaN.

    let x_desc = make_tensor_descriptor(count_ptr, &[n], &[1], &[16], "nan");      // count_ptr: Pointer<i32>
    let x_desc = make_tensor_descriptor(count_ptr, &[n], &[1], &[16]);
    """

    code = "E0435"
    function: str
    element: str

    def message(self) -> str:
        return f"`{self.element}` has no NaN to pad with"

    def help(self) -> str:
        return "pad with zero, or, where a dtype parameter is meant, bound it by `Float`"


@record(kw_only=True)
class BlockPointerMask(Diagnostic):
    """A block pointer knows where its tensor ends: accesses through it take no mask.

    let x = load(x_block, mask = m);
    let x = load(x_block, boundary_check = &[0], padding_option = "zero");
    """

    code = "E0436"
    function: str
    name: str

    def message(self) -> str:
        return f"`{self.name}` has no meaning for `{self.function}` of a block pointer"

    def help(self) -> str:
        return "state the axes to check with `boundary_check`, and what is outside with `padding_option`"


@record(kw_only=True)
class RowsNeeded(Diagnostic):
    """Rows are gathered and scattered by a descriptor whose blocks are one row: `[1, COLUMNS]`.

    let d = make_tensor_descriptor(p, &[m, n], &[n, 1], &[16, 32]);
    let d = make_tensor_descriptor(p, &[m, n], &[n, 1], &[1, 32]);
    let x = d.gather(rows, 0);                                              // rows: [16]
    """

    code = "E0437"
    function: str
    found: str

    def message(self) -> str:
        return f"`{self.function}` needs a descriptor whose blocks are one row, `[1, COLUMNS]`"

    def label(self) -> str:
        return f"blocks of shape `{self.found}`"


@record(kw_only=True)
class CheckedTwice(Diagnostic):
    """`boundary_check` names an axis twice.

    let x = load(x_block, boundary_check = &[0, 0]);
    let x = load(x_block, boundary_check = &[0, 1]);
    """

    code = "E0438"
    function: str
    axis: int

    def message(self) -> str:
        return f"`boundary_check` of `{self.function}` names axis {self.axis} twice"


@record(kw_only=True)
class DescriptorElement(Diagnostic):
    """A descriptor is made over numbers or flags in memory.

    let d = make_tensor_descriptor(pp, &[n], &[1], &[16]);      // pp: Pointer<Pointer<f32>>
    let d = make_tensor_descriptor(p, &[n], &[1], &[16]);       // p: Pointer<f32>
    """

    code = "E0439"
    function: str
    found: str

    def message(self) -> str:
        return f"`{self.function}` works on numbers in memory"

    def label(self) -> str:
        return f"this is `{self.found}`"


def _counted(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"
