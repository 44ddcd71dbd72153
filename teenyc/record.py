"""Records: frozen classes of named fields with slots, as `@dataclass(frozen=True, slots=True)` makes, defined cheaply.

A compiler defines hundreds of small classes and pays for each at every start; the standard decorator takes about half a
millisecond for one, this a twentieth of that. It keeps to the standard's meaning: `field(compare=False, repr=False)`,
defaults and factories, `kw_only`, inheritance, `__match_args__`, equality within one class, hashing by the compared
fields, `replace` and `fields`. A `state` is the same for what changes while a function runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")
C = TypeVar("C", bound=type)

_FIELDS = "__record_fields__"
_NONE: Any = object()
"""What stands for a default that a field has not."""


class FrozenError(AttributeError):
    """A field of a record is set anew or deleted."""


class Field:
    """One field of a record: its default, or what makes that, and whether it is compared and shown."""

    __slots__ = ("compare", "default", "default_factory", "kw_only", "name", "repr")

    def __init__(self, default: object, default_factory: Callable[[], object], compare: bool, repr: bool) -> None:
        self.default, self.default_factory, self.compare, self.repr = default, default_factory, compare, repr
        self.name, self.kw_only = "", False

    @property
    def is_optional(self) -> bool:
        """Whether a constructor may leave it out; `default` is then what stands for it, or for what makes it."""
        return self.default is not _NONE or self.default_factory is not _NONE


def field(
    *, default: Any = _NONE, default_factory: Callable[[], Any] = _NONE, compare: bool = True, repr: bool = True
) -> Any:
    """Says more of a field than its type, where a class gives a default."""
    return Field(default, default_factory, compare, repr)


@overload
def record(cls: C) -> C: ...
@overload
def record(*, kw_only: bool = False, order: bool = False) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: Any = None, *, kw_only: bool = False, order: bool = False) -> Any:
    """Makes a class a record; with `order`, its instances sort by their fields in order."""
    if cls is None:
        return lambda inner: _made(inner, kw_only=kw_only, order=order)
    return _made(cls, kw_only=kw_only, order=order)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def state(cls: C) -> C:
    """Makes a class a state: its fields may be set anew, and an instance is equal to itself alone."""
    made: C = _made(cls, kw_only=False, order=False, is_frozen=False)
    return made


def replace(instance: T, /, **changes: Any) -> T:
    """A record like another one, with some fields changed."""
    cls: Any = type(instance)
    values = {name: getattr(instance, name) for name in getattr(cls, _FIELDS)}
    values.update(changes)
    made: T = cls(**values)
    return made


def fields(record: object) -> tuple[Field, ...]:
    """The fields of a record or of a class of records, in order."""
    return tuple(getattr(record, _FIELDS).values())


def is_record(value: object) -> bool:
    """Whether a value is a record."""
    return hasattr(type(value), _FIELDS)


_PRIVATE = ("__dict__", "__weakref__")


def _made(cls: Any, kw_only: bool, order: bool, is_frozen: bool = True) -> Any:
    """The class again, with slots, of what a class says of its fields."""
    namespace = dict(cls.__dict__)
    every: dict[str, Field] = {}
    for base in cls.__mro__[:0:-1]:
        every.update(getattr(base, _FIELDS, {}))
    slots: list[str] = []
    for name, annotation in namespace.get("__annotations__", {}).items():
        if not str(annotation).startswith("ClassVar"):
            slots += [] if name in every else [name]
            every[name] = _field(name, namespace.pop(name, _NONE), kw_only)
    for name in _PRIVATE:
        namespace.pop(name, None)
    namespace.setdefault("__repr__", _repr)
    namespace.update(
        {
            _FIELDS: every,
            "__slots__": tuple(slots),
            "__match_args__": tuple([n for n, f in every.items() if not f.kw_only]),
            "__getstate__": _getstate,
            "__setstate__": _setstate,
        }
    )
    if is_frozen:
        namespace["__setattr__"] = namespace["__delattr__"] = _frozen
        namespace.update(_comparison(tuple([n for n, f in every.items() if f.compare]), order))
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__init__ = _first_init(made, every)
    return made


def _first_init(cls: type, every: dict[str, Field]) -> Callable[..., None]:
    """A constructor that is compiled when it is first called: of most records a run makes none."""

    def __init__(self: object, *values: object, **named: object) -> None:  # noqa: N807
        compiled = _init(cls, every)
        setattr(cls, "__init__", compiled)  # noqa: B010
        compiled(self, *values, **named)

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _field(name: str, given: object, kw_only: bool) -> Field:
    made = given if isinstance(given, Field) else Field(given, _NONE, True, True)
    made.name, made.kw_only = name, kw_only
    return made


def _comparison(compared: tuple[str, ...], order: bool) -> dict[str, Any]:
    """Equality, hash and order by the compared fields."""
    key: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()

    def __eq__(self: object, other: object) -> Any:  # noqa: N807
        if other is self:
            return True
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(key(self))

    def __lt__(self: object, other: object) -> Any:  # noqa: N807
        return key(self) < key(other) if other.__class__ is self.__class__ else NotImplemented

    def __gt__(self: object, other: object) -> Any:  # noqa: N807
        return key(self) > key(other) if other.__class__ is self.__class__ else NotImplemented

    made: dict[str, Any] = {"__eq__": __eq__, "__hash__": __hash__}
    return made | ({"__lt__": __lt__, "__gt__": __gt__} if order else {})


def _init(cls: type, every: dict[str, Field]) -> Any:
    """The constructor: the slots' own setters write the fields, which is what freezing leaves open."""
    places = [each for each in every.values() if not each.kw_only]
    names = [each for each in every.values() if each.kw_only]
    fields = (*places, *names)
    scope: dict[str, Any] = {"NONE": _NONE}
    for number, each in enumerate(fields):
        scope[f"set_{number}"] = getattr(cls, each.name).__set__
        scope[f"make_{number}"] = each.default_factory
    code = _constructor(len(places), tuple([each.default_factory is not _NONE for each in fields]))
    made = FunctionType(code.replace(co_varnames=("self", *[each.name for each in fields])), scope)
    given = [each.is_optional for each in places]
    assert given == sorted(given), f"{cls.__qualname__}: a field without a default follows one with a default"
    made.__defaults__ = tuple([each.default for each in places if each.is_optional])
    made.__kwdefaults__ = {each.name: each.default for each in names if each.is_optional}
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


@cache
def _constructor(places: int, is_made: tuple[bool, ...]) -> CodeType:
    """The code of constructors with so many fields by place and the others by name, some of them made where not given.

    It serves all classes of that shape, under the names of their fields: to compile it is what takes time.
    """
    numbers = range(len(is_made))
    names = [f"value_{number}" for number in numbers]
    star = ["*"] if places < len(names) else []
    values = [f"make_{n}() if value_{n} is NONE else value_{n}" if is_made[n] else f"value_{n}" for n in numbers]
    body = [f"  set_{number}(self, {value})" for number, value in enumerate(values)] or ["  pass"]
    scope: dict[str, Any] = {}
    exec("\n".join([f"def __init__({', '.join(['self', *names[:places], *star, *names[places:]])}):", *body]), scope)
    code: CodeType = scope["__init__"].__code__
    return code


def _frozen(self: object, name: str, *value: object) -> None:
    raise FrozenError(f"cannot assign to or delete field {name!r}")


def _repr(self: Any) -> str:
    shown = ", ".join(f"{n}={getattr(self, n)!r}" for n, f in getattr(self, _FIELDS).items() if f.repr)
    return f"{type(self).__name__}({shown})"


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


__all__ = ["field", "fields", "is_record", "record", "replace", "state"]
