"""`--emit plan` and `--explain-tiling`: compiled sources go in; plans, explanations or a document of them come out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from teenyc.diagnostics.render.json_format import span_of
from teenyc.diagnostics.render.text import printable
from teenyc.driver import Compiled
from teenyc.ir.certificates import certificate_lines
from teenyc.ir.nodes import Certificate, Kernel, Remark
from teenyc.source import SourceFile

VERSION = 1
"""Of the document that docs/tiling.md describes: it rises when a field goes or changes its meaning."""


def plan_text(compiled: Compiled) -> str:
    """The plans of a source, with an empty line between two."""
    from teenyc.tiling.printer import print_plan

    return "\n".join(print_plan(kernel, found) for kernel, found in compiled.plans())


def explanation_text(compiled: Compiled) -> str:
    """For each kernel of a source what tiling does with it, or would do, ending in a newline."""
    blocks = ("\n".join(_kernel_lines(k, c, compiled.file)) for k, c in compiled.certificates())
    return "\n\n".join(blocks) + "\n"


def explanation_document(sources: Sequence[Compiled]) -> str:
    """The same of all sources as one JSON object; the schema is described in docs/tiling.md."""
    kernels = [_kernel(k, c, each.file) for each in sources for k, c in each.certificates()]
    return json.dumps({"version": VERSION, "kernels": kernels}, indent=2)


def _asks(kernel: Kernel) -> bool:
    return kernel.attributes.tile is not None


def _kernel_lines(kernel: Kernel, certificate: Certificate, source: SourceFile) -> Iterator[str]:
    """A head that says what became of the kernel, and the sentences of its certificate."""
    position = source.position(kernel.span.start)
    yield f"kernel `{kernel.name}` {_outcome(kernel, certificate)}"
    yield f"  --> {printable(source.name)}:{position.line}:{position.column}"
    if certificate.is_tiled:
        yield from (f"  {line}" for line in certificate_lines(certificate, source))
    else:
        yield from (line for remark in certificate.remarks for line in _marked(remark, source))


def _outcome(kernel: Kernel, certificate: Certificate) -> str:
    if _asks(kernel):
        return "takes blocks" if certificate.is_tiled else "asks for blocks and stays as it is"
    return f"asks for no blocks; with `tile` it would {'take them' if certificate.is_tiled else 'stay as it is'}"


def _marked(remark: Remark, source: SourceFile) -> Iterator[str]:
    """A reason under the source line that it is about."""
    from teenyc.diagnostics.model import Label
    from teenyc.diagnostics.render.paint import Palette, Tone
    from teenyc.diagnostics.render.snippet import Layout, place, snippet

    mark = place(Label(remark.span, remark.text), source, Tone.PLAIN, "^")
    yield from snippet(source, [mark], Layout(len(str(mark.last)), 120, Palette(False)))
    if remark.help:
        yield f"help: {remark.help}"


def _kernel(kernel: Kernel, certificate: Certificate, source: SourceFile) -> dict[str, object]:
    return {
        "kernel": kernel.name,
        "file": source.name,
        "span": span_of(kernel.span, source),
        "asked": _asks(kernel),
        "tiled": certificate.is_tiled,
        "remarks": [
            {
                "kind": remark.kind,
                "subject": remark.subject or None,
                "text": remark.text,
                "help": remark.help or None,
                "depth": remark.depth,
                "span": span_of(remark.span, source),
            }
            for remark in certificate.remarks
        ],
    }
