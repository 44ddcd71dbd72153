"""Reports go in, the text that users or programs read comes out, in one of four formats."""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.diagnostics.render.report import Report

__all__ = ["FORMATS", "Report", "render"]

FORMATS = ("human", "short", "json", "sarif")


def render(reports: Sequence[Report], *, format: str, color: bool = False, width: int = 120) -> str:
    """The reports, in the given order, as text without a line end behind the last line.

    `format` is one of `FORMATS`. `human` and `short` of no reports are empty; `json` and `sarif` are always valid JSON.
    `color` (ANSI sequences) and `width` (columns to trim source lines to) concern `human` only. Of each source at most
    `LIMIT` reports are shown, errors before lints; the rest is counted.
    """
    match format:
        case "human" | "short" if not reports:
            return ""
        case "human":
            from teenyc.diagnostics.render.human import render_human

            return render_human(reports, color=color, width=width)
        case "short":
            from teenyc.diagnostics.render.short import render_short

            return render_short(reports)
        case "json":
            from teenyc.diagnostics.render.json_format import render_json

            return render_json(reports)
        case "sarif":
            from teenyc.diagnostics.render.sarif import render_sarif

            return render_sarif(reports)
        case _:
            raise ValueError(f"unknown format {format!r}; known are {', '.join(FORMATS)}")
