"""Text as a database takes it: PostgreSQL refuses NUL and lone surrogates, in JSON too."""

from typing import Any


def storable(text: str) -> str:
    """The text, with U+FFFD or `?` for what can't be stored."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def storable_json(value: Any) -> Any:
    """A value of JSON, with every text in it as it can be stored."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_json(name): storable_json(it) for name, it in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(it) for it in value]
    return value
