"""Maps whose versions share everything that doesn't change from one to the next."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast, overload

from .map import Map

Name = TypeVar("Name")
Value = TypeVar("Value")
Other = TypeVar("Other")


class PersistentMap(Protocol[Name, Value]):
    """The methods that a draft needs of an open or closed `Map`, or of a `PlainMap`.

    An open version can be written but not iterated. A closed one can be iterated and never
    changes.
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
        """Remove a name and return its value, or the default if it isn't there."""

    def update(self, values: Mapping[Name, Value], /) -> None:
        """Set values."""

    def mutate(self) -> "PersistentMap[Name, Value]":
        """An open version of this closed one."""
        ...

    def finish(self) -> "PersistentMap[Name, Value]":
        """A closed version of this open one."""
        ...


class PlainMap(dict[Any, Any]):
    """A plain dict in place of an open map: faster to fill, and turned into a map by `mutate`."""

    __slots__ = ("_map",)

    def __init__(self, values: PersistentMap[Any, Any]) -> None:
        """An open copy of a closed version."""
        super().__init__((name, values[name]) for name in values)
        self._map: Map[Any, Any] | None = None

    def mutate(self) -> PersistentMap[Any, Any]:
        """See `Kept.mutate`."""
        if self._map is None:
            self._map = Map(self)
        return cast(PersistentMap[Any, Any], self._map.mutate())

    def finish(self) -> "PlainMap":
        """See `Kept.finish`."""
        return self


def persistent_map(values: Iterable[tuple[Any, Any]] = ()) -> PersistentMap[Any, Any]:
    """A closed map with these values."""
    return cast(PersistentMap[Any, Any], Map(values))


def changed_names(
    one: PersistentMap[Name, Value], other: PersistentMap[Name, Value]
) -> set[Name]:
    """The names whose values are not the same object in two closed versions.

    Uses set operations instead of a loop: versions of a long log have thousands of names.
    """
    if one is other:
        return set()
    both = (set(zip(of, map(id, of.values()), strict=True)) for of in (one, other))
    return {name for name, _ in next(both) ^ next(both)}
