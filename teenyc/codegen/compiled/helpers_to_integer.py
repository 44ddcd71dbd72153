"""`templates/helpers/to_integer.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 867089720

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'helpers/to_integer.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_cast = resolve('cast')
    pass
    yield '@triton.jit\ndef '
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'name'))
    yield '(x):\n    """`x` cut toward zero; what is out of range becomes the nearest bound, and NaN becomes 0."""\n    whole = tl.where((x >= '
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'low'))
    yield ') & (x < '
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'limit'))
    yield '), x, 0.0).to('
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'dtype'))
    yield ')\n'
    if environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'is_signed'):
        pass
        yield '    whole = tl.where(x < '
        yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'low'))
        yield ', tl.full([], '
        yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'least'))
        yield ', '
        yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'dtype'))
        yield '), whole)\n'
    yield '    return tl.where(x >= '
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'limit'))
    yield ', tl.full([], '
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'greatest'))
    yield ', '
    yield str(environment.getattr((undefined(name='cast') if l_0_cast is missing else l_0_cast), 'dtype'))
    yield '), whole)\n'

blocks = {}
debug_info = '2=13&4=15&5=21&6=24&8=31'
