"""Functions that nothing calls and constants that nothing reads: names, calls and structure of them are checked; shapes
that calls would decide are left open."""

from __future__ import annotations

from teenyc.check.context import INVALID, Context, Declarations, Library, Symbol
from teenyc.check.expressions import constant
from teenyc.check.signature import trait_of, type_parameters
from teenyc.check.types import BOUNDS, element_of, is_tensor
from teenyc.diagnostics.model import Diagnostic, Reporter
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import BOOL, I32, Bound, TensorType, TypeVar, scalar

REPORTED = ("E02", "E0307", "E06")
"""How the codes begin of what is wrong whatever a call may pass."""


def check_uncalled(
    functions: list[tuple[ast.Function, Declarations]], library: Library, trait: str, reporter: Reporter
) -> tuple[Span, ...]:
    """Checks each function that no call did, and says of those that nothing mentions that they are not used. Gives the
    places of all that no call checked."""
    uncalled = [(f, declarations) for f, declarations in functions if f.span not in library.called]
    unused: list[ast.Function] = []
    for function, declarations in uncalled:
        inner = Context(Reporter(), declarations, trait=trait_of(function) or trait, scopes=[{}], library=library)
        inner.calling = (declarations.shown(function),)
        if not _declare(inner, function):
            continue  # host code, which has other types
        from teenyc.check.inlining import body_value

        body_value(inner, function)
        for report in inner.reporter:
            if report.code.startswith(REPORTED):
                reporter.report(report)
        unused.append(function)
    for function in unused:
        _lint(function, library, reporter)
    return tuple(function.span for function, _ in uncalled)


def check_unread(
    constants: list[tuple[ast.ConstItem, Declarations]], library: Library, *, has_imports: bool, reporter: Reporter
) -> None:
    """Reports unknown names in constants that nothing read; where more may be imported, only those near a known one."""
    for item, declarations in constants:
        if item.span in library.called:
            continue
        inner = Context(Reporter(), declarations, scopes=[{}], library=library)
        if element_of(inner, item.type) is None:
            continue  # host code
        constant(inner, item, item.span)
        for report in inner.reporter:
            if _is_typo(report, has_imports=has_imports):
                reporter.report(report)


def _is_typo(report: Diagnostic, *, has_imports: bool) -> bool:
    from teenyc.diagnostics.catalog.names import UnknownName

    if not isinstance(report, UnknownName) or "::" in report.name:
        return False
    return report.similar is not None or not has_imports


def _declare(inner: Context, function: ast.Function) -> bool:
    """Declares generics and parameters, tensors without a type; False where kernels have no such types."""
    for generic in type_parameters(function):
        bound = next((BOUNDS[b.text] for b in generic.bounds if b.text in BOUNDS), Bound.NUM)
        inner.elements[generic.name.text] = TypeVar(generic.name.text, bound)
    for generic_constant in (g for g in function.generics if isinstance(g, ast.ConstantParameter)):
        name = generic_constant.name.text
        type = scalar(BOOL if element_of(inner, generic_constant.type) == BOOL else I32)
        inner.declare(Symbol(name, generic_constant.name.span, ir.Constant(name, type), is_read=True))
    for parameter in function.parameters:
        name = parameter.name.text
        _look_at(inner, parameter.type)
        known = None if _is_open(inner, parameter.type) else element_of(inner, parameter.type)
        value = INVALID if known is None else inner.value(TensorType(known), name)
        symbol = Symbol(name, parameter.name.span, value, mutable=parameter.mutable, is_parameter=True, is_read=True)
        symbol.is_assigned = True
        inner.declare(symbol)
    _look_at(inner, function.result)
    return not inner.reporter.has_errors


def _look_at(inner: Context, type: ast.TypeExpression | None) -> None:
    """Reports a type that kernels do not have."""
    if isinstance(type, ast.TupleTypeExpression):
        for item in type.items:
            _look_at(inner, item)
    elif type is not None and not _is_open(inner, type):
        element_of(inner, type)


def _is_open(inner: Context, type: ast.TypeExpression) -> bool:
    """Whether the type of a value is for calls to decide: tensors, functions, tuples, what a dtype parameter is."""
    if isinstance(type, ast.TupleTypeExpression):
        return True
    if isinstance(type, ast.OtherType):
        return type.text.startswith("fn")
    return is_tensor(type) or type.segments[-1].name.text in inner.elements


def _lint(function: ast.Function, library: Library, reporter: Reporter) -> None:
    if function.span in library.mentioned or function.name.text.startswith("_"):
        return
    from teenyc.diagnostics.catalog.lints import UnusedFunction

    reporter.report(UnusedFunction(span=function.name.span, name=function.name.text))
