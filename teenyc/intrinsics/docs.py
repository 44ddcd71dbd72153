"""The page of all functions: the tables go in, `docs/intrinsics.md` comes out.

Run `python -m teenyc.intrinsics.docs` in a checkout to write it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from teenyc.intrinsics import OPERATORS, TABLE
from teenyc.intrinsics.libdevice import SIGNATURES
from teenyc.intrinsics.methods import METHODS, RENAMED, Method
from teenyc.intrinsics.spec import REQUIRED, Intrinsic, Operator, Param, Role

PAGE = Path(__file__).parent.parent.parent / "docs" / "intrinsics.md"

_INTRODUCTION = """\
# Functions

<!-- Made from the table of intrinsics by `python -m teenyc.intrinsics.docs`: edit the table, not this page. -->

The functions that kernels call. Arguments go by position, in the order of the Rust trait, or by name:
`load(p, mask = m)` is `T::load(p, Some(m), None, &[], None, None, None, false)`. What is left out has the default that
stands here. Parameters behind `*` go by name only. Each parameter has Triton's name; the trait's own names work too.
`T::` in front of a function, and the type arguments of the trait, may be written or left out.

The line *Triton* says what a call becomes. Names that begin with `_` are short helper functions that the generated
module holds, where Triton has no function that means the same for all types, signs and versions.
"""

_OPERATORS = """\
## Operators

These functions and methods are other spellings of operators, and become them.

| function | means | |
|---|---|---|"""


_NOTES = {
    "descriptors": """\
A tensor descriptor is a view of a tensor in memory, a block pointer such a view with the place of one block. Blocks may
lie anywhere: what is read outside of the tensor is padding, what is written there is dropped. Strides are any numbers,
also for the last axis, and nothing needs to be aligned. `load` and `store` work on both, `gather`, `scatter` and the
atomics on tensor descriptors, as functions and as methods: `desc.load([i, j])` is
`load_tensor_descriptor(desc, &[i, j])`, `desc.atomic_add([i, j], x)` is `descriptor_atomic_add(desc, &[i, j], x)`. A
variable may hold a descriptor, a loop carry and a branch give one. What *Triton* says here is Triton's own spelling of
the same: the module that is generated holds loads, stores and atomics through pointers, masked where a lane may be
outside.
""",
}
"""What there is to say of a whole family."""

_LIBDEVICE = """\
## Libdevice

Functions of Triton's `libdevice`, each under its own name and called as `libdevice.atan(x)`. *float* is any float,
computed in f32 or f64; where it stands more than once, it is one type. Triton's interpreter, which cannot call
libdevice, computes them by NumPy. For AMD's GPUs Triton's libdevice has a part of these only.

| function | arguments | gives | |
|---|---|---|---|"""

_METHODS = """\
## Methods

Every function is a method of its first argument: `x.sqrt()` is `sqrt(x)`. Beside these, numbers have the methods of
Rust, scalars and tensors alike; the last rows are other names of functions.

| method | of | means |
|---|---|---|"""


def page() -> str:
    """The text of the page."""
    blocks = [_INTRODUCTION]
    for family, records in groupby(TABLE.values(), key=lambda record: record.family):
        if family == "libdevice":
            blocks.append("\n".join([_LIBDEVICE, *map(_library, records)]) + "\n")
            continue
        blocks.append(f"## {family.capitalize()}\n")
        blocks.extend(filter(None, (_NOTES.get(family),)))
        blocks.extend(_record(record) for record in records)
    blocks.append("\n".join([_OPERATORS, *map(_operator, OPERATORS.values())]) + "\n")
    renamed = (f"| `x.{method}(…)` | | `{function}(x, …)` |" for method, function in RENAMED.items())
    blocks.append("\n".join([_METHODS, *map(_method, METHODS.values()), *renamed]) + "\n")
    return "\n".join(blocks)


def _library(record: Intrinsic) -> str:
    arguments, result = SIGNATURES[record.name]
    names = ", ".join(param.name for param in record.params)
    return f"| `{record.name}({names})` | {arguments} | {result} | {record.summary} |"


def _method(method: Method) -> str:
    return f"| `x.{method.name}({', '.join(method.arguments)})` | {method.of}s | {method.meaning} |"


def _record(record: Intrinsic) -> str:
    lines = [f"### `{record.name}`", "", record.summary, "", "```rust", *_signature(record), "```", ""]
    return "\n".join([*lines, *_facts(record), ""])


def _signature(record: Intrinsic) -> Iterator[str]:
    """The call with all parameters, on one line if it fits."""
    arguments = list(_arguments(record.params))
    line = f"{record.name}({', '.join(arguments)})"
    if len(line) <= 100:
        yield line
        return
    yield f"{record.name}("
    yield from (f"    {argument}," for argument in arguments)
    yield ")"


def _arguments(params: tuple[Param, ...]) -> Iterator[str]:
    is_by_name = False
    for param in params:
        if param.by_name_only and not is_by_name:
            yield "*"
        is_by_name = is_by_name or param.by_name_only
        yield param.name if param.default is REQUIRED else f"{param.name} = {_default(param)}"


def _default(param: Param) -> str:
    match param.default:
        case bool():
            return str(param.default).lower()
        case ():
            return "&[]"
        case str():
            return f'"{param.default}"'
        case _:
            return str(param.default)


def _facts(record: Intrinsic) -> Iterator[str]:
    forms = dict.fromkeys((record.triton, *(variant.triton for variant in record.variants)))
    yield "- *Triton*: " + ", or ".join(f"`{form}`" for form in forms)
    if record.aliases:
        yield "- *Also called* " + ", ".join(f"`{alias}`" for alias in record.aliases)
    for param in record.params:
        if param.role is Role.CHOICE:
            choices = ", ".join(f'`"{choice}"`' for choice in param.choices)
            stronger = " or ".join(f"`{name}`" for name in param.gives_way if record.param(name) is not None)
            yield f"- `{param.name}` is one of {choices}{f'; beside {stronger} it is left out' if stronger else ''}"
    others = [f"`{alias}` for `{param.name}`" for param in record.params for alias in param.aliases]
    if others:
        yield "- *Other names*: " + ", ".join(others)


_SIGNS = {"add": "x + y", "sub": "x - y", "mul": "x * y", "and": "x & y", "or": "x | y"}
_SIGNS |= {"lt": "x < y", "le": "x <= y", "gt": "x > y", "ge": "x >= y", "eq": "x == y", "ne": "x != y"}
_NODES = {"offset": "p + offsets", "expand_dims": "x[(.., None)]", "cast": "x as f32"}
_NODES |= {"stored_index": "load(p + offset) as i32"}


def _operator(operator: Operator) -> str:
    names = ", ".join(f"`{name}`" for name in (operator.name, *operator.aliases))
    meaning = _SIGNS.get(operator.operator) or _NODES[operator.node]
    return f"| {names} | `{meaning}` | {operator.summary} |"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
