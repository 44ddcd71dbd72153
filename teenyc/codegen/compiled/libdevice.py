"""`templates/libdevice.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 2583440062

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'libdevice.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_library = resolve('library')
    pass
    yield 'def _libdevice_on_arrays():\n    """What libdevice computes, by NumPy: Triton\'s interpreter cannot call it."""\n'
    for l_1_line in environment.getattr((undefined(name='library') if l_0_library is missing else l_0_library), 'imports'):
        _loop_vars = {}
        pass
        yield '    '
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    yield '    from types import SimpleNamespace\n\n    import numpy\n    from triton.runtime.interpreter import TensorHandle\n\n    def on_tensors(function):\n        def array(argument, arrays):\n            if isinstance(argument, tl.tensor):\n                return argument.handle.data\n            number = getattr(argument, "value", argument)\n            kinds, default = ("f", "float32") if isinstance(number, float) else ("iu", "int32")\n            return numpy.asarray(number, next((a.dtype for a in arrays if a.dtype.kind in kinds), default))\n\n        def call(*arguments):\n            arrays = [a.handle.data for a in arguments if isinstance(a, tl.tensor)]\n            with numpy.errstate(all="ignore"):\n                result = numpy.asarray(function(*(array(a, arrays) for a in arguments)))\n            dtype = tl.int1 if result.dtype.kind == "b" else getattr(tl, result.dtype.name)\n            is_block = any(a.type.is_block() for a in arguments if isinstance(a, tl.tensor))\n            type = tl.block_type(dtype, list(result.shape)) if is_block else dtype\n            return tl.tensor(TensorHandle(result.reshape(result.shape or (1,)), dtype), type)\n\n        return call\n\n'
    for l_1_line in environment.getattr((undefined(name='library') if l_0_library is missing else l_0_library), 'lines'):
        _loop_vars = {}
        pass
        yield str((str_join(('    ', l_1_line, )) if l_1_line else ''))
        yield '\n'
    l_1_line = missing
    yield '\n    return SimpleNamespace(\n'
    for l_1_name in environment.getattr((undefined(name='library') if l_0_library is missing else l_0_library), 'names'):
        _loop_vars = {}
        pass
        yield '        '
        yield str(l_1_name)
        yield '=on_tensors('
        yield str(l_1_name)
        yield '),\n'
    l_1_name = missing
    yield '    )\n\n\nif triton.knobs.runtime.interpret:\n    libdevice = _libdevice_on_arrays()\n'

blocks = {}
debug_info = '4=13&5=17&31=21&32=24&36=28&37=32'
