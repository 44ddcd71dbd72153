"""Formulas for people: an operand of a kernel goes in, the expression that it is comes out, with the author's names."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from teenyc.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    Let,
    Literal,
    Offset,
    Operand,
    Operation,
    Unary,
    Value,
)
from teenyc.ir.walk import operands_of
from teenyc.record import record
from teenyc.tiling.plan import Term

DEEPEST = 7
"""Expressions of values without a name are written out this many levels deep; what is below is `…`."""

SIGNS = {"add": "+", "sub": "−", "mul": "·", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^"}
SIGNS |= {"shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
STRENGTHS = {"+": 2, "−": 2, "·": 3, "/": 3, "%": 3}
WHOLE = 4
"""How strongly the parts of an expression hold together: sums less than products, names and calls most."""

SHORT = {"maximum": "max", "minimum": "min", "where": "where"}
BARE = ("broadcast_to", "full")


@record
class Wording:
    """What speaking of the values of a kernel takes: their definitions, and names that stand on conversions of them.

    `primed` are the next values of what loops carry, where they have the same name as the last; `hidden` are values
    whose name would be taken for another value's, and that are written out.
    """

    lets: Mapping[int, Let]
    names: Mapping[int, str]
    primed: Collection[int] = ()
    hidden: Collection[int] = ()

    @staticmethod
    def of(lets: Mapping[int, Let]) -> Wording:
        names: dict[int, str] = {}
        for let in lets.values():
            operand = let.operation.operand if isinstance(let.operation, Cast | Copy) else None
            if isinstance(operand, Value) and not operand.name and let.results[0].name:
                names.setdefault(operand.id, let.results[0].name)
        return Wording(lets, names)

    def name(self, operand: Operand) -> str:
        """The author's name of a value, or nothing."""
        if not isinstance(operand, Value) or operand.id in self.hidden:
            return ""
        name = operand.name or self.names.get(operand.id, "")
        return f"{name}'" if name and operand.id in self.primed else name

    def text(self, operand: Operand) -> str:
        """An operand as its name, or as the expression that it is."""
        return self._text(operand, DEEPEST)[0]

    def definition(self, value: Value) -> str:
        """The expression that a value is, whatever its name."""
        let = self.lets.get(value.id)
        return self._operation(let.operation, DEEPEST)[0] if let is not None else self.text(value)

    def product(self, factors: Collection[Operand]) -> str:
        """Factors with a sign between them; 1 without any."""
        return "·".join(_inside(*self._text(f, DEEPEST), 3) for f in factors) or "1"

    def joined(self, operands: Collection[Operand], operator: str) -> str:
        """Operands with the sign of an operator between them."""
        sign = SIGNS[operator]
        if sign == "·":
            return self.product(operands)
        text = f" {sign} ".join(_inside(*self._text(o, DEEPEST), WHOLE) for o in operands)
        return text if len(operands) == 1 else f"({text})"

    def sum(self, terms: Collection[Term]) -> str:
        """Terms with their signs between them."""
        text = ""
        for term in terms:
            sign = (" − " if term.is_negative else " + ") if text else ("−" if term.is_negative else "")
            text += sign + self.term(term)
        return text

    def term(self, term: Term) -> str:
        """A term without its sign: 0 where its conditions are not met."""
        text = self.product(term.factors)
        for divisor in term.divisors:
            text += f" / {_inside(*self._text(divisor, DEEPEST), WHOLE)}"
        if not term.conditions:
            return text
        conditions = (("" if c.holds else "!") + _inside(*self._text(c.operand, DEEPEST), 1) for c in term.conditions)
        return f"where({' & '.join(conditions)}, {text}, 0)"

    def _text(self, operand: Operand, depth: int) -> tuple[str, int]:
        match operand:
            case Literal(name=name, value=value):
                return name or _number(value), WHOLE
            case Constant(name=name):
                return name, WHOLE
            case Value():
                name = self.name(operand)
                if name:
                    return name, WHOLE
                let = self.lets.get(operand.id)
                if let is not None and isinstance(let.operation, Copy | ExpandDims | Cast):
                    return self._text(let.operation.operand, depth)
                if let is None or not depth:
                    return "…", WHOLE
                return self._operation(let.operation, depth - 1)

    def _operation(self, operation: Operation, depth: int) -> tuple[str, int]:
        match operation:
            case Copy(operand=inner) | ExpandDims(operand=inner) | Cast(operand=inner):
                return self._text(inner, depth + 1)
            case Unary(operator=operator, operand=inner):
                return ("−" if operator == "neg" else "!") + _inside(*self._text(inner, depth), WHOLE), 2
            case Binary(operator=operator, left=left, right=right) | Compare(operator=operator, left=left, right=right):
                sign = SIGNS[operator]
                strength = STRENGTHS.get(sign, 1)
                first = _inside(*self._text(left, depth), strength)
                second = _inside(*self._text(right, depth), strength + (sign in "−/%"))
                return f"{first}{sign}{second}" if sign == "·" else f"{first} {sign} {second}", strength
            case Offset(pointer=pointer, offset=offset):
                return f"{self._text(pointer, depth)[0]} + {self._text(offset, depth)[0]}", 2
            case Call(intrinsic=intrinsic) if intrinsic in BARE:
                return self._text(operation.operands[0][1], depth + 1)
            case Call(intrinsic="zeros"):
                return "0", WHOLE
            case Call(intrinsic="load"):
                return f"load({self._text(operation.operands[0][1], depth)[0]})", WHOLE
            case Call(intrinsic=name):
                return f"{SHORT.get(name, name)}({self._arguments(operation, depth)})", WHOLE
            case Apply(function=name):
                return f"{name}({self._arguments(operation, depth)})", WHOLE

    def _arguments(self, operation: Operation, depth: int) -> str:
        return ", ".join(self._text(o, depth)[0] for o in operands_of(operation))


def _inside(text: str, strength: int, least: int) -> str:
    """An expression as a part of one that holds together so strongly."""
    return text if strength >= least else f"({text})"


def _number(value: float) -> str:
    """A number as a person writes it: `0`, not `0.0`."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0")
