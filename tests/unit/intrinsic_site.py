"""Calls of intrinsics without a checker: arguments by name go in, what the rule says comes out."""

from __future__ import annotations

from dataclasses import dataclass

from teenyc.diagnostics.model import Diagnostic
from teenyc.intrinsics import OPERATORS, TABLE, attributes_of
from teenyc.intrinsics.spec import Given, Intrinsic, Operator, Param, Role, Site
from teenyc.source import Span
from teenyc.types import Element, Extent, Pointer, TensorType, Type


@dataclass(frozen=True)
class Judged:
    """What a rule made of a call. `spans` are those of the arguments by name."""

    results: tuple[Type, ...] | None
    reports: tuple[Diagnostic, ...]
    requirements: tuple[tuple[str, str], ...]
    attributes: dict[str, object]
    spans: dict[str, Span]

    @property
    def codes(self) -> list[str]:
        return [report.code for report in self.reports]

    @property
    def text(self) -> str:
        assert self.results is not None, [report.message() for report in self.reports]
        return ", ".join(map(str, self.results))


def tensor(element: Element, *extents: int | str) -> TensorType:
    """A tensor type; extents are numbers or names of constants."""
    return TensorType(element, shape(*extents))


def pointer(element: Element, *extents: int | str) -> TensorType:
    """The type of an address, or of a tensor of them."""
    return TensorType(Pointer(element), shape(*extents))


def shape(*extents: int | str | Extent) -> tuple[Extent, ...]:
    return tuple(e if isinstance(e, Extent) else Extent.of(e) for e in extents)


def judge(name: str, *, generics: tuple[Element, ...] = (), **arguments: object) -> Judged:
    """Runs the rule of an intrinsic or operator on a call with these arguments.

    A type is a run-time value; all else is known at compile time.
    """
    record = TABLE[name] if name in TABLE else _record_of(OPERATORS[name])
    given = {n: _given(record.param(n), a, place) for place, (n, a) in enumerate(arguments.items())}
    reports: list[Diagnostic] = []
    requirements: list[tuple[str, str]] = []
    site = Site(
        record,
        Span(0, 1000),
        given,
        generics,
        reports.append,
        lambda extent, rule, what, span: requirements.append((str(extent), rule)),
    )
    results = record.rule(site)
    attributes = dict(attributes_of(site, results)) if results is not None and name in TABLE else {}
    return Judged(results, tuple(reports), tuple(requirements), attributes, {n: g.span for n, g in given.items()})


def _record_of(operator: Operator) -> Intrinsic:
    assert operator.rule is not None
    return Intrinsic(operator.name, operator.params, operator.rule, "", operator.summary, "operators")


def _given(param: Param | None, argument: object, place: int) -> Given:
    assert param is not None
    span = Span(place * 10, place * 10 + 5)
    if isinstance(argument, TensorType):
        return Given(span, type=argument)
    if param.role is Role.EXTENT and isinstance(argument, int | str):
        return Given(span, static=Extent.of(argument))
    return Given(span, static=argument)  # type: ignore[arg-type]
