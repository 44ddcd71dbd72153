"""`templates/helpers/globaltimer.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 3250483243


def text(names, include):
    yield "@triton.jit\n"
    yield "def _globaltimer():\n"
    yield "    \"\"\"The nanoseconds that the GPU's clock shows; 0 under the interpreter.\"\"\"\n"
    yield "    if _IS_INTERPRETED:\n"
    yield "        time = tl.full([], 0, tl.int64)\n"
    yield "    elif tl.target_info.is_hip():\n"
    yield "        time = tl.extra.hip.memrealtime() * 10\n"
    yield "    else:\n"
    yield "        time = tl.extra.cuda.globaltimer()\n"
    yield "    return time\n"
