"""Random well-typed kernels as source text: a seed goes in; a text comes out, with its inputs and what it stores where.

Nothing in a kernel is undefined: programs write to elements of their own, what is read lies inside, nothing is divided
by zero. Of each float that is stored it is known how far two evaluations may differ.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from expressions import BOUND_OF_FUNCTIONS, Expressions, Function, error_of_parameters
from values import DIGITS, FLOATS, INTEGERS, Value, computed, rendered

COMBINING = """fn plus<E: Num>(a: E, b: E) -> E {
    a + b
}

fn most<E: Num>(a: E, b: E) -> E {
    if a > b { a } else { b }
}

fn xor(a: i32, b: i32) -> i32 {
    a ^ b
}
"""
RANGES = (
    ("0..4", 4), ("1..=3", 3), ("0..m", 5), ("(0..6).step_by(2)", 3), ("(0..3).rev()", 3), ("-2..1", 3),
    ("(1..=7).step_by(3)", 3), ("(m..9).rev()", 9), ("0..n % 4", 3), ("static_range(0, 3)", 3), ("5..m", 1),
    ("0..0", 1), ("(0..m).step_by(2)", 3), ("(-3..=m).rev().step_by(2)", 5), ("range(0, m, 2)", 3), ("-1..=m", 7),
)  # fmt: skip
"""Loops over small numbers, and how often they run at most; `m` is below 6."""
ATOMICS = ("atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor")


LONGEST = 6_000  # characters: what Triton makes of longer ones keeps NVIDIA's assembler busy for minutes
Last = Callable[[], None] | None


@dataclass(frozen=True)
class Stored:
    """Elements of a program's part of an output, and how far they may be from those of other evaluations.

    `between` is for two evaluations in the same types, `exactly` for one in f64 beside one in these types.
    """

    output: str
    start: int
    count: int
    between: float
    exactly: float


@dataclass(frozen=True)
class RandomKernel:
    """A kernel of the name `soak`; `texts` are its source and that in which all floats are f64."""

    seed: int
    template: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str, int], ...]
    shared: tuple[tuple[str, str], ...]
    scalars: dict[str, int]
    constants: dict[str, int]
    dtypes: dict[str, str]
    programs: int
    stores: tuple[Stored, ...]
    features: Counter[str] = field(default_factory=Counter, hash=False)

    def source(self, as_f64: bool = False) -> str:
        return rendered(self.template, as_f64)


def random_kernel(seed: int) -> RandomKernel:
    """The kernel of a seed: the first of its kernels that is not long."""
    generator = random.Random(seed)
    while True:
        made = _Maker(generator, seed).kernel()
        if len(made.template) < LONGEST:
            return made


class _Maker:
    """A kernel in the making: its lines, what it stores, and how deep the statement stands that is made."""

    def __init__(self, generator: random.Random, seed: int) -> None:
        self.random, self.seed = generator, seed
        wants_dot = generator.random() < 0.15
        sizes = (16, 16, 32) if wants_dot else (1, 2, 4, 8, 8, 16)
        names = ("N", "M", "K")[: generator.choice((1, 2, 2, 3))]
        self.constants = {name: generator.choice(sizes) for name in names}
        floats = generator.sample((*FLOATS, "D"), generator.choice((0, 1, 2)) if not wants_dot else 2)
        integers = generator.sample(INTEGERS, generator.choice((1, 2, 3)))
        self.dtypes = {"D": generator.choice(FLOATS)} if "D" in floats else {}
        elements = tuple(dict.fromkeys((*floats, *integers, "i32")))
        self.make = Expressions(generator, dict(self.constants), self.dtypes, elements)
        self.elements = elements
        self.lines: list[str] = []
        self.stores: list[Stored] = []
        self.used: Counter[str] = Counter()
        self.shared: dict[str, str] = {}
        self.mutable: list[Value] = []
        self.names = 0
        self.indent = 1
        self.times = 1

    def kernel(self) -> RandomKernel:
        functions = [self.function(k) for k in range(self.random.choice((0, 0, 1, 2)))]
        self.statements(self.random.randint(2, 6), 0)
        if self.random.random() < 0.2:
            self.returned()
        for _ in range(self.random.randint(1, 3)):
            self.store()
        self.store_all()
        signature, inputs, outputs = self.signature()
        body = "\n".join(self.lines)
        for element, _, count in outputs:
            body = body.replace(f"⟨{element}⟩", str(count))
        template = "\n".join([COMBINING, *functions, f"#[kernel]\n{signature} {{\n{body}\n}}\n"])
        return RandomKernel(
            seed=self.seed,
            template=template,
            inputs=inputs,
            outputs=outputs,
            shared=tuple(self.shared.items()),
            scalars={"n": self.random.randint(1, 40), "m": self.random.randint(0, 5)},
            constants=dict(self.constants),
            dtypes=self.dtypes,
            programs=self.random.choice((1, 2, 3)),
            stores=tuple(self.stores),
            features=self.make.features,
        )

    def signature(self) -> tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str, int], ...]]:
        """The first line, and the inputs and outputs with their element types."""
        reads = sorted(self.make.reads | ({"in_D"} if "D" in self.elements else set()))
        reads.sort(key=lambda name: name != "in_D")
        inputs = tuple((name, name.partition("_")[2]) for name in reads)
        outputs = tuple((f"out_{e}", e, count) for e, count in sorted(self.used.items()))
        pointers = [f"{name}: Pointer<{self.make.name(element)}>" for name, element in inputs]
        pointers += [f"{name}: Pointer<{self.make.name(element)}>" for name, element, _ in outputs]
        pointers += [f"{name}: Pointer<{element}>" for name, element in self.shared.items()]
        generics = ["D: Float"] if "D" in self.elements else []
        generics += [f"const {name}: i32" for name in self.constants]
        parameters = ",\n    ".join([*pointers, "n: i32", "m: i32"])
        return f"fn soak<{', '.join(generics)}>(\n    {parameters},\n)", inputs, outputs

    # ---- lines -------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, letter: str = "v") -> str:
        """A name, now and then that of an older one; not so what a loop around counts or sums up in."""
        hides = self.names > 3 and self.random.random() < 0.08
        if hides and letter not in "cs":
            return f"{letter}{self.random.randrange(self.names)}"
        self.names += 1
        return f"{letter}{self.names}"

    def define(self, value: Value) -> None:
        for scope in self.make.scopes:
            scope[:] = [v for v in scope if v.text != value.text]
        self.mutable = [v for v in self.mutable if v.text != value.text]
        self.make.scopes[-1].append(value)

    @contextmanager
    def inside(self, head: str, known: list[Value] | None = None, times: int = 1) -> Iterator[None]:
        """A block, whose own names end with it; a loop runs it so many times."""
        self.line(f"{head} {{".strip())
        outside, mutable = [list(scope) for scope in self.make.scopes], list(self.mutable)
        self.make.scopes.append([])
        for value in known or []:
            self.define(value)
        self.indent, self.times = self.indent + 1, self.times * times
        yield
        self.indent, self.times = self.indent - 1, self.times // times
        self.make.scopes, self.mutable = outside, mutable
        self.line("}")

    def block(self, head: str, count: int, depth: int) -> None:
        with self.inside(head):
            self.statements(count, depth + 1)

    # ---- statements --------------------------------------------------------------------------------------------------

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            kinds: list[Callable[[int], object]] = [self.let] * 5 + [self.let_mutable] * 2 + [self.assign] * 3
            kinds += [self.assigned, self.store_here, self.atomic, self.pair_of_results]
            if depth < 2:
                kinds += [self.loop_for, self.loop_for, self.loop_while, self.loop_loop, self.branch, self.branch]
                kinds += [self.matched, self.nested, self.summed, self.summed]
            self.random.choice(kinds)(depth)

    def element(self) -> str:
        return self.random.choice((*self.elements, *self.elements, "bool"))

    def let(self, depth: int) -> None:
        value = self.make.value(self.element(), self.make.shape(), self.random.randint(1, 3))
        name = self.fresh()
        stated = f": {self.make.name(value.element)}" if not value.shape and self.random.random() < 0.3 else ""
        self.line(f"let {name}{stated} = {value.text};")
        self.define(replace(value, text=name))

    def let_mutable(self, depth: int) -> None:
        """An integer that is assigned to later."""
        value = self.make.value(self.random.choice([e for e in self.elements if e in INTEGERS]), self.make.shape(), 2)
        name = self.fresh("m")
        self.line(f"let mut {name} = {value.text};")
        value = replace(value, text=name)
        self.define(value)
        self.mutable.append(value)

    def assign(self, depth: int) -> None:
        known = list(self.mutable)
        if not known:
            return self.let_mutable(depth)
        target = self.random.choice(known)
        value = self.make.value(target.element, target.shape, 2)
        sign = self.random.choice(("=", "=", "+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>="))
        self.make.say("assignment" if sign == "=" else "compound assignment")
        self.line(f"{target.text} {sign} {value.text};")
        return None

    def summed(self, depth: int) -> None:
        """A float that a loop adds to, or whose greatest it keeps; what it is in between nothing else reads."""
        floats = [e for e in self.elements if self.make.is_float(e)]
        if not floats:
            return self.let(depth)
        element, shape, name = self.random.choice(floats), self.make.shape(), self.fresh("s")
        start = self.make.finite(element, shape, 1)
        self.line(f"let mut {name} = {start.text};")
        self.hide(name)
        terms: list[tuple[str, Value]] = []

        def add() -> None:
            term = self.small(self.make.finite(element, shape, 2))
            is_sum = self.random.random() < 0.7
            text = f"{name} {self.random.choice(('+=', '-='))} {term.text};"
            text = text if is_sum else f"{name} = {self.random.choice(('maximum', 'minimum'))}({name}, {term.text});"
            self.line(
                f"if {self.make.any_shape('bool', (), 1).text} {{ {text} }}" if self.random.random() < 0.3 else text
            )
            terms.append(("sum" if is_sum else "extremum", term))

        times = self.random.choice((self.loop_for, self.loop_for, self.loop_while, self.loop_loop))(depth, add)
        ((kind, term),) = terms
        self.make.say(f"{kind} of floats in a loop")
        count = times if kind == "sum" else 1
        bound, error = start.bound + count * term.bound, start.error + count * term.error
        self.define(computed(name, element, shape, bound, error, self.make.dtype(element), 2 * times + 2))
        return None

    def small(self, term: Value) -> Value:
        """A term that may be added some times."""
        if term.bound <= 256 and term.error <= 1e-5 * max(1.0, term.bound):
            return term
        return self.make.full(term.element, term.shape) if term.shape else self.make.literal(term.element)

    def hide(self, name: str) -> None:
        for scope in self.make.scopes:
            scope[:] = [v for v in scope if v.text != name]
        self.mutable = [v for v in self.mutable if v.text != name]

    def assigned(self, depth: int) -> None:
        """A float that a branch may set anew."""
        floats = [e for e in self.elements if self.make.is_float(e)]
        if not floats:
            return self.branch(depth)
        element, shape, name = self.random.choice(floats), self.make.shape(), self.fresh("s")
        first, second = self.make.value(element, shape, 2), self.make.value(element, shape, 2)
        condition = self.make.any_shape("bool", (), 2).text
        self.make.say("assignment of a float in a branch")
        self.line(f"let mut {name} = {first.text};")
        self.line(f"if {condition} {{ {name} = {second.text}; }}")
        self.define(self.make.either(name, first, second))
        return None

    def pair_of_results(self, depth: int) -> None:
        """A tuple, taken apart."""
        a = self.make.value(self.element(), self.make.shape(), 2)
        b = self.make.value(self.element(), self.make.shape(), 1)
        first, second = self.fresh(), self.fresh("w")
        self.make.say("tuple")
        self.line(f"let ({first}, {second}) = ({a.text}, {b.text});")
        self.define(replace(a, text=first))
        self.define(replace(b, text=second))

    def nested(self, depth: int) -> None:
        self.make.say("block")
        self.block("", self.random.randint(1, 3), depth)

    # ---- loops -------------------------------------------------------------------------------------------------------

    def run_loop(
        self, head: str, depth: int, counter: Value, times: int, last: Last, first: str = "", end: str = ""
    ) -> int:
        """A loop of at most so many iterations; `last` adds what stands behind the other statements."""
        with self.inside(head, [counter], times):
            if first:
                self.line(first)
            self.statements(self.random.randint(0 if last else 1, 3), depth + 1)
            if not end and self.random.random() < 0.25:
                self.make.say("continue or break")
                word = self.random.choice(("continue", "break"))
                self.line(f"if {self.make.any_shape('bool', (), 2).text} {{ {word}; }}")
                self.statements(1, depth + 1)
            if last is not None:
                last()
            if end:
                self.line(end)
        return times

    def loop_for(self, depth: int, last: Last = None) -> int:
        name = self.fresh("i")
        form, times = self.random.choice(RANGES)
        if self.times * times > 40:
            form, times = "0..2", 2
        element = "i32"
        if self.random.random() < 0.15 and form[:2] in ("0.", "1."):
            element, form = "i64", form.replace("..m", "..4").replace("..n % 4", "..3").replace("..", "i64..", 1)
        self.make.say(f"for over {form}")
        return self.run_loop(f"for {name} in {form}", depth, Value(name, element), times, last)

    def loop_while(self, depth: int, last: Last = None) -> int:
        name, times = self.fresh("c"), self.random.choice((1, 2, 3))
        self.make.say("while")
        condition = f"{name} > 0"
        if self.random.random() < 0.5:
            condition = f"({name} > 0) {self.random.choice(('&&', '&'))} {self.make.any_shape('bool', (), 2).text}"
        self.line(f"let mut {name} = {self.random.choice((str(times), f'(n % {times + 1})'))};")
        return self.run_loop(f"while {condition}", depth, Value(name, "i32"), times, last, end=f"{name} -= 1;")

    def loop_loop(self, depth: int, last: Last = None) -> int:
        name, times = self.fresh("c"), self.random.choice((1, 2, 3))
        self.make.say("loop")
        condition = f"{name} >= {times}"
        if self.random.random() < 0.5:
            condition += f" || {self.make.any_shape('bool', (), 2).text}"
        self.line(f"let mut {name} = 0;")
        first = f"if {condition} {{ break; }} {name} += 1;"
        return self.run_loop("loop", depth, Value(name, "i32"), times, last, first=first)

    # ---- branches ----------------------------------------------------------------------------------------------------

    def branch(self, depth: int) -> None:
        self.make.say("if")
        self.block(f"if {self.make.any_shape('bool', (), 2).text}", self.random.randint(1, 3), depth)
        if self.random.random() < 0.5:
            self.lines.pop()
            self.block("} else", self.random.randint(1, 3), depth)

    def matched(self, depth: int) -> None:
        self.make.say("match statement")
        key = self.make.any_shape("i32", (), 2)
        self.line(f"match {key.text} {{")
        self.indent += 1
        for pattern in ("0 | 1", "-5..=-1", "_"):
            self.block(f"{pattern} =>", self.random.randint(1, 2), depth)
        self.indent -= 1
        self.line("}")

    def returned(self) -> None:
        """Ends some programs early."""
        self.make.say("early return")
        condition = self.make.any_shape("bool", (), 2)
        self.line(f"if {condition.text} {{")
        self.indent += 1
        self.store()
        self.line("return;")
        self.indent -= 1
        self.line("}")

    # ---- memory ------------------------------------------------------------------------------------------------------

    def store_here(self, depth: int) -> None:
        self.store()

    def store(self) -> None:
        """Stores a value to elements that nothing else writes."""
        value = self.make.value(self.element(), self.make.shape(3), 2)
        self.store_value(value)

    def store_all(self) -> None:
        """Stores what is assigned to, which everything before flows into."""
        floats = [v for scope in self.make.scopes for v in scope if v.is_float]
        for value in [*self.mutable[:4], *floats[-2:]]:
            self.store_value(value)

    def store_value(self, value: Value) -> None:
        dtype, count = self.make.dtype(value.element), self.make.count(value.shape)
        name = value.element
        start = self.used[name]
        self.used[name] += count
        at = f"program_id(0) * ⟨out_{name}⟩ + {start}"
        if value.shape:
            at += f" + {self.make.lane(value.shape)}"
        mask = ""
        if self.random.random() < 0.3:
            self.make.say("masked store")
            mask = f", mask = {self.make.value('bool', value.shape, 1).text}"
        self.line(f"store(out_{name} + ({at}), {value.text}{mask});")
        between, exactly = tolerances(value, dtype) if value.is_float else (0.0, 0.0)
        self.stores.append(Stored(f"out_{name}", start, count, between, exactly))
        self.make.say(f"store {name}")

    def atomic(self, depth: int) -> None:
        """An atomic whose order does not show: of integers, without its result, one operation a tensor."""
        element = self.random.choice(("i32", "u32", "i64", "u64"))
        operation = self.random.choice(ATOMICS)
        name = f"shared_{operation.removeprefix('atomic_')}_{element}"
        self.shared[name] = element
        shape = self.make.shape(1)
        value = self.make.value(element, shape, 2)
        index = self.make.value("i32", shape, 1)
        mask = f", mask = {self.make.value('bool', shape, 1).text}" if self.random.random() < 0.4 else ""
        self.make.say(operation)
        self.line(f"{operation}({name} + ({index.text} & 15), {value.text}{mask});")

    # ---- functions ---------------------------------------------------------------------------------------------------

    def function(self, number: int) -> str:
        """A device function of numbers, or of tensors of any shape."""
        element = self.random.choice(self.elements)
        takes_tensors = self.random.random() < 0.5 and element != "D"
        parameters = tuple(self.random.choice(self.elements) for _ in range(self.random.randint(1, 3)))
        if takes_tensors or "D" in (element, *parameters):
            parameters = tuple(element for _ in parameters)
        inside = Expressions(
            self.random, dict(self.constants), self.dtypes, tuple({element, *parameters}), is_elementwise=True
        )
        inside.elements = tuple(dict.fromkeys((element, *parameters)))
        for k, each in enumerate(parameters):
            bound = BOUND_OF_FUNCTIONS if self.make.is_float(each) else 0.0
            error = error_of_parameters(self.make.dtype(each)) if bound else 0.0
            inside.scopes[0].append(Value(f"p{k}", each, (), bound, error, not bound, not bound))
        return self.written_function(f"f{number}", element, parameters, inside, takes_tensors)

    def written_function(
        self, name: str, element: str, parameters: tuple[str, ...], inside: Expressions, takes_tensors: bool
    ) -> str:
        early = ""
        results = [inside.value(element, (), 2)]
        if takes_tensors:  # the result has the shape of what is given
            a, p = results[0], inside.scopes[0][0]
            text = f"({a.text} {'+' if a.is_float else '^'} p0)"
            bound, error = a.bound + p.bound, a.error + p.error
            results = [
                computed(text, element, (), bound, error, self.make.dtype(element), 2)
                if a.is_float
                else a.with_text(text)
            ]
        if self.random.random() < 0.4 and not takes_tensors:
            inside.say("early return of a function")
            results.append(inside.value(element, (), 1))
            early = f"    if {inside.value('bool', (), 2).text} {{\n        return {results[1].text};\n    }}\n"
        made = results[0] if len(results) == 1 else inside.either(results[0].text, *results)
        if made.is_float and made.is_special:
            made = replace(made, is_special=False, bound=float("inf"))
        self.make.features.update(inside.features)
        self.make.functions.append(Function(name, parameters, replace(made, is_exact=not made.is_float), takes_tensors))

        def kind(each: str) -> str:
            text = self.make.name(each)
            return f"Tensor<{text}>" if takes_tensors else text

        stated = ", ".join(f"p{k}: {kind(e)}" for k, e in enumerate(parameters))
        generics = "<D: Float>" if "D" in (element, *parameters) else ""
        return f"fn {name}{generics}({stated}) -> {kind(element)} {{\n{early}    {results[0].text}\n}}\n"


def tolerances(value: Value, dtype: str) -> tuple[float, float]:
    """How far a stored float may be from that of another evaluation in the same types, and from one in f64."""
    unit = 2.0 ** (1 - DIGITS[dtype])
    apart = 2.0 * value.error + unit * value.bound
    return (0.0 if value.is_determined else apart), (-1.0 if value.is_special else apart)
