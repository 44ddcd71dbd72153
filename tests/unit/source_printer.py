"""Prints expressions of the syntax tree as source text, with as few parentheses as the language needs or with more."""

from __future__ import annotations

from teenyc.syntax import ast
from teenyc.syntax.build_operators import COMPARISONS, PRECEDENCE

CAST, UNARY, SUFFIX, PRIMARY = 10, 11, 12, 13


def print_expression(node: ast.Expression, *, redundant: bool = False) -> str:
    """The text of an expression; `redundant` puts parentheses around every operand."""
    return _Printer(redundant).free(node)


class _Printer:
    def __init__(self, redundant: bool) -> None:
        self.redundant = redundant

    def free(self, node: ast.Expression) -> str:
        """An expression where any may stand."""
        text, _ = self.bare(node)
        return f"({text})" if self.redundant and not isinstance(node, ast.Range) else text

    def tight(self, node: ast.Expression, level: int) -> str:
        """An expression as an operand that must bind at least as tight as `level`."""
        text, own = self.bare(node)
        return f"({text})" if self.redundant or own < level else text

    def bare(self, node: ast.Expression) -> tuple[str, int]:
        """The text of an expression and how tight it binds."""
        match node:
            case ast.IntegerLiteral():
                return f"{node.value}{node.suffix}", SUFFIX - 1
            case ast.FloatLiteral():
                return f"{node.value!r}{'_' + node.suffix if node.suffix else ''}", SUFFIX - 1
            case ast.BoolLiteral():
                return str(node.value).lower(), PRIMARY
            case ast.StringLiteral():
                return print_string(node.value), PRIMARY
            case ast.PathExpression():
                return print_path(node.segments, "::"), PRIMARY
            case ast.Unary():
                return node.operator + self.tight(node.operand, UNARY), UNARY
            case ast.Cast():
                return f"{self.tight(node.operand, CAST)} as {print_path(node.target.segments, '::')}", CAST
            case ast.Binary():
                return self.binary(node), PRECEDENCE[node.operator]
            case ast.Call():
                callee = self.tight(node.callee, SUFFIX)
                callee = f"({callee})" if isinstance(node.callee, ast.FieldAccess) else callee
                return f"{callee}({self.arguments(node.arguments)})", SUFFIX
            case ast.MethodCall():
                method = print_path((node.method,), "::")
                return f"{self.tight(node.receiver, SUFFIX)}.{method}({self.arguments(node.arguments)})", SUFFIX
            case ast.FieldAccess():
                return f"{self.tight(node.operand, SUFFIX)}.{node.name.text}", SUFFIX
            case ast.Index():
                return f"{self.tight(node.operand, SUFFIX)}[{self.free(node.index)}]", SUFFIX
            case ast.Array():
                return f"[{', '.join(map(self.free, node.items))}]", PRIMARY
            case ast.Tuple():
                comma = "," if len(node.items) == 1 else ""
                return f"({', '.join(map(self.free, node.items))}{comma})", PRIMARY
            case ast.Range():
                sign = "..=" if node.inclusive else ".."
                ends = (self.tight(e, 0) if e else "" for e in (node.start, node.stop))
                return sign.join(ends), -1
            case ast.If():
                return self.if_(node), -1
            case _:
                raise NotImplementedError(type(node))

    def binary(self, node: ast.Binary) -> str:
        level = PRECEDENCE[node.operator]
        left = self.tight(node.left, level + (node.operator in COMPARISONS))
        if node.operator in ("<", "<<") and not left.endswith(")") and _ends_in_cast(node.left):
            left = f"({left})"
        return f"{left} {node.operator} {self.tight(node.right, level + 1)}"

    def arguments(self, given: tuple[ast.Argument, ...]) -> str:
        return ", ".join((f"{a.name.text} = " if a.name else "") + self.free(a.value) for a in given)

    def if_(self, node: ast.If) -> str:
        text = f"if {self.tight(node.condition, 0)} {self.block(node.then)}"
        if isinstance(node.otherwise, ast.If):
            return f"{text} else {self.if_(node.otherwise)}"
        return f"{text} else {self.block(node.otherwise)}" if node.otherwise else text

    def block(self, node: ast.Block) -> str:
        assert not node.statements
        return "{ " + self.free(node.value) + " }" if node.value else "{}"


def _ends_in_cast(node: ast.Expression) -> bool:
    """Whether an expression ends in a cast to a type without generic arguments, before which `<` would begin some."""
    while isinstance(node, ast.Binary):
        node = node.right
    return isinstance(node, ast.Cast) and not node.target.segments[-1].generics


def print_path(segments: tuple[ast.Segment, ...], turbofish: str = "") -> str:
    """A path; generic arguments stand behind `turbofish`, which types do not need."""
    return "::".join(
        s.name.text + (f"{turbofish}<{', '.join(map(print_generic, s.generics))}>" if s.generics else "")
        for s in segments
    )


def print_generic(argument: ast.TypeExpression | ast.Expression) -> str:
    """A generic argument: a type or a literal."""
    if isinstance(argument, ast.PathType):
        return print_path(argument.segments)
    if isinstance(argument, ast.TupleTypeExpression):
        comma = "," if len(argument.items) == 1 else ""
        return f"({', '.join(map(print_generic, argument.items))}{comma})"
    return print_expression(argument)


_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", "\\": "\\\\", '"': '\\"'}


def print_string(value: str) -> str:
    """A string literal: what cannot be seen is escaped."""
    return '"' + "".join(_NAMED.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in value) + '"'
