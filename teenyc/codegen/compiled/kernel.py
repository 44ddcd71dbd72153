"""`templates/kernel.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1740389208


def text(names, include):
    kernel = names["kernel"]
    yield "\n"
    yield "\n"
    yield "@triton.jit\n"
    for line in kernel.signature:
        yield f"{line}\n"
    for line in kernel.doc:
        yield f"{line}\n"
    for line in kernel.body:
        yield f"{line}\n"
