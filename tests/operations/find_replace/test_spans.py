"""Text edits through REST: dry runs, spans, bundles, suggestions, and revealing."""

from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from contextstudio.accounts.models import AuditEntry, Project, User
from operations.find_replace import services
from operations.log.cache import forget_everything
from tests.operations.support.rest import Tools, get, operate, post
from tests.operations.support.rest import thread as thread_of
from tests.people import caller, client_of
from threads.models import Message

from .pruned import LOWER, PIP, TEXTS, VERBOSE, reads, replace


def test_a_dry_run_answers_the_matches_and_records_nothing(
    agent: Client, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}/operations"
    wanted = [LOWER | {"replacement": "…", "all": True}, {"start": "ab", "end": "cd"}]
    body = {"type": "replace", "patterns": wanted, "dry_run": True}
    answer = post(agent, path, body)
    assert thread_of(agent, session_id)["head"] == 0
    assert [(one["pattern"], one["key"]) for one in answer["matches"]] == [
        (0, "m6"),
        (0, "m7"),
        (0, "m7"),
        (1, "m5"),
    ]
    assert [one["code"] for one in answer["errors"]] == ["too_short"]
    first = answer["matches"][0]
    assert first["excerpt"]["before"] == "first "
    assert first["tokens_saved"] > 0
    assert answer["tokens_saved"] == sum(
        one["tokens_saved"] for one in answer["matches"]
    )
    place = ("key", "part", "start", "end", "sha256", "replacement")
    spans = [{name: one[name] for name in place} for one in answer["matches"][:2]]
    made = operate(agent, session_id, "replace", spans=spans)
    assert made["status"] == "applied"
    assert reads(agent, session_id)[6] == "first …"


def test_what_is_in_a_fold_saves_no_tokens_in_a_dry_run(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[6, 6])
    pattern = LOWER | {"replacement": "…", "all": True}
    answer = post(
        agent,
        f"/api/sessions/{session_id}/operations",
        {
            "type": "replace",
            "patterns": [pattern],
            "include_folded": True,
            "dry_run": True,
        },
    )
    folded, *others = answer["matches"]
    assert (folded["key"], folded["tokens_saved"]) == ("m6", 0)
    assert answer["tokens_saved"] == sum(one["tokens_saved"] for one in others) > 0


def test_a_dry_run_is_refused_where_the_log_has_grown(
    agent: Client, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}/operations"
    operate(agent, session_id, "snip", range=[1, 2])
    body = {"type": "replace", "patterns": [LOWER | {"all": True}], "dry_run": True}
    stale = post(agent, path, body | {"expected_head": 0}, expect=409)
    assert (stale["code"], stale["head"]) == ("stale_head", 1)
    assert post(agent, path, body, expect=409, **{"If-Match": '"0"'})["head"] == 1
    assert post(agent, path, body | {"expected_head": 1})["matches"]


def test_a_dry_run_shows_what_is_held_by_whom(agent: Client, session_id: str) -> None:
    operate(agent, session_id, "redact", patterns=[{"start": "rows read", "all": True}])
    path = f"/api/sessions/{session_id}/operations"
    pattern = {"start": "LOG_1_START", "end": "LOG_1_END"}
    body = {"type": "redact", "patterns": [pattern], "dry_run": True}
    (match,) = post(agent, path, body)["matches"]
    assert (match["operations"], match["start"], match["sha256"]) == (
        ["o1"],
        None,
        None,
    )


@pytest.mark.parametrize(
    ("span", "code"),
    [
        ({"key": "m99", "start": 0, "end": 40}, "unknown_key"),
        ({"key": "m1", "start": 0, "end": 4000}, "range"),
        ({"key": "m1", "start": 0, "end": 29}, "too_short"),
        ({"key": "m1", "start": 0, "end": 40, "sha256": "0" * 64}, "text"),
        ({"key": "m1", "part": 3, "start": 0, "end": 40}, "range"),
    ],
)
def test_spans_are_checked_before_they_are_recorded(
    agent: Client, session_id: str, span: dict[str, Any], code: str
) -> None:
    path = f"/api/sessions/{session_id}/operations"
    refused = post(agent, path, {"type": "replace", "spans": [span]}, expect=422)
    assert (refused["code"], refused["at"]) == (code, ["spans", 0])


def test_a_guess_at_masked_text_is_answered_the_same_right_or_wrong(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "redact", patterns=[{"start": "ab 12 cd"}])
    path = f"/api/sessions/{session_id}/operations"
    answers = []
    for sha256 in ("0" * 64, "1" * 64, ""):
        span = {"key": "m5", "start": 3, "end": 5, "sha256": sha256}
        answers.append(
            post(agent, path, {"type": "redact", "spans": [span]}, expect=409)
        )
    assert answers[0] == answers[1] == answers[2]
    pattern = {"start": "ab 12", "end": "cd"}
    body = {"type": "redact", "patterns": [pattern], "dry_run": True}
    assert post(agent, path, body)["matches"] == []


def test_a_bundle_takes_text_edits_and_says_which_of_them_is_wrong(
    agent: Client, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}/bundles"
    good = {"type": "replace", "patterns": [{"start": VERBOSE, "replacement": "-"}]}
    bad = {"type": "redact", "patterns": [{"start": "nowhere"}]}
    refused = post(agent, path, {"operations": [good, bad]}, expect=422)
    assert refused["at"] == ["operations", 1, "patterns", 0]
    assert refused["errors"][0]["at"] == ["operations", 1, "patterns", 0]
    dry = post(agent, path, {"operations": [good | {"dry_run": True}]}, expect=422)
    assert dry["at"] == ["operations", 0, "dry_run"]
    hidden = {"type": "redact", "patterns": [{"start": "ab 12"}], "tags": ["public"]}
    answer = post(agent, path, {"operations": [good, hidden]}, expect=201)
    assert [one["type"] for one in answer["operations"]] == ["replace", "redact"]
    assert reads(agent, session_id)[5] == "[redacted] cd"


def test_a_text_edit_names_its_text_once(agent: Client, session_id: str) -> None:
    path = f"/api/sessions/{session_id}/operations"
    span = {"key": "m1", "start": 0, "end": 40}
    for body in (
        {"type": "replace"},
        {"type": "replace", "patterns": [{"start": "a"}], "spans": [span]},
        {"type": "replace", "spans": [span], "dry_run": True},
    ):
        assert post(agent, path, body, expect=422)["code"]


def test_patterns_are_suggested_and_can_be_used_as_they_are(
    agent: Client, call: Tools, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}/suggestions"
    (found,) = get(agent, path)["suggestions"]
    assert (found["kind"], found["key"], found["matches"]) == ("pip", "m8", 1)
    answer = replace(call, found["pattern"])
    assert answer["replacements"][0]["original_length"] == found["length"] == len(PIP)
    assert get(agent, path)["suggestions"] == []


def test_an_owner_reveals_what_a_redaction_masks_and_that_is_logged(
    agent: Client, session_id: str, owner: User, editor: User, project: Project
) -> None:
    made = operate(
        agent,
        session_id,
        "redact",
        patterns=[{"start": "ab 12"}, {"start": "Refactor"}],
    )
    path = f"/api/operations/{made['operation_id']}/reveal"
    editing = client_of(editor, project)
    assert editing.post(path).status_code == 403
    assert not AuditEntry.objects.filter(action="redaction.reveal").exists()
    answer = post(agent, path)
    assert [one["text"] for one in answer["spans"]] == ["ab 12", "Refactor"]
    entry = AuditEntry.objects.get(action="redaction.reveal")
    assert (entry.object_id, entry.project) == (made["operation_id"], project)
    other = operate(agent, session_id, "replace", patterns=[{"start": VERBOSE}])
    refused = post(agent, f"/api/operations/{other['operation_id']}/reveal", expect=422)
    assert refused["at"] == ["operation_id"]


def test_each_match_may_have_a_switch_of_its_own(
    agent: Client, session_id: str, owner: User
) -> None:
    session = Message.objects.filter(session=session_id)[0].session
    path = f"/api/sessions/{session_id}/operations"
    body = {"type": "replace", "patterns": [LOWER | {"all": True}], "dry_run": True}
    matches = post(agent, path, body)["matches"]
    from operations.edits.arguments import ReplaceArguments

    place = ("key", "part", "start", "end", "sha256")
    arguments = ReplaceArguments(
        spans=[{name: one[name] for name in place} for one in matches]  # type: ignore[misc]
    )
    transaction = services.change_by_span(
        caller(owner), UUID(session_id), arguments, expected_head=0
    )
    assert transaction.numbers == [1, 2, 3]
    forget_everything()
    operations = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert len({one["bundle_id"] for one in operations}) == 1
    post(agent, f"/api/operations/{operations[0]['id']}/toggle", {"active": False})
    assert reads(agent, session_id)[6:8] == [TEXTS[6], "second  and "]
    assert services.suggestions(session)[0].kind == "pip"
