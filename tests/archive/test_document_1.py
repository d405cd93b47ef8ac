"""Document 1 line by line: archive, recall and pruner, on a made thread and on real ones."""

import hashlib
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from archive.domain.hindsight.sightings import Sightings
from archive.domain.pruning.classes import Prunable
from archive.domain.pruning.needs import needed_later, plan
from archive.domain.pruning.reading import PlanReading, ThreadReading
from archive.pruning.services import PruneQuery, prune
from archive.recalling import look_up
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project
from operations.context.inputs import counter_of
from operations.context.services import ContextQuery, assemble_session
from operations.domain.context.policy import Pruning
from operations.domain.providers import PROVIDERS
from operations.edits.services import Act, switch_bundle
from operations.log.selectors import load_thread
from operations.messages.reader import MessageReader
from tests.archive.pruning.conftest import FILE, WORK, call, result
from tests.operations.support.rest import Tools, effective, get, make_session, post
from threads.domain import formats
from threads.domain.message import Message, Role
from threads.domain.text import whole_text
from threads.models import Session
from threads.sessions.services import NewSession, create_session

MODEL = "gpt-4"
"""A window of 8,192 tokens: the trigger comes with the last fifth."""
LONG = (
    "claude_code/omp-long-2.1.2xx.jsonl",
    "claude_code/entire-image-compact-progress.jsonl",
    "codex/agentv-long-0.14x.jsonl",
)
ENTRY = {
    *("ref_id", "project", "session", "message", "location", "content_type"),
    *("summary", "file_paths", "tool_name", "token_count", "original_created_at"),
    *("archived_at", "last_accessed_at", "access_count"),
}


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, WORK, model=MODEL))


def pruned(tools: Tools, **fields: Any) -> dict[str, Any]:
    path = f"/api/sessions/{tools.session_id}/prune"
    found: dict[str, Any] = post(tools.client, path, fields)
    return found


def rules(tools: Tools) -> dict[str, Any]:
    found: dict[str, Any] = get(tools.client, f"/api/sessions/{tools.session_id}/rules")
    return found


def test_document_1_integration_flow(tools: Tools) -> None:
    """Accumulate, trigger, prune, recall each item byte for byte, take back: as at the start."""
    assert rules(tools)["trigger"]["due"] is False
    more = [
        one
        for number in range(20, 28)
        for one in (
            call(f"c{number}", "Bash", f'{{"command": "make part-{number}"}}'),
            result(f"c{number}", f"Part {number}\n{FILE}"),
        )
    ]
    path = f"/api/sessions/{tools.session_id}/messages"
    post(tools.client, path, {"messages": more}, expect=201)
    assert rules(tools)["trigger"]["due"] is True

    said = {one["key"]: one["content"] for one in effective(*_of(tools))}
    start = effective(*_of(tools))
    found = pruned(tools)
    assert rules(tools)["trigger"]["due"] is False
    recalled = 0
    for item in found["items"]:
        if item["class"] == "keep":
            continue
        read = tools("recall", ref_id=item["ref_id"], max_tokens=50_000)
        if said[item["key"]]:
            assert read["content"].startswith(said[item["key"]])
            recalled += 1
    assert recalled > 6
    post(tools.client, f"/api/bundles/{found['bundle_id']}/revert")
    assert effective(*_of(tools)) == start


def _of(tools: Tools) -> tuple[Client, str]:
    return tools.client, tools.session_id


def test_document_1_archive_entry(tools: Tools) -> None:
    pruned(tools)
    items = get(tools.client, "/api/archive", type="grep")["items"]
    (entry,) = items
    assert set(entry) >= ENTRY
    assert (entry["content_type"], entry["tool_name"]) == ("grep", "Grep")
    assert entry["summary"] == "'value_7' in src - 40 matches"
    assert (entry["access_count"], entry["last_accessed_at"]) == (0, None)
    assert entry["ref_id"].startswith(f"nexora://demo/{tools.session_id[:8]}/msg-")


def test_document_1_recall(tools: Tools) -> None:
    """Resolve, fetch, location, lines, search, cut to tokens, record the access."""
    pruned(tools)
    (entry,) = get(tools.client, "/api/archive", type="grep")["items"]
    short = entry["ref_id"].rsplit("/", 1)[-1]
    forms = (
        *(entry["ref_id"], short, f"nexora://_/current/{short}"),
        *(f"[recall:{short}]", f"[recall:{entry['ref_id']}]"),
    )
    for form in forms:
        assert tools("recall", ref_id=form)["summary"] == entry["summary"]
    third = tools("recall", ref_id=f"{short}:match-3")
    assert third["content"] == "src/a2.py:2: value_7"
    lines = tools("recall", ref_id=f"{short}:L2-3", search="a2")
    assert lines["content"] == "src/a2.py:2: value_7"
    assert tools("recall", ref_id=short, max_tokens=5)["truncated"] is True
    (again,) = get(tools.client, "/api/archive", type="grep")["items"]
    assert again["access_count"] == 8
    missing = tools.refused("recall", ref_id="msg-00000000")
    assert missing["detail"] == "reference not found: msg-00000000"


def test_document_1_the_role_id_and_time_of_a_condensed_message_stay(
    tools: Tools,
) -> None:
    before = {one["key"]: one for one in effective(*_of(tools))}
    pruned(tools)
    shown = [one for one in effective(*_of(tools)) if one["key"].startswith("o")]
    roles = [(one["role"], one.get("tool_call_id")) for one in shown]
    assert roles == [
        ("tool", "c2"),
        ("tool", "c3"),
        ("tool", "c4"),
        ("assistant", None),
    ]
    assert before["m4"]["tool_call_id"] == "c2"


def test_document_1_result_of_a_run(tools: Tools) -> None:
    found = pruned(tools)
    assert (found["condensed"], found["removed"]) == (4, 2)
    assert found["tokens_saved"] > 1000


def test_document_1_selective_recall_of_all_file_views_of_the_last_hour(
    tools: Tools,
) -> None:
    pruned(tools)
    hour = (timezone.now() - timedelta(hours=1)).isoformat()
    views = get(tools.client, "/api/archive", type="file_view", since=hour)["items"]
    assert [one["file_paths"] for one in views] == [["src/parser.py"]]


def test_document_1_archive_browser(tools: Tools, owner: Any) -> None:
    pruned(tools)
    browser = Client()
    browser.force_login(owner)
    page = f"/sessions/{tools.session_id}/archive"
    listed = browser.get(page, {"type": "file_view"}).content.decode()
    assert "src/parser.py" in listed and "Searched" not in listed
    (entry,) = get(tools.client, "/api/archive", type="file_view")["items"]
    opened = browser.get(page, {"ref": entry["ref_id"]}).content.decode()
    assert "79: value_79 = 79" in opened
    unfolded = browser.get(
        f"/sessions/{tools.session_id}/recall",
        {"ref": entry["ref_id"]},
        headers={"HX-Request": "true"},
    )
    assert "79: value_79 = 79" in unfolded.content.decode()
    browser.post(f"{page}/insert", {"ref": entry["ref_id"]})
    last = effective(*_of(tools))[-1]
    assert last["content"] == f"From the archive, [recall:{entry['ref_id']}]:\n\n{FILE}"
    # Who only looks at it regrets nothing.
    assert entry["access_count"] == 0


def messages_of(samples: Path, name: str) -> list[Message]:
    with (samples / name).open("rb") as file:
        (transcript,) = formats.read(file, name=Path(name).name)
        return [one for one in transcript.items if isinstance(one, Message)]


@pytest.mark.sqlite
@pytest.mark.parametrize("name", LONG)
def test_long_sessions_lose_half_their_tokens_and_nothing_used_later(
    name: str, samples: Path
) -> None:
    count = counter_of("o200k_base")
    messages = [
        Prunable(f"m{place}", f"msg-{place:08x}", one.role, one.parts, count(one.parts))
        for place, one in enumerate(messages_of(samples, name))
    ]
    found = plan(messages, Pruning(), count)
    assert found.tokens_saved >= found.tokens_after
    for item, one in zip(found.items, messages, strict=True):
        is_result = any(part.kind == "tool_result" for part in one.parts)
        if one.role is Role.USER and not is_result:
            assert item.prune_class == "keep"
    changes = (step.change for step in found.steps)
    read = PlanReading(ThreadReading(messages), changes)
    lost = needed_later(read, Sightings({*chain.from_iterable(read.used.values())}))
    assert sum(map(len, lost.values())) == 0


@pytest.mark.sqlite
def test_document_1_flow_on_a_real_session(
    samples: Path, caller: Caller, project: Project
) -> None:
    new = NewSession(title="Real", messages=messages_of(samples, LONG[1]))
    session = create_session(caller, project, new)
    before = _reads(session)
    found = prune(caller, session.pk, PruneQuery())
    session.refresh_from_db()
    assert _reads(session) != before
    for stashed in found.plan.stashed:
        place = f":{stashed.location}" if stashed.location else ""
        recalled = look_up(
            caller,
            f"{stashed.name}{place}",
            session_id=session.pk,
            max_tokens=100_000,
        ).answer
        if not place:
            assert _hash(recalled["content"]) == before[stashed.key]
    assert found.bundle_id is not None
    switch_bundle(caller, found.bundle_id, Act.REVERT)
    session.refresh_from_db()
    assert _reads(session) == before


@pytest.mark.sqlite
@pytest.mark.parametrize("name", LONG)
def test_every_provider_takes_a_long_session_that_was_pruned(
    name: str, samples: Path, caller: Caller, project: Project
) -> None:
    new = NewSession(title="Real", messages=messages_of(samples, name))
    session = create_session(caller, project, new)
    assert prune(caller, session.pk, PruneQuery()).bundle_id is not None
    session.refresh_from_db()
    for provider in PROVIDERS:
        built = assemble_session(session, ContextQuery(provider=provider))
        severities = {issue.severity for issue in built.compiled.issues}
        assert "refused" not in severities


def _reads(session: Session) -> dict[str, str]:
    """What the model sees, by key."""
    thread = load_thread(session)
    said = MessageReader(session, thread).effective(
        one.key for one in thread.effective()
    )
    return {key: _hash(whole_text(one.parts)) for key, one in said.items()}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
