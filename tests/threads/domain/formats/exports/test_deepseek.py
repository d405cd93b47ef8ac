"""DeepSeek's export, and a chat as its page fetches it."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support import readings
from threads.domain.part import Opaque, Text, Thinking

ASKED, TOLD = "Where does the ferry land?", "At the old pier."
SEARCH = {"type": "SEARCH", "results": [{"url": "https://lamps.test"}]}


def fragments(*given: tuple[str, str]) -> list[dict[str, str]]:
    return [{"type": kind, "content": words} for kind, words in given]


def node(id_: str, parent: str | None, *given: tuple[str, str], **more: Any) -> Any:
    message = {"fragments": fragments(*given), "inserted_at": "2026-01-10", **more}
    return {"id": id_, "parent": parent, "children": [], "message": message}


ROOT = {"id": "root", "parent": None, "children": ["1"], "message": None}
EXPORTED = {
    "id": "d-1",
    "title": "Ferry",
    "mapping": {
        "root": ROOT,
        "1": node("1", "root", ("REQUEST", ASKED)),
        "2": node("2", "1", ("THINK", "Hm."), ("RESPONSE", TOLD), model="ds-1"),
    },
}


def test_a_conversation_of_the_export_is_its_nodes() -> None:
    for data in ([EXPORTED], EXPORTED):
        [found] = readings.read(data)
        assert (found.format, found.title, found.external_id) == (
            "deepseek",
            "Ferry",
            "d-1",
        )
        asked, told = readings.messages(found)
        assert (str(asked.role), asked.parts) == ("user", (Text(ASKED),))
        assert told.parts == (Thinking("Hm."), Text(TOLD))
        assert (told.model, str(told.created_at)) == (
            "ds-1",
            "2026-01-10 00:00:00+00:00",
        )


def test_a_chat_of_the_page_branches_where_it_was_asked_again() -> None:
    messages = [
        {"message_id": 1, "parent_id": None, "role": "USER", "content": ASKED},
        {
            "message_id": 2,
            "parent_id": 1,
            "role": "ASSISTANT",
            "thinking_content": "Hm.",
            "content": "Nowhere.",
        },
        {"message_id": 3, "parent_id": 1, "role": "ASSISTANT", "files": [{"id": "f"}]}
        | {"fragments": [SEARCH, *fragments(("RESPONSE", TOLD), ("RESPONSE", ""))]},
        {"message_id": 4, "parent_id": 3, "role": "USER", "fragments": []},
    ]
    about = {"id": "d-2", "title": "", "current_message_id": 3}
    chat = {"chat_session": about, "chat_messages": messages}
    for data in (chat, {"code": 0, "data": {"biz_data": chat}}):
        main, branch = readings.read(data)
        told = readings.messages(main)[1]
        files = Opaque("files", {"type": "files", "files": [{"id": "f"}]})
        assert told.parts == (Opaque("SEARCH", SEARCH), Text(TOLD), files)
        assert readings.texts(branch) == [ASKED, "Nowhere."]
        assert main.title == ASKED


@pytest.mark.parametrize(
    "data",
    [{"chat_session": {}, "chat_messages": []}, [{**EXPORTED, "mapping": {"1": ROOT}}]],
)
def test_a_chat_without_messages_is_refused(data: Any) -> None:
    with pytest.raises(Invalid):
        readings.read(data)
