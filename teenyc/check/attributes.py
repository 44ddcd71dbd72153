"""`#[kernel(...)]`: what the attribute of a kernel states, as extents over parameters and constants."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.check.context import Context
from teenyc.ir import nodes as ir
from teenyc.ir.nodes import OPTIONS
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL, Extent, Pointer, Shape, TensorType, is_integer

WORDS = {"dot_operands": ("storage",), "dot_precision": ("ieee", "tf32", "tf32x3")}
"""What the attributes that are one word may be."""

DENIED = ("unproven",)
"""What `deny(...)` may name."""

KNOWN = ("grid", "shape", "backward", "dtypes", "num_warps", "num_stages", "pad", "tile", "configs", "deny", *WORDS)


def kernel_attributes(
    context: Context,
    node: ast.Function,
    parameters: Sequence[ir.Parameter],
    constants: Sequence[ir.ConstantParameter],
) -> ir.Attributes:
    """The attributes, with every mistake in them reported."""
    arguments = [a for attribute in node.attributes if attribute.name.text == "kernel" for a in attribute.arguments]
    given = [(_name(a), a) for a in arguments]
    for name, argument in given:
        if name not in KNOWN:
            _unknown(context, name or "", argument.span)
    shapes = [s for name, a in given if name == "shape" for s in _shapes(context, a.value, parameters)]
    bound = _symbols(parameters, constants) | {n for _, s in shapes for e in s for n in e.names if e == Extent.of(n)}
    grid = next((_extents(context, a.value) for n, a in given if n == "grid"), None)
    _check_symbols(context, [(a.value, bound) for n, a in given if n in ("grid", "shape")])
    configs = [c for n, a in given if n == "configs" for c in _configs(context, given, a, constants)]
    return ir.Attributes(
        backward=next((_word(a.value) for n, a in given if n == "backward"), None),
        grid=grid,
        shapes=tuple(shapes),
        options=tuple((n, v) for n, a in given if n in OPTIONS for v in _number(context, n, a.value)),
        pad=tuple(dict.fromkeys(w for n, a in given if n == "pad" for w in _padded(context, a, constants))),
        tile=next((_words(a.value) for n, a in given if n == "tile"), None),
        deny=tuple(dict.fromkeys(w for n, a in given if n == "deny" for w in _denied(context, a))),
        configs=tuple(config for config, _ in configs),
        config_spans=tuple(span for _, span in configs),
        dot_operands=_chosen_word(context, given, "dot_operands"),
        dot_precision=_chosen_word(context, given, "dot_precision"),
    )


def is_padded(node: ast.Function) -> bool:
    """Whether a kernel asks for padding."""
    return any(_name(a) == "pad" for at in node.attributes if at.name.text == "kernel" for a in at.arguments)


def _name(argument: ast.Argument) -> str | None:
    """The name of `grid = …`, `shape(…)` or a bare `tile`."""
    if argument.name is not None:
        return argument.name.text
    value = argument.value
    if isinstance(value, ast.Call):
        value = value.callee
    return _word(value)


def _word(node: ast.Expression) -> str | None:
    return node.segments[-1].name.text if isinstance(node, ast.PathExpression) else None


def _padded(context: Context, node: ast.Argument, constants: Sequence[ir.ConstantParameter]) -> tuple[str, ...]:
    """The constants that `pad(NAME, …)` names."""
    known = [c.name for c in constants if c.type.element != BOOL]
    arguments = node.value.arguments if isinstance(node.value, ast.Call) else ()
    if not arguments:
        _unknown_pad(context, node.span, None, known)
    names: list[str] = []
    for argument in arguments:
        word = _word(argument.value) if argument.name is None else None
        if word in known:
            names.append(word)
        else:
            _unknown_pad(context, argument.span, word, known)
    return tuple(names)


def _unknown_pad(context: Context, span: Span, word: str | None, known: Sequence[str]) -> None:
    from teenyc.diagnostics.catalog.padding import UnknownPad
    from teenyc.diagnostics.suggest import closest

    similar = closest(word, known) if word is not None else None
    context.report(UnknownPad(span=span, name=word, similar=similar))


def _words(node: ast.Expression) -> tuple[str, ...]:
    """The names in `tile(a, b)`; none in a bare `tile`."""
    arguments = node.arguments if isinstance(node, ast.Call) else ()
    return tuple(word for a in arguments if (word := _word(a.value)) is not None)


def _denied(context: Context, node: ast.Argument) -> tuple[str, ...]:
    """What `deny(...)` names."""
    arguments = node.value.arguments if isinstance(node.value, ast.Call) else ()
    words = [(argument.span, _word(argument.value)) for argument in arguments] or [(node.span, None)]
    for span, word in words:
        if word not in DENIED:
            from teenyc.diagnostics.catalog.calls import OutOfBounds

            found = f"`{word}`" if word is not None else "nothing"
            need = " or ".join(f"`{w}`" for w in DENIED)
            context.report(OutOfBounds(span=span, function="#[kernel]", name="deny", need=need, found=found))
    return tuple(word for _, word in words if word in DENIED)


def _configs(
    context: Context,
    given: Sequence[tuple[str | None, ast.Argument]],
    node: ast.Argument,
    constants: Sequence[ir.ConstantParameter],
) -> tuple[tuple[ir.Configuration, Span], ...]:
    """What `configs = [...]` lists."""
    from teenyc.check.configurations import configs_of

    return configs_of(context, node.value, constants, any(name == "tile" for name, _ in given), _number)


def _chosen_word(context: Context, given: Sequence[tuple[str | None, ast.Argument]], name: str) -> str | None:
    """One of the words that an attribute may be, `dot_operands = storage`; None where it is absent or wrong."""
    argument = next((a for n, a in given if n == name), None)
    if argument is None:
        return None
    value = argument.value
    word = value.value if isinstance(value, ast.StringLiteral) else _word(value) if argument.name is not None else None
    if word in WORDS[name]:
        return word
    from teenyc.diagnostics.catalog.calls import OutOfBounds

    need = " or ".join(f"`{w}`" for w in WORDS[name])
    found = f"`{word}`" if word is not None else "no word" if argument.name is not None else "nothing"
    context.report(OutOfBounds(span=argument.span, function="#[kernel]", name=name, need=need, found=found))
    return None


def _unknown(context: Context, name: str, span: Span) -> None:
    from teenyc.diagnostics.catalog.names import UnknownAttribute
    from teenyc.diagnostics.suggest import closest

    context.report(UnknownAttribute(span=span, name=name, similar=closest(name, KNOWN)))


def _symbols(parameters: Sequence[ir.Parameter], constants: Sequence[ir.ConstantParameter]) -> set[str]:
    integers = {p.name for p in parameters if isinstance(p.value.type, TensorType) and is_integer(p.value.type.element)}
    return integers | {c.name for c in constants if c.type.element != BOOL}


WARPS = (1, 2, 4, 8, 16, 32)


def _number(context: Context, name: str, node: ast.Expression) -> tuple[int, ...]:
    """The value of `num_warps` or `num_stages`; none after a report."""
    extent = _extent(context, node)
    if extent is None:
        return ()
    known = extent.known
    if known is not None and (known in WARPS if name == "num_warps" else known > 0):
        return (known,)
    from teenyc.diagnostics.catalog.calls import OutOfBounds

    need = "a power of two from 1 to 32" if name == "num_warps" else "a number from 1"
    context.report(OutOfBounds(span=node.span, function="#[kernel]", name=name, need=need, found=f"`{extent}`"))
    return ()


def _shapes(context: Context, node: ast.Expression, parameters: Sequence[ir.Parameter]) -> list[tuple[str, Shape]]:
    if not isinstance(node, ast.Call):
        return []
    pointers = {
        p.name for p in parameters if isinstance(p.value.type, TensorType) and isinstance(p.value.type.element, Pointer)
    }
    found: list[tuple[str, Shape]] = []
    for argument in node.arguments:
        name = argument.name.text if argument.name is not None else None
        if name is None or name not in pointers:
            from teenyc.diagnostics.catalog.names import UnknownName
            from teenyc.diagnostics.suggest import closest

            span = argument.name.span if argument.name is not None else argument.span
            similar = closest(name or "", sorted(pointers))
            context.report(UnknownName(span=span, name=name or "shape", similar=similar))
            continue
        shape = _extents(context, argument.value)
        if shape is not None:
            found.append((name, shape))
    return found


def _extents(context: Context, node: ast.Expression) -> Shape | None:
    items = node.items if isinstance(node, ast.Array | ast.Tuple) else (node,)
    extents = [_extent(context, item) for item in items]
    return tuple(e for e in extents if e is not None) if all(e is not None for e in extents) else None


def _extent(context: Context, node: ast.Expression) -> Extent | None:
    """An integer expression over names; None after a report."""
    match node:
        case ast.IntegerLiteral():
            return Extent.of(node.value)
        case ast.PathExpression(segments=(only,)):
            return Extent.of(only.name.text)
        case ast.Binary():
            left, right = _extent(context, node.left), _extent(context, node.right)
            return None if left is None or right is None else _combined(context, node, left, right)
        case ast.Call(callee=ast.PathExpression(segments=(only,))) if only.name.text == "cdiv":
            parts = [_extent(context, a.value) for a in node.arguments]
            if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
                return (parts[0] + parts[1] - Extent.of(1)).divided(parts[1])
    _not_an_extent(context, node.span)
    return None


def _combined(context: Context, node: ast.Binary, left: Extent, right: Extent) -> Extent | None:
    match node.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right.known != 0:
            return left.divided(right)
    _not_an_extent(context, node.span)
    return None


def _not_an_extent(context: Context, span: Span) -> None:
    from teenyc.diagnostics.catalog.structure import Unsupported

    instead = "write sums, products and quotients of parameters, constants and numbers"
    context.report(Unsupported(span=span, what="this expression in `#[kernel(…)]`", instead=instead))


def _check_symbols(context: Context, nodes: list[tuple[ast.Expression, set[str]]]) -> None:
    """Every name in `grid` and `shape` must have a value at the launch, which reads the parameter of that name."""
    for node, bound in nodes:
        for name, span in _names(node):
            symbol = context.lookup(name)
            if symbol is not None:
                symbol.is_read = True
            if name not in bound:
                from teenyc.diagnostics.catalog.names import UnknownSymbol

                context.report(UnknownSymbol(span=span, name=name))


def _names(node: ast.Expression) -> list[tuple[str, Span]]:
    match node:
        case ast.PathExpression(segments=(only,)):
            return [(only.name.text, node.span)]
        case ast.Binary():
            return [*_names(node.left), *_names(node.right)]
        case ast.Array() | ast.Tuple():
            return [pair for item in node.items for pair in _names(item)]
        case ast.Call():
            return [pair for a in node.arguments for pair in _names(a.value)]
        case _:
            return []
