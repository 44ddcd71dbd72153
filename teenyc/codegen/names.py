"""Names: the author's, kept wherever Python and Triton allow it; temporaries get one from what they are.

What may not stay gets `_` behind it, then `_2`, `_3`, skipping what is taken: Python's keywords, names that the module
itself needs, names that Python's normalisation would merge, and a name that is used again for another type or while its
old value is still needed.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import count
from typing import TypeAlias

from teenyc.codegen.coalesce import Classes
from teenyc.codegen.contents import Contents
from teenyc.codegen.helpers import HELPERS
from teenyc.codegen.host import RESERVED as HOST_NAMES
from teenyc.codegen.inline import Inlining
from teenyc.codegen.liveness import Interference, Mask, meet
from teenyc.codegen.metadata import (
    Names,
    described_kernels,
    launched_kernels,
    plain_key,
    prologue_kernels,
    source_kernels,
    split_kernels,
    tiled_kernels,
    uneven_kernels,
)
from teenyc.codegen.nouns import noun
from teenyc.codegen.static import Statics
from teenyc.ir.nodes import Function, Kernel, Literal, Program, Value
from teenyc.ir.walk import all_operands, bodies_of, values_of
from teenyc.record import record
from teenyc.types import BF16, F16, F32, Compute, Pointer, TensorType, TypeVar, scalar

BUILTINS = frozenset({"range", "float", "int", "print", "min", "max", "len", "isinstance", "getattr", "hasattr"})
"""Builtins that kernels call, or that Triton finds by name."""

INTERPRETER = frozenset({"interpreter_semantic", "_InterpreterComparison"})
"""What Triton's interpreter writes into a kernel."""

LAUNCH = frozenset(
    "JITCallable backend debug fpsan_homomorphic_casts grid instrumentation_mode options params specialization"
    " specialize_impl warmup".split()
)
"""What Triton's launcher passes beside a kernel's arguments, or calls its own values among them."""

MODULE = frozenset(
    "__all__ __annotations__ __builtins__ __cached__ __dict__ __dir__ __doc__ __file__ __getattr__ __loader__ __name__"
    " __package__ __path__ __spec__".split()
)
"""Names with which Python and its import machinery know a module."""

AMBIGUOUS = frozenset({"l", "I", "O"})
"""Names that linters warn of."""

NARROW = frozenset({scalar(F16), scalar(BF16)})
"""Scalars that a launch passes as f32."""

RESERVED = frozenset({"tl", "triton", "__debug__", *BUILTINS, *INTERPRETER, *HELPERS, *keyword.kwlist})
"""Names that no name of a kernel may hide."""


# ---- modules --------------------------------------------------------------------------------------------------------


def module_names(program: Program) -> Names:
    """How kernels, device functions, and the parameters and constants of kernels are spelled.

    A host knows what it launches by name, and with which arguments: functions make way for these.
    """
    taken = RESERVED | HOST_NAMES | MODULE | {op.name for op in program.ops}
    items = _spelled_all([*_kernel_names(program)], taken)
    given = {identifier(name) for kernel in program.kernels for name in _signature(kernel, frozenset())}
    ordered = sorted(program.functions, key=lambda f: origin_of(f.name) != f.name)
    functions = [(f.name, identifier(origin_of(f.name), ascii=True)) for f in ordered]
    items |= _spelled_all(functions, taken | given | set(items.values()))
    outer = frozenset(items.values())
    inside = {kernel.name: _signature(kernel, RESERVED | LAUNCH | outer) for kernel in program.kernels}
    behind = [*prologue_kernels(program).items()]
    behind += [(of, kernel) for of, pair in split_kernels(program).items() for kernel in pair]
    for of, kernel in behind:  # which are given what a caller gives the other
        inside[kernel.name] |= {name: new for name, new in inside[of].items() if name in inside[kernel.name]}
    return Names(
        items={name: new for name, new in items.items() if name != new},
        inside={kernel: {a: b for a, b in names.items() if a != b} for kernel, names in inside.items()},
    )


def _kernel_names(program: Program) -> Iterator[tuple[str, str]]:
    """Kernels with the names that they would like: first those of the source, then those behind a launcher."""
    tiled, rows, described = tiled_kernels(program), prologue_kernels(program), described_kernels(program)
    split = split_kernels(program)
    uneven = uneven_kernels(program)
    kernels = [*reversed(source_kernels(program))]
    yield from ((k.name, identifier(k.name, ascii=True)) for k in kernels)
    for kernel in launched_kernels(program):
        name = identifier(kernel.name, ascii=True)
        yield plain_key(kernel.name), f"{name}_plain"
        if kernel.name in tiled:
            yield tiled[kernel.name].name, f"{name}_tiled"
        if kernel.name in rows:
            yield rows[kernel.name].name, f"{name}_rows"
        if kernel.name in described:
            yield described[kernel.name].name, f"{name}_described"
        for kind, each in zip(("parts", "joined"), split.get(kernel.name, ()), strict=False):
            yield each.name, f"{name}_{kind}"
        if kernel.name in uneven:
            yield uneven[kernel.name].name, f"{name}_uneven"


def number_names(program: Program, names: Names) -> dict[tuple[str, str], str]:
    """How the constants of the source are spelled, as numbers of the module: like nothing else in it."""
    taken = outer_names(program, names) | HOST_NAMES | MODULE | {op.name for op in program.ops}
    literals: dict[tuple[str, str], None] = {}
    for body in bodies_of(program):
        given = (*(v.name for v in values_of(body)), *(c.name for c in body.constants))
        taken |= {identifier(n) for n in (*given, *(v.name for v in body.type_variables)) if n}
        found = (o for o in all_operands(body.body) if isinstance(o, Literal) and o.name)
        literals.update(dict.fromkeys((o.name, repr(o.value)) for o in found))
    spelled: dict[tuple[str, str], str] = {}
    for key in literals:
        spelled[key] = next(n for n in variants(identifier(key[0])) if n not in taken)
        taken |= {spelled[key]}
    return spelled


def origin_of(name: str) -> str:
    """The source's name of a device function, of which the program may hold several."""
    return name.partition("'")[0]


def outer_names(program: Program, names: Names) -> frozenset[str]:
    """What a local name would hide: the module's kernels and functions, and what every kernel needs."""
    return RESERVED | {spelled(b.name) for b in bodies_of(program) for spelled in (names.item, names.function)}


def _signature(body: Kernel | Function, reserved: frozenset[str]) -> dict[str, str]:
    """Parameters and constants: what a launch names."""
    given = [*(p.name for p in body.parameters), *(c.name for c in body.constants)]
    return _spelled_all([(name, identifier(name)) for name in given], reserved)


def _spelled_all(names: Iterable[tuple[str, str]], reserved: Container[str]) -> dict[str, str]:
    """Distinct Python names for distinct source names, given with the spelling that each would like."""
    pairs = list(names)
    wanted = {like for _, like in pairs}
    spelled: dict[str, str] = {}
    for name, like in pairs:
        taken = set(spelled.values())
        options = (n for n in variants(like, first=_first(name)) if n not in taken and n not in reserved)
        spelled[name] = next(n for n in options if n == like or n not in wanted)
    return spelled


def _first(name: str) -> str:
    """What stands behind a name that cannot stay; the second of several functions of one name is `_2` at once."""
    return "_" if origin_of(name) == name else ""


def identifier(name: str, *, ascii: bool = False) -> str:
    """A source name as Python reads it, which normalises identifiers; with `ascii`, as Triton allows for kernels."""
    plain = name.removeprefix("r#")
    if plain.isascii() and plain.isidentifier():
        return plain
    plain = unicodedata.normalize("NFKC", plain)
    if ascii:
        letters = (c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
        plain = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in letters)
    plain = "".join(c if f"a{c}".isidentifier() else "_" for c in plain)
    return plain if plain.isidentifier() else f"_{plain}"


def variants(name: str, *, first: str = "_") -> Iterator[str]:
    """The name, then with `_`, `_2`, `_3`, … behind it."""
    base = name.rstrip("_") if first or name == "_" else name
    yield name
    if first and base:
        yield name + first
    yield from (f"{base}_{n}" for n in count(2))


# ---- bodies ---------------------------------------------------------------------------------------------------------


Holder: TypeAlias = "tuple[object, tuple[Mask, Mask]]"
"""What the values of one name share, and their masks: themselves, and what is needed where they are written."""


@record
class LocalNames:
    """The Python names of one body. Variables of one name have one type and are never needed at the same time."""

    reserved: frozenset[str]
    interference: Interference
    authors: frozenset[str]
    fixed: dict[str, str]
    of: dict[int, str]
    holders: dict[str, Holder]

    def claim(self, name: str, *, is_author: bool, key: object = None, members: Iterable[int] = ()) -> str:
        """The first free variant of a name; a `key` other than None may share a name with itself."""
        ids = tuple(members)
        masks = self.interference.together(ids)
        options = (n for n in variants(name, first="_" if is_author else "") if self.is_free(n, key, masks))
        chosen = next(n for n in options if n not in self.authors or (is_author and n == name))
        self.hold(chosen, key, ids, masks)
        return chosen

    def hold(self, name: str, key: object, ids: tuple[int, ...], masks: tuple[Mask, Mask]) -> None:
        """Gives a name to the values of one class."""
        old = self.holders.get(name, (key, (0, 0)))[1]
        self.holders[name] = (key, (old[0] | masks[0], old[1] | masks[1]))
        self.of.update((id, name) for id in ids)

    def is_free(self, name: str, key: object, masks: tuple[Mask, Mask]) -> bool:
        if name in self.reserved:
            return False
        holder = self.holders.get(name)
        return holder is None or (key is not None and holder[0] == key and not meet(holder[1], masks))

    def fresh(self, name: str) -> str:
        """A name for something that is no value of the IR."""
        return self.claim(name, is_author=False)


def local_names(
    contents: Contents,
    reserved: frozenset[str],
    analysis: tuple[Inlining, Interference, Classes, Statics],
    spelled: Mapping[str, str] | None = None,
) -> LocalNames:
    """Names for everything in a body; `spelled` gives those of a kernel's parameters and constants."""
    inlining, interference, classes, statics = analysis
    body = contents.body
    signature = _signature(body, reserved) if spelled is None else dict(spelled)
    authors = {identifier(v.name) for v in contents.values if v.name} | set(signature.values())
    names = LocalNames(reserved, interference, frozenset(authors), signature, {}, {})
    for constant in body.constants:
        names.hold(signature[constant.name], None, (), (0, 0))
    for padded in body.padded if isinstance(body, Kernel) else ():
        names.fixed[padded.name] = names.claim(identifier(padded.name), is_author=False)
    for parameter in body.parameters:
        ids = tuple(v.id for v in classes.variable(parameter.value))
        key = scalar(F32) if parameter.value.type in NARROW else _key(parameter.value)
        names.hold(signature[parameter.name], (key, False), ids, interference.together(ids))
    for variable in body.type_variables:
        names.fixed[variable.name] = names.claim(identifier(variable.name), is_author=True)
    _claim_variables(names, contents, inlining, classes, statics)
    return names


def _claim_variables(
    names: LocalNames, contents: Contents, inlining: Inlining, classes: Classes, statics: Statics
) -> None:
    """First the author's names, in order of definition, then the temporaries'."""
    counters, sources = contents.counters, contents.lets
    unused = {id for id in counters if not contents.reads[id]}
    waiting: list[list[Value]] = []
    for representative, members in classes.members.items():
        if representative in names.of or representative in inlining.definitions:
            continue
        author = next((v.name for v in members if v.name and v.name != "_"), "")
        if not author or representative in unused:
            waiting.append(members)
            continue
        is_static = representative in statics.named or (representative in counters and counters[representative].unroll)
        key = None if representative in statics.named else (_key(members[0]), is_static)
        names.claim(identifier(author), is_author=True, key=key, members=[v.id for v in members])
    for members in waiting:
        first = members[0]
        like = "_" if first.id in unused else noun(first, sources.get(first.id))
        is_static = first.id in counters and counters[first.id].unroll
        names.claim(like, is_author=False, key=(_key(first), is_static), members=[v.id for v in members])


def _key(value: Value) -> object:
    """What values of one name share, beside being static: their type, where it says everything about them.

    A pointer over `D`, or a value of `D`, may be of another type than the next one.
    """
    element = value.type.element if isinstance(value.type, TensorType) else None
    inner = element.to if isinstance(element, Pointer) else element
    is_sure = not isinstance(inner, TypeVar | Compute) or (isinstance(element, Compute))
    return value.type if is_sure else value.id
