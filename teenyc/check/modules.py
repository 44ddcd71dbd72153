"""What the modules of a file declare: its items go in; what each module sees, and what paths name, comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from teenyc.check.context import Declarations, Path, resolved
from teenyc.diagnostics.model import Reporter
from teenyc.record import field, state
from teenyc.source import Span
from teenyc.syntax import ast

Declared = TypeVar("Declared", ast.Function, ast.ConstItem)


@state
class _Module:
    """The functions and constants of one module by name, its own and those that it imports."""

    imports: tuple[ast.Import, ...]
    functions: dict[str, ast.Function] = field(default_factory=dict)
    constants: dict[str, ast.ConstItem] = field(default_factory=dict)
    aliases: dict[str, Path] = field(default_factory=dict)


def declarations_of(module: ast.Module, reporter: Reporter) -> Declarations:
    """What the root of a file sees; its `at` and `module` give what the other modules see."""
    is_partial = reporter.has_errors  # so far only the parser reported
    modules = dict(_modules(module.items, module.imports, ()))
    homes: dict[Span, Path] = {}
    kernels: set[str] = set()
    for path, item in items_of(module.items):
        homes[item.span] = path
        match item:
            case ast.Function() if is_kernel(item):
                kernels.add(item.name.text)
            case ast.Function():
                _declare(modules[path].functions, "function", item, reporter)
            case ast.ConstItem():
                _declare(modules[path].constants, "constant", item, reporter)
            case _:
                pass
    functions = _unambiguous(m.functions for m in modules.values())
    constants = _unambiguous(m.constants for m in modules.values())
    _import(modules)
    seen: dict[Path, Declarations] = {}
    for path, each in modules.items():
        seen[path] = Declarations(
            functions={**functions, **each.functions},
            constants={**constants, **each.constants},
            kernels=frozenset(kernels),
            tree=module,
            is_partial=is_partial,
            missing=module.missing,
            path=path,
            named=(each.functions, each.constants),
            aliases=each.aliases,
            modules=seen,
            homes=homes,
        )
    return seen[()]


def is_kernel(function: ast.Function) -> bool:
    """Whether a function carries `#[kernel]`."""
    return any(a.name.text == "kernel" for a in function.attributes)


def items_of(items: tuple[ast.Item, ...], path: Path = ()) -> Iterator[tuple[Path, ast.Item]]:
    """The items of the file and of the modules in it, each with the path of its module."""
    for item in items:
        if isinstance(item, ast.ModuleItem):
            yield from items_of(item.items, (*path, item.name.text))
        else:
            yield path, item


def _modules(
    items: tuple[ast.Item, ...], imports: tuple[ast.Import, ...], path: Path
) -> Iterator[tuple[Path, _Module]]:
    yield path, _Module(imports)
    for item in items:
        if isinstance(item, ast.ModuleItem):
            yield from _modules(item.items, item.imports, (*path, item.name.text))


def _declare(known: dict[str, Declared], what: str, item: Declared, reporter: Reporter) -> None:
    first = known.setdefault(item.name.text, item)
    if first is not item:
        duplicate(what, item.name, first.name.span, reporter)


def duplicate(what: str, name: ast.Name, first: Span, reporter: Reporter) -> None:
    """Reports a second item of one name."""
    from teenyc.diagnostics.catalog.names import DuplicateName

    reporter.report(DuplicateName(span=name.span, what=what, name=name.text, first=first))


def _unambiguous(modules: Iterable[Mapping[str, Declared]]) -> dict[str, Declared]:
    """What is declared in one module only, which every other sees without a path."""
    found: dict[str, list[Declared]] = {}
    for each in modules:
        for name, item in each.items():
            found.setdefault(name, []).append(item)
    return {name: items[0] for name, items in found.items() if len(items) == 1}


def _import(modules: Mapping[Path, _Module]) -> None:
    """Adds to each module what its `use` declarations bring, also what comes by way of other modules."""
    before = -1
    while before != (before := sum(len(m.functions) + len(m.constants) + len(m.aliases) for m in modules.values())):
        for path, module in modules.items():
            for each in module.imports:
                _bring(modules, path, module, each)


def _bring(modules: Mapping[Path, _Module], path: Path, module: _Module, given: ast.Import) -> None:
    """Adds what one import names: a module, or functions and constants of one, or all of them."""
    whole = resolved(modules, path, module.aliases, given.path)
    if given.name == "*":
        for known, brought in _pairs(module, modules.get(whole) if whole is not None else None):
            for name, item in brought.items():
                known.setdefault(name, item)
        return
    if whole is not None:
        module.aliases.setdefault(given.name, whole)
    owner = resolved(modules, path, module.aliases, given.path[:-1])
    for known, brought in _pairs(module, modules.get(owner) if owner is not None else None):
        if given.path[-1] in brought:
            known.setdefault(given.name, brought[given.path[-1]])


def _pairs(module: _Module, other: _Module | None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    if other is not None and other is not module:
        yield module.functions, other.functions
        yield module.constants, other.constants
