"""Text that a database accepts: PostgreSQL refuses NUL and lone surrogates, in JSON too."""

from typing import Any


def storable(text: str) -> str:
    """The text with U+FFFD for NUL and `?` for lone surrogates."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def storable_json(value: Any) -> Any:
    """A JSON value with every string in it made storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_json(name): storable_json(it) for name, it in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(it) for it in value]
    return value
