"""Folders as a parser is given them, made of names and bytes."""

import io
from collections.abc import Mapping

from threads.domain.formats.folder import Folder, Member


def folder(files: Mapping[str, bytes]) -> Folder:
    """A folder that holds these files, in the order of their names."""
    members = {
        name: Member(name, len(data), lambda data=data: io.BytesIO(data))
        for name, data in sorted(files.items())
    }
    return Folder(members)
