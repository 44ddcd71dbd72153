"""`templates/helpers/gdc_wait.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2030373089


def text(names, include):
    yield "@triton.jit\n"
    yield "def _gdc_wait():\n"
    yield "    \"\"\"Waits for the kernel before, as `gdc_wait` does; under the interpreter, kernels run one after the other.\"\"\"\n"
    yield "    if not _IS_INTERPRETED:\n"
    yield "        tl.extra.cuda.gdc_wait()\n"
