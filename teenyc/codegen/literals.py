"""Python literals: plain data and text go in, source text that means exactly them comes out, laid out to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

WIDTH = 120
_BRACKETS = {dict: ("{", "}"), list: ("[", "]"), tuple: ("(", ")")}


def literal_lines(value: object, prefix: str = "", indent: int = 0, suffix: str = "") -> list[str]:
    """`prefix` + the literal + `suffix`: on one line where it fits, else one item a line.

    `value` is made of dicts, lists, tuples, strings, numbers, bools and None.
    """
    line = " " * indent + prefix + literal(value) + suffix
    if len(line) <= WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return [line]
    opening, closing = _BRACKETS[type(value)]
    lines = [" " * indent + prefix + opening]
    if isinstance(value, dict):
        for key, item in value.items():
            lines += literal_lines(item, f"{literal(key)}: ", indent + 4, ",")
    else:
        for item in value:
            lines += literal_lines(item, "", indent + 4, ",")
    return [*lines, " " * indent + closing + suffix]


def literal(value: object) -> str:
    """The literal on one line, with double quotes."""
    match value:
        case str():
            return quoted(value)
        case dict():
            return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case tuple():
            return "(" + ", ".join(map(literal, value)) + (",)" if len(value) == 1 else ")")
        case _:
            return repr(value)


def quoted(text: str) -> str:
    """A string literal of one line in double quotes; what cannot be printed is escaped."""
    return '"' + _printable(text).replace('"', '\\"') + '"'


def docstring_lines(text: str, indent: int) -> list[str]:
    """A docstring that no text can end early: the author's lines, control characters and backslashes escaped."""
    pad = " " * indent
    lines = [_printable(line).rstrip() for line in text.strip().splitlines()]
    lines = [line.replace('"""', '\\"\\"\\"') for line in lines]
    if len(lines) == 1 and len(lines[0]) + indent + 6 <= WIDTH and not lines[0].endswith('"'):
        return [f'{pad}"""{lines[0]}"""']
    return [f'{pad}"""{lines[0]}', *(pad + line if line else "" for line in lines[1:]), f'{pad}"""'] if lines else []


def bracketed(opening: str, items: Sequence[str], closing: str, indent: int) -> list[str]:
    """`opening items closing` without indentation: on one line, the items on one of their own, or one a line."""
    line = opening + ", ".join(items) + closing
    if len(line) + indent <= WIDTH:
        return [line]
    inner = "    " + ", ".join(items)
    if len(inner) + indent <= WIDTH and opening.startswith("def "):
        return [opening, inner, closing]
    return [opening, *(f"    {item}," for item in items), closing.lstrip(",")]


def argument_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines of an expression as an argument on lines of its own, 4 columns in."""
    yield from (f"    {line}" for line in lines[:-1])
    yield f"    {lines[-1]},"


def filled(items: Iterable[str], separator: str, indent: int) -> list[str]:
    """Items joined by `separator`, as many a line as fit; the separator stays at the end of a line."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(separator) + len(item) <= WIDTH:
            lines[-1] += separator + item
        else:
            if lines:
                lines[-1] += separator.rstrip()
            lines.append(" " * indent + item)
    return lines


def _printable(text: str) -> str:
    """The text with escapes for backslashes and for what cannot be printed."""
    return text if text.isprintable() and "\\" not in text else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character == "\\" or not character.isprintable():
        return character.encode("unicode_escape").decode()
    return character
