"""`teenyc explain`: a code in, the explanation of its report out; without a code, the list of all."""

from __future__ import annotations

import click

from teenyc.cli import OK
from teenyc.diagnostics.catalog import all_codes, find
from teenyc.diagnostics.explain import explain as explanation_of
from teenyc.diagnostics.explain import explanation
from teenyc.diagnostics.suggest import closest


def explain(code: str | None) -> int:
    """Prints an explanation, or one line for each code; a usage error for a code that does not exist."""
    if code is None:
        print("\n".join(_line(each) for each in all_codes()))
        return OK
    text = explanation_of(code)
    if text is None:
        near = closest(code.strip().upper(), all_codes())
        hint = f"did you mean {near}?" if near else "`teenyc explain` lists all codes"
        raise click.UsageError(f"there is no code {code!r}; {hint}")
    print(text)
    return OK


def _line(code: str) -> str:
    """A code with the first sentence of its explanation."""
    kind = find(code)
    assert kind is not None
    paragraph = " ".join(explanation(kind).partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return f"{code}  {sentence}{stop.strip()}"
