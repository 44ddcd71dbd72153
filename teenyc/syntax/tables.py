"""The grammar as LALR tables: read from `generated.py`, or compiled by Lark where `grammar/teenyc.lark` is newer.

`python -m teenyc.syntax.tables` writes `generated.py` anew. Lark is imported only when the grammar has to be compiled.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from teenyc import resources

STARTS = ("item", "op_struct", "op_constructor")
END: Final = "$END"
ACCEPT: Final = 1_000_000
"""The action at `END` when a start symbol is complete. Others: a state to go to, or `~rule` to reduce by."""

PASS = ""
COLLECT = "[]"


class Rule(NamedTuple):
    """One production: `size` values are taken off the stack, what `action` makes of them goes back as a `target`.

    `action` names a builder function; `PASS` hands the only child on, `COLLECT` makes the list that a rule with `_` is.
    `layout` selects the children, -1 for an absent one; None takes all. `splices` says that a child may be such a list.
    """

    target: str
    size: int
    action: str
    layout: tuple[int, ...] | None
    splices: bool


class Tables(NamedTuple):
    """What the automaton runs on.

    `rows[state]` maps a terminal to an action and a nonterminal to the state after it. `pattern` matches one token
    with the spaces before it, in the group that names its kind.
    """

    pattern: str
    starts: dict[str, int]
    rules: tuple[Rule, ...]
    rows: dict[int, dict[str, int]]


class Rows(dict[int, dict[str, int]]):
    """Rows that are decoded when the automaton first gets to their state: a small source sees a third of them."""

    def __init__(self, encoded: list[str], symbols: list[str]) -> None:
        super().__init__()
        self._encoded = encoded
        self._symbols = symbols

    def __missing__(self, state: int) -> dict[str, int]:
        row: dict[str, int] = {}
        for group in self._encoded[state].split("|"):
            action, *symbols = group.split()
            row.update(dict.fromkeys([self._symbols[int(s)] for s in symbols], int(action)))
        self[state] = row
        return row


@cache
def load() -> Tables:
    """The tables of `grammar/teenyc.lark` as it is now."""
    from teenyc.syntax import generated

    grammar = resources.grammar_text()
    if checksum(grammar) == generated.CHECKSUM:
        return decode(generated.PATTERN, generated.SYMBOLS, generated.STARTS, generated.RULES, generated.ROWS)
    from teenyc.syntax.compile_grammar import compile_grammar

    return compile_grammar(grammar)


def checksum(grammar: str) -> int:
    """What tells one grammar text from another."""
    return crc32(grammar.encode())


def decode(pattern: str, symbols: str, starts: str, rules: str, rows: str) -> Tables:
    """Tables from the text form that `encode` gives them."""
    start_states = (int(s) for s in starts.split())
    decoded = tuple(_decode_rule(line) for line in rules.splitlines())
    return Tables(
        pattern, dict(zip(STARTS, start_states, strict=True)), decoded, Rows(rows.splitlines(), symbols.split())
    )


def _decode_rule(line: str) -> Rule:
    target, size, action, layout, splices = line.split(" ")
    indices = None if layout == "*" else tuple(int(i) for i in layout.split(",") if i)
    return Rule(target, int(size), action, indices, splices == "1")


def encode(tables: Tables, grammar: str) -> str:
    """The text of `generated.py`: the same for the same grammar, whatever the machine and the version of Lark."""
    names = sorted({symbol for row in tables.rows.values() for symbol in row})
    number = {symbol: str(i) for i, symbol in enumerate(names)}
    rows = [_encode_row(tables.rows[state], number) for state in range(len(tables.rows))]
    return _GENERATED.format(
        checksum=checksum(grammar),
        pattern=ascii(tables.pattern),
        symbols=_lines(names),
        starts=" ".join(str(tables.starts[s]) for s in STARTS),
        rules="\n".join(_encode_rule(rule) for rule in tables.rules),
        rows="\n".join(rows),
    )


def _encode_row(row: dict[str, int], number: dict[str, str]) -> str:
    groups: dict[int, list[str]] = {}
    for symbol in sorted(row):
        groups.setdefault(row[symbol], []).append(number[symbol])
    return "|".join(f"{action} {' '.join(symbols)}" for action, symbols in sorted(groups.items()))


def _encode_rule(rule: Rule) -> str:
    layout = "*" if rule.layout is None else ",".join(str(i) for i in rule.layout)
    return f"{rule.target} {rule.size} {rule.action} {layout} {int(rule.splices)}"


def _lines(words: list[str]) -> str:
    return re.sub(r"(.{1,110})(?: |$)", r"\1\n", " ".join(words)).rstrip()


_GENERATED = '''\
"""The LALR tables of `grammar/teenyc.lark`; written by `python -m teenyc.syntax.tables`, not by hand."""
# ruff: noqa: E501

CHECKSUM = {checksum}

PATTERN = {pattern}

SYMBOLS = """
{symbols}
"""

STARTS = "{starts}"

RULES = """\\
{rules}
"""

ROWS = """\\
{rows}
"""
'''


def main() -> None:
    """Compile the grammar and write `generated.py`."""
    from teenyc.syntax.compile_grammar import compile_grammar

    grammar = resources.grammar_text()
    path = Path(__file__).with_name("generated.py")
    path.write_text(encode(compile_grammar(grammar), grammar), encoding="utf-8")
    sys.stdout.write(f"wrote {path}\n")


if __name__ == "__main__":
    main()
