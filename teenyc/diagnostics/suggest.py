"""Did-you-mean: a misspelt name and the names that exist go in, the closest one comes out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

LONGEST = 64
"""Longer names are compared by case only: nobody types them, and comparing takes time."""


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` most likely stands for, None when none is near.

    A candidate that differs only in case wins. Otherwise one edit is allowed for every three characters of the name
    (at least one): an insertion, a deletion, a replacement, or a swap of neighbours. Ties go to the candidate that is
    closer in case, then to one with the same first character, then to the first in alphabetical order, so that the
    order of the candidates does not matter. `name` itself is never the answer.
    """
    others = {c for c in candidates if c != name}
    folded = name.casefold()
    if same := [c for c in others if c.casefold() == folded]:
        return min(same, key=lambda c: (sum(a != b for a, b in zip(name, c, strict=False)), c))
    near = _near(folded, others)
    return min(near, key=lambda c: (edits(folded, c.casefold()), edits(name, c), name[0] != c[0], c), default=None)


def is_near(name: str, other: str) -> bool:
    """Whether one name is likely meant as another that it is not."""
    return name != other and closest(name, (other,)) is not None


def edits(left: str, right: str, limit: int = LONGEST) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours turn `left` into `right`.

    Stops counting where it is certain that there are more than `limit`, and returns some number above it.
    """
    before: list[int] = []
    above = list(range(len(right) + 1))
    least = 0  # of `above`; a swap reaches back two rows, so that two must be over the limit
    for i, a in enumerate(left):
        row = [i + 1]
        for j, b in enumerate(right):
            cost = min(above[j + 1] + 1, row[j] + 1, above[j] + (a != b))
            if i and j and a == right[j - 1] and b == left[i - 1]:
                cost = min(cost, before[j - 1] + 1)
            row.append(cost)
        least_above, least = least, min(row)
        if least > limit and least_above > limit:
            return limit + 1
        before, above = above, row
    return above[-1]


def _near(folded: str, candidates: set[str]) -> list[str]:
    """The candidates within reach. Letters are counted first, since a whole comparison takes a hundred times longer."""
    if not 1 < len(folded) <= LONGEST:
        return []
    reach = max(1, len(folded) // 3)
    letters = frozenset(folded)
    return [
        candidate
        for candidate in candidates
        if abs(len(candidate) - len(folded)) <= reach
        and len(letters ^ _letters(candidate)) <= 2 * reach
        and edits(folded, candidate.casefold(), reach) <= reach
    ]


@lru_cache(maxsize=4096)
def _letters(candidate: str) -> frozenset[str]:
    return frozenset(candidate.casefold())
