"""The text of a module: docstrings, comments, long lines, places in the source, the same bytes every time."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from emitted import generated
from hypothesis import given
from hypothesis import strategies as st
from ir_builder import B

from teenyc.codegen.comments import columns, comment_lines, docstring
from teenyc.codegen.layout import broken
from teenyc.ir.nodes import Let
from teenyc.record import replace
from teenyc.source import Comments, SourceFile, Span
from teenyc.types import I32


@given(st.text())
def test_a_module_docstring_is_the_text(text: str) -> None:
    source = "\n".join(docstring(text, "")) or '""'
    assert ast.literal_eval(source) == text
    cuttable = {line: line[len(line) - len(line.lstrip()) + 4 : 119] for line in source.split("\n")}
    assert all(columns(line) <= 120 or " " not in part for line, part in cuttable.items())


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_a_kernel_docstring_has_the_words(text: str) -> None:
    lines = docstring(text, "    ")
    if lines:
        tree = ast.parse("def f():\n" + "\n".join(lines))
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef)
        assert (ast.get_docstring(function) or "").split() == inspect.cleandoc(text).split()
    assert not any(line.strip().startswith("def ") for line in lines)


@given(st.text())
def test_a_comment_stays_a_comment(text: str) -> None:
    lines = comment_lines(text, "    ")
    assert ast.parse("if True:\n" + "\n".join(lines) + "\n    pass").body[0].lineno == 1
    assert all(line.startswith("    #") for line in lines)
    assert len("\n".join(lines).splitlines()) == len(lines)


@pytest.mark.parametrize("depth", range(1, 5))
def test_long_lines_are_broken_and_mean_the_same(depth: int) -> None:
    text = "tl.load(pointer + offsets[:, None] * stride, mask=mask & (lane < length), other=0.0)"
    for _ in range(depth):
        text = f"tl.maximum({text} * scale + (x - {text}), {text}).to(tl.float32)"
    for statement in (f"value = {text}", f"return {text}", f"value = {text} + {text}", f"value = -({text}) * 2"):
        lines = broken(statement, "    ")
        assert max(map(len, lines)) <= 120
        before, after = (ast.dump(ast.parse(f"def f():\n{body}")) for body in (f"    {statement}", "\n".join(lines)))
        assert before == after


def test_a_string_that_is_too_long_is_cut() -> None:
    statement = 'tl.device_assert(x > 0, "' + 'it \\"is\\" so ' * 30 + '")'
    lines = broken(statement, "        ")
    assert max(map(len, lines)) <= 120
    assert ast.dump(ast.parse("\n".join(lines).strip())) == ast.dump(ast.parse(statement))


def test_comments_and_blank_lines_stay_and_lines_know_their_source() -> None:
    source = SourceFile("k.tk", "fn k() {\n    let x = 1;\n\n    // the store\n    store(out, x);\n}\n")
    b = B()
    out = b.pointer("out", I32)
    x = b.load(out, name="x")
    b.store(out, b.binary("add", x, x))
    first, _, last = b.stack[0]
    assert isinstance(first, Let)
    assert isinstance(last, Let)
    at = source.text.index
    b.stack[0][0] = replace(first, span=Span(at("let"), at(";")), comments=Comments(trailing=" one"))
    b.stack[0][2] = replace(last, span=Span(at("store(out"), at("}")), comments=Comments((" the store",)))
    made = generated(b.kernel(variables=()), source=source)
    lines = made.text.split("\n")
    start = lines.index("    x = tl.load(out)  # one")
    assert lines[start + 1 : start + 4] == ["", "    # the store", "    tl.store(out, x + x)"]
    assert (start + 1, 2) in made.source_map
    assert (start + 4, 5) in made.source_map


def test_the_same_bytes_under_every_hash_seed() -> None:
    folder = Path(__file__).parent
    script = (
        f"import sys; sys.path[:0] = [{str(folder)!r}, {str(folder.parent.parent)!r}]\n"
        "from random_ir import random_kernel; from emitted import generated\n"
        "print(*(generated(random_kernel(s, 'k')).text for s in range(6)))"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
