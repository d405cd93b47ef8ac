"""The report of an import says where the text of its files went."""

import json
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.jobs import queue, runner
from contextstudio.accounts.models import Job
from tests.operations.support.rest import get
from threads import imports, reading
from threads.imports import accounting

from .uploads import upload

ASKED = {"role": "user", "content": "Which lamp is broken?", "note": "not read"}
CHAT = json.dumps(
    {"messages": [ASKED], "title": "Two lamps", "tools": "an event"}
).encode()
TEXT = {
    "messages": 30,  # and what the conversation is called
    "events": 8,
    "nowhere": 8,
    "members": {"note": 8},
    "files": 1,
}


def report_of(agent: Client, answer: Any) -> dict[str, Any]:
    report: dict[str, Any] = get(agent, f"/api/imports/{answer.json()['import_id']}")
    return report["report"]  # type: ignore[no-any-return]


def test_a_small_import_says_at_once_where_its_text_went(agent: Client) -> None:
    answer = upload(agent, CHAT)
    assert report_of(agent, answer)["text"] == TEXT
    page = agent.get(f"/imports/{answer.json()['import_id']}/").content.decode()
    assert "30 in messages, 8 in events, 8 only" in page
    assert '<code>note</code></th><td class="t-end">8</td>' in page


def test_a_larger_one_is_counted_by_a_job_behind_it(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "AT_ONCE", 0)
    answer = upload(agent, CHAT)
    assert "text" not in report_of(agent, answer)
    job = Job.objects.get(kind=accounting.KIND)
    assert job.status == Job.Status.QUEUED
    while claimed := queue.claim():
        runner.run(claimed)
    assert report_of(agent, answer)["text"] == TEXT


def test_a_file_that_cannot_be_read_alone_is_left_out(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise reading.ReaderFault("end")

    monkeypatch.setattr(reading, "count_leaves", fail)
    assert report_of(agent, upload(agent, CHAT))["text"]["files"] == 0
