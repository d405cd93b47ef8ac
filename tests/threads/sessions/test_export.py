"""Exports through REST: our own form and those of others."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import get, make_session, operate, said
from tests.threads.imports.uploads import upload, with_image
from threads.domain.formats.summaries import SUMMARY


@pytest.mark.parametrize("view", ["original", "effective"])
def test_our_own_form_comes_back_in_as_the_same_messages(
    agent: Client, view: str
) -> None:
    """But a digest: as a message of the system's it would be an instruction to whoever reads it."""
    session_id = make_session(agent, [*said(4), with_image()], system="Be brief.")
    operate(agent, session_id, "digest", range=[2, 3], summary="Sum \ud800")
    answer = agent.get(f"/api/sessions/{session_id}/export", {"view": view})
    assert answer["Content-Disposition"].startswith("attachment")
    exported = b"".join(answer)
    (imported,) = upload(agent, exported).json()["sessions"]
    assert imported["id"] != session_id

    def parts(address: str) -> list[Any]:
        answer = get(agent, address)
        items = answer.get("items") or answer["nodes"]
        return [(item["role"], item["parts"]) for item in items]

    expected = parts(f"/api/sessions/{session_id}/thread?view={view}")
    if view == "effective":
        assert expected[2] == ("system", [{"type": "text", "text": "Sum \ud800"}])
        record = {"type": "text", "text": SUMMARY.format("Sum \ud800")}
        expected[2] = "user", [record]
    assert parts(f"/api/sessions/{imported['id']}/messages") == expected


@pytest.mark.parametrize("view", ["original", "effective"])
@pytest.mark.parametrize("format", ["openai", "anthropic", "markdown"])
def test_the_other_forms_say_the_words_of_the_view(
    agent: Client, format: str, view: str
) -> None:
    session_id = make_session(agent, said(5), system="Be brief.")
    operate(agent, session_id, "snip", range=[2, 3])
    query = {"format": format, "view": view}
    answer = agent.get(f"/api/sessions/{session_id}/export", query)
    text = b"".join(answer).decode()
    assert "Be brief." in text
    assert "message 0" in text
    assert ("message 2" in text) is (view == "original")
    if format != "markdown":
        document = json.loads(text)
        assert len(document["messages"]) >= 2
    elsewhere = upload(agent, text.encode()) if format != "markdown" else None
    assert elsewhere is None or elsewhere.status_code == 201


def test_an_export_of_no_known_form_or_view_is_refused(agent: Client) -> None:
    path = f"/api/sessions/{make_session(agent, 2)}/export"
    assert get(agent, path, format="pdf", expect=422)["at"] == ["format"]
    assert get(agent, path, view="annotated", expect=422)["at"] == ["view"]
    assert get(agent, path, view="x", expect=422)["at"] == ["view"]
