"""`templates/helpers/num_threads.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1691968312


def text(names, include):
    yield "@triton.jit\n"
    yield "def _num_threads():\n"
    yield "    \"\"\"How many threads run the program; 1 under the interpreter.\"\"\"\n"
    yield "    return tl.full([], 1 if _IS_INTERPRETED else tl.extra.cuda.num_threads(), tl.int32)\n"
