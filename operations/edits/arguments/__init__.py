"""The arguments with which a caller records an edit: one model per kind, for every door.

`edit(session, thread)` resolves them (an index range, an index, keys, patterns) at the head on
which the entry is recorded; only keys are stored.
"""

from typing import Annotated

from pydantic import Field

from .amend import AmendArguments, RewordAmendment
from .edit import (
    ActiveTags,
    CondenseArguments,
    DigestArguments,
    EditArguments,
    EndIndex,
    Index,
    ReviseArguments,
    RewordArguments,
    SnipArguments,
    TagArguments,
    TagName,
    TagNames,
)
from .places import InsertArguments, MoveArguments, ResequenceArguments
from .text import RedactArguments, ReplaceArguments, TextArguments

__all__ = [
    "ActiveTags",
    "AmendArguments",
    "AnyEdit",
    "CondenseArguments",
    "DigestArguments",
    "EditArguments",
    "EndIndex",
    "Index",
    "InsertArguments",
    "MoveArguments",
    "RedactArguments",
    "ReplaceArguments",
    "ResequenceArguments",
    "ReviseArguments",
    "RewordAmendment",
    "RewordArguments",
    "SnipArguments",
    "TagArguments",
    "TagName",
    "TagNames",
    "TextArguments",
]

AnyEdit = Annotated[
    TagArguments
    | DigestArguments
    | ReviseArguments
    | SnipArguments
    | CondenseArguments
    | InsertArguments
    | ResequenceArguments
    | ReplaceArguments
    | RedactArguments,
    Field(discriminator="type"),
]
