"""What people write by habit from Rust, Python and C: an unexpected token goes in, a report of what to write comes out.

`recognise` asks one small function after the other; each looks at the tokens around the unexpected one. Nothing here
runs on a source without syntax errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from teenyc.diagnostics.catalog.habits import NotInTheLanguage
from teenyc.source import Span
from teenyc.syntax.place import Place
from teenyc.syntax.tokens import IDENTIFIER, KEYWORDS

Habit = NotInTheLanguage
_CHOICE = "write `if c { a } else { b }`; between tensors `where_(c, a, b)`"


def recognise(place: Place) -> NotInTheLanguage | None:
    """The report of an unexpected token that another language has; None for what is no habit."""
    return next((habit for look in _LOOKS if (habit := look(place)) is not None), None)


# ---- words ----------------------------------------------------------------------------------------------------------

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "and": "write `&&`, or `&` between masks",
        "or": "write `||`, or `|` between masks",
        "not": "write `!`",
        "is": "write `==`",
        "elif": "write `else if`",
        "elseif": "write `else if`",
        "elsif": "write `else if`",
        "then": "leave it out: the branch is a block `{ … }`",
        "lambda": "write an `fn` with a name and pass the name",
        "def": "functions begin with `fn`",
        "function": "functions begin with `fn`",
        "func": "functions begin with `fn`",
        "import": "leave it out: the intrinsics are in scope",
        "from": "leave it out: the intrinsics are in scope",
        "with": "leave it out: kernels hold no resources",
        "del": "leave it out: values end with their block",
        "global": "leave it out: kernels share nothing but memory",
        "raise": 'check with `device_assert(condition, "text")`',
        "assert": 'write `device_assert(condition, "text")` or `static_assert(condition, "text")`',
        "goto": "leave loops with `break`",
        "switch": "write `match x { 0 => …, _ => … }`",
        "until": "write `while !condition { … }`",
        "unless": "write `if !condition { … }`",
        "foreach": "write `for i in 0..n { … }`",
        "step": "write `(a..b).step_by(n)`",
        "of": "write `for i in 0..n { … }`",
        "shared": "leave it out: Triton places values in shared memory by itself",
    }
)
"""Words of other languages, and what does their work."""

_SAFE = frozenset("elif elseif elsif is".split())
"""Those that can be replaced by what the help says, whatever stands around them."""

_BLOCKS: Mapping[str, str] = MappingProxyType(
    {
        "unsafe": "write what is in it: no operation of a kernel is unsafe",
        "async": "write what is in it: a kernel has one flow of control",
        "do": "write `loop { … if !condition { break; } }`",
        "try": "write what is in it: nothing in a kernel is caught",
        "const": "write what is in it",
    }
)


def _word(place: Place) -> Habit | None:
    for token in (place.token, place.previous):
        if token.kind == IDENTIFIER and token.text in _WORDS:
            right = _WORDS[token.text].removeprefix("write `").removesuffix("`")
            right = right if token.text in _SAFE else ""
            return _habit(place, f"`{token.text}`", _WORDS[token.text], token.start, token.end, right)
    return None


def _block(place: Place) -> Habit | None:
    for index in (0, -1):
        token, following = place.at(index), place.at(index + 1)
        if token.kind in _BLOCKS and following.kind == "{" and place.at(index - 1).kind != "match":
            return _habit(place, f"a block with `{token.text}`", _BLOCKS[token.kind], token.start, token.end)
    return None


_ITEMS = frozenset("use struct static mod impl type enum trait extern pub".split())


def _item_inside(place: Place) -> Habit | None:
    if place.token.kind not in _ITEMS or place.at(-1).kind not in (";", "{", "}"):
        return None
    instead = (
        "write `const NAME: i32 = …;`" if place.token.kind == "static" else "move it out, to the level of the file"
    )
    return _habit(place, f"`{place.token.text}` inside of a function", instead)


def _declaration(place: Place) -> Habit | None:
    """`int a = 5;`, `let mut` the wrong way round, `mut let`."""
    kind, name = place.previous, place.token
    if name.kind == "mut" and place.at(1).kind == "let":
        return _habit(place, "`mut let`", "write `let mut`", name.start, place.at(1).end, "let mut")
    is_declared = name.kind == IDENTIFIER and place.at(1).kind in ("=", ";")
    if is_declared and kind.kind == IDENTIFIER and place.at(-2).kind in (";", "{", "}", "for", "("):
        if place.is_in("for"):
            return None
        instead = f"variables are declared with `let`: `let {name.text} = …`"
        return _habit(place, f"`{kind.text} {name.text}`", instead, kind.start, name.end)
    return None


def _loop_value(place: Place) -> Habit | None:
    if place.token.kind not in ("loop", "for", "while") or place.expected != "an expression":
        return None
    instead = "declare a variable with `let mut` before the loop and assign to it inside"
    return _habit(place, f"a `{place.token.text}` that gives a value", instead)


def _let_condition(place: Place) -> Habit | None:
    if place.token.kind != "let" or place.previous.kind not in ("if", "while", "&&", "||"):
        return None
    word = place.previous.text if place.previous.kind in ("if", "while") else "&&"
    instead = f"kernels have no enums to take apart: write `{word} condition {{ … }}`"
    return _habit(place, f"`{word} let`", instead, place.previous.start, place.token.end)


def _await(place: Place) -> Habit | None:
    if place.token.kind != "await":
        return None
    return _habit(place, "`.await`", "leave it out: a kernel has one flow of control", place.previous.start)


# ---- operators ------------------------------------------------------------------------------------------------------


def _step(place: Place) -> Habit | None:
    """`a++`, `++a`, `a--`."""
    for first in (-1, 0, -2):
        one, two = place.at(first), place.at(first + 1)
        if one.kind not in ("+", "-") or two.kind != one.kind or one.end != two.start:
            continue
        before, behind = place.at(first - 1), place.at(first + 2)
        name = before if before.kind == IDENTIFIER and before.end == one.start else behind
        text = name.text if name.kind == IDENTIFIER else "a"
        return _habit(place, f"the operator `{one.kind * 2}`", f"write `{text} {one.kind}= 1`", one.start, two.end)
    return None


def _question(place: Place) -> Habit | None:
    if place.token.kind != "?":
        return None
    if place.has_ahead(":"):
        return _habit(place, "the conditional `c ? a : b`", _CHOICE)
    return _habit(place, "the operator `?`", "leave it out: nothing in a kernel gives a `Result` or an `Option`")


def _conditional(place: Place) -> Habit | None:
    if place.token.kind != "if" or not place.is_same_line or not place.follows_operand:
        return None
    return _habit(place, "the conditional `a if c else b`", _CHOICE)


def _floor_division(place: Place) -> Habit | None:
    """`a // b;`, of which the comment has eaten the rest."""
    between = place.text[place.previous.end : place.token.start]
    line = between.partition("\n")[0]
    if place.expected != "`;`" or not line.lstrip().startswith("//") or not line.rstrip().endswith(";"):
        return None
    start = place.previous.end + line.index("//")
    return _habit(place, "the operator `//`", "`//` begins a comment; integers are divided by `/`", start, start + 2)


_INSTEAD: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        ":=": ("assign before, `let x = …;`; an argument by name is written `name = …`", ""),
        "<=>": ("compare with `<` and `>`", ""),
        "===": ("compare with `==`", "=="),
        "!==": ("compare with `!=`", "!="),
        "<>": ("compare with `!=`", "!="),
        "**=": ("multiply: `a *= a`", ""),
        "&&=": ("write `a = a && b`", ""),
        "||=": ("write `a = a || b`", ""),
    }
)


def _operator(place: Place) -> Habit | None:
    """Operators of two tokens here."""
    for first, second in ((place.previous, place.token), (place.token, place.at(1))):
        joined = first.text + second.text
        if first.end == second.start and joined in _INSTEAD:
            instead, right = _INSTEAD[joined]
            return _habit(place, f"the operator `{joined}`", instead, first.start, second.end, right)
    return None


def _sign(place: Place) -> Habit | None:
    kind = place.token.kind
    if kind == "~":
        return _habit(place, "the operator `~`", "write `!`: it inverts the bits of integers", right="!")
    if kind == "+" and place.expected == "an expression":
        return _habit(place, "the sign `+`", "leave it out")
    if kind == "->" and place.follows_operand and place.expected != "`=>`":
        return _habit(place, "the operator `->`", "kernel values have no fields; memory is read by `load`")
    if kind == "@" and place.follows_operand and place.expected != "`=>`":
        return _habit(place, "the operator `@`", "matrices are multiplied by `dot(a, b)`")
    return None


def _nested_assignment(place: Place) -> Habit | None:
    if place.token.kind != "=" or place.expected not in ("`;`", "`,` or `)`") or not place.follows_operand:
        return None
    return _habit(place, "an assignment as a value", "assign in a statement of its own")


# ---- brackets, marks and literals -----------------------------------------------------------------------------------


def _colon(place: Place) -> Habit | None:
    """`if c:`, `x[:, None]`, `x[0:4]`."""
    if place.token.kind == ":" and place.expected == "`{`":
        return _habit(place, "a block behind `:`", "put it in braces: `{ … }`")
    if place.token.kind in (":", ",") and place.opener.kind == "[" and place.is_index:
        inside = place.text[place.opener.start : place.closer.end]
        if place.token.kind == ",":
            instead = "axes are added with `x[(.., None)]` or `x[(None, ..)]`; elements are read by `load`"
            return _habit(place, f"the index `{inside}`", instead, place.opener.start, place.closer.end)
        instead = "`..` stands for all axes: `x[(.., None)]`" if "None" in inside else "load only what is needed"
        return _habit(place, f"the slice `{inside}`", instead, place.opener.start, place.closer.end)
    return None


def _c_loop(place: Place) -> Habit | None:
    if not place.is_in("for"):
        return None
    inside = "a loop `for (…; …; …)`"
    return _habit(place, inside, "write `for i in 0..n { … }`", place.opener.start, place.closer.end)


def _patterns(place: Place) -> Habit | None:
    """What cannot stand in a pattern of `match` and `let`."""
    if place.expected == "`=>`" and place.token.kind in ("(", "{", "@"):
        what = "patterns are integers, ranges, constants, `|` between them, names, tuples of these, and `_`"
        return _habit(place, "a pattern that takes values apart", what)
    if place.at(-2).kind == "let" and place.previous.kind == IDENTIFIER and place.token.kind in ("(", "{"):
        what = "`let` names a value, or the parts of a tuple: `let (a, b) = …`"
        return _habit(place, "a pattern that takes values apart", what, place.previous.start)
    return None


def _braces(place: Place) -> Habit | None:
    """`Point { x: 1 }`."""
    name = place.previous
    if place.token.kind != "{" or name.kind != IDENTIFIER or not place.is_same_line:
        return None
    if place.at(-2).kind == "fn" or place.expected == "`:`":
        return None
    if place.at(2).kind in (":", ",") or place.at(1).kind in ("..", "}"):
        what = "a value of a struct"
        return _habit(place, what, "keep its parts in variables of their own", name.start, name.end)
    return None


def _repeat(place: Place) -> Habit | None:
    if place.token.kind != ";" or place.opener.kind != "[":
        return None
    what = "a tensor of one value is `full(&[N], x)`"
    return _habit(place, "an array `[x; n]`", what, place.opener.start, place.closer.end)


def _strings(place: Place) -> Habit | None:
    name = place.previous
    if place.token.kind != "STRING" or name.end != place.token.start:
        return None
    if name.kind == "STRING":
        what = "comments begin with `//`, documentation with `///`"
        return _habit(place, 'a text in `"""`', what, name.start, place.token.end)
    if name.kind == IDENTIFIER:
        what = 'values are arguments of their own: `device_print("x =", x)`'
        return _habit(place, f'a string `{name.text}"…"`', what, name.start, place.token.end)
    return None


def _number_sign(place: Place) -> Habit | None:
    for token, following in ((place.token, place.at(1)), (place.previous, place.token)):
        if token.kind == "#" and following.kind != "[":
            return _habit(place, "a comment behind `#`", "comments begin with `//`", token.start, token.end, "//")
    return None


def _cast_arguments(place: Place) -> Habit | None:
    """`n as Pointer<f32>`: what is behind the name was read as comparisons."""
    if place.previous.kind != ">":
        return None
    for back in range(-2, -9, -1):
        if place.at(back).kind == "as" and place.at(back + 2).kind == "<":
            what = "a cast names an element type: `x as f32`"
            start = place.at(back + 1).start
            return _habit(place, "a cast to a type with arguments", what, start, place.previous.end)
    return None


def _parameters(place: Place) -> Habit | None:
    """`self`, values by default, and open ends in the list of parameters."""
    if not place.is_parameters:
        return None
    word = place.at(1) if place.token.kind == "&" else place.token
    if word.kind == "self":
        return _habit(place, "a parameter `self`", "kernels are functions, not methods: leave it out", end=word.end)
    if place.token.kind == "=":
        return _habit(place, "a parameter with a default", "every argument is given at the call or the launch")
    if place.token.kind in ("..", "*", "**") and place.expected == "a parameter":
        return _habit(place, "an open list of parameters", "name every parameter with its type")
    return None


_LOOKS: tuple[Callable[[Place], Habit | None], ...] = (
    _c_loop,
    _word,
    _block,
    _item_inside,
    _declaration,
    _loop_value,
    _let_condition,
    _await,
    _step,
    _question,
    _conditional,
    _floor_division,
    _operator,
    _parameters,
    _sign,
    _colon,
    _patterns,
    _braces,
    _repeat,
    _strings,
    _number_sign,
    _cast_arguments,
    _nested_assignment,
)


def _habit(place: Place, construct: str, instead: str, start: int = -1, end: int = -1, right: str = "") -> Habit:
    """The report; its place is the unexpected token, where no other is given."""
    span = Span(place.token.start if start < 0 else start, place.token.end if end < 0 else end)
    return Habit(span=span, construct=construct, instead=instead, replacement=right)


# ---- hints ----------------------------------------------------------------------------------------------------------


def hint(place: Place) -> tuple[str, str]:
    """What helps against an unexpected token that is merely out of place, and text to put in its place, or nothing."""
    token, previous, expected = place.token, place.previous, place.expected
    if token.kind == "where" and place.at(1).kind == "(":
        return "the function is called `where_`, since `where` is a word of Rust", "where_"
    if token.kind == "BYTES" and len(token.text) == 4 and token.text.startswith("b'"):
        return f"write its number: `{ord(token.text[2])}`", str(ord(token.text[2]))
    if token.kind in ("LIFETIME", "BYTES"):
        return 'strings are written with `"`', ""
    if token.kind == "/" and previous.kind == "*" and previous.end == token.start:
        return "`*/` ends no comment here", ""
    if token.kind == "." and place.at(1).kind == "INTEGER" and expected == "an expression":
        return f"write `0.{place.at(1).text}`", ""
    return _mark_hint(place) or _name_hint(place) or ("", "")


def _mark_hint(place: Place) -> tuple[str, str] | None:
    """Marks that are taken for others."""
    token, previous, expected = place.token, place.previous, place.expected
    if token.kind == ":" and place.opener.kind == "(" and previous.kind == IDENTIFIER and not place.is_parameters:
        return f"arguments by name are written `{previous.text} = …`", " =" if place.at(1).kind != "=" else ""
    if token.kind == ":" and place.at(1).kind == "=":
        return "write `=` to assign, and `let` to declare", ""
    if token.kind in ("=>", "==") and place.at(-2).kind in ("let", "mut"):
        return "write `=`", "="
    if expected == "`=>`" and token.kind in ("->", "=", ":"):
        return "an arm is written `pattern => value`", "=>"
    if expected == "`:`" and place.at(-2).kind == "const" and token.kind == "=":
        return f"state its type: `const {previous.text}: i32 = …`", ""
    if token.kind == "[" and place.at(-2).kind == "fn":
        return "parameters of types and constants stand in `<…>`", ""
    if expected in ("`,` or `)`", "`,` or `]`") and place.is_same_line and token.kind in _STARTS:
        return "what is listed is separated by `,`", ""
    if expected == "`{`" and token.kind in ("..", "..="):
        return "steps are written `(a..b).step_by(n)`", ""
    if expected == "`{`" and token.kind == IDENTIFIER and place.is_same_line:
        return "what follows stands in braces: `{ … }`", ""
    return None


_STARTS = frozenset([IDENTIFIER, "INTEGER", "FLOAT", "STRING", "true", "false", "&"])
"""What begins a value."""


def _name_hint(place: Place) -> tuple[str, str] | None:
    """Names that cannot be names, and parameters without a type."""
    token, previous, expected = place.token, place.previous, place.expected
    if place.is_parameters and expected == "`:`":
        if token.kind in (",", ")"):
            return f"state its type: `{previous.text}: Pointer<f32>`, `{previous.text}: i32`", ""
        return "the name comes before the type: `x: Pointer<f32>`", ""
    if place.is_parameters and token.kind == "." and previous.kind == IDENTIFIER:
        return "types are written `i32`, `f32`, `Pointer<D>`; a constant is `const N: i32` in `<…>`", ""
    if previous.kind in ("let", "mut") and token.kind in ("INTEGER", "FLOAT", "$"):
        return "names begin with a letter or `_`", ""
    if place.at(-2).kind in ("let", "mut") and token.kind == "-":
        return f"names are letters, digits and `_`: `{previous.text}_{place.at(1).text}`", ""
    if expected in ("a name", "a pattern", "a parameter") and token.kind in _NAMELIKE:
        return f"`{token.text}` is a word of Rust: as a name it is written `r#{token.text}`", ""
    return None


_NAMELIKE = KEYWORDS - frozenset(
    "_ as break continue else fn for if in let loop mut pub return while self Self super crate true false".split()
)
"""Words of Rust that somebody may mean as a name."""
