"""Records: frozen classes of named fields with slots, as `@dataclass(frozen=True, slots=True)` makes, defined cheaply.

A compiler defines hundreds of small classes and pays for each at every start; the standard decorator takes about half a
millisecond for one, this a tenth of that. It keeps to the standard's meaning: `field(compare=False, repr=False)`,
defaults and factories, `kw_only`, inheritance, `__match_args__`, equality within one class, hashing by the compared
fields, `replace` and `fields`. A `state` is the same for what changes while a function runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from inspect import get_annotations
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")
C = TypeVar("C", bound=type)

_FIELDS = "__record_fields__"


@overload
def record(cls: C) -> C: ...
@overload
def record(*, kw_only: bool = False, order: bool = False) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: Any = None, *, kw_only: bool = False, order: bool = False) -> Any:
    """Makes a class a record; with `order`, its instances sort by their fields in order."""
    if cls is None:
        return lambda inner: _made(inner, kw_only=kw_only, order=order)
    return _made(cls, kw_only=kw_only, order=order)


@dataclass_transform(eq_default=False, field_specifiers=(field, Field))
def state(cls: C) -> C:
    """Makes a class a state: its fields may be set anew, and an instance is equal to itself alone."""
    made: C = _made(cls, kw_only=False, order=False, is_frozen=False)
    return made


def replace(instance: T, /, **changes: Any) -> T:
    """A record like another one, with some fields changed."""
    values = {name: getattr(instance, name) for name in getattr(instance, _FIELDS)}
    return type(instance)(**(values | changes))


def fields(record: object) -> tuple[Field[Any], ...]:
    """The fields of a record or of a class of records, in order."""
    return tuple(getattr(record, _FIELDS).values())


def is_record(value: object) -> bool:
    """Whether a value is a record."""
    return hasattr(type(value), _FIELDS)


def _made(cls: Any, kw_only: bool, order: bool, is_frozen: bool = True) -> Any:
    inherited = {n: f for base in reversed(cls.__mro__[1:]) for n, f in getattr(base, _FIELDS, {}).items()}
    own = {n: _field(cls, n, kw_only) for n, t in get_annotations(cls).items() if not _is_class(t)}
    every: dict[str, Field[Any]] = inherited | own
    namespace = {n: v for n, v in cls.__dict__.items() if n not in own and n not in ("__dict__", "__weakref__")}
    namespace |= {"__slots__": tuple(n for n in own if n not in inherited), _FIELDS: every}
    namespace["__match_args__"] = tuple(n for n, f in every.items() if f.kw_only is not True)
    namespace |= {"__getstate__": _getstate, "__setstate__": _setstate}
    if "__repr__" not in cls.__dict__:
        namespace["__repr__"] = _repr
    if is_frozen:
        namespace |= {"__setattr__": _frozen, "__delattr__": _frozen}
        namespace |= _comparison(tuple(n for n, f in every.items() if f.compare), order)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    setattr(made, "__init__", _first_init(made, every))  # noqa: B010  # a plain assignment would not be typed
    return made


def _first_init(cls: type, every: dict[str, Field[Any]]) -> Callable[..., None]:
    """A constructor that is compiled when it is first called: of most records a run makes none."""

    def __init__(self: object, *values: object, **named: object) -> None:  # noqa: N807
        compiled = _init(cls, every)
        setattr(cls, "__init__", compiled)  # noqa: B010
        compiled(self, *values, **named)

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _is_class(annotation: object) -> bool:
    return isinstance(annotation, str) and annotation.startswith("ClassVar")


def _field(cls: type, name: str, kw_only: bool) -> Field[Any]:
    given = cls.__dict__.get(name, MISSING)
    made: Field[Any] = given if isinstance(given, Field) else field(default=given)
    made.name = name
    if made.kw_only is MISSING:
        made.kw_only = kw_only
    return made


def _comparison(compared: tuple[str, ...], order: bool) -> dict[str, Any]:
    """Equality, hash and order by the compared fields."""
    key: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()

    def __eq__(self: object, other: object) -> Any:  # noqa: N807
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(key(self))

    def __lt__(self: object, other: object) -> Any:  # noqa: N807
        return key(self) < key(other) if other.__class__ is self.__class__ else NotImplemented

    def __gt__(self: object, other: object) -> Any:  # noqa: N807
        return key(self) > key(other) if other.__class__ is self.__class__ else NotImplemented

    made: dict[str, Any] = {"__eq__": __eq__, "__hash__": __hash__}
    return made | ({"__lt__": __lt__, "__gt__": __gt__} if order else {})


def _init(cls: type, every: dict[str, Field[Any]]) -> Any:
    """The constructor: the slots' own setters write the fields, which is what freezing leaves open."""
    scope: dict[str, Any] = {"MISSING": MISSING}
    places: list[str] = []
    names: list[str] = []
    body: list[str] = []
    for name, each in every.items():
        scope[f"set_{name}"] = getattr(cls, name).__set__
        parameter = name
        value = name
        if each.default is not MISSING:
            scope[f"default_{name}"] = each.default
            parameter = f"{name}=default_{name}"
        elif each.default_factory is not MISSING:
            scope[f"factory_{name}"] = each.default_factory
            parameter = f"{name}=MISSING"
            value = f"factory_{name}() if {name} is MISSING else {name}"
        (names if each.kw_only else places).append(parameter)
        body.append(f"  set_{name}(self, {value})")
    star = ["*", *names] if names else []
    text = f"def __init__({', '.join(['self', *places, *star])}):\n" + ("\n".join(body) or "  pass")
    exec(text, scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _frozen(self: object, name: str, *value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")


def _repr(self: Any) -> str:
    shown = ", ".join(f"{n}={getattr(self, n)!r}" for n, f in getattr(self, _FIELDS).items() if f.repr)
    return f"{type(self).__name__}({shown})"


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


__all__ = ["field", "fields", "is_record", "record", "replace", "state"]
