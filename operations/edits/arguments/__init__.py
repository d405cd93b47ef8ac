"""What a caller says to record an edit: one model a kind, the same for every door.

`edit(thread)` resolves what was said (an index range, an index, keys) at the head on which
the entry is recorded; only keys are kept.
"""

from typing import Annotated

from pydantic import Field

from .amend import AmendArguments
from .edit import EditArguments
from .folds import (
    CondenseArguments,
    DigestArguments,
    ReviseArguments,
    SnipArguments,
    TagArguments,
)
from .places import InsertArguments, ResequenceArguments
from .text import RedactArguments, ReplaceArguments, TextArguments
from .values import Index, Tag

__all__ = [
    "AmendArguments",
    "AnyEdit",
    "CondenseArguments",
    "DigestArguments",
    "EditArguments",
    "Index",
    "InsertArguments",
    "RedactArguments",
    "ReplaceArguments",
    "ResequenceArguments",
    "ReviseArguments",
    "SnipArguments",
    "Tag",
    "TagArguments",
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
