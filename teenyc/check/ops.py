"""Op structs, whose fields are kernels of the file with constants bound, and the kernels that `backward` names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import Extent


def host_name(kernel: str) -> str:
    """The name by which the host knows a kernel: `row_sum` is `RowSum`."""
    return "".join(part[:1].upper() + part[1:] for part in kernel.split("_"))


def check_ops(
    structs: Sequence[ast.OpStruct], kernels: Sequence[ast.Function], reporter: Reporter
) -> tuple[ir.OpClass, ...]:
    """The Op classes of a file; structs without a `new` are host code of another kind and left out."""
    by_host = {host_name(k.name.text): k for k in kernels}
    found = [_op(s, by_host, reporter) for s in structs if s.parameters is not None]
    return tuple(op for op in found if op is not None)


def check_backward(kernels: Sequence[ast.Function], imports: Sequence[ast.Import], reporter: Reporter) -> None:
    """`backward = Name` names a kernel of the file as the host does; one that is imported by name is not known here."""
    known = [host_name(k.name.text) for k in kernels]
    names = {*known, *(i.name for i in imports)}
    for kernel in kernels:
        for argument in (a for at in kernel.attributes if at.name.text == "kernel" for a in at.arguments):
            if argument.name is None or argument.name.text != "backward":
                continue
            node = argument.value
            name = node.segments[-1].name.text if isinstance(node, ast.PathExpression) else ""
            if name not in names:
                _unknown_kernel(name, node.span, known, reporter)


def _unknown_kernel(name: str, span: Span, known: Sequence[str], reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.names import UnknownKernel
    from teenyc.diagnostics.suggest import closest

    reporter.report(UnknownKernel(span=span, name=name, known=tuple(known), similar=closest(name, known)))


def _op(struct: ast.OpStruct, kernels: Mapping[str, ast.Function], reporter: Reporter) -> ir.OpClass | None:
    assert struct.parameters is not None
    parameters = tuple(p.text for p in struct.parameters)
    made = {a.name.text: a for a in struct.arguments}
    fields: list[ir.OpField] = []
    opaque = _opaque(struct, made, parameters)
    if opaque is not None:
        from teenyc.diagnostics.catalog.lints import OpaqueOp

        reporter.report(OpaqueOp(span=struct.name.span, name=struct.name.text, field=opaque))
        return None
    for field in struct.fields:
        bound = _field(field, made.get(field.name.text), kernels, parameters, reporter)
        if bound is not None:
            fields.append(bound)
    if not fields:
        return None
    return ir.OpClass(
        name=struct.name.text, doc=struct.doc, parameters=parameters, fields=tuple(fields), span=struct.name.span
    )


def _opaque(struct: ast.OpStruct, made: Mapping[str, ast.OpArgument], parameters: tuple[str, ...]) -> str | None:
    """The first field whose constants `new` computes by other means than sums and products of its parameters."""
    for field in struct.fields:
        argument = made.get(field.name.text)
        if argument is not None and any(_extent(a, parameters) is None for a in argument.arguments):
            return field.name.text
    return None


def _field(
    field: ast.OpField,
    made: ast.OpArgument | None,
    kernels: Mapping[str, ast.Function],
    parameters: tuple[str, ...],
    reporter: Reporter,
) -> ir.OpField | None:
    kernel = kernels.get(field.type.text)
    if kernel is None:
        _unknown_kernel(field.type.text, field.type.span, list(kernels), reporter)
        return None
    constants = [g.name.text for g in kernel.generics if isinstance(g, ast.ConstantParameter)]
    arguments = [_extent(a, parameters) for a in made.arguments] if made is not None else []
    reason = None
    if made is None:
        reason = "`new` does not make it"
    elif len(arguments) != len(constants):
        plural = "" if len(constants) == 1 else "s"
        reason = f"the kernel has {len(constants)} constant{plural}, {len(arguments)} given"
    if reason is not None:
        from teenyc.diagnostics.catalog.structure import BadOp

        reporter.report(BadOp(span=field.name.span, name=field.name.text, reason=reason))
        return None
    pairs = tuple((n, a) for n, a in zip(constants, arguments, strict=True) if a is not None)
    return ir.OpField(name=field.name.text, kernel=kernel.name.text, arguments=pairs, span=field.name.span)


def _extent(node: ast.Expression, parameters: tuple[str, ...]) -> Extent | None:
    match node:
        case ast.IntegerLiteral():
            return Extent.of(node.value)
        case ast.BoolLiteral():
            return Extent.of(int(node.value))
        case ast.PathExpression(segments=(only,)) if only.name.text in parameters:
            return Extent.of(only.name.text)
        case ast.Binary(operator="+" | "-" | "*" | "/"):
            left, right = _extent(node.left, parameters), _extent(node.right, parameters)
            if left is None or right is None:
                return None
            if node.operator == "+":
                return left + right
            if node.operator == "-":
                return left - right
            return left * right if node.operator == "*" else left.divided(right)
        case _:
            return None
