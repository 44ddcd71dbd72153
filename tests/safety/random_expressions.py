"""Random kernels whose offsets are expressions of all kinds: a generator goes in, a source comes out.

The offset comes from sums, products, quotients, remainders, extrema, selects, branches and loops over an index, lanes
and two numbers; what guards it is a condition that may be the right one or nearly so.
"""

from __future__ import annotations

import random

ATOMS = ("i", "lane", "n", "m", "1", "2", "3", "0")


def expression(numbers: random.Random, depth: int) -> str:
    """An integer expression over the atoms and what was named before."""
    if depth == 0 or numbers.random() < 0.2:
        return numbers.choice(ATOMS)
    one, two = (expression(numbers, depth - 1) for _ in range(2))
    match numbers.randrange(9):
        case 0 | 1 | 2:
            return f"({one} {numbers.choice('++-')} {two})"
        case 3:
            return f"({one} * {numbers.choice(('n', 'm', '2', '3', one))})"
        case 4:
            return f"({one} {numbers.choice('/%')} {numbers.choice(('n', 'm', '2', '4', '(m + 1)'))})"
        case 5:
            return f"{numbers.choice(('minimum', 'maximum'))}({one} + 0 * lane, {two} + 0 * lane)"
        case 6:
            operator = numbers.choice(("<", "<=", ">", "==", "!="))
            return f"where_({one} + 0 * lane {operator} {two}, {one} + 0 * lane, {two})"
        case 7:
            return f"({one} & {numbers.choice(('1', '3', '7'))})"
        case _:
            return f"cdiv({one} + 0 * lane, {numbers.choice(('2', '3', 'n'))} + 0 * lane)"


def condition(numbers: random.Random, size: str) -> str:
    """What should keep `at` in bounds, or nearly so."""
    low = numbers.choice(("at >= 0", "at > -1", "at > 0", "at >= -1", "i >= 0", "at != -1"))
    ends = (f"< {size}", f"<= {size} - 1", f"<= {size}", "< n", f"!= {size}", f"< {size} + 1")
    high = f"at {numbers.choice(ends)}"
    return f"({low}) {numbers.choice('&&&|')} ({high})"


def kernel(numbers: random.Random) -> str:
    """A kernel that stores at a random offset under a condition."""
    size = numbers.choice(("n", "n * m", "n + m", "n + 2", "m * 4"))
    grid = numbers.choice(("n", "m", "n * m", "cdiv(n, 2)", "n + 1"))
    lines = [f"    let at = {expression(numbers, 3)} + 0 * lane;"]
    match numbers.randrange(4):
        case 0:
            lines = [
                f"    let mut at = {expression(numbers, 2)} + 0 * lane;",
                f"    for k in 0..{numbers.choice(('n', 'm', '3'))} {{",
                f"        at = at + {numbers.choice(('1', '2', 'n', 'k', '0'))};",
                "    }",
            ]
        case 1:
            lines += [
                f"    let at = if {numbers.choice(('i', 'n', 'm'))} {numbers.choice(('<', '>=', '=='))}"
                f" {numbers.choice(('n', 'm', '2'))} {{ at }} else {{ {expression(numbers, 2)} + 0 * lane }};"
            ]
        case _:
            pass
    mask = condition(numbers, size)
    store = f"store(y + at, i as f32, mask = {mask});"
    if numbers.random() < 0.3:
        scalar = condition(numbers, size).replace("at", numbers.choice(("i", "n", "m")))
        store = f"if {scalar.replace('&', '&&').replace('|', '||')} {{ {store} }}"
    head = f"#[kernel(grid = [{grid}], shape(y = [{size}]))]\nfn k(y: Pointer<f32>, n: i32, m: i32) {{"
    return (
        "\n".join([head, "    let i = program_id(0);", "    let lane = arange(0, 4);", *lines, f"    {store}", "}"])
        + "\n"
    )
