"""Random expressions: an element type, a shape and what is in scope go in; a well-typed text comes out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from values import FLOATS, INTEGERS, LARGEST, SIGNED, Shape, Value, computed, rounded, stored

INPUTS = 1024
"""How many elements each input has; what is read lies below that."""

MATH = {
    # name: (argument, bound of the result, how errors of the argument grow, units of rounding)
    "exp": ("minimum(maximum({x}, -4.0), 4.0)", 55.0, 55.0, 4.0),
    "exp2": ("minimum(maximum({x}, -4.0), 4.0)", 16.0, 12.0, 4.0),
    "log": ("(abs({x}) + 1.0)", 15.0, 1.0, 8.0),
    "log2": ("(abs({x}) + 1.0)", 22.0, 1.5, 8.0),
    "sqrt": ("(abs({x}) + 1.0)", 1100.0, 0.5, 4.0),
    "rsqrt": ("(abs({x}) + 1.0)", 1.0, 0.5, 4.0),
    "sin": ("{x}", 1.0, 1.0, 8.0),
    "cos": ("{x}", 1.0, 1.0, 8.0),
    "tanh": ("{x}", 1.0, 1.0, 8.0),
    "sigmoid": ("minimum(maximum({x}, -16.0), 16.0)", 1.0, 0.25, 8.0),
    "erf": ("{x}", 1.0, 1.2, 8.0),
}
EXACT_FORMS = ("-{x}", "abs({x})", "({x}).clone()", "floor({x})", "ceil({x})", "({x}).trunc()")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass
class Function:
    """A device function: the element types of its parameters, what it gives, and how often it may be called."""

    name: str
    parameters: tuple[str, ...]
    result: Value
    takes_tensors: bool


@dataclass
class Expressions:
    """Makes expressions; `features` counts what they are made of, `reads` names the inputs that they load."""

    random: random.Random
    extents: dict[str, int]
    dtypes: dict[str, str]
    elements: tuple[str, ...]
    scopes: list[list[Value]] = field(default_factory=lambda: [[]])
    functions: list[Function] = field(default_factory=list)
    features: Counter[str] = field(default_factory=Counter)
    reads: set[str] = field(default_factory=set)
    is_elementwise: bool = False
    """whether only scalars and element-wise forms may be used, as in a function over tensors of any shape"""

    # ---- what is known of types --------------------------------------------------------------------------------------

    def dtype(self, element: str) -> str:
        return self.dtypes.get(element, element)

    def count(self, shape: Shape) -> int:
        total = 1
        for extent in shape:
            total *= self.extents.get(extent) or int(extent)
        return total

    def shape(self, most: int = 2) -> Shape:
        """Any shape of up to so many axes."""
        if self.is_elementwise:
            return ()
        rank = self.random.choice((0, 1, 1, 1, 2, 2, 3)[: 4 if most == 1 else 6 if most == 2 else 7])
        shape = tuple(self.random.choice(list(self.extents)) for _ in range(rank))
        return shape if self.count(shape) <= 256 else shape[:1]

    def is_float(self, element: str) -> bool:
        return element in FLOATS or element == "D"

    def say(self, *features: str) -> None:
        self.features.update(features)

    # ---- any expression ----------------------------------------------------------------------------------------------

    def value(self, element: str, shape: Shape, depth: int) -> Value:
        """An expression of exactly this type."""
        made = self.any_shape(element, shape, depth)
        if made.shape != shape:
            made = self.broadcast(made, shape)
        return made

    def any_shape(self, element: str, shape: Shape, depth: int) -> Value:
        """An expression of this element type, and of this shape or one that meets it."""
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(element, shape)
        if not self.is_elementwise and self.random.random() < 0.16:
            moved = self.random.choice(self.movements())(element, shape, depth - 1)
            if moved is not None:
                return moved
        if element == "bool":
            return self.boolean(shape, depth - 1)
        if self.is_float(element):
            return self.bounded(self.floating(element, shape, depth - 1))
        return self.integer(element, shape, depth - 1)

    def operand(self, element: str, shape: Shape, depth: int) -> Value:
        """An operand beside one of the shape: of the shape, or of the last axes of it, or a number."""
        if shape and self.random.random() < 0.35:
            shape = shape[self.random.randint(1, len(shape)) :]
        return self.any_shape(element, shape, depth)

    def pair(self, element: str, shape: Shape, depth: int) -> tuple[Value, Value]:
        """Two operands, one of which has the shape; only one is a literal without a type."""
        pair = [self.value(element, shape, depth), self.operand(element, shape, depth - 1)]
        self.random.shuffle(pair)
        return pair[0], pair[1]

    def visible(self, element: str, shape: Shape) -> list[Value]:
        return [v for scope in self.scopes for v in scope if v.element == element and v.shape == shape]

    def leaf(self, element: str, shape: Shape) -> Value:
        known = self.visible(element, shape)
        if known and self.random.random() < 0.7:
            return self.random.choice(known)
        if self.is_elementwise:
            return self.literal(element)
        if element == "i32" and len(shape) == 1 and self.random.random() < 0.3:
            self.say("arange")
            start = self.random.choice((0, 0, 1, 4))
            return Value(self.lane(shape, start), "i32", shape)
        if element != "bool" and self.random.random() < 0.2:
            return self.literal(element) if not shape else self.full(element, shape)
        return self.load(element, shape)

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def literal(self, element: str) -> Value:
        if element == "bool":
            return Value(self.random.choice(("true", "false")), "bool")
        if element in INTEGERS:
            return Value(self.whole(element), element)
        number = self.random.choice((0.0, 0.5, 1.0, 1.5, -0.25, 2.0, -1.0))
        dtype = self.dtype(element)
        text = (
            f"{number}{stored(dtype)}"
            if dtype in ("f32", "f64") and element != "D"
            else f"({number}f32 as {self.name(element)})"
        )
        if element == "D":
            text = f"D::from_f64({number})"
        return Value(f"({text})" if number < 0 else text, element, (), abs(number))

    def name(self, element: str) -> str:
        return element if element not in FLOATS else stored(element)

    def whole(self, element: str) -> str:
        """A literal of an integer type, often an extreme one."""
        bits, is_signed = int(element[1:]), element in SIGNED
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        number = self.random.choice((0, 1, 2, 3, 5, 7, 31, 100, high, high - 1, low, low + 1, -1, -3, -7))
        number = number if low <= number <= high else 1
        if number in (low, high) and low < 0 and self.random.random() < 0.5:
            return f"{element}::{'MIN' if number == low else 'MAX'}"
        return f"({number}{element})" if number < 0 else f"{number}{element}"

    def full(self, element: str, shape: Shape) -> Value:
        self.say("full")
        if self.is_float(element):
            number = self.random.choice((0.0, 1.0, 0.5, -1.5))
            return Value(f"full::<{self.name(element)}>({self.list(shape)}, {number})", element, shape, abs(number))
        if self.random.random() < 0.3:
            return Value(f"zeros::<{element}>({self.list(shape)})", element, shape)
        return Value(f"full::<{element}>({self.list(shape)}, {self.whole(element)})", element, shape)

    @staticmethod
    def list(shape: Shape) -> str:
        return f"&[{', '.join(shape)}]"

    # ---- memory ------------------------------------------------------------------------------------------------------

    def lane(self, shape: Shape, start: int = 0) -> str:
        """The numbers of the elements of a shape, row by row."""
        if not shape:
            return str(start)
        if len(shape) == 1:
            end = shape[0] if not start else f"{start} + {shape[0]}"
            return f"arange({start}, {end})"
        terms = []
        for axis, extent in enumerate(shape):
            index = ", ".join(".." if a == axis else "None" for a in range(len(shape)))
            factor = "".join(f" * {e}" for e in shape[axis + 1 :])
            terms.append(f"arange(0, {extent})[({index})]{factor}")
        return f"({' + '.join(terms)})"

    def index(self, shape: Shape, depth: int) -> tuple[str, int]:
        """Numbers of elements of an input, and what they stay below."""
        roll, count = self.random.random(), self.count(shape)
        lane = self.lane(shape)
        if roll < 0.35:
            offset = self.random.choice((0, 1, 3, 17))
            return (f"{lane} + {offset}" if offset else lane), count + offset
        if roll < 0.5:
            return f"program_id(0) * {count} + {lane}", 4 * count
        if roll < 0.6:
            return f"{count - 1} - {lane}", count
        if roll < 0.7:
            return f"{lane} * 3 + 1", 3 * count + 1
        self.say("index of data")
        element = self.random.choice(("i32", "i32", "i64", "u32", "u8"))
        known = self.visible(element, shape)
        if not known:
            return f"{lane} ^ 1", count + 2
        made = self.random.choice(known) if self.random.random() < 0.6 else self.value(element, shape, depth)
        if element == "u8":
            return f"(({made.text} & 255u8) as {self.random.choice(('i32', 'i64'))})", 256
        euclid = "({x}).rem_euclid(200)" if element in SIGNED else "({x} & 31)"  # what has no sign may be below 0 here
        form = self.random.choice(("({x} & 255)", euclid, "({x} & 63)"))
        return form.format(x=made.text), 256

    def load(self, element: str, shape: Shape) -> Value:
        index, below = self.index(shape, 1)
        is_special = self.is_float(element) and self.random.random() < 0.08
        name = f"{'special' if is_special else 'in'}_{element}"
        self.reads.add(name)
        self.say("load")
        bound = 2.0 if self.is_float(element) and not is_special else 0.0
        made = Value("", element, shape, bound, is_special=is_special)
        if below <= INPUTS and self.random.random() < 0.6:
            return made.with_text(f"load({name} + ({index}))")
        self.say("masked load")
        return made.with_text(
            f"load({name} + ({index}), mask = {self.mask(shape, index, below)}, other = {self.other(element)})"
        )

    def mask(self, shape: Shape, index: str, below: int) -> str:
        """A condition under which an index is inside of an input."""
        if below > INPUTS:
            return f"({index}) < {INPUTS}"
        roll = self.random.random()
        if roll < 0.2:
            return f"({index}) < {self.random.choice((0, 1, 5, 9, 33))}"
        if roll < 0.4 and "&" not in index and "as" not in index and "rem" not in index:
            return f"({index}) < n"
        known = self.visible("bool", shape)
        if known and roll < 0.8:
            return self.random.choice(known).text
        if roll < 0.5 or not shape:
            return self.value("bool", shape, 1).text
        return f"{self.lane(shape)} < {self.random.choice(('n', 'n % 7', '3'))}"

    def other(self, element: str) -> str:
        if element == "bool":
            return "false"
        return self.random.choice(("0.0", "1.0", "-1.5")) if self.is_float(element) else self.whole(element)

    # ---- integers ----------------------------------------------------------------------------------------------------

    def integer(self, element: str, shape: Shape, depth: int) -> Value:
        forms: list[Callable[[str, Shape, int], str]] = [self.arithmetic] * 4 + [self.bits] * 2
        forms += [self.division, self.method, self.method, self.chosen, self.chosen, self.converted, self.extremum]
        if not self.is_elementwise:
            forms += [self.reduced, self.scanned, self.called, self.called]
        return Value(self.random.choice(forms)(element, shape, depth), element, shape)

    def arithmetic(self, element: str, shape: Shape, depth: int) -> str:
        a, b = self.pair(element, shape, depth)
        if element in SIGNED and self.random.random() < 0.1:
            return f"(-{self.value(element, shape, depth).text})"
        return f"({a.text} {self.random.choice('+-*+-')} {b.text})"

    def bits(self, element: str, shape: Shape, depth: int) -> str:
        if self.random.random() < 0.15:
            return f"(!{self.value(element, shape, depth).text})"
        a, b = self.pair(element, shape, depth)
        sign = self.random.choice(("&", "|", "^", "<<", ">>"))
        self.say("shift" if sign in ("<<", ">>") else "bits")
        return f"({a.text} {sign} {b.text})"

    def division(self, element: str, shape: Shape, depth: int) -> str:
        self.say("integer division")
        a, b = self.value(element, shape, depth), self.operand(element, shape, depth - 1)
        divisor = self.random.choice(
            (f"({b.text} | 1)", f"where_({b.text} == 0, 1, {b.text})" if b.shape else f"({b.text} | 3)", f"3{element}")
        )
        if self.random.random() < 0.25:
            return f"({a.text}).{self.random.choice(('div_euclid', 'rem_euclid'))}({divisor})"
        return f"({a.text} {self.random.choice('/%')} {divisor})"

    def method(self, element: str, shape: Shape, depth: int) -> str:
        self.say("integer method")
        a, b = self.value(element, shape, depth), self.operand(element, shape, depth - 1)
        names = ["wrapping_add", "wrapping_mul", "wrapping_sub", "saturating_add", "saturating_sub"]
        if self.random.random() < 0.6:
            return f"({a.text}).{self.random.choice(names)}({b.text})"
        forms = ["({x}).rotate_left(3)", "({x}).rotate_right(5)", "({x}).swap_bytes()", "({x}).pow(3)", "({x}).clone()"]
        forms += ["({x}).wrapping_abs()", "({x}).signum()", "abs({x})"] if element in SIGNED else []
        forms += ["(({x}).is_power_of_two() as " + element + ")", "reverse_bits({x})", "({x}).saturating_mul(3)"]
        if element == "u32":
            source = self.value(self.random.choice(("u64", "i32", "i16", "u8")), shape, depth)
            name = self.random.choice(("count_ones", "leading_zeros", "trailing_zeros", "count_zeros", "leading_ones"))
            return f"(({source.text}).{name}() as u32)"
        return self.random.choice(forms).format(x=a.text)

    def chosen(self, element: str, shape: Shape, depth: int) -> str:
        """One of two, for each element by a mask or for all by a condition."""
        a, b = self.value(element, shape, depth), self.value(element, shape, depth - 1)
        return self.choice(a, b, shape, depth)

    def choice(self, a: Value, b: Value, shape: Shape, depth: int) -> str:
        if (shape and self.random.random() < 0.6) or self.is_elementwise:
            self.say("where")
            return f"where_({self.value('bool', shape, depth).text}, {a.text}, {b.text})"
        if self.random.random() < 0.3:
            self.say("match")
            key = self.any_shape("i32", (), depth)
            pattern = self.random.choice(("0", "-3..=7", "1 | 2 | 5", "i32::MIN..=-1"))
            return f"(match {key.text} {{ {pattern} => {a.text}, _ => {b.text} }})"
        self.say("if expression")
        return f"(if {self.any_shape('bool', (), depth).text} {{ {a.text} }} else {{ {b.text} }})"

    def converted(self, element: str, shape: Shape, depth: int) -> str:
        source = self.random.choice([e for e in (*self.elements, "bool") if e != element] or ["bool"])
        if self.is_float(source):
            self.say("float to integer")
            return f"({self.exact(source, shape, depth).text} as {element})"
        self.say("integer to integer")
        return f"({self.value(source, shape, depth).text} as {element})"

    def extremum(self, element: str, shape: Shape, depth: int) -> str:
        a, b = self.pair(element, shape, depth)
        if self.random.random() < 0.3:
            return f"minimum(maximum({a.text}, {b.text}), {self.leaf(element, ()).text})"
        return f"{self.random.choice(('maximum', 'minimum'))}({a.text}, {b.text})"

    def reduced(self, element: str, shape: Shape, depth: int) -> str:
        """A reduction over one more axis."""
        if len(shape) > 3:
            return self.arithmetic(element, shape, depth)
        longer, axis = self.with_axis(shape)
        if element == "i32" and self.random.random() < 0.4:
            self.say("argmax")
            other = self.random.choice([e for e in self.elements if not self.is_float(e)])
            name = self.random.choice(("argmax", "argmin"))
            return f"{name}({self.value(other, longer, depth).text}, axis = {axis})"
        name = self.random.choice(("max", "min", "xor_sum", "sum", "reduce_or", "reduce_and"))
        if name == "sum" and int(element[1:]) < 32:
            name = "max"
        self.say(f"reduction {name}")
        x = self.value(element, longer, depth).text
        if self.random.random() < 0.3 and int(element[1:]) >= 32:
            self.say("reduce by function")
            functions = [f"plus::<{element}>", f"most::<{element}>", *(["xor"] if element == "i32" else [])]
            return f"reduce({x}, {axis}, {self.random.choice(functions)})"
        if len(longer) == 1 and self.random.random() < 0.3:
            return f"{name}({x})"
        return f"{name}({x}, axis = {axis})"

    def with_axis(self, shape: Shape) -> tuple[Shape, int]:
        axis = self.random.randint(0, len(shape))
        longer = (*shape[:axis], self.random.choice(list(self.extents)), *shape[axis:])
        if len(longer) > 3 or self.count(longer) > 512:
            longer, axis = (*shape[:-1], "2", *shape[-1:])[:4], max(0, len(shape) - 1)
        return longer, axis

    def scanned(self, element: str, shape: Shape, depth: int) -> str:
        if not shape:
            return self.reduced(element, shape, depth)
        axis, x = self.random.randrange(len(shape)), self.value(element, shape, depth).text
        is_reverse = ", reverse = true" if self.random.random() < 0.3 else ""
        if int(element[1:]) < 32:
            return f"sort({x}{', descending = true' if is_reverse else ''})" if self.say("sort") is None else ""
        self.say("scan")
        if self.random.random() < 0.3:
            return f"associative_scan({x}, {axis}, {self.random.choice(('plus', 'most'))}::<{element}>{is_reverse})"
        return f"{self.random.choice(('cumsum', 'cumprod'))}({x}, axis = {axis}{is_reverse})"

    def called(self, element: str, shape: Shape, depth: int) -> str:
        known = [f for f in self.functions if f.result.element == element and (f.takes_tensors or not shape)]
        if not known:
            return self.arithmetic(element, shape, depth)
        self.say("device function")
        function = self.random.choice(known)
        arguments = [self.value(e, shape, depth) for e in function.parameters]
        return f"{function.name}({', '.join(a.text for a in arguments)})"

    # ---- booleans ----------------------------------------------------------------------------------------------------

    def boolean(self, shape: Shape, depth: int) -> Value:
        roll = self.random.random()
        if roll < 0.2:
            a, b = self.pair("bool", shape, depth)
            signs = ("&", "|", "^") if shape or self.is_elementwise else ("&", "|", "^", "&&", "||")
            return Value(f"({a.text} {self.random.choice(signs)} {b.text})", "bool", shape)
        if roll < 0.3:
            return Value(f"(!{self.value('bool', shape, depth).text})", "bool", shape)
        element = self.random.choice([e for e in self.elements if e != "bool"])
        if self.is_float(element):
            self.say("comparison of floats")
            a = self.exact(element, shape, depth)
            if self.random.random() < 0.25:
                return Value(
                    f"({a.text}).{self.random.choice(('is_nan', 'is_finite', 'is_infinite'))}()", "bool", shape
                )
            b = self.exact(element, shape if self.random.random() < 0.6 else (), depth - 1)
        else:
            a, b = self.pair(element, shape, depth)
        return Value(f"({a.text} {self.random.choice(COMPARISONS)} {b.text})", "bool", shape)

    # ---- floats ------------------------------------------------------------------------------------------------------

    def exact(self, element: str, shape: Shape, depth: int) -> Value:
        """A float that is the same number in every type: loaded, or moved, chosen and rounded from such."""
        known = [v for v in self.visible(element, shape) if v.is_exact]
        if depth <= 0 or self.random.random() < 0.3:
            if known and self.random.random() < 0.6:
                return self.random.choice(known)
            return self.literal(element) if self.is_elementwise or not shape else self.load(element, shape)
        a = self.exact(element, shape, depth - 1)
        roll = self.random.random()
        if roll < 0.4:
            return a.with_text(f"({self.random.choice(EXACT_FORMS).format(x=a.text)})")
        b = self.exact(element, shape, depth - 1)
        bound, is_special = max(a.bound, b.bound), a.is_special or b.is_special
        if roll < 0.7:
            text = f"{self.random.choice(('maximum', 'minimum'))}({a.text}, {b.text})"
        else:
            text = self.choice(a, b, shape, depth)
        return replace(a, text=text, bound=bound, is_special=is_special)

    def floating(self, element: str, shape: Shape, depth: int) -> Value:
        forms: list[Callable[[str, Shape, int], Value]] = [self.float_arithmetic] * 5 + [self.mathematical] * 3
        forms += [self.float_choice, self.exact, self.float_converted, self.float_converted]
        if not self.is_elementwise:
            forms += [self.float_reduced, self.float_reduced, self.float_called, self.product, self.product]
        return self.random.choice(forms)(element, shape, depth)

    def finite(self, element: str, shape: Shape, depth: int) -> Value:
        made = self.value(element, shape, depth)
        for _ in range(3):
            if not made.is_special:
                return made
            made = self.leaf(element, shape)
        return self.value_of(self.literal(element), shape) if made.is_special else made

    def value_of(self, number: Value, shape: Shape) -> Value:
        return self.broadcast(number, shape) if shape else number

    def bounded(self, made: Value) -> Value:
        """The value, brought back where it is too large for its type or errs too much to say anything."""
        dtype = self.dtype(made.element)
        if made.is_special or (made.bound <= LARGEST[dtype] and made.error <= 1e-3 * max(1.0, made.bound)):
            return made
        if made.error > 1e-3 * max(1.0, made.bound):
            return self.literal_of_shape(made)
        factor = 2.0**-12
        scaled = computed(
            f"({made.text} * {factor})", made.element, made.shape, made.bound * factor, made.error * factor, dtype, 1
        )
        return self.bounded(scaled)

    def literal_of_shape(self, made: Value) -> Value:
        return self.full(made.element, made.shape) if made.shape else self.literal(made.element)

    def float_arithmetic(self, element: str, shape: Shape, depth: int) -> Value:
        a = self.finite(element, shape, depth)
        b = self.finite(element, shape if self.random.random() < 0.6 else (), depth - 1)
        dtype, product = self.dtype(element), a.bound * b.error + b.bound * a.error + a.error * b.error
        match self.random.randrange(6):
            case 0 | 1:
                text, bound = f"({a.text} {self.random.choice('+-')} {b.text})", a.bound + b.bound
                return computed(text, element, shape, bound, a.error + b.error, dtype, 2)
            case 2 | 3:
                return computed(f"({a.text} * {b.text})", element, shape, a.bound * b.bound, product, dtype, 2)
            case 4:
                self.say("float division")
                error = a.error + a.bound * b.error + a.error * b.error
                return computed(f"({a.text} / (abs({b.text}) + 1.0))", element, shape, a.bound, 2 * error, dtype, 6)
            case _:
                self.say("fma")
                c = self.finite(element, shape, depth - 1)
                text, bound = f"({a.text} * {b.text} + {c.text})", a.bound * b.bound + c.bound
                return computed(text, element, shape, bound, product + c.error, dtype, 3)

    def mathematical(self, element: str, shape: Shape, depth: int) -> Value:
        a = self.finite(element, shape, depth)
        name = self.random.choice(list(MATH))
        self.say(f"math {name}")
        argument, bound, growth, units = MATH[name]
        if name in ("sin", "cos") and a.bound > 64:
            argument = "minimum(maximum({x}, -8.0), 8.0)"
        text, dtype = f"{name}({argument.format(x=a.text)})", self.dtype(element)
        error = growth * (a.error + (2.0**-23 if dtype != "f64" else 0.0))
        return computed(text, element, shape, bound, error, dtype, units)

    def float_choice(self, element: str, shape: Shape, depth: int) -> Value:
        a, b = self.value(element, shape, depth), self.value(element, shape, depth - 1)
        return self.either(self.choice(a, b, shape, depth), a, b)

    @staticmethod
    def either(text: str, a: Value, b: Value) -> Value:
        """What is one of two."""
        return replace(
            a,
            text=text,
            bound=max(a.bound, b.bound),
            error=max(a.error, b.error),
            is_exact=a.is_exact and b.is_exact,
            is_determined=a.is_determined and b.is_determined,
            is_special=a.is_special or b.is_special,
        )

    def float_converted(self, element: str, shape: Shape, depth: int) -> Value:
        dtype = self.dtype(element)
        others = [e for e in self.elements if e not in (element, "bool")]
        source = self.random.choice(others) if others else "i32"
        if self.is_float(source):
            self.say("float to float")
            a = self.value(source, shape, depth)
            if a.bound > LARGEST[dtype] and not a.is_special:
                return self.exact(element, shape, depth)
            wide = "f64" if self.dtype(source) == "f64" else "f32"
            made = replace(a, text=f"({a.text} as {self.name(element)})", element=element)
            is_rounded = element not in ("D", wide, "f64") or (wide == "f64" and element != "f64")
            made = rounded(made, "f32" if element == "D" and dtype != "f64" else dtype) if is_rounded else made
            return replace(made, is_determined=a.is_determined and element != "D")
        self.say("integer to float")
        a = self.value(source, shape, depth)
        small = a.text if source in ("i8", "u8") else f"({a.text} % 100)" if source in INTEGERS else a.text
        return Value(f"({small} as {self.name(element)})", element, shape, 255.0, is_exact=dtype != "bf16" or True)

    def float_reduced(self, element: str, shape: Shape, depth: int) -> Value:
        if len(shape) > 3:
            return self.float_arithmetic(element, shape, depth)
        longer, axis = self.with_axis(shape)
        length, dtype = self.count((longer[axis],)), self.dtype(element)
        if self.random.random() < 0.5:
            self.say("reduction of floats, extremum")
            a = self.finite(element, longer, depth)
            return replace(a, text=f"{self.random.choice(('max', 'min'))}({a.text}, axis = {axis})", shape=shape)
        self.say("reduction of floats, sum")
        a = self.finite(element, longer, depth)
        bound = a.bound * length
        return computed(f"sum({a.text}, axis = {axis})", element, shape, bound, a.error * length, dtype, length + 2)

    def float_called(self, element: str, shape: Shape, depth: int) -> Value:
        known = [f for f in self.functions if f.result.element == element and (f.takes_tensors or not shape)]
        if not known:
            return self.mathematical(element, shape, depth)
        self.say("device function")
        function = self.random.choice(known)
        arguments = []
        for parameter in function.parameters:
            made = self.value(parameter, shape, depth)
            if self.is_float(parameter) and not fits_function(made, self.dtype(parameter)):
                made = self.value_of(self.literal(parameter), shape)
            arguments.append(made.text)
        return replace(function.result, text=f"{function.name}({', '.join(arguments)})", shape=shape)

    def product(self, element: str, shape: Shape, depth: int) -> Value:
        """A product of matrices, of which only shapes of 16 and more are taken."""
        if len(shape) != 2 or min(map(self.extent, shape)) < 16 or element not in ("f32", "f64", "D"):
            return self.float_arithmetic(element, shape, depth)
        inner = self.random.choice([e for e in self.extents if self.extent(e) >= 16])
        operand = self.random.choice([e for e in self.elements if e in ("f16", "f32", "bf16")] or ["f32"])
        operand = element if element != "f32" else operand
        if operand == "bf16":
            operand = "f32"
        a, b = self.moderate(operand, (shape[0], inner)), self.moderate(operand, (inner, shape[1]))
        self.say(f"dot {operand}")
        count, dtype = self.extent(inner), self.dtype(element)
        error = count * (a.bound * b.error + b.bound * a.error)
        text = f"dot({a.text}, {b.text})"
        made = computed(text, element, shape, count * a.bound * b.bound, error, dtype, count + 2)
        return replace(made, error=made.error + (2.0**-7 * made.bound if element == "D" and dtype != "f64" else 0.0))

    def moderate(self, element: str, shape: Shape) -> Value:
        """A matrix of loaded numbers."""
        made = self.load(element, shape)
        return made if not made.is_special else self.full(element, shape)

    def extent(self, name: str) -> int:
        return self.extents.get(name) or int(name)

    # ---- movements ---------------------------------------------------------------------------------------------------

    def movements(self) -> list[Callable[[str, Shape, int], Value | None]]:
        return [self.transposed, self.reshaped, self.flipped, self.expanded, self.gathered, self.halves, self.joined]

    def transposed(self, element: str, shape: Shape, depth: int) -> Value | None:
        if len(shape) < 2:
            return None
        self.say("trans")
        order = self.random.sample(range(len(shape)), len(shape))
        source = [""] * len(shape)
        for to, from_ in enumerate(order):
            source[from_] = shape[to]
        a = self.value(element, tuple(source), depth)
        return replace(a, text=f"permute({a.text}, &[{', '.join(map(str, order))}])", shape=shape)

    def reshaped(self, element: str, shape: Shape, depth: int) -> Value | None:
        if len(shape) < 2:
            return None
        self.say("reshape")
        a = self.value(element, tuple(reversed(shape)), depth)
        return replace(a, text=f"reshape({a.text}, {self.list(shape)})", shape=shape)

    def flipped(self, element: str, shape: Shape, depth: int) -> Value | None:
        if not shape or element == "bool":
            return None
        self.say("flip")
        a = self.value(element, shape, depth)
        return replace(a, text=f"flip({a.text}, {self.random.randrange(len(shape))})")

    def expanded(self, element: str, shape: Shape, depth: int) -> Value | None:
        """A tensor with fewer axes, broadcast along a new one."""
        if len(shape) < 2:
            return None
        self.say("expand and broadcast")
        axis = self.random.randrange(len(shape))
        a = self.value(element, shape[:axis] + shape[axis + 1 :], depth)
        index = ", ".join("None" if i == axis else ".." for i in range(len(shape)))
        expanded = f"{a.text}[({index})]" if self.random.random() < 0.5 else f"expand_dims({a.text}, {axis})"
        return replace(a, text=f"broadcast_to({expanded}, {self.list(shape)})", shape=shape)

    def gathered(self, element: str, shape: Shape, depth: int) -> Value | None:
        if not shape or element == "bool":
            return None
        self.say("gather")
        axis = self.random.randrange(len(shape))
        a, index = self.value(element, shape, depth), self.value("i32", shape, depth - 1)
        text = f"gather({a.text}, ({index.text} & ({shape[axis]} - 1)), {axis})"
        return replace(a, text=text)

    def halves(self, element: str, shape: Shape, depth: int) -> Value | None:
        if len(shape) not in (1, 2) or self.count(shape) > 256:
            return None
        self.say("split")
        a = self.value(element, (*shape, "2"), depth)
        return replace(a, text=f"split({a.text}).{self.random.randrange(2)}", shape=shape)

    def joined(self, element: str, shape: Shape, depth: int) -> Value | None:
        if len(shape) not in (2, 3) or shape[-1] != "2":
            return None
        self.say("join")
        a, b = self.value(element, shape[:-1], depth), self.value(element, shape[:-1], depth)
        made = (
            self.either(f"join({a.text}, {b.text})", a, b) if a.is_float else a.with_text(f"join({a.text}, {b.text})")
        )
        return replace(made, shape=shape)

    def broadcast(self, made: Value, shape: Shape) -> Value:
        self.say("broadcast")
        return replace(made, text=f"broadcast_to({made.text}, {self.list(shape)})", shape=shape)


UNITS_OF_FUNCTIONS = 64.0
BOUND_OF_FUNCTIONS = 8.0


def fits_function(made: Value, dtype: str) -> bool:
    """Whether a float is as bounded and as right as a function takes its parameters to be."""
    return not made.is_special and made.bound <= BOUND_OF_FUNCTIONS and made.error <= error_of_parameters(dtype)


def error_of_parameters(dtype: str) -> float:
    return UNITS_OF_FUNCTIONS * 2.0 ** -(53 if dtype == "f64" else 24) * BOUND_OF_FUNCTIONS
