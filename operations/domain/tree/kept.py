"""Values of a version of a draft, shared with the versions that it is made of."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast, overload

from .map import Map

Name = TypeVar("Name")
Value = TypeVar("Value")
Other = TypeVar("Other")


class Kept(Protocol[Name, Value]):
    """A `Map`, closed or open, or a `PlainMap`.

    Of an open version values can be set, but not gone through; of a closed one it is the other
    way round, and nothing ever changes in it.
    """

    def __getitem__(self, name: Name, /) -> Value: ...
    def __setitem__(self, name: Name, value: Value, /) -> None: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Name]: ...
    def values(self) -> Iterable[Value]:
        """All values, in the order of the names."""
        ...

    @overload
    def get(self, name: Name, /) -> Value | None: ...
    @overload
    def get(self, name: Name, default: Value | Other, /) -> Value | Other: ...
    def pop(self, name: Name, default: None, /) -> Value | None:
        """Take a value out, if it is there."""

    def update(self, values: Mapping[Name, Value], /) -> None:
        """Set values."""

    def mutate(self) -> "Kept[Name, Value]":
        """The values of an open version, from those of a closed one."""
        ...

    def finish(self) -> "Kept[Name, Value]":
        """The values of a closed version, from those of an open one."""
        ...


class PlainMap(dict[Any, Any]):
    """Values that are set faster, and become a map once a version is made of theirs."""

    __slots__ = ("_map",)

    def __init__(self, values: Kept[Any, Any]) -> None:
        """The values of a closed version, to be changed."""
        super().__init__((name, values[name]) for name in values)
        self._map: Map[Any, Any] | None = None

    def mutate(self) -> Kept[Any, Any]:
        """As `Kept.mutate`."""
        if self._map is None:
            self._map = Map(self)
        return cast(Kept[Any, Any], self._map.mutate())

    def finish(self) -> "PlainMap":
        """As `Kept.finish`."""
        return self


def kept(values: Iterable[tuple[Any, Any]] = ()) -> Kept[Any, Any]:
    """Values of a closed version."""
    return cast(Kept[Any, Any], Map(values))


def other_names(one: Kept[Name, Value], other: Kept[Name, Value]) -> set[Name]:
    """The names of values that are not the very same in two closed versions.

    Without a step of Python's for each: versions of a long log have thousands.
    """
    if one is other:
        return set()
    both = (set(zip(of, map(id, of.values()), strict=True)) for of in (one, other))
    return {name for name, _ in next(both) ^ next(both)}
