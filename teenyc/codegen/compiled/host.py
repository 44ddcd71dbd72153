"""`templates/host.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 800507828

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'host.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_host = resolve('host')
    pass
    for l_1_line in environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'metadata'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'kernels'):
        pass
        yield '\n# ---- Host side: `Class(constants)[grid](arguments)` checks a launch, then launches it -------------------------------\n\n_INTERPRETED = triton.knobs.runtime.interpret\n_LIMITS = (2**31 - 1, 65535, 65535)\n_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug")\n_BYTES = {"f8e4m3": "float8e4nv", "f8e5m2": "float8e5", "f8e4m3fnuz": "float8e4b8", "f8e5m2fnuz": "float8e5b16"}\n_BYTES |= {"f8e4m3b15": "float8e4b15"}\n_FLOATS = {**dict.fromkeys(_BYTES, 8), "f16": 16, "bf16": 16, "f32": 32, "f64": 64}\n_NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int1": "bool"}\n_NAMES |= {"fp16": "f16", "fp32": "f32", "fp64": "f64", **{t.replace("float", "fp"): n for n, t in _BYTES.items()}}\n_NAMES |= {n.replace("f8", "float8_"): n for n in _BYTES} | {"float8_e4m3fn": "f8e4m3"}\n\n\nclass _Bound:\n    """A kernel with its constants bound: `bound[grid](arguments)` checks a launch, then launches it.\n\n    `check=False`, or TEENYC_CHECK=0 in the environment, turns the checks off.\n    """\n\n    check = os.environ.get("TEENYC_CHECK") != "0"\n\n    def __init_subclass__(cls):\n        cls._types = {p["name"]: p["type"] for p in cls._facts["parameters"]}\n        cls._fields = {c["field"]: c["type"] for c in cls._facts["constants"]}\n        cls._known = {c["field"]: c["known"] for c in cls._facts["constants"] if "known" in c}\n        cls._dtypes = {**cls._facts["dtypes"], **cls._facts.get("fixed", {})}\n        cls._options = cls._facts.get("options", {})\n        cls._seen = set()  # what `_key` gave for launches that passed the full check\n\n    def __init__(self, *values, check=None, **named):\n        owner = type(self).__name__\n'
        if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'chooses'):
            pass
            yield '        first = self._facts.get("tuned", {"configs": [{}]})["configs"][0]\n        chosen = {c["field"]: first[c["name"]] for c in self._facts["constants"] if c["name"] in first}\n        bound = _bind(owner, "constant", self._fields, values, named, {**chosen, **self._known})\n        left_out = chosen.keys() - {*list(self._fields)[: len(values)], *named, *self._known}\n'
        else:
            pass
            yield '        bound = _bind(owner, "constant", self._fields, values, named, self._known)\n'
        yield '        for name, kind in self._fields.items():\n            bound[name] = _scalar(owner, name, kind, bound[name])\n            if bound[name] != self._known.get(name, bound[name]):\n                raise ValueError(f"{owner}: the build fixed `{name}` to {self._known[name]}, got {bound[name]}")\n        self.__dict__.update(bound)\n'
        if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'chooses'):
            pass
            yield '        constants = [c for c in self._facts["constants"] if c["field"] not in left_out]\n        self._constants, self._chooses = {c["name"]: bound[c["field"]] for c in constants}, bool(left_out)\n'
        else:
            pass
            yield '        self._constants = {c["name"]: bound[c["field"]] for c in self._facts["constants"]}\n'
        yield '        self._values = tuple(bound.values())\n        if check is not None:\n            self.check = check\n        for row in self._rules(*self._values):\n            _obey(owner, *row)\n\n    def __repr__(self):\n        return f"{type(self).__name__}({\', \'.join(f\'{name}={getattr(self, name)!r}\' for name in self._fields)})"\n\n    def __getitem__(self, grid):\n        return lambda *args, **named: self._launch(grid, args, named)\n\n    def _launch(self, grid, args, named):\n        options = self._options\n        if named:\n            options = {**options, **{name: named.pop(name) for name in _OPTIONS if name in named.keys() - self._types}}\n        if self.check:\n            try:\n                plain = not _INTERPRETED and self._key(*self._values, *args, **named) in self._seen\n            except (AttributeError, TypeError, ZeroDivisionError):\n                plain = False\n            if not plain:\n                args, named = self._checked(args, named), {}\n'
        if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'chooses'):
            pass
            yield '        if callable(grid) and self._chooses:  # the launcher calls it with what it chooses\n            return self._kernel[grid](*args, **named, **self._constants, **options)\n'
        yield '        if callable(grid):\n            grid = grid({**dict(zip(self._types, args, strict=False)), **named, **self._constants, **options})\n        if type(grid) is not tuple:\n            grid = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)\n        if self.check:\n            grid = _extents(type(self).__name__, grid)\n        return None if 0 in grid else self._kernel[grid](*args, **named, **self._constants, **options)\n\n    def _checked(self, args, named):\n        """The arguments in order, converted; or the exception that says what is wrong with them."""\n        owner = type(self).__name__\n        given = _bind(owner, "argument", self._types, args, named, {})\n        elements, first = {}, None\n        for name, kind in self._types.items():\n            if not kind.startswith("Pointer<"):\n                given[name] = _scalar(owner, name, kind, given[name])\n                continue\n            tensor = given[name]\n            if not hasattr(tensor, "data_ptr"):\n                raise TypeError(f"{owner}: `{name}` is a {kind} and needs a tensor, got {_shown(tensor)}")\n            needed = _misfit(kind[8:-1], _element(tensor.dtype), self._dtypes, elements)\n            if needed:\n                raise TypeError(f"{owner}: `{name}` is a {kind} and needs {needed}, got {_shown(tensor)}")\n            first = first or (name, tensor.device)\n            if tensor.device != first[1]:\n                raise ValueError(f"{owner}: `{name}` is on {tensor.device}, but `{first[0]}` is on {first[1]}")\n            if tensor.device.type in ("cpu", "meta") and not _INTERPRETED:\n                raise ValueError(f"{owner}: `{name}` is on {tensor.device}, the kernel needs it on a GPU")\n            if self._facts["contiguous"] and not getattr(tensor, "base", tensor).is_contiguous():\n                raise ValueError(\n                    f"{owner}: `{name}` is not contiguous: {_shown(tensor)}, strides {tuple(tensor.stride())};"\n                    f" the kernel needs contiguous memory, pass `{name}.contiguous()`"\n                )\n        args = tuple(given.values())\n        try:\n            sizes, key = self._sizes(*self._values, *args), self._key(*self._values, *args)\n        except (AttributeError, ZeroDivisionError):  # an extent of zero leaves others open\n            return args\n        for name, tensor, shape, needed in sizes:\n            if tensor.numel() != needed:\n                raise ValueError(f"{owner}: `{name}` is {_shown(tensor)}, but {shape} needs {needed} elements")\n        if key:\n            self._seen.add(key)\n        return args\n\n    _rules = _sizes = staticmethod(lambda *arguments: ())  # of kernels that have none\n\n\ndef _bind(owner, what, types, values, named, defaults):\n    """Positional and named values by name, in order; TypeError for one too many, twice, unknown or missing."""\n    if len(values) > len(types):\n        raise TypeError(f"{owner} takes {len(types)} {what}s ({\', \'.join(types)}), {len(values)} were given")\n    bound = dict(zip(types, values, strict=False))\n    for name, value in named.items():\n        if name not in types:\n            import difflib\n\n            close = [f"; did you mean `{match}`?" for match in difflib.get_close_matches(name, types, 1)]\n            raise TypeError(f"{owner} has no {what} `{name}`" + "".join(close or [f"; it takes {\', \'.join(types)}"]))\n        if name in bound:\n            raise TypeError(f"{owner}: {what} `{name}` is given twice")\n        bound[name] = value\n    bound = {**defaults, **bound}\n    missing = [f"`{name}` ({kind})" for name, kind in types.items() if name not in bound]\n    if missing:\n        raise TypeError(f"{owner} needs {what} {\', \'.join(missing)}")\n    return {name: bound[name] for name in types}\n\n\ndef _scalar(owner, name, kind, value):\n    """`value` as a parameter of type `kind` takes it; TypeError or ValueError where it does not fit."""\n'
        if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'takes_dtypes'):
            pass
            yield '    if kind == "dtype":\n        return _dtype(owner, name, value)\n'
        yield '    fits = numbers.Integral if kind[0] in "iu" and kind[1:].isdigit() else numbers.Real\n    if kind == "bool" and type(value).__name__ in ("bool", "bool_"):\n        return bool(value)\n    if kind == "bool" or isinstance(value, bool) or not isinstance(value, fits):\n        raise TypeError(f"{owner}: `{name}` has type {kind}, got {_shown(value)}")\n    if fits is numbers.Real:\n        return float(value) if kind in _FLOATS else value\n    bits = int(kind[1:])\n    low, high = (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)\n    if not low <= value <= high:\n        raise ValueError(f"{owner}: `{name}` has type {kind}, from {low} to {high}, got {value}")\n    return int(value)\n\n\ndef _misfit(wanted, element, dtypes, elements):\n    """What a pointer over `wanted` needs where `element` does not do, else None; the first over `D` binds `D`."""\n    variable, _, compute = wanted.partition("::")\n    if variable not in dtypes:\n        return None if element == wanted else wanted\n    if variable not in elements:\n        kind = dtypes[variable]\n        floats, integers = kind in ("Float", "Num"), kind == "Num" and not element.strip("iu0123456789")\n        if element != kind and not integers and not (floats and element in _FLOATS):\n            return {"Float": "a float", "Num": "a float or an integer"}.get(kind, kind)\n        elements.update({} if compute else {variable: element})\n        return None\n    bound = elements[variable]\n    bound = "f32" if compute and _FLOATS.get(bound, 32) < 32 else bound\n    least = 32 if compute else _FLOATS.get(bound, 0) + 1\n    if element == bound or bound in _FLOATS and _FLOATS.get(element, 0) >= least:\n        return None\n    return bound + (" or a wider float" if bound in _FLOATS else "")\n\n\ndef _element(dtype):\n    """The name of an element type in the source, such as `bf16` for `torch.bfloat16`."""\n    name = str(dtype).rpartition(".")[2]\n    return _NAMES.get(name) or name.replace("uint", "u").replace("int", "i")\n\n\ndef _shown(value):\n    """A value in a message; tensors by shape and type, since their contents may be on a GPU."""\n    if hasattr(value, "data_ptr"):\n        return f"a tensor of shape {tuple(value.shape)} and type {value.dtype}"\n    return f"{value!r:.60} ({type(value).__name__})"\n\n\ndef _obey(owner, text, value, rule, what):\n    """Raises unless `value`, which the caller knows as `text`, obeys the rule of a constant."""\n    least = 1 if rule in ("power-of-two", "positive") else int(rule.removeprefix("at-least:"))\n    if value < least or rule == "power-of-two" and value & (value - 1):\n        power = f"a power of two; the next one is {1 << (value - 1).bit_length() if value > 0 else 1}"\n        needed = power if rule == "power-of-two" else f"at least {least}"\n        raise ValueError(f"{owner}: `{text}` is {value}, but for {what} it must be {needed}")\n\n\ndef _extents(owner, grid):\n    """The grid as one to three integers that the hardware can launch."""\n    for extent in grid:\n        if type(extent) is not int or not 0 <= extent <= _LIMITS[1]:\n            break\n    else:\n        if 1 <= len(grid) <= 3:\n            return grid\n    if not 1 <= len(grid) <= 3:\n        raise ValueError(f"{owner}: a grid has one to three extents, got {grid!r:.60}")\n    grid = tuple(_scalar(owner, f"grid along {axis}", "i64", extent) for axis, extent in zip("xyz", grid, strict=False))\n    for axis, extent, limit in zip("xyz", grid, _LIMITS, strict=False):\n        if not 0 <= extent <= limit:\n            raise ValueError(f"{owner}: the grid has {extent} programs along {axis}, it may have 0 to {limit}")\n    return grid\n'
        if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'takes_dtypes'):
            pass
            yield '\n\ndef _dtype(owner, name, value):\n    """Triton\'s dtype for one of torch or Triton, or for a name such as `bf16`."""\n    element = value if isinstance(value, str) else _element(value)\n    long = {**_BYTES, "bf16": "bfloat16", "bool": "int1"}.get(element)\n    long = long or element.replace("f", "float").replace("u", "uint").replace("i", "int")\n    if isinstance(getattr(tl, long, None), tl.dtype):\n        return getattr(tl, long)\n    raise TypeError(f"{owner}: `{name}` is a dtype such as `f32`, got {_shown(value)}")\n'
        if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'launchers'):
            pass
            template = environment.get_template('launcher.py.jinja', 'host.py.jinja')
            gen = template.root_render_func(template.new_context(context.get_all(), True, {}))
            try:
                for event in gen:
                    yield event
            finally: gen.close()
        for l_1_bound in environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'kernels'):
            _loop_vars = {}
            pass
            yield '\n\nclass '
            yield str(environment.getattr(l_1_bound, 'name'))
            yield '(_Bound):\n    '
            yield str(environment.getattr(l_1_bound, 'doc'))
            yield '\n\n    _kernel = '
            yield str(environment.getattr(l_1_bound, 'kernel'))
            yield '\n    _facts = TEENYC["kernels"]["'
            yield str(environment.getattr(l_1_bound, 'kernel'))
            yield '"]\n'
            if environment.getattr(l_1_bound, 'rules'):
                pass
                yield '\n    @staticmethod\n'
                for l_2_line in environment.getattr(l_1_bound, 'rules_head'):
                    _loop_vars = {}
                    pass
                    yield '    '
                    yield str(l_2_line)
                    yield '\n'
                l_2_line = missing
                for l_2_line in environment.getattr(l_1_bound, 'rules'):
                    _loop_vars = {}
                    pass
                    yield '        '
                    yield str(l_2_line)
                    yield '\n'
                l_2_line = missing
            if environment.getattr(l_1_bound, 'sizes'):
                pass
                yield '\n    @staticmethod\n'
                for l_2_line in environment.getattr(l_1_bound, 'sizes_head'):
                    _loop_vars = {}
                    pass
                    yield '    '
                    yield str(l_2_line)
                    yield '\n'
                l_2_line = missing
                for l_2_line in environment.getattr(l_1_bound, 'solutions'):
                    _loop_vars = {}
                    pass
                    yield '        '
                    yield str(l_2_line)
                    yield '\n'
                l_2_line = missing
                for l_2_line in environment.getattr(l_1_bound, 'sizes'):
                    _loop_vars = {}
                    pass
                    yield '        '
                    yield str(l_2_line)
                    yield '\n'
                l_2_line = missing
            yield '\n    @staticmethod\n'
            for l_2_line in environment.getattr(l_1_bound, 'key_head'):
                _loop_vars = {}
                pass
                yield '    '
                yield str(l_2_line)
                yield '\n'
            l_2_line = missing
            for l_2_line in environment.getattr(l_1_bound, 'solutions'):
                _loop_vars = {}
                pass
                yield '        '
                yield str(l_2_line)
                yield '\n'
            l_2_line = missing
            yield '        return (\n'
            for l_2_line in environment.getattr(l_1_bound, 'key'):
                _loop_vars = {}
                pass
                yield '            '
                yield str(l_2_line)
                yield '\n'
            l_2_line = missing
            yield '        )\n'
        l_1_bound = missing
    if environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'ops'):
        pass
        yield '\n\nclass _Op:\n    """Kernels with their constants bound, one a field."""\n\n    def __repr__(self):\n        return f"{type(self).__name__}({\', \'.join(f\'{name}={value!r}\' for name, value in self._given.items())})"\n'
    for l_1_op in environment.getattr((undefined(name='host') if l_0_host is missing else l_0_host), 'ops'):
        _loop_vars = {}
        pass
        yield '\n\nclass '
        yield str(environment.getattr(l_1_op, 'name'))
        yield '(_Op):\n'
        for l_2_line in environment.getattr(l_1_op, 'doc'):
            _loop_vars = {}
            pass
            yield str(l_2_line)
            yield '\n'
        l_2_line = missing
        yield '\n    def __init__(self'
        yield str(environment.getattr(l_1_op, 'parameters'))
        yield '):\n        self._given = '
        yield str(environment.getattr(l_1_op, 'given'))
        yield '\n'
        for l_2_field in environment.getattr(l_1_op, 'fields'):
            _loop_vars = {}
            pass
            yield '        self.'
            yield str(l_2_field)
            yield '\n'
        l_2_field = missing
    l_1_op = missing

blocks = {}
debug_info = '2=12&3=15&5=18&38=21&51=28&80=35&155=39&230=43&242=46&243=48&245=54&248=58&249=60&251=62&252=64&253=66&256=69&257=73&259=76&260=80&263=83&266=86&267=90&269=93&270=97&272=100&273=104&278=108&279=112&281=115&282=119&285=123&286=127&291=132&300=135&303=139&304=141&305=144&308=148&309=150&310=152&311=156'
