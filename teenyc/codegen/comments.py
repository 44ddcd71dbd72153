"""Comments and docstrings: the author's text goes in, Python source that no text can break out of comes out."""

from __future__ import annotations

from collections.abc import Iterator

from teenyc.codegen.layout import WIDTH, columns

_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction in which the rest of a line is shown."""


def comment_lines(text: str, indent: str) -> list[str]:
    """A comment as lines of its own, broken between words where it is too long."""
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        lines += _wrapped(comment(line), indent)
    return lines


def comment(text: str) -> str:
    """A comment of one line, from what stands behind the slashes."""
    shown = "".join(map(_shown, text)).rstrip()
    return f"#{shown}" if shown.startswith((" ", "!", "#")) or not shown else f"# {shown}"


def docstring(text: str, indent: str) -> list[str]:
    """The lines of a docstring whose value is `text`.

    In a module (no indentation) it is that exactly; elsewhere lines are indented, long ones broken between words, and
    several end in a line break.
    """
    if not text:
        return []
    lines = [_escaped_line(line) for line in text.split("\n")]
    lines[-1] = _escaped_quote(lines[-1])
    lines[0] = '"""' + lines[0]
    if not indent:
        lines[-1] += '"""'
        return [piece for line in lines for piece in _continued(line)]
    if len(lines) == 1 and columns(indent + lines[0]) + 3 <= WIDTH:
        return [indent + lines[0] + '"""']
    padded = [piece for line in lines for piece in _broken(indent + line)]
    return [*(line.rstrip() for line in padded), indent + '"""']


def _wrapped(text: str, indent: str) -> Iterator[str]:
    line = indent + text
    while columns(line) > WIDTH:
        cut = line.rfind(" ", len(indent) + 2, WIDTH + 1)
        if cut < 0:
            cut = line.find(" ", WIDTH)
        if cut < 0:
            break
        yield line[:cut].rstrip()
        line = f"{indent}# {line[cut:].strip()}"
    yield line.rstrip()


def _shown(character: str) -> str:
    """A character that ends no line and hides nothing."""
    if character == "\t":
        return " "
    return character if character.isprintable() and character not in _DIRECTIONS else _escape(character)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped_line(line: str) -> str:
    """One line of a docstring. Triton's interpreter takes the last line that starts with `def ` for the function."""
    text = "".join("\\\\" if c == "\\" else _in_string(c) for c in line).replace('"""', '\\"\\"\\"')
    bare = text.rstrip(" ")
    if bare != text:
        text = bare + " " * (len(text) - len(bare) - 1) + "\\x20"
    return _without_def(text)


def _without_def(text: str) -> str:
    start = len(text) - len(text.lstrip(" "))
    return text[:start] + "\\x64" + text[start + 1 :] if text.startswith("def ", start) else text


def _in_string(character: str) -> str:
    if character == "\t":
        return "\\t"
    return character if character.isprintable() and character not in _DIRECTIONS else _escape(character)


def _escaped_quote(line: str) -> str:
    """An escaped line whose last quote cannot end the docstring; behind an odd number of backslashes it is escaped."""
    backslashes = len(line) - 1 - len(line[:-1].rstrip("\\"))
    return line[:-1] + '\\"' if line.endswith('"') and backslashes % 2 == 0 else line


def _broken(line: str) -> Iterator[str]:
    """A line that is too long, as lines of the same indentation."""
    margin = line[: len(line) - len(line.lstrip())]
    while columns(line) > WIDTH:
        cut = line.rfind(" ", len(margin) + 4, WIDTH + 1)
        if cut < 0:
            break
        yield line[:cut]
        line = margin + _without_def(line[cut:].strip())
    yield line


def _continued(line: str) -> Iterator[str]:
    """A line of a docstring that is too long, continued by backslashes, so that its value stays one line."""
    while columns(line) > WIDTH and " " in line.strip():
        cut = line.rfind(" ", len(line) - len(line.lstrip()) + 4, WIDTH - 1)
        if cut < 0:
            break
        yield line[: cut + 1] + "\\"
        line = _without_def(line[cut + 1 :])
    yield line
