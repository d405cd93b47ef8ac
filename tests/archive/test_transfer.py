"""A session taken elsewhere with its operations and its archive, as one file."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.archive.pruning.conftest import FILE, WORK
from tests.operations.support.rest import (
    Tools,
    effective,
    get,
    make_session,
    operate,
    post,
)
from tests.people import client_of


@pytest.fixture
def tools(agent: Client) -> Tools:
    """A session with an insert, a digest over it, a run of the pruner, and a part in reverse."""
    made = Tools(agent, make_session(agent, WORK))
    said = [{"role": "user", "content": "Between"}]
    operate(agent, made.session_id, "insert", after="m11", messages=said)
    undone = operate(agent, made.session_id, "snip", targets=["m20"])
    post(agent, f"/api/operations/{undone['operation_id']}/revert")
    targets = ["m11", "o1.0"]
    operate(agent, made.session_id, "digest", targets=targets, summary="Both")
    pattern = {
        "start": "A long plan. A long plan. A long plan.",
        "replacement": "Plans",
    }
    operate(agent, made.session_id, "replace", patterns=[{**pattern, "occurrence": 1}])
    order = {"order": ["m14", "m13"]}
    operate(agent, made.session_id, "resequence", **order)
    post(agent, f"/api/sessions/{made.session_id}/prune")
    return made


def written(tools: Tools) -> dict[str, Any]:
    found: dict[str, Any] = get(
        tools.client, f"/api/sessions/{tools.session_id}/transfer"
    )
    return found


def said_in(client: Client, session_id: str) -> list[tuple[str, Any, Any]]:
    shown = effective(client, session_id)
    return [(one["role"], one["content"], one.get("tool_calls")) for one in shown]


def test_document_1_a_session_reads_the_same_elsewhere_with_its_archive(
    tools: Tools, stranger: User
) -> None:
    elsewhere = client_of(stranger, Project.objects.get(slug="other"))
    made = post(elsewhere, "/api/sessions/transfer", written(tools), expect=201)
    assert said_in(elsewhere, made["id"]) == said_in(tools.client, tools.session_id)
    here = get(tools.client, "/api/archive")["items"]
    there = get(elsewhere, "/api/archive")["items"]
    facts = ("location", "content_type", "summary", "file_paths", "tool_name", "rule")

    def told(entries: list[dict[str, Any]]) -> list[str]:
        return sorted(str([one[name] for name in facts]) for one in entries)

    assert told(here) == told(there) != []
    (view,) = [one for one in there if one["content_type"] == "file_view"]
    short = view["ref_id"].rsplit("/", 1)[-1]
    read = Tools(elsewhere, made["id"])("recall", ref_id=short, max_tokens=9000)
    assert read["content"] == FILE


def test_what_is_redacted_does_not_leave(tools: Tools) -> None:
    patterns = [{"start": "value_77 = 77", "all": True}]
    fields = {"patterns": patterns, "include_folded": True}
    operate(tools.client, tools.session_id, "redact", **fields)
    document = written(tools)
    assert "value_77 = 77" not in str(document)
    made = post(tools.client, "/api/sessions/transfer", document, expect=201)
    assert said_in(tools.client, made["id"]) == said_in(tools.client, tools.session_id)


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"format": "other"}, ["format"]),
        ({"messages": {}}, ["messages"]),
        ({"title": 3}, ["title"]),
        ({"operations": [3]}, ["operations", 0]),
        ({"operations": [{"key": "m1", "type": "snip"}]}, ["operations", 0]),
        ({"operations": [{"key": "o1", "type": "redact"}]}, ["operations", 0]),
        (
            {"operations": [{"key": "o1", "type": "snip", "payload": {"x": 1}}]},
            ["operations", 0],
        ),
        (
            {
                "operations": [
                    {"key": "o1", "type": "snip", "payload": {"targets": [3]}}
                ]
            },
            ["operations", 0],
        ),
        (
            {
                "operations": [
                    {"key": "o1", "type": "snip", "payload": {"targets": ["m999"]}}
                ]
            },
            ["operations", 0, "targets", 0],
        ),
        ({"operations": [{"key": "o1", "type": []}]}, ["operations", 0]),
        ({"operations": [{"key": "o1", "type": [1]}]}, ["type"]),
        ({"archive": [3]}, ["archive", 0]),
        ({"archive": [{"message": "m1", "content_type": [1]}]}, ["content_type"]),
    ],
)
def test_a_file_that_is_no_such_is_refused_whole(
    tools: Tools, change: dict[str, Any], at: list[Any]
) -> None:
    before = len(get(tools.client, "/api/sessions")["items"])
    refused = post(
        tools.client, "/api/sessions/transfer", written(tools) | change, expect=422
    )
    assert refused["at"] == at
    assert len(get(tools.client, "/api/sessions")["items"]) == before


def test_two_messages_with_one_short_id_are_refused(tools: Tools) -> None:
    document = written(tools)
    document["messages"][1]["short_id"] = document["messages"][0]["short_id"]
    refused = post(tools.client, "/api/sessions/transfer", document, expect=422)
    assert refused["detail"] == "Two messages have one short id."
