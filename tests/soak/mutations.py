"""Broken sources: kernels of this repository and a random number generator go in, a changed text comes out.

Some changes are of bytes, some of tokens, and some keep the grammar, so that the checker has to judge.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from cases import TESTS, cases

from teenyc.resources import kernels_directory

TOKEN = re.compile(r"\s+|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|\d[\w.]*\w|\w+|[^\w\s]")
INTERESTING = (
    "let mut fn if else for while loop break continue return as in match const mod use struct impl true false None "
    "Some load store sum dot exp arange zeros full cast T D f32 i32 bool 0 1 -1 1.5 1e999 0x 2147483648 0..=9 'a "
    "{ } ( ) [ ] < > ; , . :: -> => = == && || & | ! # #[kernel] #! ' \" \\ /* */ // /// //! \u0000 \ufeff é ∑ 🦀"
).split(" ")
KINDS = (r"[a-z_]\w*", r"[A-Z]\w*", r"\d\w*", r"[-+*/%<>&|]", r"\w+")
KEEP = frozenset("fn let for in if else while return use pub struct impl const mut as where kernel".split())
NUMBERS = (
    "0 1 2 3 5 7 16 17 63 64 127 128 255 256 257 1023 1024 32767 32768 65535 65536 1048576 2147483647 2147483648 "
    "4294967295 4294967296 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 "
    "340282366920938463463374607431768211456 1e38 1e39 1e308 1e309 1e-45 1e-400 0.0 1.0 0x7fffffff 0b1 0o17 1_000 "
    "1i8 128i8 1u8 256u8 1u64 1f32 1f64 1i64 -1 -2147483648 -9223372036854775808 (-1) (1<<31) i32::MIN i64::MIN"
).split()
NAMES = (
    "self super crate Self fn type match lambda None True def class import print tl triton TEENYC D T N x row load sum "
    "_ __ __init__ _2 a_2 ﬁ ａ 𝐚 é i32 f32 Pointer Float str exp max min range dot kernel tile r#fn"
).split()
TYPES = "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 bool f8e4m3 D T usize isize i128 str".split()
ATTRIBUTES = (
    "#[kernel] #[kernel()] #[kernel(tile)] #[kernel(tile(row))] #[kernel(tile(row,k))] #[kernel(tile,tile)] "
    "#[kernel(grid=n)] #[kernel(grid=[n,n,n,n])] #[kernel(grid=0)] #[kernel(pad(N))] #[kernel(pad(n,N,x))] "
    "#[kernel(num_warps=3)] #[kernel(num_warps=4,num_stages=0)] #[kernel(shape(x=[N,N+1,n*n]))] "
    "#[kernel(configs=[])] #[kernel(backward=F)] #[kernel(dot_operands=storage)] "
    "#[kernel(dtypes=[f32])] #[allow(unused)] #[allow(dead_code)] #![allow(race)] #[cfg(test)] #[inline] #[kernel= #[ "
    "#[kernel(shape(x=[-1]),grid=[1/0])] #[kernel(tile(row),configs=[config(BLOCK_M=0,BLOCK_N=-64,num_warps=1)])]"
).split(" ")
WRAPPERS = (
    ("(", ")"), ("{ ", " }"), ("[", "]"), ("-", ""), ("!", ""), ("if true { ", " } else { 0 }"), ("(0, ", ").1"),
    ("exp(", ")"), ("1 + (", ")"), ("&", ""), ("(", ") as i64"), ("match 1 { _ => ", " }"), ("sum(", ")"),
    ("loop { break ", " }"), ("where_(true, ", ", 0)"), ("Some(", ")"), ("for _ in 0..2 { ", " }"),
)  # fmt: skip
ALIKE = (
    "+ - * / %".split(), "+= -= *= /= %= &= |= ^=".split(), "< > <= >= == !=".split(), "& | ^ << >> && ||".split(),
    "exp log sqrt sin cos tanh sigmoid abs exp2 floor rsqrt erf".split(), "sum max min argmax argmin xor_sum".split(),
    "maximum minimum".split(), "f16 bf16 f32 f64".split(), "i8 i16 i32 i64 u8 u16 u32 u64".split(), "0 1 2 3".split(),
    "i32::MAX i32::MIN".split(), "true false".split(), "Float Num".split(), "0.0 1.0 0.5 1e30 1e-30".split(),
    "load store atomic_add".split(), "cumsum cumprod softmax sort flip".split(), "16 32 64 128 1".split(),
    "break continue return".split(), "None Some(0) Some(0.0) Some(true)".split(), "if while".split(),
)  # fmt: skip
"""Tokens that mostly fit in the place of each other."""
CLOSING = {"(": ")", "[": "]", "{": "}"}
LARGEST = 60_000  # bytes

Mutation = Callable[[str, random.Random, Sequence[str]], "str | bytes"]


def sources() -> list[str]:
    """The texts that are changed: the kernels that come with the compiler, goldens, and cases of tiling."""
    bundled = [path.read_text(encoding="utf-8") for path in sorted(kernels_directory().glob("*.tk"))]
    texts = [case.text for folder in ("golden", "plans", "run", "tiling") for case in cases(folder)]
    assert texts, f"no cases under {TESTS}"
    return bundled + texts


def mistaken() -> list[str]:
    """Texts with mistakes, some of which another change hides or moves."""
    return [case.text for case in cases("ui")]


def mutated(texts: Sequence[str], generator: random.Random) -> bytes:
    """One changed text, or a few changes of one text."""
    text: str | bytes = generator.choice(texts)
    for _ in range(generator.choice((1, 1, 1, 1, 2, 3))):
        assert isinstance(text, str)
        text = generator.choice(MUTATIONS)(text, generator, texts)
        if isinstance(text, bytes) or not text:
            break
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return data[:LARGEST]


def _bytes(text: str, generator: random.Random, texts: Sequence[str]) -> bytes:
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


def _tokens(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Tokens removed, repeated, swapped, or put in place of others."""
    tokens = TOKEN.findall(text)
    words = [i for i, token in enumerate(tokens) if not token.isspace()]
    for _ in range(generator.randint(1, 4) if words else 0):
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


def _kinds(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Tokens in the place of others of their kind, so that the text mostly parses and the checker has to judge."""
    tokens = TOKEN.findall(text)
    for _ in range(generator.randint(1, 3)):
        kind = generator.choice(KINDS)
        places = [i for i, token in enumerate(tokens) if re.fullmatch(kind, token) and token not in KEEP]
        if places:
            tokens[generator.choice(places)] = tokens[generator.choice(places)]
    return "".join(tokens)


def _splice(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """What stands in brackets, in the place of what stands in such brackets elsewhere, or beside it."""
    tokens = TOKEN.findall(text)
    others = TOKEN.findall(generator.choice(texts)) if generator.random() < 0.6 else tokens
    bracket = generator.choice("(([{{{")
    ours, theirs = _groups(tokens, bracket), _groups(others, bracket)
    if not ours or not theirs:
        return text
    start, end = generator.choice(ours)
    from_, to = generator.choice(theirs)
    inner = others[from_ + 1 : to]
    if generator.random() < 0.3:
        inner = [*tokens[start + 1 : end], ", " if bracket != "{" else " ", *inner]
    return "".join([*tokens[: start + 1], *inner, *tokens[end:]])


def _statements(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Statements removed, repeated, moved, or brought from another kernel."""
    tokens = TOKEN.findall(text)
    found = _pieces(tokens)
    if len(found) < 2:
        return text
    (start, end), (other, last) = generator.choice(found), generator.choice(found)
    match generator.randrange(4):
        case 0:
            return "".join(tokens[:start] + tokens[end:])
        case 1:
            return "".join(tokens[:end] + tokens[start:end] + tokens[end:])
        case 2:
            return "".join(tokens[:start] + tokens[other:last] + tokens[start:])
        case _:
            others = TOKEN.findall(generator.choice(texts))
            pieces = _pieces(others) or [(0, 0)]
            from_, to = generator.choice(pieces)
            return "".join(tokens[:start] + others[from_:to] + tokens[start:])


def _alike(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Tokens with another in their place that mostly fits too."""
    tokens = re.findall(r"\s+|//[^\n]*|\d[\w.]*|\w+(?:::MAX|::MIN)?|[-+*/%&|^<>=!]=|&&|\|\||<<|>>|[^\w\s]", text)
    places = [(i, row) for i, token in enumerate(tokens) for row in ALIKE if token in row]
    for place, row in generator.sample(places, min(len(places), generator.choice((1, 1, 2, 4)))):
        tokens[place] = generator.choice(row)
    return "".join(tokens)


def _numbers(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if token[0].isdigit()]
    for place in generator.sample(places, min(len(places), generator.choice((1, 1, 2, 5)))):
        tokens[place] = generator.choice(NUMBERS)
    return "".join(tokens)


def _nesting(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Something wrapped in many levels of the same, or a few levels of anything."""
    tokens = TOKEN.findall(text)
    groups = _groups(tokens, generator.choice("([{"))
    words = [(i - 1, i + 1) for i, token in enumerate(tokens) if re.fullmatch(r"\w+", token) and token not in KEEP]
    if not groups + words:
        return text
    start, end = generator.choice(groups + words)
    inner = "".join(tokens[start + 1 : end])
    depth = generator.choice((1, 2, 3, 10, 60, 250, 300, 1000, 5000))
    if depth <= 10:
        for _ in range(depth):
            before, after = generator.choice(WRAPPERS)
            inner = before + inner + after
    else:
        before, after = generator.choice(WRAPPERS)
        inner = before * depth + inner + after * depth
    return "".join(tokens[: start + 1]) + inner + "".join(tokens[end:])


def _names(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """A name with another in its place everywhere, or nearly so."""
    tokens = TOKEN.findall(text)
    names = sorted({token for token in tokens if re.fullmatch(r"[A-Za-z_]\w*", token) and token not in KEEP})
    if not names:
        return text
    old = generator.choice(names)
    new = generator.choice(NAMES) if generator.random() < 0.6 else generator.choice(names)
    share = generator.choice((1.0, 1.0, 0.5))
    return "".join(new if token == old and generator.random() < share else token for token in tokens)


def _types(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """A type in the place of another, here or everywhere."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if token in TYPES]
    if not places:
        return text
    place, new = generator.choice(places), generator.choice(TYPES)
    old, everywhere = tokens[place], generator.random() < 0.5
    return "".join(new if i == place or (everywhere and token == old) else token for i, token in enumerate(tokens))


def _attributes(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """An attribute before a function or elsewhere, or in the place of one."""
    if generator.random() < 0.5:
        found = list(re.finditer(r"#\[kernel[^\n]*\]", text))
        if found:
            place = generator.choice(found)
            return text[: place.start()] + generator.choice(ATTRIBUTES) + text[place.end() :]
    lines = text.split("\n")
    lines.insert(generator.randrange(len(lines) + 1), generator.choice(ATTRIBUTES))
    return "\n".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    _bytes, _tokens, _kinds, _kinds, _splice, _splice, _statements, _statements, _alike, _alike, _alike,
    _numbers, _numbers, _nesting, _names, _types, _attributes, _attributes,
)  # fmt: skip


def _groups(tokens: Sequence[str], bracket: str) -> list[tuple[int, int]]:
    """Where brackets of this kind open and close."""
    open_at: list[int] = []
    found = []
    for place, token in enumerate(tokens):
        if token == bracket:
            open_at.append(place)
        elif token == CLOSING[bracket] and open_at:
            found.append((open_at.pop(), place))
    return found


def _pieces(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Statements, roughly: from behind a `;`, `{` or `}` to behind the next `;` or the block that follows."""
    closed = dict(_groups(tokens, "{"))
    starts = [i + 1 for i, token in enumerate(tokens) if token in (";", "{", "}")]
    found = []
    for start in starts:
        place = start
        while place < len(tokens) and tokens[place] not in (";", "}"):
            if tokens[place] == "{":
                place = closed.get(place, len(tokens)) if place in closed else len(tokens)
                break
            place += 1
        if place < len(tokens) and (tokens[place] == ";" or place in closed.values()):
            found.append((start, place + 1))
    return found
