"""What the checker knows while it walks one kernel: scopes, literals, and the block of IR being built."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from teenyc.check.infer import Inference
from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.ir import nodes as ir
from teenyc.record import field, record, replace, state
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL, DescriptorType, Element, Extent, TensorType, Type, Unsuffixed

if TYPE_CHECKING:
    from teenyc.check.places import Places

DEEPEST, MOST_LOOPS = 90, 19
"""What Python takes: 100 levels of indentation, and 20 statements of which each holds the next."""


@record
class Invalid:
    """The result of a mistake that was reported; whatever uses it says nothing more."""


INVALID = Invalid()


@record
class Undefined(Invalid):
    """A result that is never read, that of a function which did not return yet; no mistake was made."""


UNDEFINED = Undefined()

NEVER_KNOWN = "undefined'"
"""The name of a result that nobody reads, since the function did not return there."""


@record
class Group:
    """Several values at once; none for a statement."""

    items: tuple[Checked, ...] = ()


NOTHING = Group()

Path: TypeAlias = "tuple[str, ...]"
"""The names of modules, one in the other, from the root of a file."""

Checked: TypeAlias = "ir.Operand | Group | Invalid"


@record
class FunctionValue:
    """A function as an argument: its declaration and the generics that a turbofish states."""

    function: ast.Function
    generics: tuple[ast.TypeExpression | ast.Expression, ...] = ()


@state
class Symbol:
    """A variable of the source: where it was declared and which value it has now; a function for `f: fn(…)`."""

    name: str
    span: Span
    current: Checked
    mutable: bool = False
    is_parameter: bool = False
    is_counter: bool = False
    is_read: bool = False
    is_assigned: bool = False
    is_public: bool = False
    """whether others know it by its name: a parameter of a kernel, or one that calls name"""
    mut: Span | None = None
    function: FunctionValue | None = None

    @property
    def shown(self) -> str:
        """The name that values carry: what stands before the quote in the names that the lowering of jumps makes."""
        return self.name.partition("'")[0]

    @property
    def is_silent(self) -> bool:
        """Whether lints say nothing of it: `_x`, and what the author did not write."""
        return self.name.startswith("_") or "'" in self.name


def resolved(modules: Container[Path], at: Path, aliases: Mapping[str, Path], path: Sequence[str]) -> Path | None:
    """The module of the file that a path names in the module `at`; None for one that is not in the file."""
    names = list(path)
    base = at
    if names[:1] == ["crate"]:
        base, names = (), names[1:]
    elif names[:1] == ["self"]:
        names = names[1:]
    while names[:1] == ["super"]:
        base, names = base[:-1], names[1:]
    if names and names[0] in aliases and names == list(path):
        base, names = aliases[names[0]], names[1:]
    found = (*base, *names)
    if found in modules:
        return found
    outer = tuple(names)
    return outer if outer and outer in modules and names == list(path) else None


@record
class Declarations:
    """What a module of a file declares and sees, outside the kernel at hand."""

    functions: Mapping[str, ast.Function]
    constants: Mapping[str, ast.ConstItem]
    kernels: frozenset[str]
    tree: ast.Module
    """The whole file."""
    is_partial: bool = False
    """Whether items with syntax errors are missing."""
    missing: frozenset[str] = frozenset()
    """The names of those items; an empty one where a name is not known, so that any unknown name may be missing."""

    path: Path = ()
    named: tuple[Mapping[str, ast.Function], Mapping[str, ast.ConstItem]] = ({}, {})
    """Functions and constants that paths through this module lead to: its own, and what it imports."""
    aliases: Mapping[str, Path] = MappingProxyType({})
    modules: Mapping[Path, Declarations] = MappingProxyType({})
    homes: Mapping[Span, Path] = MappingProxyType({})
    """The modules in which the items of the file stand."""

    def at(self, item: Span) -> Declarations:
        """What an item sees: that of its module, or for a function in a function all that is seen here."""
        path = self.homes.get(item)
        return self if path is None else self.modules[path]

    def function(self, names: Sequence[str]) -> ast.Function | None:
        """The function that a path names here."""
        module = self.module(names)
        return (self.functions if module is None else module.named[0]).get(names[-1])

    def constant(self, names: Sequence[str]) -> ast.ConstItem | None:
        """The constant that a path of the file's modules names here."""
        module = self.module(names)
        return None if module is None else module.named[1].get(names[-1])

    def module(self, names: Sequence[str]) -> Declarations | None:
        """The module of the file that a path to an item leads through; None for a name without a path."""
        if len(names) == 1:
            return None
        found = resolved(self.modules, self.path, self.aliases, names[:-1])
        return self.modules[found] if found is not None else None

    def paths_to(self, name: str) -> tuple[str, ...]:
        """The paths of the functions of a name that is not seen here."""
        found = {f.span: self.shown(f) for m in self.modules.values() for n, f in m.named[0].items() if n == name}
        return tuple(sorted(found.values()))

    def shown(self, item: ast.Function | ast.ConstItem) -> str:
        """The name of an item with the path of its module."""
        return "::".join((*self.homes.get(item.span, ()), item.name.text))

    def may_be_missing(self, name: str) -> bool:
        """Whether what has that name may be an item with a syntax error."""
        return name in self.missing or "" in self.missing


@record
class Place:
    """Where an argument that is absent belongs: the `None` that stands for it, or behind the last argument."""

    span: Span
    is_given: bool


@record
class Kept:
    """A device function of the program: what calls of it need, in terms of its own generics.

    `form` says how its results are grouped.
    """

    function: ir.Function
    form: Checked
    requirements: tuple[ir.Requirement, ...]
    others: Mapping[int, Place]


@state
class Library:
    """The device functions of a file, over all its kernels.

    `kept` holds those that became functions of the program, None where a body has to be written into its callers;
    `sound` are calls that were checked with the very types and constants. By their place, `called` are the functions
    that calls had checked and the constants whose value was, and `mentioned` those that are named at all; `nested` are
    those inside others, and `outside` the variables around these, which they do not see. `docs` are the doc comments of
    constants, empty where two of one name have different ones.
    """

    kept: dict[tuple[object, ...], Kept | None] = field(default_factory=dict)
    sound: set[tuple[object, ...]] = field(default_factory=set)
    called: set[Span] = field(default_factory=set)
    mentioned: set[Span] = field(default_factory=set)
    nested: list[tuple[ast.Function, Declarations]] = field(default_factory=list)
    outside: dict[Span, tuple[ast.Function, Mapping[str, Symbol]]] = field(default_factory=dict)
    docs: dict[str, str] = field(default_factory=dict)
    shown: Places | None = None
    """What stands where in the file, once a kernel has asked."""

    def places(self, tree: ast.Module) -> Places:
        """What stands where in the file: the same for all kernels, since a file may have many."""
        if self.shown is None:
            from teenyc.check.places import Places

            self.shown = Places(tree)
        return self.shown

    @property
    def functions(self) -> tuple[ir.Function, ...]:
        """Those of the program, in the order of the source."""
        found = [k.function for k in self.kept.values() if k is not None]
        return tuple(sorted(found, key=lambda f: f.span))

    def name(self, name: str) -> str:
        """A name for another function of the program; no name of a source has a quote."""
        taken = {f.name for f in self.functions}
        return next(n for n in (name, *(f"{name}'{i}" for i in range(2, len(taken) + 3))) if n not in taken)


@state
class Context:
    """The state of checking one kernel."""

    reporter: Reporter
    declarations: Declarations
    trait: str = ""
    elements: dict[str, Element] = field(default_factory=dict)
    inference: Inference = field(default_factory=Inference)
    scopes: list[dict[str, Symbol]] = field(default_factory=list)
    statements: list[ir.Statement] = field(default_factory=list)
    extents: dict[int, Extent] = field(default_factory=dict)
    equal: dict[str, Extent] = field(default_factory=dict)
    truths: dict[int, bool] = field(default_factory=dict)
    equations: dict[int, tuple[Extent, Extent]] = field(default_factory=dict)
    static: set[int] = field(default_factory=set)
    requirements: list[ir.Requirement] = field(default_factory=list)
    assignments: list[tuple[int, Symbol, Span]] = field(default_factory=list)
    literals: list[tuple[ir.Literal, Span]] = field(default_factory=list)
    others: dict[int, Place] = field(default_factory=dict)
    library: Library = field(default_factory=Library)
    calling: tuple[str, ...] = ()
    idle_masks: list[Symbol] = field(default_factory=list)
    ended: dict[str, Span] = field(default_factory=dict)
    """Variables of blocks that have ended, and where they were declared."""
    call_span: Span | None = None
    keeps_functions: bool = True
    """whether calls may become calls of functions; what pads a kernel must see all of it"""
    loop_depth: int = 0
    depth: int = 0
    last_id: int = 0

    def report(self, diagnostic: Diagnostic) -> Invalid:
        """Reports a mistake; gives the value that stands for it."""
        self.reporter.report(diagnostic)
        return INVALID

    # ---- building IR ------------------------------------------------------------------------------------------------

    def value(self, type: Type, name: str = "") -> ir.Value:
        """A new value."""
        self.last_id += 1
        return ir.Value(self.last_id, type, name)

    def emit(self, operation: ir.Operation, type: Type, span: Span) -> ir.Value:
        """Appends an operation with one result."""
        result = self.value(type)
        self.statements.append(ir.Let(results=(result,), operation=operation, span=span))
        return result

    @contextmanager
    def block(self) -> Iterator[list[ir.Statement]]:
        """Collects the statements of an inner block; what a `static_assert` in it says holds in it only."""
        outer, self.statements = self.statements, []
        equal = self.equal
        self.scopes.append({})
        try:
            yield self.statements
        finally:
            self.close_scope()
            self.statements, self.equal = outer, equal

    def is_too_deep(self, span: Span) -> bool:
        """Whether a block here would nest deeper than Python takes; reports it, once for all that is inside."""
        deep = self.depth > DEEPEST or self.loop_depth > MOST_LOOPS
        if deep:
            from teenyc.diagnostics.catalog.structure import NestedTooDeep

            loops = self.loop_depth > MOST_LOOPS
            limit = MOST_LOOPS if loops else DEEPEST
            self.report(NestedTooDeep(span=span, what="loops" if loops else "blocks", limit=limit))
        return deep

    def close_scope(self) -> None:
        """Ends the innermost scope; what it declared and nobody used is a lint."""
        from teenyc.check.lints import lint_symbols

        ended = self.scopes.pop()
        lint_symbols(ended.values(), self)
        if not self.calling:
            self.ended.update((s.shown, s.span) for s in ended.values())

    def named(self, checked: Checked, name: str, span: Span) -> Checked:
        """The value under the author's name: the temporary just made takes it, anything else gets a copy."""
        name = name.partition("'")[0]
        if isinstance(checked, Group):
            return Group(tuple(self.named(item, f"{name}_{i}", span) for i, item in enumerate(checked.items)))
        if isinstance(checked, Invalid):
            return checked
        if isinstance(checked, ir.Value) and not checked.name and self._rename_last(checked, name):
            return replace(checked, name=name)
        copy = self.emit(ir.Copy(operand=checked), checked.type, span)
        extent = self.extent_of(checked)
        if extent is not None:
            self.extents[copy.id] = extent
        self._rename_last(copy, name)
        return replace(copy, name=name)

    def _rename_last(self, value: ir.Value, name: str) -> bool:
        if not self.statements:
            return False
        last = self.statements[-1]
        if not isinstance(last, ir.Let | ir.If) or value not in last.results:
            return False
        results = tuple(replace(r, name=name) if r == value else r for r in last.results)
        self.statements[-1] = replace(last, results=results)
        return True

    # ---- asking -----------------------------------------------------------------------------------------------------

    def type_of(self, operand: ir.Operand) -> Type:
        """The type of an operand as far as known, with extents that a `static_assert` makes equal written as one."""
        type = self.inference.type(operand.type)
        if self.equal and isinstance(type, TensorType):
            return TensorType(type.element, tuple(self.canonical(e) for e in type.shape))
        if self.equal and isinstance(type, DescriptorType):
            return replace(type, block=tuple(self.canonical(e) for e in type.block))
        return type

    def tensor_of(self, operand: ir.Operand) -> TensorType | None:
        """The type of an operand that is a tensor, scalar or pointer."""
        type = self.type_of(operand)
        return type if isinstance(type, TensorType) else None

    def extent_of(self, operand: ir.Operand) -> Extent | None:
        """The operand as a number that is known at compile time, over the kernel's constants."""
        match operand:
            case ir.Literal():
                return Extent.of(operand.value) if type(operand.value) is int else None
            case ir.Constant():
                return Extent.of(operand.name) if operand.type.element != BOOL else None
            case ir.Value():
                return self.extents.get(operand.id)

    def is_known(self, operand: ir.Operand) -> bool:
        """Whether an operand is known at compile time: a number, or made of constants alone."""
        if not isinstance(operand, ir.Value):
            return True
        return operand.id in self.extents or operand.id in self.static

    def is_of_variable(self, element: Unsuffixed) -> bool:
        """Whether a variable in scope has the open type of a literal, which is then settled where that is used."""

        def has(checked: Checked) -> bool:
            if isinstance(checked, Group):
                return any(map(has, checked.items))
            type = None if isinstance(checked, Invalid) else self.tensor_of(checked)
            return type is not None and type.element == element

        return any(has(symbol.current) for scope in self.scopes for symbol in scope.values())

    def copy_facts(self, source: ir.Value, target: ir.Value) -> None:
        """What is known at compile time of one value holds for a copy of it."""
        for known in (self.extents, self.truths, self.equations):
            if source.id in known:
                known[target.id] = known[source.id]  # type: ignore[assignment]  # each keeps its own kind
        if source.id in self.static:
            self.static.add(target.id)

    def canonical(self, extent: Extent) -> Extent:
        """The extent, with what a `static_assert` says is equal to its constants in their place."""
        return extent.substitute(self.equal) if extent.names & self.equal.keys() else extent

    def note_equal(self, left: Extent, right: Extent) -> None:
        """Makes two extents one from here on, if one of them is a constant that the other does not depend on."""
        left, right = self.canonical(left), self.canonical(right)
        for this, other in ((right, left), (left, right)):
            name = next(iter(this.names), "")
            if name and this == Extent.of(name) and name not in other.names:
                self.equal = {n: e.substitute({name: other}) for n, e in self.equal.items()} | {name: other}
                return

    def lookup(self, name: str) -> Symbol | None:
        """The innermost variable of that name."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def declare(self, symbol: Symbol) -> None:
        """Adds a variable to the innermost scope, hiding one of the same name."""
        hidden = self.scopes[-1].get(symbol.name)
        if hidden is not None:
            from teenyc.check.lints import lint_symbols

            lint_symbols((hidden,), self)
        self.scopes[-1][symbol.name] = symbol

    def require(self, extent: Extent, rule: str, what: str, span: Span) -> None:
        """Notes what a constant must satisfy; the checks at launch, build and `--set` read it."""
        self.requirements.append(ir.Requirement(extent=extent, rule=rule, what=what, span=span))


def describe(checked: Checked, context: Context) -> str:
    """The type of a result in words, for a report."""
    match checked:
        case Invalid():
            return "nothing"
        case Group(items=()):
            return "no value"
        case Group():
            return f"{len(checked.items)} values"
        case ir.Value() | ir.Literal() | ir.Constant():
            return f"`{context.type_of(checked)}`"
