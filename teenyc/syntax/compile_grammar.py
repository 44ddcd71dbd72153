"""Compiles the text of `grammar/teenyc.lark` with Lark into `Tables`; the only code that imports Lark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.syntax.tables import ACCEPT, COLLECT, END, PASS, STARTS, Rule, Tables
from teenyc.syntax.tokens import master_pattern

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Rule as LarkRule

State = dict[str, int]


def compile_grammar(grammar: str) -> Tables:
    """The tables of a grammar, states numbered in the order in which they are reached."""
    lark = lark_of(grammar)
    kinds = terminal_kinds(lark)
    rules = {rule: _rule(rule) for rule in lark.rules}
    order = sorted(set(rules.values()), key=lambda r: (r.target, r.size, r.action, r.layout or (), r.splices))
    states = _states(lark, kinds, {rule: order.index(made) for rule, made in rules.items()})
    for row in states.values():
        _skip_units(row, states, order)
    starts, rows = _renumber(_parse_table(lark).start_states, states)
    return Tables(_pattern(lark, kinds), starts, tuple(order), rows)


def lark_of(grammar: str) -> Lark:
    """Lark's own parser of a grammar; the tests hold the automaton against it."""
    from lark import Lark

    return Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=True)


def terminal_kinds(lark: Lark) -> dict[str, str]:
    """The kind of token that each of Lark's terminals is: a word or operator is its own kind."""
    from lark.lexer import PatternStr

    kinds = {t.name: t.pattern.value if isinstance(t.pattern, PatternStr) else t.name for t in lark.terminals}
    return {END: END, "ATTRIBUTE": "ATTRIBUTE", **kinds}


def nonterminal(name: str) -> str:
    """The symbol of a rule in rows; the brackets tell the rule `match` from the word."""
    return f"<{name}>"


def _rule(rule: LarkRule) -> Rule:
    layout, splices = _layout(rule)
    children = tuple(range(len(rule.expansion)))
    name = str(rule.options.template_source or rule.origin.name)
    if rule.origin.name.startswith("_"):
        action = COLLECT
    elif rule.options.expand1 and not rule.alias and len(layout) == 1 and not splices:
        action = PASS
    else:
        action = rule.alias or name
    return Rule(nonterminal(rule.origin.name), len(children), action, None if layout == children else layout, splices)


def _layout(rule: LarkRule) -> tuple[tuple[int, ...], bool]:
    """Which children Lark would keep, with -1 for each None that it would put in place of an absent `[x]`."""
    keep_all = rule.options.keep_all_tokens
    absent = iter(rule.options.empty_indices or (False,) * len(rule.expansion))
    layout: list[int] = []
    for i, symbol in enumerate(rule.expansion):
        while next(absent):
            layout.append(-1)
        if keep_all or not (symbol.is_term and symbol.filter_out):  # type: ignore[attr-defined]
            layout.append(i)
    layout.extend(-1 for _ in absent)
    splices = any(not s.is_term and s.name.startswith("_") for s in rule.expansion)
    return tuple(layout), splices


def _parse_table(lark: Lark) -> Any:
    return lark.parser.parser._parse_table


def _states(lark: Lark, kinds: dict[str, str], numbers: dict[LarkRule, int]) -> dict[int, State]:
    from lark.parsers.lalr_analysis import Shift

    table = _parse_table(lark)
    states: dict[int, State] = {}
    for state, actions in table.states.items():
        moves = {kinds.get(symbol, nonterminal(symbol)): move for symbol, move in actions.items()}
        states[state] = {s: to if move is Shift else ~numbers[to] for s, (move, to) in moves.items()}
    for state in table.end_states.values():
        states[state][END] = ACCEPT
    return states


def _skip_units(row: State, states: dict[int, State], rules: list[Rule]) -> None:
    """Go straight to where a state leads that can do nothing but hand its only child on."""
    for symbol, target in row.items():
        while 0 <= target < ACCEPT and (unit := _unit(states[target], rules)):
            target = row[unit.target]
        row[symbol] = target


def _unit(row: State, rules: list[Rule]) -> Rule | None:
    actions = set(row.values())
    if len(actions) != 1 or (action := actions.pop()) >= 0:
        return None
    rule = rules[~action]
    return rule if rule.size == 1 and rule.action == PASS else None


def _renumber(starts: dict[str, int], states: dict[int, State]) -> tuple[dict[str, int], dict[int, State]]:
    reached = [starts[name] for name in STARTS]
    number = {state: i for i, state in enumerate(reached)}
    for state in reached:  # grows while it is walked
        for _, target in sorted(states[state].items()):
            if 0 <= target < ACCEPT and target not in number:
                number[target] = len(reached)
                reached.append(target)
    rows = {number[s]: {k: number.get(to, to) if to >= 0 else to for k, to in states[s].items()} for s in reached}
    return {name: number[starts[name]] for name in STARTS}, rows


def _pattern(lark: Lark, kinds: dict[str, str]) -> str:
    shapes = {t.name: t.pattern.value for t in lark.terminals if kinds[t.name] == t.name}
    operators = [k for name, k in kinds.items() if k != name and not k.isidentifier()]
    return master_pattern(shapes, operators)
