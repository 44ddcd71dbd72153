"""`templates/module.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1146438429


def text(names, include):
    module = names["module"]
    for line in module.doc:
        yield f"{line}\n"
    if module.doc:
        yield "\n"
    for line in module.origin:
        yield f"{line}\n"
    if module.triton:
        yield "\n"
    for line in module.imports:
        yield f"{line}\n"
    if module.imports:
        yield "\n"
    for line in module.triton:
        yield f"{line}\n"
    if module.numbers:
        yield "\n"
        yield "# Triton's interpreter computes with plain numbers.\n"
        yield "_constant = (lambda number: number) if triton.knobs.runtime.interpret else tl.constexpr\n"
        for line in module.numbers:
            yield f"{line}\n"
    if module.rounds:
        yield "\n"
        yield "_ROUNDS_BY_HAND = tl.constexpr(triton.knobs.runtime.interpret)\n"
    if module.interprets:
        yield "\n"
        yield "_IS_INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)\n"
    if module.library is not None:
        yield "\n"
        yield "\n"
        library = module.library
        yield from include("libdevice.py.jinja", {**names, "library": library})
    for helper in module.helpers:
        yield "\n"
        yield "\n"
        yield from include(helper, {**names, "helper": helper})
    for cast in module.casts:
        yield "\n"
        yield "\n"
        yield from include("helpers/to_integer.py.jinja", {**names, "cast": cast})
    for kernel in module.functions:
        yield from include("kernel.py.jinja", {**names, "kernel": kernel})
    for kernel in module.kernels:
        yield from include("kernel.py.jinja", {**names, "kernel": kernel})
    yield "\n"
    yield "\n"
    yield from include("host.py.jinja", names)
