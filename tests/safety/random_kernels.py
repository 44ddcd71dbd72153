"""Random kernels that write a tensor of one to three axes: a generator goes in, a source and how to call it come out.

Each axis is a program, a block of a program, the lanes of a block, or a loop; the indices of programs may come from one
that is taken apart. A mutation makes one piece of the text another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

SIZES = ("a", "b", "c")
KINDS = ("program", "block", "lanes", "loop")


@dataclass(frozen=True)
class Pieces:
    """The parts of a source that mutations change. `indices` are expressions by axis, `strides` what each is multiplied
    by for the axes behind it."""

    sizes: tuple[str, ...]
    grid: tuple[str, ...]
    lets: tuple[str, ...]
    loops: tuple[tuple[str, str, str], ...]
    indices: tuple[str, ...]
    strides: tuple[str, ...]
    masks: tuple[tuple[str, str, str], ...]
    extra: str = ""

    def text(self) -> str:
        shape = ", ".join(self.sizes)
        arguments = ", ".join(f"{size}: i32" for size in self.sizes)
        offset = self.indices[0]
        for index, stride in zip(self.indices[1:], self.strides[1:], strict=True):
            offset = f"({offset}) * {stride} + {index}"
        mask = " & ".join(f"({left} {operator} {right})" for left, operator, right in self.masks)
        head = f"#[kernel(grid = [{', '.join(self.grid) or '1'}], shape(y = [{shape}]))]"
        lines = [head, f"fn k<const B: i32>(y: Pointer<f32>, {arguments}) {{", "    let lane = arange(0, B);"]
        lines += [f"    {let}" for let in self.lets]
        lines += [f"    for {name} in {start}..{end} {{" for name, start, end in self.loops]
        value = "(program_id(0) + 3 * program_id(1) + 7 * program_id(2)) as f32"
        stored = f"store(y + {offset}{self.extra} + lane * 0, {value}" + (f", mask = {mask});" if mask else ");")
        lines += ["        " + stored, *("    }" for _ in self.loops), "    let _ = lane;", "}"]
        return "\n".join(lines) + "\n"


def pieces(numbers: random.Random) -> Pieces:
    """A kernel without faults."""
    sizes = SIZES[: numbers.randint(1, 3)]
    kinds = [numbers.choice(KINDS) for _ in sizes]
    for axis in range(len(kinds)):
        if kinds[axis] in ("block", "lanes") and {"block", "lanes"} & set(kinds[:axis]):
            kinds[axis] = "program"
    grid: list[str] = []
    lets: list[str] = []
    loops: list[tuple[str, str, str]] = []
    indices: list[str] = []
    masks: list[tuple[str, str, str]] = []
    for axis, (size, kind) in enumerate(zip(sizes, kinds, strict=True)):
        name = f"i{axis}"
        if kind in ("program", "block"):
            lets.append(f"let p{axis} = program_id({len(grid)});")
            grid.append(size if kind == "program" else f"cdiv({size}, B)")
        if kind == "loop":
            loops.append((name, "0", size))
        else:
            made = {"program": f"p{axis}", "block": f"p{axis} * B + lane", "lanes": "lane"}[kind]
            lets.append(f"let {name} = {made};")
        if kind in ("block", "lanes"):
            masks.append((name, "<", size))
        indices.append(name)
    if not {"block", "lanes"} & set(kinds):
        masks.append(("lane", "<", "1"))
    whole = Pieces(sizes, tuple(grid), tuple(lets), tuple(loops), tuple(indices), sizes, tuple(masks))
    return flattened(whole) if len(grid) > 1 and numbers.random() < 0.5 else whole


def flattened(whole: Pieces) -> Pieces:
    """The same with one program index that is taken apart."""
    lets = list(whole.lets)
    names = [let.split()[1] for let in lets if "program_id" in let]
    made = ["let flat = program_id(0);"]
    rest = "flat"
    for place in range(len(names) - 1, 0, -1):
        made.append(f"let n{place} = {whole.grid[place]};")
        made.append(f"let {names[place]} = {rest} % n{place};")
        made.append(f"let r{place} = {rest} / n{place};")
        rest = f"r{place}"
    made.append(f"let {names[0]} = {rest};")
    kept = [let for let in lets if "program_id" not in let]
    return replace(whole, grid=(" * ".join(f"({g})" if "+" in g else g for g in whole.grid),), lets=(*made, *kept))


def mutated(whole: Pieces, numbers: random.Random) -> Pieces:
    """One piece of another, which may be a fault."""
    match numbers.randrange(8):
        case 0:
            at = numbers.randrange(len(whole.strides))
            strides = [*whole.strides]
            strides[at] = numbers.choice([*whole.sizes, "B", f"({whole.sizes[at]} - 1)", f"({whole.sizes[at]} + 1)"])
            return replace(whole, strides=tuple(strides))
        case 1 if len(whole.indices) > 1:
            indices = [*whole.indices]
            numbers.shuffle(indices)
            return replace(whole, indices=tuple(indices))
        case 2 if whole.masks:
            at = numbers.randrange(len(whole.masks))
            left, _, right = whole.masks[at]
            masks = [*whole.masks]
            masks[at] = (left, numbers.choice(["<", "<=", "!="]), numbers.choice([right, *whole.sizes, "B"]))
            return replace(whole, masks=tuple(masks))
        case 3:
            return replace(whole, masks=whole.masks[1:])
        case 4:
            return replace(whole, extra=numbers.choice([" + 1", " - 1", f" - {whole.sizes[0]}", " + lane"]))
        case 5 if whole.loops:
            name, start, end = whole.loops[0]
            changed = numbers.choice([(name, start, f"{end} + 1"), (name, "-1", end), (name, start, whole.sizes[0])])
            return replace(whole, loops=(changed, *whole.loops[1:]))
        case 6 if whole.grid:
            grid = [*whole.grid]
            grid[numbers.randrange(len(grid))] = numbers.choice([*whole.sizes, f"{grid[0]} + 1"])
            return replace(whole, grid=tuple(grid))
        case _:
            at = numbers.randrange(len(whole.lets)) if whole.lets else None
            if at is None:
                return whole
            one, two = numbers.choice([*whole.sizes, "B"]), numbers.choice([*whole.sizes, "B"])
            lets = [*whole.lets]
            lets[at] = (
                lets[at].replace(f"% {one}", f"% {two}").replace(f"/ {one}", f"/ {two}").replace(f"* {one}", f"* {two}")
            )
            return replace(whole, lets=tuple(lets))
