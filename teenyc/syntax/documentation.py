"""The text of doc comments: marks and common indentation go, as in rustdoc."""

from __future__ import annotations

from collections.abc import Iterable


def documentation(comments: Iterable[str]) -> str:
    """The text of doc comments (`///`, `//!`, `/** */`, `/*! */`) as written, one after the other."""
    lines: list[str] = []
    for comment in comments:
        lines += _block_lines(comment) if comment.startswith("/*") else [comment[3:]]
    lines = [line.rstrip() for line in lines]
    indentation = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return "\n".join(line[indentation:] for line in lines).strip("\n")


def _block_lines(comment: str) -> list[str]:
    """The lines inside a block comment, without a column of stars at their left."""
    lines = comment[3:-2].split("\n")
    rest = [line.lstrip() for line in lines[1:] if line.strip()]
    if rest and all(line.startswith("*") for line in rest):
        lines = [lines[0], *(line.lstrip().removeprefix("*") for line in lines[1:])]
    return lines
