"""`templates/kernel.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1740389208

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'kernel.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_kernel = resolve('kernel')
    pass
    yield '\n\n@triton.jit\n'
    for l_1_line in environment.getattr((undefined(name='kernel') if l_0_kernel is missing else l_0_kernel), 'signature'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    for l_1_line in environment.getattr((undefined(name='kernel') if l_0_kernel is missing else l_0_kernel), 'doc'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    for l_1_line in environment.getattr((undefined(name='kernel') if l_0_kernel is missing else l_0_kernel), 'body'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing

blocks = {}
debug_info = '5=13&6=16&8=19&9=22&11=25&12=28'
