"""Lint for stores that every program makes to one address."""

from __future__ import annotations

from teenyc.diagnostics.model import Reporter
from teenyc.intrinsics import TABLE
from teenyc.intrinsics.spec import Effect
from teenyc.ir import nodes as ir
from teenyc.ir.walk import blocks_of, operands_of, results_of, statements_of

PROGRAM = "program_id"


def lint_races(kernel: ir.Kernel, reporter: Reporter) -> None:
    """Reports stores whose address and conditions do not depend on the program: each program writes there."""
    varying = _varying(kernel)
    if kernel.attributes.grid == ():
        return
    _lint_block(kernel.body, varying, reporter)


def _lint_block(block: ir.Block, varying: set[int], reporter: Reporter) -> None:
    for statement in block.statements:
        if isinstance(statement, ir.Let) and isinstance(statement.operation, ir.Call):
            _lint_call(statement, statement.operation, varying, reporter)
        if isinstance(statement, ir.If) and _is_varying(statement.condition, varying):
            if any(isinstance(b.statements[-1], ir.Return) for b in blocks_of(statement) if b.statements):
                return  # only some programs get further
            continue
        for inner in blocks_of(statement):
            _lint_block(inner, varying, reporter)


def _lint_call(statement: ir.Let, call: ir.Call, varying: set[int], reporter: Reporter) -> None:
    effects = TABLE[call.intrinsic].effects
    pointer = call.operand("pointer")
    if Effect.WRITES not in effects or Effect.ATOMIC in effects or pointer is None:
        return
    mask = call.operand("mask")
    if _is_varying(pointer, varying) or (mask is not None and _is_varying(mask, varying)):
        return
    from teenyc.diagnostics.catalog.lints import SameAddress

    name = pointer.name if isinstance(pointer, ir.Value) else ""
    reporter.report(SameAddress(span=statement.span, pointer=name))


def _is_varying(operand: ir.Operand, varying: set[int]) -> bool:
    return isinstance(operand, ir.Value) and operand.id in varying


def _varying(kernel: ir.Kernel) -> set[int]:
    """The values that may differ between programs, to a fixpoint over what loops carry."""
    varying: set[int] = set()
    size = -1
    while size != len(varying):
        size = len(varying)
        for _, statement in statements_of(kernel.body):
            _spread(statement, varying)
    return varying


def _spread(statement: ir.Statement, varying: set[int]) -> None:
    match statement:
        case ir.Let(operation=ir.Call(intrinsic=name)) if name == PROGRAM or Effect.ATOMIC in TABLE[name].effects:
            varying.update(r.id for r in statement.results)
        case ir.Let():
            if any(_is_varying(o, varying) for o in operands_of(statement.operation)):
                varying.update(r.id for r in statement.results)
        case ir.If():
            _spread_if(statement, varying)
        case ir.For() | ir.While():
            _spread_loop(statement, varying)
        case ir.Return():
            pass


def _spread_if(statement: ir.If, varying: set[int]) -> None:
    decided = _is_varying(statement.condition, varying)
    for branch in (statement.then, statement.otherwise):
        for result, operand in zip(results_of(statement), branch.yields, strict=False):
            if decided or _is_varying(operand, varying):
                varying.add(result.id)


def _spread_loop(statement: ir.For | ir.While, varying: set[int]) -> None:
    bounds = (statement.start, statement.stop, statement.step) if isinstance(statement, ir.For) else ()
    decided = any(_is_varying(o, varying) for o in bounds)
    if isinstance(statement, ir.For) and decided:
        varying.add(statement.counter.id)
    for carried, operand in zip(statement.carried, statement.body.yields, strict=True):
        if decided or _is_varying(carried.initial, varying) or _is_varying(operand, varying):
            varying.update((carried.inside.id, carried.result.id))
