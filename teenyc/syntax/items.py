"""Cuts a file into items: balanced tokens go in, the ranges of functions, constants, Op structs and modules come out.

Host code (`use`, `trait`, `macro_rules!`, other structs, …) is passed over as balanced groups and not looked into.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from teenyc.diagnostics.model import Reporter
from teenyc.source import Span
from teenyc.syntax.brackets import Nested
from teenyc.syntax.tokens import ATTRIBUTE, IDENTIFIER, UNKNOWN, Token

MODULE_LIMIT: Final = 64
"""How deep modules may be nested."""


class RawItem(NamedTuple):
    """The tokens `[first, last)` of one item with its attributes; `keyword` is where `fn`, `const`, … stands.

    `kind` is `fn`, `const`, `struct`, `impl`, `mod` or `use`, or empty for host code; `items` are those of a module.
    """

    kind: str
    first: int
    keyword: int
    last: int
    name: str = ""
    is_kernel: bool = False
    items: tuple[RawItem, ...] = ()


def split_items(nested: Nested, reporter: Reporter, *, complain: bool) -> tuple[RawItem, ...]:
    """The items of a file; `complain` about what is none, once for each stretch of it."""
    return _Splitter(nested, reporter, complain).split(0, len(nested.tokens), 0)


_QUALIFIERS = frozenset("const unsafe async extern".split())
_QUALIFIED = frozenset("fn unsafe async extern impl trait".split())
_TO_SEMICOLON = frozenset("use static type".split())
_TO_GROUP = frozenset("enum trait extern".split())
_WORDS_TO_GROUP = frozenset("union auto macro_rules default".split())
_AFTER_WORD = frozenset([IDENTIFIER, "trait", "!", "impl", "unsafe"])
_STARTS = frozenset(
    [*"# pub fn const static use mod struct enum trait impl type extern unsafe async".split(), ATTRIBUTE]
)
_BREAKS = frozenset([*"# pub fn use mod struct enum trait".split(), ATTRIBUTE])
"""What begins the next item even where the one before is not complete."""

_BEFORE_TYPES = frozenset([*": = < , & * extern unsafe -> as".split(), "STRING"])
"""Behind what `fn` and `*const` belong to a type."""


class _Splitter:
    def __init__(self, nested: Nested, reporter: Reporter, complain: bool) -> None:
        self.tokens = nested.tokens
        self.partner = nested.partner
        self.reporter = reporter
        self.complain = complain

    def split(self, first: int, last: int, depth: int) -> tuple[RawItem, ...]:
        """The items between two tokens."""
        items: list[RawItem] = []
        position = first
        while position < last:
            if self.tokens[position].text.startswith("#!"):
                position += 1  # an inner attribute
                continue
            keyword, is_kernel = self._pass_header(position, last)
            item = self._item(position, keyword, last, depth) if keyword < last else None
            if item is None:
                self._report_junk(keyword, last)
                position = self._next_start(keyword, last)
                continue
            if not item.kind or item.kind == "impl":
                self._report_methods(keyword, item.last)
            if item.kind == "fn" and not is_kernel:
                self._report_misspelt(position, keyword)
            if is_kernel and item.kind == "fn":
                item = item._replace(is_kernel=True)
            elif is_kernel:
                self._report_attribute(position, keyword)
            if item.kind:
                items.append(item)
            position = item.last
        return tuple(items)

    def _pass_header(self, position: int, last: int) -> tuple[int, bool]:
        """Pass attributes, visibility and qualifiers: where the keyword stands, and whether `#[kernel]` was there."""
        is_kernel = False
        while position < last:
            kind = self.tokens[position].kind
            following = self._kind(position + 1, last)
            if kind == ATTRIBUTE:
                position += 1
            elif kind == "#" and following == "[":
                is_kernel = True
                position = self.partner[position + 1] + 1
            elif kind == "pub":
                position = self.partner[position + 1] + 1 if following == "(" else position + 1
            elif kind == "extern" and following == "STRING" and self._kind(position + 2, last) == "fn":
                position += 2
            elif kind in _QUALIFIERS and following in _QUALIFIED:
                position += 1
            else:
                break
        return position, is_kernel

    def _kind(self, position: int, last: int) -> str:
        return self.tokens[position].kind if position < last else ""

    def _item(self, first: int, keyword: int, last: int, depth: int) -> RawItem | None:
        """The item at a keyword; None if none begins there."""
        token = self.tokens[keyword]
        kind = token.kind
        following = self._kind(keyword + 1, last)
        name = self.tokens[keyword + 1].text if following == IDENTIFIER else ""
        if kind == "fn":
            return RawItem("fn", first, keyword, self._end_of_group(keyword, last), name)
        if kind == "const":
            is_host = following == "_"
            return RawItem("" if is_host else "const", first, keyword, self._after_semicolon(keyword, last), name)
        if kind == "struct":
            is_op = name.endswith("Op")
            return RawItem("struct" if is_op else "", first, keyword, self._end_of_group(keyword, last), name)
        if kind == "impl":
            return RawItem("impl", first, keyword, self._end_of_group(keyword, last))
        if kind == "mod" and self._kind(keyword + 2, last) == "{":
            return self._module(first, keyword, depth)
        if kind in _TO_SEMICOLON or kind == "mod":
            return RawItem("use" if kind == "use" else "", first, keyword, self._after_semicolon(keyword, last))
        if kind in _TO_GROUP or (token.text in _WORDS_TO_GROUP and following in _AFTER_WORD):
            return RawItem("", first, keyword, self._end_of_group(keyword, last))
        end = keyword + 1 if kind == ";" else self._macro_call(keyword, last)
        return RawItem("", first, keyword, end) if end else None

    def _module(self, first: int, keyword: int, depth: int) -> RawItem:
        body = keyword + 2
        end = self.partner[body]
        if depth == MODULE_LIMIT:
            from teenyc.diagnostics.catalog.syntax import TooDeep

            self.reporter.report(TooDeep(span=_span(self.tokens[keyword]), what="modules", limit=MODULE_LIMIT))
            return RawItem("", first, keyword, end + 1)
        return RawItem("mod", first, keyword, end + 1, items=self.split(body + 1, end, depth + 1))

    def _end_of_group(self, position: int, last: int) -> int:
        """Behind the first `{…}` or `;`, or where another item begins before either."""
        keyword = position
        while position < last:
            kind = self.tokens[position].kind
            if kind == ";":
                return position + 1
            if kind == "{" and not self._is_generic(position, last):
                return self.partner[position] + 1
            if kind in _BREAKS and position > keyword + 1:
                return position
            position = max(self.partner[position], position) + 1
        return last

    def _is_generic(self, brace: int, last: int) -> bool:
        """Whether braces hold a generic argument or a default: `Foo<{ N + 1 }>`, `const N: usize = { 3 }>`."""
        following = self._kind(self.partner[brace] + 1, last)
        return self.tokens[brace - 1].kind == "<" or following in (">", ",")

    def _after_semicolon(self, position: int, last: int) -> int:
        keyword = position
        while position < last and self.tokens[position].kind != ";":
            kind = self.tokens[position].kind
            is_type = kind in ("fn", "const") and self.tokens[position - 1].kind in _BEFORE_TYPES
            if (kind in _BREAKS or kind == "const") and not is_type and position > keyword + 1:
                return position
            position = max(self.partner[position], position) + 1
        return min(position + 1, last)

    def _macro_call(self, position: int, last: int) -> int | None:
        """Behind `path::name! { … }` or `name!(…);`, None where no macro is called."""
        while self._kind(position, last) in (IDENTIFIER, "::", "crate", "self", "super"):
            position += 1
        if self._kind(position, last) != "!":
            return None
        position += 2 if self._kind(position + 1, last) == IDENTIFIER else 1
        if position >= last or self.partner[position] < position:
            return None
        end = self.partner[position] + 1
        return end + 1 if self._kind(end, last) == ";" else end

    def _next_start(self, position: int, last: int) -> int:
        """Where the next item may begin, behind a token that begins none."""
        while position < last:
            position = max(self.partner[position], position) + 1
            if self._kind(position, last) in _STARTS:
                break
        return min(position, last)

    def _report_junk(self, keyword: int, last: int) -> None:
        from teenyc.diagnostics.catalog.syntax import ExpectedItem, UnknownCharacter
        from teenyc.syntax.describe import describe, unknown_character

        if not self.complain:
            return
        if keyword == last:
            end = self.tokens[last - 1].end
            self.reporter.report(ExpectedItem(span=Span(end, end), found="the end"))
            return
        token = self.tokens[keyword]
        if token.kind == UNKNOWN:
            self.reporter.report(UnknownCharacter(span=_span(token), **unknown_character(token.text)))
        else:
            hint = _HINTS.get(token.text) or self._hint(keyword, last)
            self.reporter.report(ExpectedItem(span=_span(token), found=describe(token), hint=hint))

    def _report_methods(self, keyword: int, last: int) -> None:
        """`#[kernel]` in an `impl` or a `trait`; what macros hold is none of our business."""
        if self.tokens[keyword].kind not in ("impl", "trait"):
            return
        for index in range(keyword, last - 3):
            words = [t.text for t in self.tokens[index : index + 3]]
            if words == ["#", "[", "kernel"]:
                from teenyc.diagnostics.catalog.habits import KernelMethod

                span = Span(self.tokens[index].start, self.tokens[self.partner[index + 1]].end)
                self.reporter.report(KernelMethod(span=span, where=self.tokens[keyword].kind))

    def _report_misspelt(self, first: int, keyword: int) -> None:
        """An attribute of a function that is nearly `#[kernel]`."""
        for token in self.tokens[first:keyword]:
            words = token.text[2:].partition("(")[0].rstrip("]").strip() if token.kind == ATTRIBUTE else ""
            if words in _KERNEL_WORDS or _is_near_kernel(words):
                from teenyc.diagnostics.catalog.habits import MisspeltKernel

                self.reporter.report(MisspeltKernel(span=_span(token), name=words))

    def _hint(self, keyword: int, last: int) -> str:
        """What helps against a name at file level."""
        if self.tokens[keyword].kind == "#":
            return "attributes are written `#[…]`, comments begin with `//`"
        if self._kind(keyword, last) != IDENTIFIER:
            return ""
        if self._kind(keyword + 1, last) == "(" and self._kind(self.partner[keyword + 1] + 1, last) in ("{", "->"):
            return "write `fn` before the name of a function"
        return "a function begins with `fn`, statements stand inside of one"

    def _report_attribute(self, first: int, keyword: int) -> None:
        from teenyc.diagnostics.catalog.syntax import KernelAttribute

        start = next(i for i in range(first, keyword) if self.tokens[i].kind == "#")
        span = Span(self.tokens[start].start, self.tokens[self.partner[start + 1]].end)
        self.reporter.report(KernelAttribute(span=span))


def _span(token: Token) -> Span:
    return Span(token.start, token.end)


_KERNEL_WORDS = frozenset(["jit", "triton.jit", "triton::jit", "triton", "global", "__global__", "gpu"])
"""What marks a kernel elsewhere."""


_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "def": "functions begin with `fn`",
        "func": "functions begin with `fn`",
        "function": "functions begin with `fn`",
        "kernel": "a kernel is a `fn` under `#[kernel]`",
        "import": "nothing is imported: the intrinsics are in scope",
        "from": "nothing is imported: the intrinsics are in scope",
        "class": "kernels need no classes",
        "let": "a constant of the file is a `const NAME: i32 = …;`",
        "@": "a kernel is a `fn` under `#[kernel]`; attributes are written `#[…]`",
        "__global__": "a kernel is a `fn` under `#[kernel]`",
        "__device__": "functions begin with `fn`",
        "void": "functions begin with `fn`",
        "template": "type and constant parameters stand behind the name: `fn f<D: Float, const N: i32>(…)`",
    }
)


def _is_near_kernel(words: str) -> bool:
    if words[:1] not in ("k", "K"):
        return False
    from teenyc.diagnostics.suggest import is_near

    return is_near(words, "kernel")
