"""Device functions: early returns, tuples, pointers and generics against the same functions in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

import teenyc

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def functions() -> ModuleType:
    return teenyc.load(GOLDEN / "functions.tk")


@pytest.mark.parametrize("n", [1, 7, 29])
@pytest.mark.parametrize("limit", [-3.0, -1.0, -0.25, 0.75, 2.5])
def test_tuples_pointers_and_early_returns(functions: ModuleType, device: str, n: int, limit: float) -> None:
    x = torch.randn(3, n)
    out = torch.full((3, 3), -77.0, device=device)
    functions.SoftmaxParts(block=32)[(3,)](x.to(device), out, n, limit)
    top = x.double()[:, :n].max(1).values
    total = torch.exp(x.double()[:, :n] - top[:, None]).sum(1)
    expected = torch.stack([top, total, top * bent(limit, 2.0)], 1)
    torch.testing.assert_close(out.cpu().double(), expected, rtol=1e-6, atol=1e-6)


def bent(x: float, limit: float) -> float:
    if x > limit:
        return limit
    if x < 0:
        if x < -limit:
            return 0.0
        if x * 0.5 > -0.25:
            return x * 0.5
    return x


# ---- random early returns -------------------------------------------------------------------------------------------


Text = tuple[str, str]
Names = list[Text]


class Author:
    """Writes one function twice, in the language and in Python: random branches that may return anywhere."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rust: list[str] = []
        self.python: list[str] = []
        self.names = 0

    def line(self, depth: int, rust: str, python: str) -> None:
        if rust:
            self.rust.append("    " * depth + rust)
        if python:
            self.python.append("    " * depth + python)

    def value(self, known: Names) -> Text:
        (a, a_), (b, b_) = (
            self.random.choice(known),
            self.random.choice([*known, *[(str(i), str(i)) for i in range(3)]]),
        )
        sign = self.random.choice("+-*")
        return f"{a} {sign} {b}", f"{a_} {sign} {b_}"

    def test(self, known: Names) -> Text:
        (a, a_), right = self.random.choice(known), self.random.randrange(-4, 9)
        sign = self.random.choice(["<", ">", "==", "!="])
        return f"{a} {sign} {right}", f"{a_} {sign} {right}"

    def declared(self, known: Names) -> Text:
        """A new variable, which may hide one in the language; in Python every variable is another."""
        self.names += 1
        olds = [name for name, _ in known if name.startswith("v")]
        name = self.random.choice(olds) if olds and self.random.random() < 0.3 else f"v{self.names}"
        return name, f"v{self.names}_"

    def block(self, depth: int, known: Names, budget: int) -> None:
        known = list(known)
        for _ in range(self.random.randrange(1, 4)):
            kinds = ["let", "set", "choice", "choice", "match", "inner", "bind"]
            kind = self.random.choice(kinds if budget else kinds[:2])
            getattr(self, kind)(depth, known, budget)
        if self.random.random() < 0.35 and depth > 1:
            value = self.value(known)
            self.line(depth, f"return {value[0]};", f"return {value[1]}")

    def let(self, depth: int, known: Names, budget: int) -> None:
        value, name = self.value(known), self.declared(known)
        hide(known, name)
        self.line(depth, f"let {name[0]} = {value[0]};", f"{name[1]} = {value[1]}")

    def set(self, depth: int, known: Names, budget: int) -> None:
        value = self.value(known)
        self.line(depth, f"total = {value[0]};", f"total = {value[1]}")

    def bind(self, depth: int, known: Names, budget: int) -> None:
        test, kept, given, name = self.test(known), self.value(known), self.value(known), self.declared(known)
        text = f"let {name[0]} = if {test[0]} {{ return {given[0]}; }} else {{ {kept[0]} }};"
        self.line(depth, text, f"if {test[1]}:")
        self.line(depth + 1, "", f"return {given[1]}")
        self.line(depth, "", f"{name[1]} = {kept[1]}")
        hide(known, name)

    def inner(self, depth: int, known: Names, budget: int) -> None:
        self.line(depth, "{", "if True:")
        self.block(depth + 1, known, budget - 1)
        self.line(depth, "}", "")

    def choice(self, depth: int, known: Names, budget: int) -> None:
        test = self.test(known)
        self.line(depth, f"if {test[0]} {{", f"if {test[1]}:")
        self.block(depth + 1, known, budget - 1)
        if self.random.random() < 0.5:
            other = self.test(known)
            self.line(depth, f"}} else if {other[0]} {{", f"elif {other[1]}:")
            self.block(depth + 1, known, budget - 1)
        if self.random.random() < 0.5:
            self.line(depth, "} else {", "else:")
            self.block(depth + 1, known, budget - 1)
        self.line(depth, "}", "")

    def match(self, depth: int, known: Names, budget: int) -> None:
        subject = self.random.choice(known)
        self.line(depth, f"match {subject[0]} {{", f"match {subject[1]}:")
        for pattern in ("0", "1 | 2", "_"):
            self.line(depth + 1, f"{pattern} => {{", f"case {pattern}:")
            self.block(depth + 2, known, budget - 1)
            self.line(depth + 1, "}", "")
        self.line(depth, "}", "")

    def function(self) -> tuple[str, Callable[[int, int], int]]:
        self.line(0, "fn f(a: i32, b: i32) -> i32 {", "def f(a, b):")
        self.line(1, "let mut total = a;", "total = a")
        self.block(1, [(name, name) for name in ("a", "b", "total")], 3)
        self.line(1, "total - b", "return total - b")
        self.line(0, "}", "")
        scope: dict[str, Callable[[int, int], int]] = {}
        exec("\n".join(self.python), scope)
        return "\n".join(self.rust), scope["f"]


def hide(known: Names, name: Text) -> None:
    """Adds a variable, which hides an older one of the same name."""
    known[:] = [*(k for k in known if k[0] != name[0]), name]


KERNEL = """
#[kernel]
fn k(x: Pointer<i32>, o: Pointer<i32>, n: i32) {{
    let pid = program_id(0);
    let a = load(x + pid * 2);
    let b = load(x + pid * 2 + 1);
    store(o + pid, f(a, b));
    for i in 0..2 {{
        store(o + {count} + pid, f(a + i, n));
    }}
}}
"""
COUNT = 12


@pytest.mark.parametrize("seed", range(20))
def test_random_early_returns(tmp_path: Path, device: str, seed: int) -> None:
    text, f = Author(seed).function()
    path = tmp_path / f"early_{seed}.tk"
    path.write_text(text + "\n" + KERNEL.format(count=COUNT), encoding="utf-8")
    x = torch.randint(-6, 10, (COUNT, 2), dtype=torch.int32)
    out = torch.full((2 * COUNT,), -77, dtype=torch.int32, device=device)
    teenyc.load(path).K()[(COUNT,)](x.to(device), out, 1)
    expected = [f(a, b) for a, b in x.tolist()] + [f(a + 1, 1) for a, _ in x.tolist()]
    assert out.tolist() == [wrapped(v) for v in expected], text


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def test_functions_of_one_name_in_several_modules(device: str) -> None:
    out = torch.full((6,), -77.0, device=device)
    teenyc.load(GOLDEN / "modules.tk").ToldApart()[(1,)](out, 5.0)
    assert out.tolist() == [10.0, 8.0, 10.0, 48.0, 5.0, 6.0]
