"""Refusals in words: facts go in; why something takes no blocks comes out, and what would make it otherwise.

Each function is one kind of refusal, and a case in `tests/plans/` shows it. Why a carried value obeys no law is said in
`broken`, why stores of a loop may meet in `maps`.
"""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.source import Span
from teenyc.tiling.plan import BlockedAxis, Refusal

# ---- kernels and axes -----------------------------------------------------------------------------------------------


def no_axis(name: str, span: Span) -> Refusal:
    """A name in `tile(...)` that blocks cannot be taken of, though it is made of an index."""
    return Refusal(
        f"`{name}` is computed from the index of a program, and is neither that nor a part of it",
        span,
        "name the index itself, or what it is taken apart into",
        subject=name,
    )


def too_many_axes(names: Sequence[str], span: Span) -> Refusal:
    return Refusal(
        f"`tile` names {_listed(names)} of the grid, and a program takes blocks along two axes at most",
        span,
        f"leave `{names[-1]}` or another one out",
    )


def nothing_to_block(kernel: str, span: Span) -> Refusal:
    return Refusal(
        f"`{kernel}` has neither rows nor a loop of which a program could take a block",
        span,
        "take a row from `program_id`, or walk in a `for` over what is summed",
    )


def no_gain(span: Span) -> Refusal:
    return Refusal(
        "nothing that is loaded is used by several rows, so that blocks of them would save nothing",
        span,
        "name the axes in `tile(...)` where blocks are wanted all the same",
    )


def short_loop(counter: str, trips: int, span: Span) -> Refusal:
    reason = f"`{counter}` takes {trips} values only" if counter else f"it runs {trips} times only"
    return Refusal(reason, span, "name it in `tile(...)` to block it all the same", counter)


def other_axes(counter: str, span: Span) -> Refusal:
    return Refusal("`tile` names other axes", span, f"add `{counter}` to them" if counter else "", counter)


# ---- loops ----------------------------------------------------------------------------------------------------------


def loop_inside(counter: str, span: Span) -> Refusal:
    inner = f"the loop over `{counter}`" if counter else "another loop"
    return Refusal(f"{inner} stands in it", span, "of loops inside of one another, the innermost takes blocks")


def effect_in_loop(intrinsic: str, span: Span) -> Refusal:
    return Refusal(
        f"`{intrinsic}` in the loop happens once an iteration",
        span,
        "a loop takes blocks where such effects stand behind it",
    )


def far_step(counter: str, step: str, span: Span) -> Refusal:
    return Refusal(
        f"{_counter(counter)} goes by `{step}`, of which a block may be farther than it can count",
        span,
        "write the step as a number, or as a constant of the kernel, or count in `i64`",
    )


def step_by_row(counter: str, span: Span) -> Refusal:
    return Refusal(f"{_counter(counter)} goes by another step in each row", span, "let all rows go by one step")


def start_by_row(counter: str, span: Span) -> Refusal:
    return Refusal(
        f"{_counter(counter)} goes by a step, and starts elsewhere in each row",
        span,
        "start where all rows start, and leave out by an `if` what a row has not",
    )


def bounds_by_row(span: Span) -> Refusal:
    return Refusal("the bounds of this loop differ from row to row", span, "let the bounds be the same for all rows")


def unequal_while(span: Span) -> Refusal:
    return Refusal(
        "this `while` does not end for all rows of a block at once",
        span,
        "let its condition be the same for all rows, or count in a `for`",
    )


def unknown_identity(law: str, element: str, span: Span) -> Refusal:
    return Refusal(
        f"the {law} of a block of `{element}` begins with a number that integers and floats have not in common",
        span,
        "let the dtype be a `Float`",
    )


# ---- values ---------------------------------------------------------------------------------------------------------


def too_wide(axes: Sequence[BlockedAxis], span: Span) -> Refusal:
    names = [f"`{axis.name}`" for axis in axes]
    along = _joined(names if len(names) > 2 else [*names, "lanes of its own"])
    return Refusal(
        f"what is computed here would vary along {along}, and be too large to hold",
        span,
        "sum along one of them first, or leave one out of `tile(...)`",
    )


def stated_equal(one: str, other: str, span: Span) -> Refusal:
    return Refusal(
        f"`{one}` and `{other}` are one extent here only because the kernel states it, of which blocks do not know",
        span,
        "write one of them everywhere",
    )


def function_call(function: str, span: Span) -> Refusal:
    return Refusal(
        f"`{function}` is too long to be written out in the kernel", span, "let a kernel of its own do what it does"
    )


def lanes_together(intrinsic: str, operand: str, axes: Sequence[BlockedAxis], span: Span) -> Refusal:
    beside = f", and a block of {_listed([axis.name for axis in axes])} would stand beside them" if axes else ""
    return Refusal(
        f"`{intrinsic}` takes the lanes of `{operand}` together{beside}", span, "leave it to a kernel without blocks"
    )


def all_at_once(intrinsic: str, operand: str, span: Span) -> Refusal:
    return Refusal(
        f"`{intrinsic}` reduces `{operand}` along several axes at once", span, "reduce one axis after the other"
    )


# ---- effects --------------------------------------------------------------------------------------------------------


def once_a_program(intrinsic: str, span: Span) -> Refusal:
    return Refusal(
        f"`{intrinsic}` happens once a program, and a program of blocks stands for several",
        span,
        "leave it to a kernel without blocks",
    )


def one_address(axes: Sequence[BlockedAxis], span: Span) -> Refusal:
    return Refusal(
        f"all of a block of {_listed([axis.name for axis in axes])} are stored to one address",
        span,
        "let the address differ in every row",
    )


def no_mask(intrinsic: str, span: Span) -> Refusal:
    return Refusal(
        f"`{intrinsic}` takes no mask, and not all rows of a block come to this branch",
        span,
        "move it out of the branch",
    )


def return_inside(span: Span) -> Refusal:
    return Refusal(
        "some rows of a block return in this branch, which all of them take", span, "return in front of the branch"
    )


def return_of_all(outer: str, span: Span) -> Refusal:
    of = f"of one `{outer}`" if outer else "together"
    return Refusal(
        f"all rows {of} return here at once, and a block may have rows of several",
        span,
        "put what follows into a branch in the place of the `return`",
    )


def branch_by_row(span: Span) -> Refusal:
    return Refusal(
        "the condition of this `if` differs within a block", span, "compute both sides, and choose by `where_`"
    )


def _counter(name: str) -> str:
    return f"`{name}`" if name else "the counter of this loop"


def _listed(names: Sequence[str]) -> str:
    return _joined([f"`{name}`" for name in names])


def _joined(words: Sequence[str]) -> str:
    """Words for a sentence: `a`, `b` and `c`."""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last
