"""Random kernels of loops: of recurrences that obey the laws, or with one law broken; a seed decides everything.

A kernel is for one row. It has one loop or two in turn, and what each carries is a group of statements that obeys one
law: sums, extrema, counts, products, sums that are brought to a running extremum. The statements of groups mix in any
order that keeps each group's own; a group may stand in a branch.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

PARAMETERS = """
    own_rows: Pointer<T>, keys: Pointer<T>, values: Pointer<T>, pairs: Pointer<T>, weights: Pointer<T>,
    numbers: Pointer<T>, flags: Pointer<i32>, ends: Pointer<i32>,
    scalars: Pointer<T>, lanes: Pointer<T>, rows: i32, n: i32, kind: i32,
"""
HEADERS = {
    "for {k} in 0..n {{": 6,
    "for {k} in 0..minimum(row + 1, n) {{": 2,
    "for {k} in maximum(0, row - 3)..n {{": 1,
    "for {k} in maximum(0, row - 2)..minimum(row + 3, n) {{": 1,
    "for {k} in row..n {{": 1,
    "for {k} in 0..load(ends + row) {{": 1,
    "for {k} in load(ends + row)..n {{": 1,
    "for {k} in 2..n {{": 1,
    "for {k} in (0..n).step_by(2) {{": 1,
    "for {k} in (1..n).step_by(3) {{": 1,
    "for {k} in (0..n).rev() {{": 1,
    "for {k} in 0..n - kind {{": 1,
}
CONDITIONS = {
    "{k} <= row": 3,
    "{k} % 2 == row % 2": 1,
    "load(flags + {k}) != 0": 2,
    "row % 3 != 0": 1,
    "kind > 0": 1,
    "{k} + 3 > row && {k} % 5 != 1": 1,
    "load(weights + {k}) > 0.25 * {S}": 2,
    "load(weights + {k}) < 0.5 || {k} == row": 1,
}
BREAKS = (
    "decay",
    "function",
    "set anew",
    "previous",
    "sum of sums",
    "index",
    "condition",
    "kahan",
    "alternating",
    "old extremum",
    "no factor",
    "no correction",
    "correction twice",
    "another scale",
    "extremum in the term",
    "extremum added",
)
"""The ways to break a law; those of the extremum are for sums that are brought to one."""


@dataclass(frozen=True)
class Loops:
    """A random kernel: its source, how many of each kind it stores, and what it was broken by, if it was."""

    source: str
    name: str
    scalars: int
    lanes: int
    loops: tuple[str, ...]
    broken: str = ""
    broken_loop: str = ""


def random_loops(seed: int, element: str, *, is_legal: bool) -> Loops:
    """The kernel of a seed, over `f32` or `f64`."""
    return _Maker(random.Random(f"{seed} {is_legal}"), f"random_{seed}", element).kernel(is_legal)


@dataclass
class _Maker:
    """A kernel in the making: what its loops carry, and what is stored in the end."""

    random: random.Random
    name: str
    element: str
    before: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    lanes: list[str] = field(default_factory=list)
    row_numbers: list[str] = field(default_factory=lambda: ["load(numbers + row)"])
    broken: str = ""
    count: int = 0

    def kernel(self, is_legal: bool) -> Loops:
        counters = ["k", "j"][: self.random.choice((1, 1, 1, 2))]
        broken = "" if is_legal else self.random.choice(counters)
        loops = [self.loop(k, is_broken=k == broken) for k in counters]
        stores = [f"store(scalars + {n} * rows + row, {c});" for n, c in enumerate(self.scalars)]
        stores += [f"store(lanes + ({n} * rows + row) * N + lane, {c});" for n, c in enumerate(self.lanes)]
        body = ["let row = program_id(0);", "let lane = arange(0, N);", "let own = load(own_rows + row * N + lane);"]
        text = "\n".join([*body, *(line for loop in loops for line in loop), *stores])
        axes = ", ".join(["row", *counters])
        source = f"#[kernel(tile({axes}))]\nfn {self.name}<const N: i32>({PARAMETERS}) {{\n{text}\n}}\n"
        source = source.replace("<T>", f"<{self.element}>").replace("T::", f"{self.element}::")
        return Loops(source, self.name, len(self.scalars), len(self.lanes), tuple(counters), self.broken, broken)

    def loop(self, k: str, is_broken: bool) -> list[str]:
        """One loop with what it carries declared before it."""
        self.before = []
        groups = [self.group(k) for _ in range(self.random.randint(1, 3))]
        if is_broken:
            groups[0] = self.broken_group(k)
        shared = [f"let key_{k} = load(keys + {k} * N + lane);", f"let score_{k} = sum(own * key_{k}, axis = 0);"]
        shared += [f"let pair_{k} = load(pairs + row * n + {k});"]
        if self.random.random() < 0.15:
            shared.append(f"if {self.condition(k)} {{ continue; }}")
        lines = [*self.before, self.weighted(HEADERS).format(k=k), *shared, *self.mixed(groups), "}"]
        self.row_numbers += [f"tanh({c})" for c in self.scalars if " as " not in c][:2]
        return lines

    def group(self, k: str) -> list[str]:
        """What obeys one law, perhaps in a branch, with another group in the other."""
        lines = self.random.choice((self.sum, self.sum, self.extremum, self.counted, self.rescaled, self.rescaled))(k)
        if self.random.random() < 0.3:
            head, otherwise = f"if {self.condition(k)} {{", list[str]()
            if self.random.random() < 0.3:
                otherwise = ["} else {", *self.random.choice((self.sum, self.extremum, self.counted))(k)]
            lines = [" ".join([head, *lines, *otherwise, "}"])]
        return lines

    def mixed(self, groups: Sequence[list[str]]) -> list[str]:
        """The statements of groups in any order that keeps that of each group."""
        rest, mixed = [list(g) for g in groups], list[str]()
        while any(rest):
            mixed.append(self.random.choice([g for g in rest if g]).pop(0))
        return mixed

    # ---- laws -------------------------------------------------------------------------------------------------------

    def carry(self, start: str, *, is_row: bool = True) -> str:
        """A new value that the loop carries and the kernel stores."""
        self.count += 1
        name = f"c{self.count}"
        self.before.append(f"let mut {name}: {self.element} = {start};" if is_row else f"let mut {name} = {start};")
        (self.scalars if is_row else self.lanes).append(name)
        return name

    def start(self) -> str:
        return self.random.choice(("0.0", "0.0", "1.5", "-0.25", self.random.choice(self.row_numbers)))

    def sum(self, k: str) -> list[str]:
        if self.random.random() < 0.5:
            c = self.carry(self.start())
            terms = [self.scalar(k) for _ in range(self.random.choice((1, 1, 2)))]
        else:
            c = self.carry(self.random.choice(("zeros::<T>(&[N])", "own", "load(values + lane)")), is_row=False)
            terms = [self.lane_term(k) for _ in range(self.random.choice((1, 1, 2)))]
        added = f" {self.random.choice('+-')} ".join(terms)
        forms = (f"{c} += {added};", f"{c} -= {added};", f"{c} = {c} - ({added});", f"{c} = {added} + {c};")
        return [self.random.choice(forms)]

    def counted(self, k: str) -> list[str]:
        self.count += 1
        name = f"c{self.count}"
        self.before.append(f"let mut {name} = {self.random.choice(('0', '3', 'row'))};")
        self.scalars.append(f"{name} as {self.element}")
        step = self.random.choice(("1", k, f"where_({self.condition(k)}, 1, 0)", f"load(flags + {k})", "(row + 1)"))
        return [f"{name} {self.random.choice(('+=', '+=', '-='))} {step};"]

    def extremum(self, k: str) -> list[str]:
        intrinsic, start = self.random.choice((("maximum", "T::NEG_INFINITY"), ("minimum", "T::INFINITY")))
        c = self.carry(self.random.choice((start, start, "0.25")))
        sides = [c, self.scalar(k)]
        self.random.shuffle(sides)
        return [f"{c} = {intrinsic}({', '.join(sides)});"]

    def rescaled(self, k: str, broken: str = "") -> list[str]:
        """Sums that are brought to a running extremum, in one of two orders."""
        intrinsic, start = self.random.choice((("maximum", "T::NEG_INFINITY"), ("minimum", "T::INFINITY")))
        m = self.carry(self.random.choice((start, start, start, "0.5")))
        s, new = f"s_{m}", f"new_{m}"
        scale, by = (
            self.random.choice(("1.0", "0.5", "load(numbers + row)", "1.0")),
            self.random.choice(("exp", "exp2")),
        )
        sign = "" if intrinsic == "maximum" else "-"
        if scale.startswith("load"):
            self.before.append(f"let scale_{m} = {scale};")
            scale = f"scale_{m}"
        old = m
        if self.random.random() < 0.5:
            lines = [f"let {s} = {self.scalar(k)};", f"let {new} = {intrinsic}({m}, {s});"]
            last = [f"{m} = {new};"]
        else:
            old, new = f"old_{m}", m
            lines = [f"let {s} = {self.scalar(k)};", f"let {old} = {m};", f"{m} = {intrinsic}({s}, {m});"]
            last = []
        sums = [self.rescaled_sum(k, by, scale, sign, (old, new, s), "") for _ in range(self.random.randint(1, 3))]
        if broken:
            sums[0] = self.rescaled_sum(k, by, scale, sign, (old, new, s), broken)
        return [*lines, *sums, *last]

    def rescaled_sum(self, k: str, by: str, scale: str, sign: str, names: tuple[str, str, str], broken: str) -> str:
        old, new, s = names

        def factor(x: str, to: str, times: str = scale) -> str:
            difference = f"{x} - {to}" if not sign else f"{to} - {x}"
            if times == "1.0":
                return f"{by}({difference})"
            forms = (f"{by}({times} * ({difference}))", f"{by}(({difference}) * {times})")
            return self.random.choice(forms)

        is_row = self.random.random() < 0.5
        c = self.carry("0.0" if is_row else "zeros::<T>(&[N])", is_row=is_row)
        correction, weight = factor(old, new), factor(s, new)
        if broken == "old extremum":
            weight = f"minimum({factor(s, old)}, 2.0)"
        elif broken == "no factor":
            weight = "1.0"
        elif broken == "another scale":
            correction = factor(old, new, "0.75" if scale != "0.75" else "0.25")
        elif broken == "correction twice":
            correction = f"{correction} * {correction}"
        elif broken == "extremum in the term":
            weight = f"{weight} * {new}"
        term = weight
        if not is_row:
            term = f"{weight} * {self.lane_factor(k)}"
        if self.random.random() < 0.4:
            term = f"{self.bounded(k)} * {term}"
        kept = c if broken == "no correction" else self.random.choice((f"{c} * {correction}", f"{correction} * {c}"))
        if broken == "extremum added":
            return f"{c} = {c} + {new} * {self.lane_factor(k) if not is_row else '1.0'};"
        sign = self.random.choice("++-")
        return f"{c} = {kept} {sign} {term};"

    # ---- broken laws ------------------------------------------------------------------------------------------------

    def broken_group(self, k: str) -> list[str]:
        self.broken = self.random.choice(BREAKS)
        if self.broken in BREAKS[9:]:
            return self.rescaled(k, self.broken)
        c, s = self.carry("0.5"), self.scalar(k)
        match self.broken:
            case "decay":
                return [
                    f"{c} = {self.random.choice(('0.5', f'load(weights + {k})', 'load(numbers + row)'))} * {c} + {s};"
                ]
            case "function":
                return [f"{c} = tanh({c} + {s});"]
            case "set anew":
                return [f"{c} = {s};"]
            case "previous":
                last = self.carry("1.0")
                return [f"let v_{c} = {s};", f"{c} += {last} * {self.bounded(k)};", f"{last} = v_{c};"]
            case "sum of sums":
                total = self.carry("0.0")
                return self.random.sample([f"{total} += {s};", f"{c} += {total};"], 2)
            case "index":
                at = f"at_{c}"
                self.before.append(f"let mut {at} = 0;")
                return [f"{at} += load(flags + {k}) + 1;", f"{c} += load(weights + {at} % n);"]
            case "condition":
                return [f"if {c} < 2.0 {{ {c} += abs({s}); }}"]
            case "kahan":
                lost = self.carry("0.0")
                lines = [f"let v_{c} = {s} - {lost};", f"let next_{c} = {c} + v_{c};"]
                return [*lines, f"{lost} = (next_{c} - {c}) - v_{c};", f"{c} = next_{c};"]
            case _:
                return [f"{c} = {s} - {c};"]

    # ---- expressions ------------------------------------------------------------------------------------------------

    def weighted(self, choices: dict[str, int]) -> str:
        return self.random.choices(list(choices), list(choices.values()))[0]

    def condition(self, k: str) -> str:
        return self.weighted(CONDITIONS).format(k=k, S=self.leaf(k))

    def leaf(self, k: str) -> str:
        """A number of a pair, of an iteration, of a row or of all."""
        choices = (f"score_{k}", f"score_{k}", f"pair_{k}", f"load(weights + {k})", "load(numbers + row)", "0.75")
        more = (f"load(pairs + row * n + {k})", f"sum(own * load(values + {k} * N + lane), axis = 0)")
        return self.random.choice((*choices, *more, f"({k} as {self.element}) * 0.125"))

    def bounded(self, k: str) -> str:
        """A number between -1 and 1, or not much more."""
        return self.random.choice((f"tanh({self.leaf(k)})", f"sigmoid({self.leaf(k)})", f"load(weights + {k})", "0.5"))

    def scalar(self, k: str, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.leaf(k)
        a, b = self.scalar(k, depth - 1), self.scalar(k, depth - 1)
        forms = (
            f"({a} + {b})",
            f"({a} - {b})",
            f"{self.bounded(k)} * {a}",
            f"tanh({a})",
            f"({a} / (1.0 + abs({b})))",
            f"maximum({a}, {b})",
            f"where_({self.condition(k)}, {a}, {self.random.choice(('0.0', b))})",
            f"exp(-abs({a}))",
            f"({self.bounded(k)} * {a} - {self.random.choice(self.row_numbers)})",
        )
        return self.random.choice(forms)

    def lane_factor(self, k: str) -> str:
        """Lanes of an iteration."""
        key, value = f"key_{k}", f"load(values + {k} * N + lane)"
        return self.random.choice((key, value, value, f"({key} + {value})", f"({value} * 0.5)", f"tanh({key})"))

    def lane_term(self, k: str) -> str:
        """Lanes that are added: those of an iteration, times numbers of the pair."""
        factor = self.lane_factor(k)
        if self.random.random() < 0.2:
            return factor
        terms = (f"{self.scalar(k)} * {factor}", f"{factor} * {self.bounded(k)} * {self.leaf(k)}")
        more = (
            f"where_({self.condition(k)}, {self.scalar(k)} * {factor}, 0.0)",
            f"{factor} / (1.0 + abs({self.leaf(k)}))",
        )
        return self.random.choice((*terms, *terms, *more))


def drawn(generator: torch.Generator, rows: int, n: int, lanes: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The tensors that a random loop reads, for so many rows, iterations and lanes."""
    shapes = {
        "own_rows": (rows, lanes),
        "keys": (n, lanes),
        "values": (n + 1, lanes),
        "pairs": (rows, n),
        "weights": (n,),
    }
    found = {name: torch.randn(s, generator=generator, dtype=dtype) for name, s in shapes.items()}
    found["numbers"] = torch.rand(rows, generator=generator, dtype=dtype) + 0.25
    found["flags"] = torch.randint(0, 2, (n,), generator=generator, dtype=torch.int32)
    found["ends"] = torch.randint(0, n + 1, (rows,), generator=generator, dtype=torch.int32)
    return found
