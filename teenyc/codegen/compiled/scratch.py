"""`templates/scratch.py.jinja` as a function that yields its text."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2179933167


def text(names, include):
    yield "\n"
    yield "\n"
    yield "def _scratch(tensor, element, count, is_made=True):\n"
    yield "    \"\"\"Memory for so many numbers of a type, beside a tensor: of `D::Compute`, as a `D` like the tensor's is computed.\n"
    yield "\n"
    yield "    Where nothing is launched, its dtype.\n"
    yield "    \"\"\"\n"
    yield "    memory, key = getattr(tensor, \"base\", tensor), (element, tensor.dtype)\n"
    yield "    if key not in _DTYPES:\n"
    yield "        stored = _element(tensor.dtype)\n"
    yield "        kind = element if \"::\" not in element else \"f32\" if _FLOATS.get(stored, 32) < 32 else stored\n"
    yield "        convert = {\"f32\": \"float\", \"f64\": \"double\", \"i32\": \"int\", \"i64\": \"long\"}.get(kind)\n"
    yield "        _DTYPES[key] = getattr(memory.new_empty(0), convert)().dtype if convert else memory.dtype\n"
    yield "    return memory.new_empty(count, dtype=_DTYPES[key]) if is_made else _DTYPES[key]\n"
    yield "\n"
    yield "\n"
    yield "_DTYPES = {}\n"
    yield "\"\"\"Dtypes of scratch, by the type and by that of a tensor.\"\"\"\n"
    yield "\n"
    yield "\n"
    yield "def _in_order(names, args, named):\n"
    yield "    \"\"\"All parameters by position, and all else by name.\"\"\"\n"
    yield "    if len(args) != len(names):\n"
    yield "        named = dict(named)\n"
    yield "        args = (*args, *[named.pop(name) for name in names[len(args) :]])\n"
    yield "    return args, named\n"
