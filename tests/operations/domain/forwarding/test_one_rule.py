"""Exports and `apply` share one rule, whatever the session and its log."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operations.domain.thread.talks import FORMATS, conversations
from tests.operations.support.builders import (
    digest,
    entries,
    insert,
    resequence,
    revise,
    snip,
)
from threads.domain import formats
from threads.domain.message import Message

from .sending import Conversation, agree


@settings(max_examples=100)
@given(conversations(), st.sampled_from(FORMATS))
def test_the_original_export_becomes_the_effective_one(conversation, format):
    agree(conversation, format)
    agree(conversation, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "name",
    [
        "entire-small.jsonl",
        "entire-image-compact-progress.jsonl",
        "omp-long-2.1.2xx.jsonl",
    ],
)
def test_real_sessions_of_claude_code_agree(
    samples: Path, name: str, format: str
) -> None:
    with (samples / "claude_code" / name).open("rb") as file:
        [transcript] = formats.read(file, name=name)
        found = [item for item in transcript.items if isinstance(item, Message)]
    last = len(found) - 1
    log = entries(
        digest(2, 5),
        snip(7, 7),
        insert("m8", "In between."),
        resequence(f"m{last - 1}", "m10", "m12"),
        revise(last, last, "The end."),
    )
    plain, edited = Conversation(found), Conversation(found, log)

    assert agree(plain, format) == plain.export(format, "original")
    assert agree(edited, format) != plain.export(format, "original")
