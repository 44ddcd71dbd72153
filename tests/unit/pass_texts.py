"""Runs a pass on a kernel built by hand and gives what comes out as text, verified before and after."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import dedent

from ir_builder import B, lit, of_kernel

from teenyc.ir.nodes import Function, Operand, Program
from teenyc.ir.printer import print_body
from teenyc.ir.verify import verify
from teenyc.passes.fold_constants import fold_constants
from teenyc.types import I32, scalar


def after(run: Callable[[Program], Program], b: B, *functions: Function) -> str:
    """The statements of the kernel after a pass, with the functions before them if there are any."""
    program = of_kernel(b.kernel(), *functions)
    verify(program)
    result = run(program)
    verify(result)
    if run is fold_constants:
        assert run(result) == result
    texts = [print_body(f) for f in result.functions]
    lines = print_body(result.kernels[0]).splitlines(keepends=True)
    return "".join([*texts, *(line[4:] for line in lines[1:])])


def expect(found: str, text: str) -> None:
    assert found == dedent(text).lstrip("\n")


@contextmanager
def shallow(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def store_at(b: B, offset: Operand, mask: Operand | None = None) -> None:
    b.store(b.offset(b.pointer("x"), offset), lit(1.0), mask)


def index_function() -> Function:
    f = B("index")
    f.ret(f.binary("add", f.binary("mul", f.param("i", I32), f.param("stride", I32)), lit(1)))
    return f.function(scalar(I32))
