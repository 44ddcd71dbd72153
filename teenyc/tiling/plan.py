"""The plan of a tiling as a value: which axes are blocked, and by what law each carried value takes a block at once."""

from __future__ import annotations

from typing import TypeAlias

from teenyc.ir.nodes import Operand
from teenyc.record import field, record
from teenyc.source import Span


@record
class BlockedAxis:
    """A program axis or the counter of a loop, of which one program or iteration takes a block.

    `id` is the number of the program axis, or the id of the counter; `block` the constant that holds the extent.
    """

    kind: str  # "program" or "loop"
    id: int
    block: str
    name: str


@record
class Sum:
    """`c' = c ± S`, or with a coefficient that brings `c` to a new extremum: a plain or a rescaled sum."""

    terms: tuple[Term, ...]
    kept: Term
    extremum: int | None = None
    """which carried value of the loop rescales this one"""


@record
class Extremum:
    """`c' = max(c, S)` or `min(c, S)`."""

    intrinsic: str
    operand: Operand


@record
class Unchanged:
    """The loop hands the value on."""


Law: TypeAlias = "Sum | Extremum | Unchanged"


@record
class Term:
    """A product with a sign: `-a * b`. A factor stands as often as it is multiplied."""

    factors: tuple[Operand, ...]
    is_negative: bool = False


@record
class LoopPlan:
    """How one loop is blocked: its axis, and the law of each value that it carries."""

    axis: BlockedAxis
    laws: tuple[Law, ...]


@record
class Refusal:
    """Why something was left as it is, in words, and where."""

    reason: str
    span: Span = field(compare=False, repr=False)
