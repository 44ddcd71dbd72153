"""`templates/helpers/smid.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1690386672


def text(names, include):
    yield "@triton.jit\n"
    yield "def _smid():\n"
    yield "    \"\"\"The number of the multiprocessor on which the program runs; 0 under the interpreter.\"\"\"\n"
    yield "    return tl.full([], 0, tl.int32) if _IS_INTERPRETED else tl.extra.cuda.smid()\n"
