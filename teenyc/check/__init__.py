"""Check: a syntax tree goes in; the typed IR comes out, or reports on every problem of the file."""

from __future__ import annotations

from collections.abc import Mapping

from teenyc.check.context import Library
from teenyc.check.kernel import check_kernel
from teenyc.check.modules import declarations_of, duplicate, is_kernel, items_of
from teenyc.check.ops import check_backward, check_ops
from teenyc.check.pad import check_padding
from teenyc.check.signature import trait_of
from teenyc.check.uncalled import check_uncalled, check_unread
from teenyc.diagnostics.model import Reporter
from teenyc.ir import nodes as ir
from teenyc.source import Span
from teenyc.syntax import ast
from teenyc.types import DType


def check(
    module: ast.Module,
    reporter: Reporter,
    *,
    constants: Mapping[str, int | bool] | None = None,
    dtypes: Mapping[str, DType] | None = None,
) -> ir.Program | None:
    """The program of a file, with the constants and dtypes that options fix; None where anything is wrong."""
    items = [item for _, item in items_of(module.items)]
    kernels = [i for i in items if isinstance(i, ast.Function) and is_kernel(i)]
    declarations = declarations_of(module, reporter)
    _check_items(kernels, module, items, reporter)
    library = Library()
    checked = [
        check_kernel(k, declarations.at(k.span), reporter, constants or {}, dtypes or {}, library) for k in kernels
    ]
    unchecked: tuple[Span, ...] = ()
    if not declarations.is_partial:
        functions = (i for i in items if isinstance(i, ast.Function) and not is_kernel(i))
        listed = [(f, declarations.at(f.span)) for f in functions]
        unchecked = check_uncalled([*listed, *library.nested], library, _trait(kernels), reporter)
        unread = [(i, declarations.at(i.span)) for i in items if isinstance(i, ast.ConstItem)]
        check_unread(unread, library, has_imports=module.has_imports, reporter=reporter)
    _check_options(kernels, reporter, constants or {}, dtypes or {})
    structs = [i for i in items if isinstance(i, ast.OpStruct)]
    ops = () if declarations.is_partial else check_ops(structs, kernels, reporter)
    if not declarations.is_partial:
        check_backward(kernels, module.imports, reporter)
    if not reporter.has_errors:
        for kernel in checked:
            if kernel is not None:
                check_padding(kernel, reporter)
    if reporter.has_errors:
        return None
    whole = tuple(k for k in checked if k is not None)
    return ir.Program(
        doc=module.doc,
        kernels=whole,
        functions=library.functions,
        ops=ops,
        docs=tuple((name, doc) for name, doc in library.docs.items() if doc),
        unchecked=unchecked,
    )


def _trait(kernels: list[ast.Function]) -> str:
    """The name that stands for Triton in the kernels of a file."""
    return next((name for k in kernels if (name := trait_of(k))), "")


def kernels_of(module: ast.Module) -> tuple[ast.Function, ...]:
    """The kernels of a file and of the modules in it."""
    return tuple(i for _, i in items_of(module.items) if isinstance(i, ast.Function) and is_kernel(i))


def _lint_hidden(function: ast.Function, reporter: Reporter) -> None:
    from teenyc.intrinsics import find, find_operator

    name = function.name.text
    if find(name) is not None or find_operator(name) is not None:
        from teenyc.diagnostics.catalog.lints import HidesIntrinsic

        reporter.report(HidesIntrinsic(span=function.name.span, name=name))


def _check_items(kernels: list[ast.Function], module: ast.Module, items: list[ast.Item], reporter: Reporter) -> None:
    """No two kernels have one name, no kernel has that of a function beside it, no function that of an intrinsic."""
    for item in items:
        if isinstance(item, ast.Function) and not is_kernel(item):
            _lint_hidden(item, reporter)
    seen: dict[str, Span] = {}
    for kernel in kernels:
        first = seen.setdefault(kernel.name.text, kernel.name.span)
        if first != kernel.name.span:
            duplicate("kernel", kernel.name, first, reporter)
    functions = [i for i in module.items if isinstance(i, ast.Function)]
    beside = {f.name.text: f.name.span for f in functions if is_kernel(f)}
    for function in functions:
        name = function.name
        if not is_kernel(function) and name.text in beside:
            first, second = sorted((name.span, beside[name.text]))
            duplicate("function", ast.Name(text=name.text, span=second), first, reporter)


def _check_options(
    kernels: list[ast.Function],
    reporter: Reporter,
    constants: Mapping[str, int | bool],
    dtypes: Mapping[str, DType],
) -> None:
    """An option that names what no kernel of the file has is a mistake of the command line."""
    generics = [g for k in kernels for g in k.generics]
    named = [g.name.text for g in generics if isinstance(g, ast.ConstantParameter)]
    variables = [g.name.text for g in generics if isinstance(g, ast.TypeParameter)]
    for option, what, given, known in (
        ("--set", "constant", list(constants), named),
        ("--dtype", "dtype parameter", list(dtypes), variables),
    ):
        for name in given:
            if name not in known:
                _unknown_option(option, what, name, known, reporter)


def _unknown_option(option: str, what: str, name: str, known: list[str], reporter: Reporter) -> None:
    from teenyc.diagnostics.catalog.inputs import UnknownOption
    from teenyc.diagnostics.suggest import closest

    listed = tuple(dict.fromkeys(known))
    similar = closest(name, listed)
    reporter.report(UnknownOption(option=option, what=what, name=name, known=listed, similar=similar))
