"""Folders in the form that parsers take, built from names and contents."""

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

from threads.domain.formats.io.folder import Folder, Member

from .readings import encoded


def folder(files: Mapping[str, Any]) -> Folder:
    """A folder with these files, in the order of their names: bytes, or else JSON."""
    raw = {name: encoded(data) for name, data in sorted(files.items())}
    return Folder(
        {
            name: Member(name, len(data), partial(io.BytesIO, data))
            for name, data in raw.items()
        }
    )
