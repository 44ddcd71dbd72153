"""Metadata and names of the host part: what a kernel does to memory, and how everything in it is called."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import pytest
from host_module import attention_program, module_text, program_of, with_rule
from ir_builder import HERE, B, D, lit, of_kernel

from teenyc.codegen.effects import effects_of
from teenyc.codegen.host import RESERVED
from teenyc.codegen.literals import docstring_lines, literal, literal_lines
from teenyc.codegen.metadata import Names, class_names, free_name, metadata
from teenyc.codegen.sizes import extent_text, size_checks
from teenyc.ir.nodes import Attributes, Kernel, OpClass, Program
from teenyc.record import replace
from teenyc.types import BOOL, F32, I32, Extent, Pointer, Quotient, scalar

N = Extent.of("N")


def facts_of(kernel: Kernel, names: Names | None = None) -> dict[str, Any]:
    kernels: Any = metadata(of_kernel(kernel), source="k.tk", version="0", names=names or Names())["kernels"]
    (facts,) = kernels.values()
    assert isinstance(facts, dict)
    return facts


# ---- memory ---------------------------------------------------------------------------------------------------------


def test_roles_follow_pointers_to_loads_and_stores() -> None:
    b = B("copy")
    x, y, z, _ = (b.pointer(name) for name in ("x", "y", "z", "unused"))
    n = b.param("n", I32)
    i = b.arange()
    b.store(b.offset(b.offset(b.offset(y, i), lit(4)), n), b.load(b.copy(b.offset(x, i), "moved")))
    b.store(z, b.load(z))
    facts = facts_of(b.kernel(variables=()))
    assert [p["role"] for p in facts["parameters"]] == ["input", "output", "input and output", "unused", "scalar"]
    assert (facts["reads"], facts["writes"]) == (["x", "z"], ["y", "z"])
    assert facts["deterministic"]
    assert "nondeterministic" not in facts


def test_roles_follow_pointers_through_loops_and_branches() -> None:
    b = B("swap")
    first, second, out = (b.pointer(name) for name in ("first", "second", "out"))
    with b.loop(lit(0), lit(4), a=first, b=second) as loop:
        b.store(out, b.load(loop.inside[0]))
        loop.next(loop.inside[1], loop.inside[0])
    condition = b.compare("lt", b.program_id(), lit(1))
    with b.branch(condition, scalar(Pointer(F32))) as fork:
        fork.then(loop.carried[0].result)
        fork.otherwise(out)
    b.store(fork.results[0], lit(0.0))
    facts = facts_of(b.kernel(variables=()))
    assert facts["reads"] == ["first", "second"]
    assert facts["writes"] == ["first", "second", "out"]


def test_roles_follow_pointers_through_functions() -> None:
    inner = B("advance")
    pointer = inner.pointer("p")
    inner.store(pointer, lit(1.0))
    inner.ret(inner.offset(pointer, lit(1)))
    advance = inner.function(scalar(Pointer(F32)))
    b = B("outer")
    x, y = b.pointer("x"), b.pointer("y")
    b.store(y, b.load(b.apply(advance, x)))
    effects = effects_of(of_kernel(b.kernel(variables=()), advance))
    assert (effects["advance"].reads, effects["advance"].writes) == (frozenset(), frozenset({0}))
    assert (effects["outer"].reads, effects["outer"].writes) == (frozenset({0}), frozenset({0, 1}))


# ---- what else is said ----------------------------------------------------------------------------------------------


def test_metadata_is_plain_data_and_leaves_out_what_says_nothing() -> None:
    facts: Any = metadata(attention_program(), source="a.tk", version="1.2")
    kernel = facts["kernels"]["attention"]
    assert (facts["version"], facts["source"]) == ("1.2", "a.tk")
    assert kernel["class"] == "Attention"
    assert kernel["constants"] == [{"name": "HEAD_DIM", "type": "i32", "field": "head_dim"}]
    assert kernel["dtypes"] == {"D": "Float"}
    assert kernel["grid"] == ["n_q", "bh"]
    assert kernel["shapes"]["l"] == ["bh", "n_q"]
    assert kernel["options"] == {"num_warps": 2}
    assert kernel["requirements"] == [{"extent": "HEAD_DIM", "rule": "power-of-two", "for": "an extent of `arange`"}]
    assert facts["ops"]["AttentionOp"] == {
        "parameters": ["half"],
        "fields": {"forward": {"kernel": "attention", "constants": {"HEAD_DIM": "2 * half"}}},
    }
    assert not {"fixed", "atomics", "nondeterministic", "provided", "backward", "renamed"} & set(kernel)
    assert ast.literal_eval("\n".join(literal_lines(facts))) == facts


def test_requirements_are_said_once() -> None:
    kernel = with_rule(with_rule(with_rule(B("k").kernel(), "N", "positive"), "N", "at-least:2"), "N", "positive")
    assert [r["rule"] for r in facts_of(kernel)["requirements"]] == ["positive", "at-least:2"]


def test_renamed_parameters_are_recorded_under_their_new_names() -> None:
    b = B("lambda")
    b.pointer("in")
    names = Names(items={"lambda": "lambda_"}, inside={"lambda": {"in": "in_"}})
    facts: Any = metadata(of_kernel(b.kernel(variables=())), source="k.tk", version="0", names=names)["kernels"]
    assert list(facts) == ["lambda_"]
    assert facts["lambda_"]["parameters"][0]["name"] == "in_"
    assert facts["lambda_"]["renamed"] == {"lambda": "lambda_", "in": "in_"}
    assert facts["lambda_"]["class"] == "Lambda"


# ---- names ----------------------------------------------------------------------------------------------------------


def test_classes_do_not_hide_kernels_functions_ops_or_builtins() -> None:
    kernels = tuple(B(name).kernel() for name in ("mark", "Mark", "value_error", "my_op", "_", "a__b"))
    function = replace(B("AB").function(), span=HERE)
    op = OpClass(name="MyOp", doc="", parameters=(), fields=(), span=HERE)
    classes = class_names(Program(doc="", kernels=kernels, functions=(function,), ops=(op,)), Names())
    assert classes == {
        "mark": "Mark_",
        "Mark": "Mark_2",
        "value_error": "ValueError_",
        "my_op": "MyOp_",
        "_": "Kernel",
        "a__b": "AB_",
    }


def test_fields_are_distinct_names() -> None:
    kernel = B("k").kernel(constants=("N", "n", "IN", "CHECK"), variables=(D,))
    fields = [(c["name"], c["field"]) for c in facts_of(kernel)["constants"]]
    assert fields == [("N", "n"), ("n", "n_"), ("IN", "in_"), ("CHECK", "check_"), ("D", "d")]


def test_free_names_skip_what_is_taken() -> None:
    assert [free_name("x", ()), free_name("if", ()), free_name("x", ("x",)), free_name("x", ("x", "x_"))] == [
        "x",
        "if_",
        "x_",
        "x_2",
    ]


def test_the_host_part_reads_only_reserved_names() -> None:
    text = module_text(program_of("k", ("flag", BOOL)), "def k(flag):\n    pass\n")
    tree = ast.parse(text)
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert {name for name in loaded if hasattr(builtins, name) and not name.startswith("__")} <= RESERVED


# ---- text -----------------------------------------------------------------------------------------------------------

HOSTILE = ['"', "'", '"""', "\\", '\\"', "\n", "\r", "\0", "\u202e", "{{ x }}", "{% raw %}", "\U0001f600", "a" * 200]


@pytest.mark.parametrize("text", [*HOSTILE, "".join(HOSTILE)])
def test_no_text_can_leave_its_literal(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text
    (statement,) = ast.parse("\n".join(docstring_lines(text, 0)) or "''").body
    assert isinstance(statement, ast.Expr)
    op = replace(attention_program().ops[0], doc=text)
    program = replace(attention_program(), ops=(op,))
    requirement = replace(program.kernels[0].requirements[0], what=text)
    program = replace(program, kernels=(replace(program.kernels[0], requirements=(requirement,)),))
    tree = ast.parse(module_text(program, "def attention():\n    pass\n"))
    assert sum(isinstance(node, ast.ClassDef) for node in tree.body) == 4


def test_long_lists_are_laid_out_in_lines_that_fit() -> None:
    value = {
        "short": [1, 2],
        "long": ["x" * 50] * 4,
        "deep": {"pairs": [("a" * 60, None), ("b" * 60, True)]},
        "none": [],
    }
    lines = literal_lines(value, "X = ")
    assert max(map(len, lines)) <= 120
    assert lines[0] == "X = {"
    assert '    "short": [1, 2],' in lines
    assert ast.literal_eval("\n".join(lines).removeprefix("X = ")) == value


# ---- extents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extent", "text"),
    [
        (Extent.of(0), "0"),
        (Extent.of(-3), "-3"),
        (N, "n"),
        (Extent.of(-1) * N, "-n"),
        (N * N + Extent.of(2) * N - Extent.of(1), "n * n + 2 * n - 1"),
        (Extent.of(Quotient(N + Extent.of(1), Extent.of("M"))), "((n + 1) // M)"),
    ],
)
def test_extents_are_python_expressions(extent: Extent, text: str) -> None:
    assert extent_text(extent, {"N": "n"}) == text


def test_sizes_bind_symbols_before_they_use_them() -> None:
    b, c = Extent.of("b"), Extent.of("c")
    shapes = (("z", (b, c)), ("y", (b * N,)), ("x", (N, b)), ("w", (c, c)))
    checks = size_checks(shapes, {"N": "N"}, {})
    assert [(s.tensor, s.needed, s.symbol, s.solution) for s in checks] == [
        ("x", "N * b", "b", "x.numel() // (N)"),
        ("z", "b * c", "c", "z.numel() // (b)"),
        ("y", "N * b", None, None),
        ("w", "c * c", None, None),
    ]
    assert checks[1].shown == "[{b=}, {c=}] (b from `x`)"


def test_a_symbol_that_nothing_determines_is_not_checked() -> None:
    b, c = Extent.of("b"), Extent.of("c")
    assert size_checks((("x", (b, c)), ("y", (b * b,)), ("z", (b + c,))), {}, {}) == ()


def test_attributes_without_shapes_need_no_sizes() -> None:
    kernel = replace(B("k").kernel(variables=()), attributes=Attributes(grid=(N,)))
    assert "_sizes(N" not in module_text(of_kernel(kernel), "def k():\n    pass\n")
