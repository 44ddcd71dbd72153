"""Broken sources: whatever the text, the compiler reports or succeeds, soon, and what it gives out is Python.

Mutations of real kernels, by bytes and by tokens, from fixed seeds; `pytest --fuzz N` tries N of them.
"""

from __future__ import annotations

import ast
import random
import re
import time
import warnings

import pytest
from cases import cases

from teenyc import compile_source
from teenyc.diagnostics.model import Severity
from teenyc.diagnostics.render import Report, render
from teenyc.resources import kernels_directory
from teenyc.runtime.files import decode
from teenyc.source import SourceFile

SOURCES = [case.text for case in cases("golden")] + [
    path.read_text(encoding="utf-8") for path in sorted(kernels_directory().glob("*.tk"))
]
BATCHES = 10
LONGEST = 2.0  # seconds for a source under 64 kB

TOKEN = re.compile(r"\s+|//[^\n]*|\w+|[^\w\s]")
INTERESTING = (
    "let mut fn if else for while loop break continue return as in match const mod use struct impl true false None "
    "Some load store sum dot exp arange zeros full cast T D f32 i32 bool 0 1 -1 1.5 1e999 0x 2147483648 0..=9 'a "
    "{ } ( ) [ ] < > ; , . :: -> => = == && || & | ! # #[kernel] #! ' \" \\ /* */ // /// //! \u0000 \ufeff é ∑ 🦀"
).split(" ")
KINDS = (r"[a-z_]\w*", r"[A-Z]\w*", r"\d\w*", r"[-+*/%<>&|]", r"\w+")
KEEP = frozenset("fn let for in if else while return use pub struct impl const mut as where kernel".split())


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_sources_are_reported_or_compile(batch: int, pytestconfig: pytest.Config) -> None:
    generator = random.Random(batch)
    for number in range(pytestconfig.getoption("--fuzz") // BATCHES):
        mutate = MUTATIONS[number % len(MUTATIONS)]
        _try(mutate(generator.choice(SOURCES), generator), f"batch {batch}, number {number}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\ufeff",
        "\x00" * 100,
        "{" * 10_000,
        "(" * 10_000,
        "/*" * 10_000,
        "#[kernel] fn f() { " + "if true { " * 2_000,
        "#[kernel] fn f() { let x = " + "(" * 2_000 + "1" + ")" * 2_000 + "; }",
        "#[kernel] fn f(p: Pointer<i32>) { store(p, " + " + ".join(["1"] * 5_000) + "); }",
        "#[kernel] fn f(p: Pointer<i32>) { store(p, " + "-" * 5_000 + "1); }",
        "#[kernel] fn f() {" + " let x = 1;" * 5_000 + "}",
        "#[kernel] fn f() { g(" + "1, " * 10_000 + "); }",
        "#[kernel] fn f(" + "p: i32, " * 5_000 + ") {}",
        "\n".join(f"#[kernel] fn f{i}() {{}}" for i in range(1_500)),
        '"' * 9_999,
        "r#" * 10_000,
        "x" * 60_000,
        "#[kernel] fn f() { let x = " + "9" * 5_000 + "; }",
    ],
    ids=lambda text: f"{text[:24]!r}x{len(text)}",
)
def test_extreme_sources_are_reported_or_compile(text: str) -> None:
    _try(text, "extreme")


def _try(text: str | bytes, what: str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    started = time.process_time()
    source = decode(data, "fuzz.tk")
    if not isinstance(source, SourceFile):
        return
    compiled = compile_source(source)
    for format in ("human", "json"):
        render([Report(d, source) for d in compiled.diagnostics], format=format)
    elapsed = time.process_time() - started
    assert elapsed < LONGEST, f"{what}: {elapsed:.1f} s for {len(data)} bytes"
    has_errors = any(d.severity is Severity.ERROR for d in compiled.diagnostics)
    assert (compiled.source is None) == has_errors, what
    if compiled.source is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ast.parse(compiled.source)


def _mutate_bytes(text: str, generator: random.Random) -> bytes:
    data = bytearray(text.encode())
    for _ in range(generator.randint(1, 8)):
        place = generator.randrange(len(data))
        match generator.randrange(4):
            case 0:
                data[place] = generator.randrange(256)
            case 1:
                data.insert(place, generator.randrange(128))
            case 2:
                del data[place : place + generator.randint(1, 40)]
            case _:
                other = generator.randrange(len(data))
                data[place:place] = data[other : other + generator.randint(1, 40)]
        if not data:
            break
    return bytes(data)


def _mutate_tokens(text: str, generator: random.Random) -> str:
    tokens = TOKEN.findall(text)
    words = [i for i, token in enumerate(tokens) if not token.isspace()]
    for _ in range(generator.randint(1, 4)):
        place, other = generator.choice(words), generator.choice(words)
        match generator.randrange(6):
            case 0:
                tokens[place] = ""
            case 1:
                tokens[place] = generator.choice(INTERESTING)
            case 2:
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                tokens[place] = tokens[other]
            case 4:
                tokens[place] += " " + generator.choice(INTERESTING) + " "
            case _:
                start, end = sorted((place, min(other, place + 60)))
                tokens[place] += "".join(tokens[start:end])
    return "".join(tokens)


def _mutate_meaning(text: str, generator: random.Random) -> str:
    """Puts tokens in the place of others of their kind, so that the text mostly parses and the checker has to judge."""
    tokens = TOKEN.findall(text)
    for _ in range(generator.randint(1, 3)):
        kind = generator.choice(KINDS)
        places = [i for i, token in enumerate(tokens) if re.fullmatch(kind, token) and token not in KEEP]
        if places:
            tokens[generator.choice(places)] = tokens[generator.choice(places)]
    return "".join(tokens)


MUTATIONS = (_mutate_bytes, _mutate_tokens, _mutate_meaning)
