"""Reads members of an untrusted document."""

from collections.abc import Mapping
from typing import Any

from contextstudio.accounts.domain.errors import Invalid


def list_of(document: Mapping[str, Any], name: str) -> list[Any]:
    """A list member; empty if it is missing. Raises Invalid."""
    found = document.get(name, [])
    if not isinstance(found, list):
        raise Invalid(f"{name} must be a list.", at=[name])
    return found


def text_of(document: Mapping[str, Any], name: str) -> str:
    """A string member; empty if it is missing. Raises Invalid."""
    found = document.get(name) or ""
    if not isinstance(found, str):
        raise Invalid(f"{name} must be a text.", at=[name])
    return found
