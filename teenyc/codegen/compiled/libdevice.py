"""`templates/libdevice.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2583440062


def text(names, include):
    library = names["library"]
    yield "def _libdevice_on_arrays():\n"
    yield "    \"\"\"What libdevice computes, by NumPy: Triton's interpreter cannot call it.\"\"\"\n"
    for line in library.imports:
        yield f"    {line}\n"
    yield "    from types import SimpleNamespace\n"
    yield "\n"
    yield "    import numpy\n"
    yield "    from triton.runtime.interpreter import TensorHandle\n"
    yield "\n"
    yield "    def on_tensors(function):\n"
    yield "        def array(argument, arrays):\n"
    yield "            if isinstance(argument, tl.tensor):\n"
    yield "                return argument.handle.data\n"
    yield "            number = getattr(argument, \"value\", argument)\n"
    yield "            kinds, default = (\"f\", \"float32\") if isinstance(number, float) else (\"iu\", \"int32\")\n"
    yield "            return numpy.asarray(number, next((a.dtype for a in arrays if a.dtype.kind in kinds), default))\n"
    yield "\n"
    yield "        def call(*arguments):\n"
    yield "            arrays = [a.handle.data for a in arguments if isinstance(a, tl.tensor)]\n"
    yield "            with numpy.errstate(all=\"ignore\"):\n"
    yield "                result = numpy.asarray(function(*(array(a, arrays) for a in arguments)))\n"
    yield "            dtype = tl.int1 if result.dtype.kind == \"b\" else getattr(tl, result.dtype.name)\n"
    yield "            is_block = any(a.type.is_block() for a in arguments if isinstance(a, tl.tensor))\n"
    yield "            type = tl.block_type(dtype, list(result.shape)) if is_block else dtype\n"
    yield "            return tl.tensor(TensorHandle(result.reshape(result.shape or (1,)), dtype), type)\n"
    yield "\n"
    yield "        return call\n"
    yield "\n"
    for line in library.lines:
        yield str(((str("    ") + str(line)) if line else ""))
        yield "\n"
    yield "\n"
    yield "    return SimpleNamespace(\n"
    for name in library.names:
        yield f"        {name}=on_tensors({name}),\n"
    yield "    )\n"
    yield "\n"
    yield "\n"
    yield "if triton.knobs.runtime.interpret:\n"
    yield "    libdevice = _libdevice_on_arrays()\n"
