"""Transcripts of a file, and the refusal where there are none."""

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.kit.transcripts import at_least_one
from threads.domain.transcript import Warning


def test_a_file_without_conversations_is_refused_by_its_first_warning() -> None:
    with pytest.raises(Invalid, match="Broken") as refusal:
        at_least_one([None], [Warning("broken", "Broken.")], "a tape")
    assert refusal.value.code == "broken"
    with pytest.raises(Invalid, match="This is a tape, but it holds no messages"):
        at_least_one([], [], "a tape")
    with pytest.raises(Invalid, match="This file holds no messages"):
        at_least_one([], [])
