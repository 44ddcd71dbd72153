"""`templates/helpers/gdc_launch_dependents.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 4072033132


def text(names, include):
    yield "@triton.jit\n"
    yield "def _gdc_launch_dependents():\n"
    yield "    \"\"\"Lets the next kernel begin; under the interpreter, kernels run one after the other.\"\"\"\n"
    yield "    if not _IS_INTERPRETED:\n"
    yield "        tl.extra.cuda.gdc_launch_dependents()\n"
