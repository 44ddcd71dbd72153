"""Modules for tests of the host part: hand-written kernels, a hand-built program beside them, the real template."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from ir_builder import HERE, B, D
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from teenyc.codegen.host import host_view
from teenyc.codegen.metadata import KEPT, Names, metadata
from teenyc.ir.nodes import Attributes, Kernel, OpClass, OpField, Program, Requirement
from teenyc.record import replace
from teenyc.resources import template_directory
from teenyc.types import F32, I32, Compute, Element, Extent

HEAD = '''"""Hand-written kernels with the generated host part."""

{imports}

import triton
import triton.language as tl


{kernels}

'''

ATTENTION = """
@triton.jit
def attention(q, k, v, o, l, n_q: tl.int32, n_k: tl.int32, scale: tl.float32, HEAD_DIM: tl.constexpr):
    row = tl.program_id(0)
    bh = tl.program_id(1)
    d = tl.arange(0, HEAD_DIM)
    q_row = tl.load(q + (bh * n_q + row) * HEAD_DIM + d).to(tl.float32)
    tl.store(o + (bh * n_q + row) * HEAD_DIM + d, q_row * scale)
    tl.store(l + bh * n_q + row, tl.sum(q_row, axis=0))
"""

NINE = """
@triton.jit
def nine(a, b, c, d, e, f, g, h, i, n: tl.int32, m: tl.int32, scale: tl.float32):
    tl.store(a, n)
"""

MULTIPLY = """
@triton.jit
def multiply(x, y, n: tl.int32, factor: tl.float32):
    i = tl.program_id(0)
    if i < n:
        tl.store(y + i, tl.load(x + i) * factor)
"""


def attention_program() -> Program:
    """`attention` with a rule for HEAD_DIM and the sizes of its tensors, and an Op that binds it."""
    b = B("attention")
    q, k, v, o = (b.pointer(name, D) for name in "qkvo")
    log_sum = b.pointer("l", Compute(D))
    for name in ("n_q", "n_k"):
        b.param(name, I32)
    b.param("scale", F32)
    d = b.arange(Extent.of("HEAD_DIM"))
    loaded = [b.load(b.offset(pointer, d)) for pointer in (q, k, v)]
    b.store(b.offset(o, d), loaded[0])
    b.store(log_sum, loaded[1])
    kernel = with_rule(b.kernel(constants=("HEAD_DIM",)), "HEAD_DIM", "power-of-two")
    bh, n_q, n_k, head_dim = (Extent.of(name) for name in ("bh", "n_q", "n_k", "HEAD_DIM"))
    query, key = (bh, n_q, head_dim), (bh, n_k, head_dim)
    shapes = (("l", (bh, n_q)), ("q", query), ("k", key), ("v", key), ("o", query))
    kernel = replace(kernel, attributes=Attributes(grid=(n_q, bh), shapes=shapes, options=(("num_warps", 2),)))
    field = OpField(
        name="forward", kernel="attention", arguments=(("HEAD_DIM", Extent.of(2) * Extent.of("half")),), span=HERE
    )
    op = OpClass(name="AttentionOp", doc="Both halves.", parameters=("half",), fields=(field,), span=HERE)
    return Program(doc="", kernels=(kernel,), ops=(op,))


def program_of(name: str, *parameters: tuple[str, Element | str]) -> Program:
    """A kernel without a body; a parameter is a scalar of an element type, or `*D`, `*f32` for a pointer."""
    b = B(name)
    for parameter, element in parameters:
        if isinstance(element, str):
            b.pointer(parameter, D if element == "*D" else F32)
        else:
            b.param(parameter, element)
    variables = [D] if any(element == "*D" for _, element in parameters) else []
    return Program(doc="", kernels=(b.kernel(constants=(), variables=variables),))


def with_rule(kernel: Kernel, constant: str, rule: str) -> Kernel:
    requirement = Requirement(extent=Extent.of(constant), rule=rule, what="an extent of `arange`", span=HERE)
    return replace(kernel, requirements=(*kernel.requirements, requirement))


def module_text(program: Program, kernels: str, names: Names | None = None) -> str:
    """The module that the compiler would write around these kernels."""
    view = host_view(program, metadata(program, source="hand.tk", version="0", names=names or KEPT), names or KEPT)
    environment = Environment(
        loader=FileSystemLoader(template_directory()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    host = environment.get_template("host.py.jinja").render(host=view)
    return HEAD.format(imports="\n".join(view.imports), kernels=kernels.strip() + "\n") + host


def module_of(folder: Path, program: Program, kernels: str) -> ModuleType:
    """That module, imported from a file under a name of its own, so that its objects can be pickled."""
    name = f"hand_{program.kernels[0].name}_{abs(hash(str(folder)))}"
    path = folder / f"{name}.py"
    path.write_text(module_text(program, kernels), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
