"""No text of a source gets out of its place in the generated module: docs, comments, strings and names stay data."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from io import BytesIO
from tokenize import detect_encoding

import pytest

from teenyc import compile_source

TEXTS = [
    '""" + __import__("os").system("true") + """',
    "''' ends ''' \\''' \"\"\"",
    "{{ 7 * 7 }} {% raw %} {% endraw %} {# x #} {%- for a in b -%} # {{",
    "\\N{BULLET} \\x41 \\u0041 \\U00000041 \\101 \\",
    "%s %(a)s {0} {a!r} ${A} $(true) `true`",
    "e\u0301 ﬁ ａ 𝐚 \u202e \u200b \u2028 \u00ad \x7f \x0c \x0b \x1b",
    "# -*- coding: latin-1 -*-",
    "type: ignore  noqa  pragma: no cover  fmt: off",
    '"' * 10,
    "\\" * 9,
]
KERNEL = "#[kernel]\nfn f(x: Pointer<f32>) {{{comment}\n    store(x + program_id(0), 1.0);\n}}\n"


def short_texts() -> Iterator[str]:
    """Every text of up to four quotes, backslashes and letters."""
    for length in range(1, 5):
        yield from map("".join, itertools.product('\\"a', repeat=length))


@pytest.mark.parametrize("text", TEXTS)
def test_documents_and_comments_stay_text(text: str) -> None:
    _check(text)


def test_no_short_text_ends_a_docstring() -> None:
    for text in short_texts():
        _check(text)


@pytest.mark.parametrize("text", [t for t in TEXTS if t.isascii() and t.isprintable()])
def test_strings_stay_text(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    source = KERNEL.format(comment=f'\n    device_print("{quoted}", program_id(0));')
    tree = _tree(source)
    assert any(isinstance(node, ast.Constant) and node.value == text for node in ast.walk(tree))


@pytest.mark.parametrize(
    "name",
    ["lambda", "None_", "print", "tl", "triton", "TEENYC", "__import__", "_Bound", "exec", "def", "class", "ﬁ", "cls"],
)
def test_names_stay_names(name: str) -> None:
    source = f"#[kernel]\nfn {name}({name}: Pointer<f32>) {{ store({name} + program_id(0), 1.0); }}\n"
    compile(_tree(source), "module.py", "exec")


@pytest.mark.parametrize(
    "name",
    [
        "x coding: utf-7 .tk",
        "x coding=latin-1 .tk",
        "# -*- coding: utf-7 -*-",
        "a\nimport os\n.tk",
        "a\rimport os\r.tk",
        "\x0cimport os.tk",
        "\u2028import os.tk",
        "\"\"\"'''.tk",
        "{{ 7 * 7 }}{% raw %}.tk",
        "\udcff.tk",
        "\N{BULLET}.tk",
        "\\N{BULLET}.tk",
    ],
)
def test_names_of_files_stay_text(name: str) -> None:
    """Also for who reads the module as bytes: `+AAo-` is a line break in UTF-7."""
    source = "/// +AAo-import os+AAo-\n" + KERNEL.format(comment="")
    module = compile_source(source, name=name).source
    assert module is not None
    assert detect_encoding(BytesIO(module.encode()).readline)[0] == "utf-8"
    expected = compile_source(source, name="plain.tk").source
    assert expected is not None
    found, plain = (ast.parse(text.encode()) for text in (module, expected))
    assert [type(node) for node in ast.walk(found)] == [type(node) for node in ast.walk(plain)]


def _check(text: str) -> None:
    comment = text.replace("\x0c", "").replace("\x0b", "").replace("\u2028", "")
    tree = _tree(f"//! {text}\n\n/// {text}\n" + KERNEL.format(comment=f" // {comment}"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert (ast.get_docstring(tree, clean=False) or "").strip() == text.strip()
    assert (ast.get_docstring(functions[0], clean=False) or "").strip() == text.strip()
    assert [type(node).__name__ for node in functions[0].body] == ["Expr", "Expr"]


def _tree(source: str) -> ast.Module:
    module = compile_source(source, name="hostile.tk").source
    assert module is not None
    return ast.parse(module)
