"""OpenHands' folders of events, and a server's answer."""

import json

import pytest

from tests.threads.support.folders import folder
from tests.threads.support.readings import events, messages, parts
from threads.domain import formats
from threads.domain.formats import openhands
from threads.domain.part import Text

from .events import PROMPT, action, event, read, said, text


def test_a_folder_of_events_is_one_conversation() -> None:
    state = {"id": "s-1", "agent": {"llm": {"model": "m-1"}}}
    [gathered] = openhands.gather(
        folder(
            {
                "a/base_state.json": state,
                "a/events/event-00010-aa.json": said("assistant", text("Done.")),
                "a/events/event-00000-bb.json": PROMPT,
                "a/events/event-00001-cc.json": said("user", text("Mend.")),
                "a/tasks.json": [],
                "b/base_state.json": state,
                "c/events/event-00000-aa.json": event("PauseEvent"),
                "d/events/0.json": {"unrelated": 1},
            }
        )
    )
    [found] = gathered.transcripts
    raw = json.dumps(PROMPT)

    assert (found.external_id, found.model, found.title) == ("s-1", "m-1", "Mend.")
    assert found.member == "a/events/event-00000-bb.json"
    assert messages(found)[0].records == (
        f"a/events/event-00000-bb.json#bytes:0-{len(raw)}",
    )
    assert [message.role for message in messages(found)] == [
        "system",
        "user",
        "assistant",
    ]
    assert events(found) == ["notes"]
    assert len(gathered.members) == 4


def test_a_folder_of_numbered_events_is_a_trajectory() -> None:
    [gathered] = openhands.gather(
        folder(
            {
                "s/metadata.json": {"conversation_id": "s-2", "title": "The lamp"},
                "s/events/10.json": action(10, "message", content="Done."),
                "s/events/9.json": action(9, "message", "user", content="Mend."),
            }
        )
    )
    [found] = gathered.transcripts

    assert (found.external_id, found.title) == ("s-2", "The lamp")
    assert parts(found) == [(Text("Mend."),), (Text("Done."),)]


@pytest.mark.parametrize("name", ["trajectory", "events", "items"])
def test_a_server_s_answer_holds_events_in_a_list(name: str) -> None:
    data = {name: [action(1, "message", "user", content="Mend.")], "next": None}
    [found] = read(data)

    assert parts(found) == [(Text("Mend."),)]
    assert formats.detect(json.dumps(data).encode())[0].format == "openhands"
