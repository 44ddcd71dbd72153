"""The untyped syntax tree: what the source says, with the span of every part that a report may point at.

All of it stands in this one file, as the grammar does.
"""

from __future__ import annotations

from typing import TypeAlias

from teenyc.record import field, record
from teenyc.source import NO_COMMENTS, Comments, Span


@record
class Name:
    """An identifier as written."""

    text: str
    span: Span = field(compare=False, repr=False)


# ---- types ----------------------------------------------------------------------------------------------------------


@record(kw_only=True)
class Segment:
    """One part of a path with its generic arguments: `Pointer::<D>`, `Tensor<f32, 1>`."""

    name: Name
    generics: tuple[TypeExpression | Expression, ...] = ()


@record(kw_only=True)
class PathType:
    """A named type: `i32`, `T::Pointer<D>`."""

    segments: tuple[Segment, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class TupleTypeExpression:
    """`(A, B)`; `()` is the unit type."""

    items: tuple[TypeExpression, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class OtherType:
    """A type that only host code uses, such as `&'a T` or `[f32; 4]`; an error where a kernel names it."""

    text: str
    span: Span = field(compare=False, repr=False)


TypeExpression: TypeAlias = "PathType | TupleTypeExpression | OtherType"


# ---- expressions ----------------------------------------------------------------------------------------------------


@record(kw_only=True)
class IntegerLiteral:
    """An integer, digits read; `suffix` is a dtype name or empty."""

    value: int
    suffix: str = ""
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class FloatLiteral:
    """A float: the double nearest to its decimal digits; `suffix` is a dtype name or empty."""

    value: float
    suffix: str = ""
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class BoolLiteral:
    """`true` or `false`."""

    value: bool
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class StringLiteral:
    """A string with its escapes resolved."""

    value: str
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class PathExpression:
    """A name, or a path such as `Axis::X`, `T::load`, `zeros::<D>`, `f32::NEG_INFINITY`."""

    segments: tuple[Segment, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Unary:
    """`-x` or `!x`."""

    operator: str
    operand: Expression
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Binary:
    """An infix operator as written: `+ - * / % & | ^ << >> == != < <= > >= && ||`."""

    operator: str
    left: Expression
    right: Expression
    operator_span: Span = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Cast:
    """`operand as target`."""

    operand: Expression
    target: TypeExpression
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Argument:
    """One argument of a call; `name` for `mask = m`."""

    value: Expression
    name: Name | None = None
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Call:
    """`callee(arguments)`; the callee is any expression, a path where it is right."""

    callee: Expression
    arguments: tuple[Argument, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class MethodCall:
    """`receiver.method::<generics>(arguments)`."""

    receiver: Expression
    method: Segment
    arguments: tuple[Argument, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class FieldAccess:
    """`x.0` or `x.name`."""

    operand: Expression
    name: Name
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Index:
    """`operand[index]`; `x[(.., None)]` indexes with a tuple of an open range and a path `None`."""

    operand: Expression
    index: Expression
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Array:
    """`[a, b]` or `&[a, b]`."""

    items: tuple[Expression, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Tuple:
    """`(a, b)`, `(a,)` or `()`."""

    items: tuple[Expression, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Range:
    """`a..b`, `a..=b` or `..`."""

    start: Expression | None
    stop: Expression | None
    inclusive: bool = False
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class If:
    """`if c { } else { }`, as expression or statement; `otherwise` is a block or the next `if`."""

    condition: Expression
    then: Block
    otherwise: Block | If | None
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class MatchArm:
    """`pattern | pattern if guard => value`."""

    patterns: tuple[Expression, ...]
    guard: Expression | None
    value: Expression
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Match:
    """`match scrutinee { arms }`; the pattern `_` is a path."""

    scrutinee: Expression
    arms: tuple[MatchArm, ...]
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Block:
    """`{ statements; value }`. `comments` are those at the value, or without one those before the closing brace."""

    statements: tuple[Statement, ...]
    value: Expression | None
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class Closure:
    """`|a, b| body`; kept so that the checker can say what to write instead.

    `parameters` are written as they stand, `body` too where it is an expression, and otherwise empty.
    """

    parameters: tuple[str, ...] = ()
    body: str = ""
    span: Span = field(compare=False, repr=False)


Expression: TypeAlias = (
    "IntegerLiteral | FloatLiteral | BoolLiteral | StringLiteral | PathExpression | Unary | Binary | Cast | Call | "
    "MethodCall | FieldAccess | Index | Array | Tuple | Range | If | Match | Block | Closure"
)


# ---- statements -----------------------------------------------------------------------------------------------------


@record(kw_only=True)
class NamePattern:
    """`x` or `mut x`; `_` binds nothing. Lints say nothing of a silent one; a counter is that of a `for`."""

    name: Name
    mutable: bool = False
    is_silent: bool = False
    is_counter: bool = False
    mut: Span | None = field(default=None, compare=False, repr=False)
    """`mut` and the space behind it; None where there is more between the word and the name"""


@record(kw_only=True)
class TuplePattern:
    """`(a, mut b)`."""

    items: tuple[Pattern, ...]
    span: Span = field(compare=False, repr=False)


Pattern: TypeAlias = "NamePattern | TuplePattern"


@record(kw_only=True)
class Let:
    """`let pattern: annotation = value;` — `value` is None for a declaration without one."""

    pattern: Pattern
    annotation: TypeExpression | None
    value: Expression | None
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class Assign:
    """`target = value;` or `target += value;`; `operator` is `=`, `+=`, …"""

    target: Expression
    operator: str
    value: Expression
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class ExpressionStatement:
    """An expression for its effect; ifs, blocks and matches among them."""

    value: Expression
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class For:
    """`for pattern in iterable { body }`; the iterable is a range, `range(…)`, `(a..b).step_by(n)`, …"""

    pattern: Pattern
    iterable: Expression
    body: Block
    label: Name | None = None
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class While:
    """`while condition { body }`; `loop { body }` has no condition."""

    condition: Expression | None
    body: Block
    label: Name | None = None
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class Jump:
    """`break`, `continue` (with a label or not) or `return` (with a value or not)."""

    keyword: str
    label: Name | None = None
    value: Expression | None = None
    span: Span = field(compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


Statement: TypeAlias = "Let | Assign | ExpressionStatement | For | While | Jump | Function | ConstItem"


# ---- items ----------------------------------------------------------------------------------------------------------


@record(kw_only=True)
class Attribute:
    """`#[name(arguments)]`: arguments are expressions; `a = b` is an argument with a name.

    `#[kernel(grid = [n, bh], shape(q_ptr = [bh, n]))]` holds a named `Array` and an unnamed `Call`.
    """

    name: Name
    arguments: tuple[Argument, ...] = ()
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class TypeParameter:
    """`T: Triton`, `D: Float`; `bounds` are the last names of the bounding paths."""

    name: Name
    bounds: tuple[Name, ...]


@record(kw_only=True)
class ConstantParameter:
    """`const N: i32`."""

    name: Name
    type: TypeExpression


Generic: TypeAlias = "TypeParameter | ConstantParameter"


@record(kw_only=True)
class Parameter:
    """One parameter of a function."""

    name: Name
    type: TypeExpression
    mutable: bool = False
    mut: Span | None = field(default=None, compare=False, repr=False)
    comments: Comments = field(default=NO_COMMENTS, compare=False, repr=False)


@record(kw_only=True)
class Function:
    """A `fn`: a kernel where it carries `#[kernel]`, otherwise a device function. `doc` is its `///` text."""

    name: Name
    attributes: tuple[Attribute, ...]
    generics: tuple[Generic, ...]
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    body: Block
    doc: str = ""
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class ConstItem:
    """`const NAME: i32 = value;`"""

    name: Name
    type: TypeExpression
    value: Expression
    doc: str = ""
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class OpField:
    """A public field of an Op struct: `pub forward: FlashAttention2Forward<D>`; the type is its last name."""

    name: Name
    type: Name


@record(kw_only=True)
class OpArgument:
    """How `new` makes a field: `forward: FlashAttention2Forward::<D>::new(head_dim)`."""

    name: Name
    type: Name
    arguments: tuple[Expression, ...]


@record(kw_only=True)
class OpStruct:
    """A host struct whose name ends in `Op`, with what its `impl … { pub fn new(…) -> Self { Self { … } } }` says.

    `parameters` is None where the file has no such `new`.
    """

    name: Name
    fields: tuple[OpField, ...]
    parameters: tuple[Name, ...] | None
    arguments: tuple[OpArgument, ...]
    doc: str = ""
    span: Span = field(compare=False, repr=False)


@record(kw_only=True)
class Import:
    """What a `use` brings into its module under a name: an item or a module of that path, `*` for all that is in it."""

    path: tuple[str, ...]
    name: str


@record(kw_only=True)
class ModuleItem:
    """`mod name { items }`."""

    name: Name
    items: tuple[Item, ...]
    imports: tuple[Import, ...] = ()
    span: Span = field(compare=False, repr=False)


Item: TypeAlias = "Function | ConstItem | OpStruct | ModuleItem"


@record(kw_only=True)
class Allowed:
    """One name of an `#[allow(…)]`; `cut` is what goes with it where it is taken out."""

    name: Name
    cut: Span


@record(kw_only=True)
class Allowance:
    """`#[allow(names, reason = "…")]`: lints of these names are not reported in `span`, that of what follows it.

    `attribute` is its own place; it `is_inner` if it is written `#![allow(…)]`. `wrong_reason` is what stands in the
    place of the reason and is no string.
    """

    names: tuple[Allowed, ...]
    span: Span
    attribute: Span
    is_inner: bool = False
    wrong_reason: Span | None = None


@record(kw_only=True)
class Module:
    """One source file. `doc` is its `//!` text; host code is gone.

    `missing` has the names of items with syntax errors, and an empty one where unnamed text may hold items;
    `has_imports` says that a `use`, also one in a module, may bring names from elsewhere. `named` are the names that
    calls give arguments. It `is_rust` if it holds more than kernels and what they call, so that Rust reads it too.
    `text` is the source.
    """

    doc: str
    items: tuple[Item, ...]
    allowances: tuple[Allowance, ...] = ()
    missing: frozenset[str] = frozenset()
    imports: tuple[Import, ...] = ()
    has_imports: bool = False
    named: frozenset[str] = frozenset()
    is_rust: bool = False
    text: str = field(default="", compare=False, repr=False)
