"""E01xx: text that is not in the language; and E0008, what is nested too deep."""

from __future__ import annotations

from types import MappingProxyType

from teenyc.diagnostics.model import Diagnostic, Fix, Label
from teenyc.record import record
from teenyc.source import Span


@record(kw_only=True)
class TooDeep(Diagnostic):
    """Something is nested deeper than teenyc follows: over 256 brackets, or an expression over 1,000 operators high.

    Give parts of it a name.

        let x = ((((… a …))));
        let inner = (a + b) * c;
        let x = inner / d;
    """

    code = "E0008"
    what: str
    limit: int

    def message(self) -> str:
        return f"{self.what} nested over {self.limit} deep"

    def help(self) -> str:
        return "give parts of it a name with `let`"


@record(kw_only=True)
class Unexpected(Diagnostic):
    """The grammar wants something else here.

    The caret stands where the missing part belongs, or under what cannot be there.

        let a = 1       // expected `;`
        let b = 2;

        let a = 1;
        let b = 2;

    A word of Rust such as `type` or `match` is a name only when written `r#type`.
    """

    code = "E0101"
    expected: str
    found: str
    found_at: Span | None = None
    hint: str = ""
    replacement: Fix | None = None

    def message(self) -> str:
        return f"expected {self.expected}, found {self.found}"

    def label(self) -> str:
        return f"expected {self.expected}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.found_at, "unexpected here"),) if self.found_at else ()

    def help(self) -> str | None:
        return self.hint or None

    def fix(self) -> Fix | None:
        return self.replacement


@record(kw_only=True)
class UnclosedDelimiter(Diagnostic):
    """A bracket is opened and never closed.

    The place where it should close is found by what follows: a `;`, another bracket that closes, or indentation. Of
    several that should close at one place, the innermost is reported, and the fix closes all.

        store(p, load(q);       // the `(` of `store` is not closed
        store(p, load(q));
    """

    code = "E0102"
    opener: str
    closer: str
    where: Span | None = None
    missing: str = ""

    def message(self) -> str:
        return f"unclosed delimiter `{self.opener}`"

    def label(self) -> str:
        return "opened here"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.where, f"`{self.closer}` expected here"),) if self.where else ()

    def fix(self) -> Fix | None:
        return Fix(self.where, self.missing or self.closer) if self.where else None


@record(kw_only=True)
class UnexpectedCloser(Diagnostic):
    """A bracket closes that nothing opened, or one of another kind.

    let a = [1, 2);         // `]`
    let a = [1, 2];
    """

    code = "E0103"
    closer: str
    wanted: str = ""
    opened: Span | None = None

    def message(self) -> str:
        if self.wanted:
            return f"mismatched closing delimiter `{self.closer}`"
        return f"unexpected closing delimiter `{self.closer}`"

    def label(self) -> str:
        return f"`{self.wanted}` expected here" if self.wanted else "closes nothing"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.opened, "opened here"),) if self.opened else ()

    def fix(self) -> Fix | None:
        return Fix(self.span, self.wanted) if self.span else None


@record(kw_only=True)
class UnterminatedString(Diagnostic):
    r"""A string has no closing quote; the rest of the file is in it.

        static_assert(N > 0, "N is positive);
        static_assert(N > 0, "N is positive");

    A quote inside a string is written `\"`.
    """

    code = "E0104"

    def message(self) -> str:
        return "unterminated string"

    def label(self) -> str:
        return "opened here"

    def help(self) -> str:
        return 'close it with `"`; a quote inside is written `\\"`'


@record(kw_only=True)
class UnterminatedComment(Diagnostic):
    """A block comment has no end; the rest of the file is in it. Block comments nest, so each `/*` needs its `*/`.

    /* outer /* inner */        // the outer one is open
    /* outer /* inner */ */
    """

    code = "E0105"

    def message(self) -> str:
        return "unterminated block comment"

    def label(self) -> str:
        return "opened here"

    def help(self) -> str:
        return "close it with `*/`; comments inside it need their own"


@record(kw_only=True)
class BadNumber(Diagnostic):
    """A number is not written as Rust writes numbers.

        let a = 0x;         // digits are missing
        let b = 1.5f;       // no such suffix
        let a = 0x1F;
        let b = 1.5_f32;

    Bases are `0x`, `0o`, `0b`; suffixes are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`.
    """

    code = "E0106"
    problem: str
    hint: str = ""

    def message(self) -> str:
        return self.problem

    def help(self) -> str | None:
        return self.hint or None


@record(kw_only=True)
class NumberTooLarge(Diagnostic):
    """A number fits no type: integers have at most 64 bits, floats end near 1.8e308.

    let a = 18446744073709551616;       // 2^64
    let a = 18446744073709551615_u64;
    """

    code = "E0107"
    kind: str
    limit: str

    def message(self) -> str:
        return f"{self.kind} literal is too large"

    def notes(self) -> tuple[str, ...]:
        return (f"the largest is {self.limit}",)


@record(kw_only=True)
class BadEscape(Diagnostic):
    r"""A backslash in a string begins no escape.

        device_print("a\q", x);
        device_print("a\\q", x);

    There are `\n`, `\r`, `\t`, `\0`, `\\`, `\"`, `\'`, `\x41` up to `\x7F`, `\u{1F600}`, and a backslash at the end
    of a line, which joins the next line.
    """

    code = "E0108"
    problem: str

    def message(self) -> str:
        return self.problem

    def help(self) -> str:
        return "a backslash itself is written `\\\\`"


@record(kw_only=True)
class UnknownCharacter(Diagnostic):
    """A character that begins nothing in the language, often one that only looks like another.

    let a = b − c;      // U+2212, a typographic minus
    let a = b - c;
    """

    code = "E0109"
    character: str
    point: str
    instead: str = ""
    replacement: str = ""

    def message(self) -> str:
        return (
            f"unknown character `{self.character}` ({self.point})"
            if self.character
            else f"unknown character {self.point}"
        )

    def help(self) -> str | None:
        return f"write {self.instead}" if self.instead else None

    def fix(self) -> Fix | None:
        return Fix(self.span, self.replacement) if self.replacement and self.span else None


@record(kw_only=True)
class ChainedComparison(Diagnostic):
    """Comparisons cannot be chained: there is no `a < b < c`, and `&` and `|` bind tighter than a comparison.

        let inside = a >= 0 & a < n;            // reads as a >= (0 & a) < n
        let inside = (a >= 0) & (a < n);

    Generic arguments of a function need `::`: `zeros::<D>(…)`.
    """

    code = "E0110"
    hint: str
    first: Span

    def message(self) -> str:
        return "comparison operators cannot be chained"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "the other comparison"),)

    def help(self) -> str:
        return self.hint


@record(kw_only=True)
class CastThenLess(Diagnostic):
    """A `<` behind a cast begins generic arguments of the type, as in Rust.

    if x as i32 < y {}
    if (x as i32) < y {}
    """

    code = "E0111"
    cast: Span
    text: str
    operator: str

    def message(self) -> str:
        return f"`{self.operator}` behind a cast begins generic arguments, it does not compare or shift"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.cast, "this cast needs parentheses"),)

    def help(self) -> str:
        return "put parentheses around the cast"

    def fix(self) -> Fix:
        return Fix(self.cast, f"({self.text})")


@record(kw_only=True)
class PositionalAfterNamed(Diagnostic):
    """Arguments by position come before those by name.

    load(mask = m, p);
    load(p, mask = m);
    """

    code = "E0112"
    named: Span

    def message(self) -> str:
        return "an argument by position follows one by name"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.named, "the one by name"),)

    def help(self) -> str:
        return "give it a name too, or put it first"


@record(kw_only=True)
class AssignmentInCondition(Diagnostic):
    """A condition holds `=`, which assigns, where `==` compares.

    if x = 0 {}
    if x == 0 {}
    """

    code = "E0113"

    def message(self) -> str:
        return "`=` in a condition"

    def label(self) -> str:
        return "this assigns"

    def help(self) -> str:
        return "write `==` to compare"

    def fix(self) -> Fix | None:
        return Fix(self.span, "==") if self.span else None


@record(kw_only=True)
class ElseWithoutIf(Diagnostic):
    """An `else` follows something that is no `if`.

    if a { x = 1; }; else { x = 2; }        // the `;` ends the `if`
    if a { x = 1; } else { x = 2; }
    """

    code = "E0114"

    def message(self) -> str:
        return "`else` without `if`"

    def help(self) -> str:
        return "`else` stands right behind the `}` of an `if`"


@record(kw_only=True)
class ExpectedItem(Diagnostic):
    """Something stands at file level that is no item. Statements belong into a function.

    let n = 4;
    const N: i32 = 4;
    """

    code = "E0115"
    found: str
    hint: str = ""

    def message(self) -> str:
        return f"expected an item, found {self.found}"

    def label(self) -> str:
        return "no `fn`, `const`, `mod` or other item begins so"

    def help(self) -> str | None:
        return self.hint or None


@record(kw_only=True)
class KernelAttribute(Diagnostic):
    """`#[kernel]` stands on something that is no function.

    #[kernel]
    struct Scale {}
    #[kernel]
    fn scale(x: Pointer<f32>) {}
    """

    code = "E0116"

    def message(self) -> str:
        return "`#[kernel]` belongs on a `fn`"

    def help(self) -> str:
        return "put it before the function that is the kernel"


@record(kw_only=True)
class MacroCall(Diagnostic):
    """A macro is called in a kernel. Macros are host code; what kernels can do they do by functions.

    assert!(N > 0);
    static_assert(N > 0, "N is positive");
    """

    code = "E0117"
    name: str

    def message(self) -> str:
        return f"macro `{self.name}!` in a kernel"

    def label(self) -> str:
        return "kernels have no macros"

    def help(self) -> str:
        return _MACROS.get(self.name, f"if `{self.name}` is a function, leave the `!` out")


_ASSERT = 'write `device_assert(condition, "text")`, or `static_assert(…)` for what is known at compile time'
_PRINT = 'write `device_print("x =", x)`'
_MACROS = MappingProxyType(
    {
        **dict.fromkeys("assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne".split(), _ASSERT),
        **dict.fromkeys("panic todo unimplemented unreachable".split(), 'write `device_assert(false, "text")`'),
        **dict.fromkeys("print println eprint eprintln dbg write writeln".split(), _PRINT),
        "format": "kernels make no strings; `device_print` and asserts take one as it is written",
        "vec": "kernels have no lists; a tensor of one value is `full(&[N], x)`, one of numbers `arange(0, N)`",
        "matches": "compare with `==`",
    }
)
"""What does in a kernel what a macro does on the host."""


@record(kw_only=True)
class HostExpression(Diagnostic):
    """An expression of host code: references and pointers are not followed in a kernel.

    `&` stands before a list only: `&[N, 4]`. Memory is read by `load` and written by `store`.

        let x = *p;
        let x = load(p);
    """

    code = "E0118"
    operator: str

    def message(self) -> str:
        if self.operator == "**":
            return "there is no operator `**`"
        if self.operator == "*":
            return "`*` follows no pointer in a kernel"
        return f"`{self.operator}` takes no reference in a kernel"

    def help(self) -> str:
        if self.operator == "**":
            return "multiply: `x * x`; for other powers write `exp(log(x) * y)`"
        if self.operator == "*":
            return "read memory with `load`, write it with `store`"
        return f"leave the `{self.operator}` out: values are passed as they are"


@record(kw_only=True)
class SplitOperator(Diagnostic):
    """The two characters of one operator stand apart.

    let m = a > = b;
    let m = a >= b;
    """

    code = "E0119"
    operator: str

    def message(self) -> str:
        return f"the characters of `{self.operator}` stand apart"

    def help(self) -> str:
        return f"write `{self.operator}`"

    def fix(self) -> Fix | None:
        return Fix(self.span, self.operator) if self.span else None
