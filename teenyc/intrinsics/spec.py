"""What an intrinsic is: one record from which the checker, emitter, docs and tests read everything about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeAlias

from teenyc.diagnostics.model import Diagnostic
from teenyc.record import field, record
from teenyc.source import Span
from teenyc.types import Element, Extent, Shape, Type

Static: TypeAlias = "int | float | bool | str | Shape | Extent | Element | tuple[int, ...] | None"
"""What an argument is that is known at compile time."""


LIBRARY = "libdevice."
"""How the helpers begin that are functions of Triton's libdevice."""


class Role(Enum):
    """What an argument is, and so when it must be known and what it may look like."""

    VALUE = "value"  # a scalar or tensor at run time
    POINTER = "pointer"  # a pointer, tensor of pointers, tensor descriptor or block pointer
    MASK = "mask"  # a bool scalar or tensor
    INDICES = "indices"  # `&[i, j]`: integer scalars at run time, the operands `offsets0`, `offsets1`, …
    SHAPE = "shape"  # `&[N, 4]`: extents over constants
    EXTENT = "extent"  # an integer known at compile time, such as an end of `arange`
    AXIS = "axis"  # an axis number, negative from the end; `Axis::X` where a program axis is meant
    AXES = "axes"  # `&[1, 0]`
    FLAG = "flag"  # true or false, known at compile time; an operand where it depends on constant parameters
    DTYPE = "dtype"  # a type given as turbofish or by name
    FUNCTION = "function"  # the name of a function of the file, which each element is given to
    CHOICE = "choice"  # one of a fixed list, as a string or an enum path
    TEXT = "text"  # a string


class Effect(Enum):
    """What a call does beside giving a value: what a pass must keep in order."""

    READS = "reads"
    WRITES = "writes"
    ATOMIC = "atomic"
    CONTROL = "control"  # asserts, prints, barriers


REQUIRED = object()
"""The default of a parameter that must be given."""


@record
class Param:
    """One parameter: Triton's name, what it is, its default, and the trait's other names for it.

    `meets` names another parameter whose element type this argument must have, as the operands of `+` must: before the
    rule runs, the checker gives unsuffixed literals that type, converts an f32 scalar that meets a float tensor of `D`,
    and reports what does not fit. If the other parameter is a pointer, its elements' type is meant; if it is a dtype,
    that type, and nothing where it is absent.
    `counts` names the argument whose axes an axis counts; program axes count none. `is_ignored` arguments are judged by
    the rule and then left out of the call: they make no difference in Triton. `several` may be a list, `&[a, b]`, whose
    items are the arguments `name`, `name1`, …. What `gives_way` is left out of the call where one of those is stated.
    """

    name: str
    role: Role
    default: object = REQUIRED
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    by_name_only: bool = False
    meets: str | None = None
    counts: str | None = None
    is_ignored: bool = False
    several: bool = False
    gives_way: tuple[str, ...] = ()

    def choice(self, text: str) -> str | None:
        """The choice that a string or the end of an enum path means: `"evict_first"`, `EvictFirst`; None for others.

        The trait says of packed elements how many there are, `E2M1x2`, where Triton says `e2m1`.
        """
        words = (_plain(text), _plain(text).removesuffix("x2"))
        return next((c for word in words for c in self.choices if _plain(c) == word), None)


def _plain(choice: str) -> str:
    return choice.replace("_", "").replace(".", "").lower()


@record
class Given:
    """An argument as a rule sees it: its type for a run-time value, its number, shape or name otherwise."""

    span: Span
    type: Type | None = None
    static: Static = None


@record
class Site:
    """One call for a rule to judge: `given` holds the arguments that are present, by parameter name.

    A rule calls `report` for each mistake it finds (and then returns None) and `require` for what a constant must
    satisfy (`ir.Requirement`: extent, rule, what for, where).
    """

    intrinsic: Intrinsic
    span: Span
    given: Mapping[str, Given]
    generics: tuple[Element, ...]
    report: Callable[[Diagnostic], None]
    require: Callable[[Extent, str, str, Span], None]


Rule: TypeAlias = Callable[[Site], "tuple[Type, ...] | None"]
"""The type and shape rule: the result types (none for a store), or None after a report."""

Fill: TypeAlias = Callable[[Site, "tuple[Type, ...]"], "tuple[tuple[str, Static], ...]"]
"""Attributes of a call that follow from its arguments and results and that the author did not write, by name."""


@record
class Facts:
    """What the Triton form of a call depends on: types of operands, attributes, which operands are known numbers."""

    types: Mapping[str, Type]
    attributes: Mapping[str, object]
    known: frozenset[str] = frozenset()


@record
class Variant:
    """A Triton form for those calls that `when` accepts."""

    when: Callable[[Facts], bool]
    triton: str
    helper: str | None = None


@record
class Intrinsic:
    """One function of the language.

    `triton` is the form that the emitter writes: a dotted name (`tl.sum`), called with the parameters in order and
    what has its default left out; or a `str.format` template over parameter names (`tl.expand_dims({x}, {axis})`), or a
    whole call.
    `reference` is its meaning on NumPy arrays, for tests and the CPU runner, by parameter name. The runner gives it
    arrays of many programs, which have an axis for these in front, and axes counted from the end; where that is not
    enough, `batched` is the meaning on such arrays, up to the shape of the result, which follows from its type.
    `update` is what an atomic leaves of an element, from it and the values: a function, or the name of one of NumPy.
    `first_by_name` names the first parameter that the Triton form passes by keyword.
    `stored` names the arguments that may stay in a 16-bit storage type (a dot's operands, what a store writes).
    `widened` are attributes that a call gets, unless it has others, where arguments that might stay stored do not.
    `helper` is the name of a function that the form calls and that the module must hold, from `templates/helpers/`.
    `marks` are attributes that passes give a call and that no author can.
    `settles` says that arguments are written as tensors, also integers of which the JIT may make constants.
    `triton` is right for every call; the first of the `variants` that accepts a call reads better, or is needed.
    `is_known` says that the result is a number which Triton knows when it compiles, and so may decide what it compiles.
    """

    name: str
    params: tuple[Param, ...]
    rule: Rule
    triton: str
    summary: str
    family: str
    generics: int = 0
    effects: frozenset[Effect] = frozenset()
    reference: Callable[..., object] | None = None
    batched: Callable[..., object] | None = None
    update: Callable[..., object] | str | None = None
    first_by_name: str | None = None
    stored: frozenset[str] = frozenset()
    widened: tuple[tuple[str, Static], ...] = ()
    aliases: tuple[str, ...] = field(default=())
    helper: str | None = None
    variants: tuple[Variant, ...] = ()
    fills: Fill | None = None
    marks: frozenset[str] = frozenset()
    is_known: bool = False
    settles: bool = False

    def param(self, name: str) -> Param | None:
        """The parameter of that name or alias."""
        return next((p for p in self.params if name == p.name or name in p.aliases), None)

    def form(self, facts: Facts) -> tuple[str, str | None]:
        """The Triton form of one call, and the helper that it needs."""
        for variant in self.variants:
            if variant.when(facts):
                return variant.triton, variant.helper
        return self.triton, self.helper

    @property
    def takes_function(self) -> bool:
        """Whether one of the arguments is a function of the file."""
        return any(p.role is Role.FUNCTION for p in self.params)

    @property
    def is_pure(self) -> bool:
        """Whether calls may be dropped, repeated or moved."""
        return not self.effects


@record
class Operator:
    """A function or method that the IR has an operation for, such as `x.lt(y)`.

    `node` says which: `compare`, `arithmetic` or `logical` with its operator, `offset`, `expand_dims` or `cast`.
    Without a rule the checker judges it as the operator between two values.
    """

    name: str
    node: str
    params: tuple[Param, ...]
    summary: str
    operator: str = ""
    rule: Rule | None = None
    generics: int = 0
    aliases: tuple[str, ...] = ()
