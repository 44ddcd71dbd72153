"""Lines: statements go in with their comments and places, laid-out lines that know their source line come out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from teenyc.codegen.comments import comment, comment_lines
from teenyc.codegen.layout import WIDTH, broken, columns
from teenyc.codegen.views import marked
from teenyc.record import field, state
from teenyc.source import NO_COMMENTS, Comments, SourceFile, Span


@state
class Lines:
    """The lines of one body. Comments of statements without a line of their own wait for the next one."""

    source: SourceFile = field(default_factory=lambda: SourceFile("", ""))
    written: list[str] = field(default_factory=list)
    waiting: Comments = NO_COMMENTS
    last_line: int = 0
    is_block_start: bool = True

    def code(self, text: str, indent: str, span: Span | None, comments: Comments = NO_COMMENTS) -> None:
        """One statement, with what waits and its own comments; `span` is what it comes from."""
        line = self.source.position(span.start).line if span is not None else None
        comments = self.joined(comments)
        self.waiting = NO_COMMENTS
        self.blank(line)
        for leading in comments.leading:
            self.comment(leading, indent)
        lines = broken(text, indent)
        if comments.trailing:
            behind = f"{lines[0]}  {comment(comments.trailing)}"
            if len(lines) == 1 and columns(behind) <= WIDTH and "\n" not in comments.trailing:
                lines = [behind]
            else:
                self.comment(comments.trailing, indent)
        self.written += [marked(each, line) for each in lines]
        self.is_block_start = False

    def comment(self, text: str, indent: str) -> None:
        self.written += comment_lines(text, indent)

    def keep(self, comments: Comments) -> None:
        """Comments of a statement that goes into another one."""
        if comments:
            self.waiting = self.joined(comments)

    def early(self, comments: Comments, indent: str, span: Span) -> None:
        """Lets the comments above a loop stand above what is assigned before it."""
        self.blank(self.source.position(span.start).line)
        for leading in (*self.waiting.leading, *comments.leading):
            self.comment(leading, indent)
        self.waiting = Comments(trailing=self.waiting.trailing)

    def blank(self, line: int | None) -> None:
        """A blank line where the author left one."""
        if line is None or line <= self.last_line:
            return
        self.last_line = line
        above = line - 1
        while above >= 1 and _is_remark(self.source.line_text(above).strip()):
            above -= 1
        if above >= 1 and not self.source.line_text(above).strip() and not self.is_block_start:
            self.written.append("")

    @contextmanager
    def inside(self, indent: str, *, may_be_empty: bool = False) -> Iterator[None]:
        """A block; one that stays empty gets `pass`, unless it may."""
        start = len(self.written)
        self.is_block_start = True
        yield
        for leading in (*self.waiting.leading, *filter(None, (self.waiting.trailing,))):
            self.comment(leading, indent)
        self.waiting = NO_COMMENTS
        if not may_be_empty and all(line.lstrip().startswith("#") for line in self.written[start:]):
            self.written.append(f"{indent}pass")
        self.is_block_start = False

    def joined(self, comments: Comments) -> Comments:
        """What waits and `comments`; of two comments behind a statement, the first stands above it."""
        leading = (*self.waiting.leading, *comments.leading)
        if self.waiting.trailing and comments.trailing:
            return Comments((*leading, self.waiting.trailing), comments.trailing)
        return Comments(leading, comments.trailing or self.waiting.trailing)


def _is_remark(line: str) -> bool:
    """Whether a source line belongs to the statement below it: a comment, a line of one, or an attribute."""
    return line.startswith(("//", "#[", "/*", "*")) or line.endswith("*/")
