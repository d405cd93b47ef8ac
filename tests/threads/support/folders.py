"""Folders as a parser is given them, made of names and contents."""

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

from threads.domain.formats.io.folder import Folder, Member

from .readings import encoded


def folder(files: Mapping[str, Any]) -> Folder:
    """A folder that holds these files, in the order of their names: bytes, else JSON."""
    raw = {name: encoded(data) for name, data in sorted(files.items())}
    return Folder(
        {
            name: Member(name, len(data), partial(io.BytesIO, data))
            for name, data in raw.items()
        }
    )
