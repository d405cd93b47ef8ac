"""The arguments of a tool's call, taken one by one by the card that shows them."""

from typing import Any, TypeVar

Item = TypeVar("Item")


class Arguments:
    """The arguments of a call, and which of them are shown already."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._taken: set[str] = set()

    def take(self, *names: str) -> str | None:
        """The first of these that is a string, counted as shown."""
        for name in names:
            value = self._given.get(name)
            if isinstance(value, str):
                self._taken.add(name)
                return value
        return None

    def take_number(self, *names: str) -> int | None:
        """The first of these that is a whole number, counted as shown."""
        for name in names:
            value = self._given.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                self._taken.add(name)
                return value
        return None

    def take_list(self, *names: str, of: type[Item]) -> list[Item] | None:
        """The first of these that is a list of such items, not empty, counted as shown."""
        for name in names:
            items = self._given.get(name)
            if (
                isinstance(items, list)
                and items
                and all(isinstance(item, of) for item in items)
            ):
                self._taken.add(name)
                return items
        return None

    def rest(self) -> dict[str, Any]:
        """Those that nothing has taken, less what is switched off or empty."""
        return {
            name: value
            for name, value in self._given.items()
            if name not in self._taken
            and not (value is None or value is False or value in ("", [], {}))
        }
