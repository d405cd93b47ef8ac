"""The tool `context`: messages discarded or distilled by their hashes, and its refusals."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import Tools, make_session, operate, post
from tests.people import client_of
from threads.models import Message

from .pruned import ANALYSIS, TEXTS, VERBOSE, reads, replace


def test_discard_leaves_out_by_key_id_or_digest(
    call: Tools, agent: Client, session_id: str
) -> None:
    rows = Message.objects.filter(session=session_id).select_related("body")
    third, fourth = rows.get(index=3), rows.get(index=4)
    digest = bytes(fourth.body.digest).hex()
    answer = call(
        "context",
        action="discard",
        targets=[["m2"], [third.short_id], [digest[:8].upper()]],
    )
    assert reads(agent, session_id)[:3] == [TEXTS[0], TEXTS[1], TEXTS[5]]
    sizes = [
        (one["original_length"], one["new_length"]) for one in answer["replacements"]
    ]
    assert sizes == [(len(TEXTS[place]), 0) for place in (2, 3, 4)]
    assert answer["replacements"][1]["message_id"] == third.short_id
    assert all(one["tokens_saved"] > 0 for one in answer["replacements"])
    post(agent, f"/api/bundles/{answer['bundle_id']}/toggle", {"active": False})
    assert reads(agent, session_id) == TEXTS


def test_distill_shows_the_summary(call: Tools, agent: Client, session_id: str) -> None:
    answer = call("context", action="distill", targets=[["m1", "Refactor auth."]])
    assert reads(agent, session_id)[1] == "Refactor auth."
    (made,) = answer["replacements"]
    assert made["operation"] == ["m1", "Refactor auth."]
    assert (made["original_length"], made["new_length"]) == (len(ANALYSIS), 14)
    folded = call("context", action="discard", targets=[["o1"]])
    (made,) = folded["replacements"]
    assert (made["message_id"], made["original_length"]) == ("o1", 14)
    assert "Refactor auth." not in reads(agent, session_id)


def test_what_the_model_does_not_read_saves_no_tokens(
    call: Tools, agent: Client, session_id: str
) -> None:
    def saved(**arguments: Any) -> int:
        (made,) = call("context", **arguments)["replacements"]
        return int(made["tokens_saved"])

    first = saved(action="discard", targets=[["m2"]])
    assert first > 0
    assert saved(action="discard", targets=[["m2"]]) == 0
    assert saved(action="distill", targets=[["m2", "Back in few words."]]) < 0
    operate(agent, session_id, "digest", start_idx=1, end_idx=3, summary="Read.")
    assert saved(action="discard", targets=[["m3"]]) == 0
    pattern = {"start": ANALYSIS[:20], "end": ANALYSIS[-20:], "replacement": "…"}
    assert saved(action="replace", targets=[pattern], include_folded=True) == 0


def test_hashes_that_mean_nothing_or_too_much_are_all_refused(
    call: Tools, agent: Client, session_id: str
) -> None:
    twice = [{"role": "user", "content": "same"}] * 2
    session_id = make_session(agent, twice)
    digest = bytes(
        Message.objects.select_related("body")
        .get(session=session_id, index=0)
        .body.digest
    ).hex()
    targets = [["m9"], [digest[:12]], ["m0"], ["m0"], [digest[:7]], ["msg-00000000"]]
    problem = Tools(agent, session_id).refused(
        "context", action="discard", targets=targets
    )
    assert problem["status"] == 422
    assert [(one["at"][1], one["code"]) for one in problem["errors"]] == [
        (0, "unknown_key"),
        (1, "ambiguous"),
        (3, "duplicate"),
        (4, "unknown_key"),
        (5, "unknown_key"),
    ]


def test_the_digest_of_a_message_with_masked_text_is_no_hash(
    call: Tools, agent: Client, session_id: str
) -> None:
    body = Message.objects.select_related("body").get(session=session_id, index=5).body
    operate(agent, session_id, "redact", patterns=[{"start": "ab 12"}])
    targets = [[bytes(body.digest).hex()]]
    problem = call.refused("context", action="discard", targets=targets)
    assert problem["code"] == "unknown_key"


@pytest.mark.parametrize(
    ("action", "target"),
    [
        ("discard", ["m1", "summary"]),
        ("discard", {"start": "a", "end": "b"}),
        ("distill", ["m1"]),
        ("distill", ["m1", "  "]),
        ("replace", ["m1"]),
        ("replace", {"start": "a", "occurrence": 1, "all": True}),
        ("replace", {"start": ""}),
        ("replace", {"start": "a", "regex": True}),
        ("forget", ["m1"]),
    ],
)
def test_targets_have_the_shape_of_their_action(
    call: Tools, action: str, target: Any
) -> None:
    assert call.refused("context", action=action, targets=[target])["status"] == 422


def test_what_is_no_matter_of_patterns_is_refused_as_everywhere(call: Tools) -> None:
    target = {"start": "LOG_1_START", "end": "LOG_1_END"}
    stale = call.refused("context", action="replace", targets=[target], expected_head=7)
    assert stale["code"] == "stale_head"
    stale = call.refused("context", action="discard", targets=[["m1"]], expected_head=7)
    assert stale["code"] == "stale_head"
    again = [replace(call, target, idempotency_key="once") for _ in range(2)]
    assert again[0] == again[1]
    assert call.thread()["head"] == 1


def test_who_may_only_propose_proposes(
    agent: Client, reviewer: User, project: Project, session_id: str
) -> None:
    client = client_of(reviewer, project, Right.READ, Right.PROPOSE)
    answer = Tools(client, session_id)(
        "context", action="replace", targets=[{"start": VERBOSE, "replacement": "…"}]
    )
    assert answer["operations"][0]["status"] == "proposed"
    assert reads(agent, session_id) == TEXTS
    path = f"/api/operations/{answer['operations'][0]['operation_id']}"
    post(agent, f"{path}/accept")
    assert reads(agent, session_id)[2] == "It said: …."


def test_a_hash_alone_is_discarded_and_a_wrong_target_is_told_what_fits(
    call: Tools,
) -> None:
    answer = call("context", action="discard", targets=["m1", ["m2"]])
    assert [one["resolved"]["keys"] for one in answer["operations"]] == [["m1"], ["m2"]]
    for action, wrong, fitting in (
        ("discard", ["m3", "Short"], '["m12"]'),
        ("distill", "m3", '["m12", "What it came to"]'),
        ("replace", "m3", '"replacement": "…"'),
    ):
        refused = call.refused("context", action=action, targets=[wrong])
        assert fitting in refused["detail"]
        assert refused["at"] == ["targets", 0]
    refused = call.refused("context", action="distill", targets=[["m3", " "]])
    assert (refused["detail"], refused["at"]) == (
        "A hash or summary must not be empty.",
        ["targets", 0],
    )
    assert call.refused("context", action="discard", targets="m3")["at"] == ["targets"]
