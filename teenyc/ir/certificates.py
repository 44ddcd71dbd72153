"""Certificates as text: what tiling did with a kernel goes in, lines come out, each sentence behind its place."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from teenyc.ir.nodes import Certificate
from teenyc.source import SourceFile

PLACE = 8
"""Columns for `line:column` before a sentence."""

WIDTH = 98
"""Columns of a line, so that one has room in a generated module."""


def certificate_lines(certificate: Certificate, source: SourceFile) -> Iterator[str]:
    """`41:17    an indented sentence`, and below it what would make it otherwise."""
    for remark in certificate.remarks:
        indent = "  " * remark.depth
        left = f"the loop over `{remark.subject}` stays as it is: " if remark.kind == "left" and remark.subject else ""
        yield from _wrapped(source.place(remark.span.start), indent, left + remark.text)
        if remark.help:
            yield from _wrapped("", indent, f"help: {remark.help}")


def _wrapped(place: str, indent: str, text: str) -> Iterator[str]:
    """A sentence behind its place; its further lines stand a little to the right of the first."""
    lines = wrap(text, WIDTH - PLACE - len(indent), subsequent_indent="    ", break_long_words=False)
    for number, line in enumerate(lines):
        yield f"{place if number == 0 else '':<{PLACE}}{indent}{line}"
