"""`templates/module.py.jinja` as Jinja compiles it."""

# Written by `python -m teenyc.codegen.compile_templates`, not by hand.
# mypy: ignore-errors
CHECKSUM = 1146438429

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'module.py.jinja'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_module = resolve('module')
    try:
        t_1 = environment.tests['none']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No test named 'none' found.")
    pass
    for l_1_line in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'doc'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    if environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'doc'):
        pass
        yield '\n'
    for l_1_line in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'origin'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    if environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'triton'):
        pass
        yield '\n'
    for l_1_line in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'imports'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    if environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'imports'):
        pass
        yield '\n'
    for l_1_line in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'triton'):
        _loop_vars = {}
        pass
        yield str(l_1_line)
        yield '\n'
    l_1_line = missing
    if environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'numbers'):
        pass
        yield "\n# Triton's interpreter computes with plain numbers.\n_constant = (lambda number: number) if triton.knobs.runtime.interpret else tl.constexpr\n"
        for l_1_line in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'numbers'):
            _loop_vars = {}
            pass
            yield str(l_1_line)
            yield '\n'
        l_1_line = missing
    if environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'rounds'):
        pass
        yield '\n_ROUNDS_BY_HAND = tl.constexpr(triton.knobs.runtime.interpret)\n'
    if environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'interprets'):
        pass
        yield '\n_IS_INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)\n'
    if (not t_1(environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'library'))):
        pass
        yield '\n\n'
        l_1_library = environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'library')
        pass
        template = environment.get_template('libdevice.py.jinja', 'module.py.jinja')
        gen = template.root_render_func(template.new_context(context.get_all(), True, {'library': l_1_library}))
        try:
            for event in gen:
                yield event
        finally: gen.close()
        l_1_library = missing
    for l_1_helper in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'helpers'):
        _loop_vars = {}
        pass
        yield '\n\n'
        template = environment.get_or_select_template(l_1_helper, 'module.py.jinja')
        gen = template.root_render_func(template.new_context(context.get_all(), True, {'helper': l_1_helper}))
        try:
            for event in gen:
                yield event
        finally: gen.close()
    l_1_helper = missing
    for l_1_cast in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'casts'):
        _loop_vars = {}
        pass
        yield '\n\n'
        template = environment.get_template('helpers/to_integer.py.jinja', 'module.py.jinja')
        gen = template.root_render_func(template.new_context(context.get_all(), True, {'cast': l_1_cast}))
        try:
            for event in gen:
                yield event
        finally: gen.close()
    l_1_cast = missing
    for l_1_kernel in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'functions'):
        _loop_vars = {}
        pass
        template = environment.get_template('kernel.py.jinja', 'module.py.jinja')
        gen = template.root_render_func(template.new_context(context.get_all(), True, {'kernel': l_1_kernel}))
        try:
            for event in gen:
                yield event
        finally: gen.close()
    l_1_kernel = missing
    for l_1_kernel in environment.getattr((undefined(name='module') if l_0_module is missing else l_0_module), 'kernels'):
        _loop_vars = {}
        pass
        template = environment.get_template('kernel.py.jinja', 'module.py.jinja')
        gen = template.root_render_func(template.new_context(context.get_all(), True, {'kernel': l_1_kernel}))
        try:
            for event in gen:
                yield event
        finally: gen.close()
    l_1_kernel = missing
    yield '\n\n'
    template = environment.get_template('host.py.jinja', 'module.py.jinja')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {}))
    try:
        for event in gen:
            yield event
    finally: gen.close()

blocks = {}
debug_info = '2=18&3=21&5=24&8=27&9=30&11=33&14=36&15=39&17=42&20=45&21=48&23=51&27=54&28=57&31=60&35=63&39=66&43=71&46=78&49=82&51=89&54=93&56=100&57=103&59=110&60=113&64=121'
