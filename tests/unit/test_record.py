"""Records: what constructors take, by place and by name, and what they say of what is wrong."""

from __future__ import annotations

import pytest

from teenyc.record import field, record, replace


@record
class Base:
    value_0: int
    NONE: list[int] = field(default_factory=list)


@record(kw_only=True)
class Named(Base):
    set_1: int
    make_1: tuple[int, ...] = ()


@record
class Other:
    first: int
    second: list[int] = field(default_factory=list)


def test_fields_are_taken_by_place_and_by_name() -> None:
    made = Named(1, [2], set_1=3)
    assert (made.value_0, made.NONE, made.set_1, made.make_1) == (1, [2], 3, ())
    assert Named(value_0=1, set_1=3) == replace(made, NONE=[])
    assert Base(1).NONE is not Base(1).NONE, "what is made is made each time"


def test_classes_of_one_shape_keep_their_names() -> None:
    assert (Other(first=1, second=[2]).second, Base(value_0=1, NONE=[2]).NONE) == ([2], [2])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        Other()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'value_0'"):
        Other(value_0=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'set_1'"):
        Named(1)  # type: ignore[call-arg]


def test_a_default_goes_before_no_field_without_one() -> None:
    @record
    class Wrong:
        first: int = 1
        second: int  # type: ignore[misc]

    with pytest.raises(AssertionError, match="Wrong: a field without a default"):
        Wrong(1, 2)
