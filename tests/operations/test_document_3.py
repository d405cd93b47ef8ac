"""Document 3, pattern-based pruning: t1–t4, every error, and the examples of its guide."""

from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry, Project, User
from operations import patterns
from operations.cache import forget_everything
from tests.operations.rest import Tools, effective, get, make_session, operate, post
from tests.operations.rest import thread as thread_of
from tests.people import caller, key_of
from threads.models import Message

VERBOSE = "START_VERBOSE_OUTPUT one two three four five END_VERBOSE_OUTPUT"
ANALYSIS = """Here's a detailed analysis.

Detailed analysis of all 47 files:
- File 1: 200 lines reviewed
- File 2: 150 lines reviewed
End of file analysis report

Recommendation: Refactor auth module"""
LOGS = (
    "LOG_1_START connection opened, 12 rows read LOG_1_END and then "
    "LOG_2_START connection opened, 99 rows read LOG_2_END"
)
CROSSED = "A 4567890123456789012345678901 B 12 C 4567890123456789012345678901 D"
PIP = "\n".join(
    [
        f"Collecting package-{n}\n  Downloading package_{n}-1.0.whl (1 kB)"
        for n in range(8)
    ]
    + ["Successfully installed package-1"]
)
TEXTS = [
    "Analyze this codebase",
    ANALYSIS,
    f"It said: {VERBOSE}.",
    LOGS,
    CROSSED,
    "ab 12 cd",
    f"first {VERBOSE.lower()}",
    f"second {VERBOSE.lower()} and {VERBOSE.lower()}",
    PIP,
]
LOWER = {"start": "start_verbose_output", "end": "end_verbose_output"}


@pytest.fixture
def session_id(agent: Client) -> str:
    said = [
        {"role": ("user", "assistant")[place % 2], "content": text}
        for place, text in enumerate(TEXTS)
    ]
    return make_session(agent, said)


@pytest.fixture
def call(agent: Client, session_id: str) -> Tools:
    return Tools(agent, session_id)


def replace(call: Tools, *targets: Any, **more: Any) -> Any:
    return call("context", action="replace", targets=list(targets), **more)


def refused(call: Tools, *targets: Any, **more: Any) -> list[str]:
    """The errors of a call that is refused and has changed nothing."""
    answer = replace(call, *targets, **more)
    assert (answer["success"], answer["replacements"]) == (False, [])
    assert call.thread()["head"] == 0
    errors: list[str] = answer["errors"]
    return errors


def reads(agent: Client, session_id: str) -> list[str]:
    return [node["content"] for node in effective(agent, session_id)]


def test_t1_replace_a_single_block_of_more_than_30_characters(
    call: Tools, agent: Client, session_id: str
) -> None:
    target = {
        "start": "START_VERBOSE_OUTPUT",
        "end": "END_VERBOSE_OUTPUT",
        "replacement": "…",
    }
    answer = replace(call, target)
    short_id = Message.objects.get(session=session_id, index=2).short_id
    (made,) = answer["replacements"]
    saved = made.pop("tokens_saved")
    assert made == {
        "operation": target,
        "message_id": short_id,
        "original_length": len(VERBOSE),
        "new_length": 1,
    }
    assert made["original_length"] > 30
    assert saved > 0
    assert (answer["success"], answer["errors"]) == (True, [])
    assert reads(agent, session_id)[2] == "It said: …."
    tokens = thread_of(agent, session_id)["tokens"]
    assert tokens["original"] - tokens["effective"] == saved


def test_t2_reject_a_replacement_of_less_than_30_characters(call: Tools) -> None:
    (error,) = refused(call, {"start": "ab", "end": "cd", "replacement": "…"})
    assert "minimum 30 characters" in error
    assert "m5" in error


def test_t3_handle_several_replacements_in_a_batch(
    call: Tools, agent: Client, session_id: str
) -> None:
    answer = replace(
        call,
        {"start": "LOG_1_START", "end": "LOG_1_END", "replacement": "[log1]"},
        {"start": "LOG_2_START", "end": "LOG_2_END", "replacement": "[log2]"},
    )
    assert len(answer["replacements"]) == 2
    assert reads(agent, session_id)[3] == "[log1] and then [log2]"
    operations = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert {one["bundle_id"] for one in operations} == {answer["bundle_id"]}
    assert [one["key"] for one in answer["operations"]] == ["o1", "o2"]
    post(agent, f"/api/bundles/{answer['bundle_id']}/revert")
    assert reads(agent, session_id)[3] == LOGS


def test_t4_detect_overlapping_patterns(call: Tools) -> None:
    (error,) = refused(
        call,
        {"start": "A 456", "end": "C", "replacement": "…"},
        {"start": "B 12", "end": "D", "replacement": "…"},
    )
    assert "overlapping" in error
    assert "6 characters of m4 are in both" in error


def test_a_pattern_that_is_not_found_is_told_with_similar_ones(call: Tools) -> None:
    start, end = refused(
        call,
        {"start": "STRAT_VERBOSE_OUTPUT", "end": "x", "replacement": ""},
        {"start": "LOG_1_START", "end": "LOG_1_FINISH", "replacement": ""},
    )
    assert "not found" in start
    assert "START_VERBOSE_OUTPUT" in start
    assert "behind its start in the same part" in end


def test_several_matches_are_all_listed_with_message_and_excerpt(
    call: Tools, agent: Client, session_id: str
) -> None:
    target = LOWER | {"replacement": "…"}
    (error,) = refused(call, target)
    ids = dict(
        Message.objects.filter(session=session_id).values_list("index", "short_id")
    )
    assert "several matches, 3 in all" in error
    lines = error.splitlines()[1:]
    assert [line.split(":")[0] for line in lines] == [
        f"1. m6 ({ids[6]})",
        f"2. m7 ({ids[7]})",
        f"3. m7 ({ids[7]})",
    ]
    assert f"second [{VERBOSE.lower()}] and" in lines[1]


def test_an_occurrence_takes_one_and_all_takes_all(
    call: Tools, agent: Client, session_id: str
) -> None:
    answer = replace(call, LOWER | {"replacement": "…", "occurrence": 2})
    assert len(answer["replacements"]) == 1
    assert reads(agent, session_id)[7] == f"second … and {VERBOSE.lower()}"
    answer = replace(call, LOWER | {"replacement": "-", "all": True})
    assert len(answer["replacements"]) == 2
    assert len(answer["operations"]) == 1
    assert reads(agent, session_id)[6:8] == ["first -", "second … and -"]


def test_all_errors_of_a_batch_are_collected_and_nothing_is_applied(
    call: Tools,
) -> None:
    errors = refused(
        call,
        {"start": "nowhere to be seen", "end": "x", "replacement": "…"},
        LOWER | {"replacement": "…"},
        {"start": "LOG_1_START", "end": "LOG_1_END", "replacement": "…"},
        {"start": "ab", "end": "cd", "replacement": "…"},
    )
    assert [error.split(" ")[1] for error in errors] == ["1", "2", "4"]


def test_the_example_of_the_file_analysis(
    call: Tools, agent: Client, session_id: str
) -> None:
    summary = "[file analysis: 47 files reviewed]"
    target = [
        "Detailed analysis of all 47 files",
        "End of file analysis report",
        summary,
    ]
    assert replace(call, target)["success"]
    assert reads(agent, session_id)[1] == (
        f"Here's a detailed analysis.\n\n{summary}\n\nRecommendation: Refactor auth module"
    )


def test_an_empty_replacement_leaves_nothing(
    call: Tools, agent: Client, session_id: str
) -> None:
    replace(call, {"start": "START_VERBOSE", "end": "END_VERBOSE_OUTPUT"})
    assert reads(agent, session_id)[2] == "It said: ."


def test_the_quick_brown_fox_is_below_the_floor_of_its_own_document(
    agent: Client,
) -> None:
    """Decision 16: 28 characters, so it is a test of the refusal."""
    session_id = make_session(
        agent,
        [{"role": "user", "content": "a quick brown fox jumps over the lazy dog"}],
    )
    call = Tools(agent, session_id)
    (error,) = refused(call, ["a quick brown fox", "jumps over", "a quick…jumps over"])
    assert "28 characters: minimum 30 characters" in error


def test_a_short_api_key_is_redacted_not_replaced(agent: Client) -> None:
    """Decision 16: a replace refuses `API_KEY=…`, a redact has no floor."""
    words = "export API_KEY=abc-123\nand go on"
    session_id = make_session(agent, [{"role": "user", "content": words}])
    call = Tools(agent, session_id)
    (error,) = refused(call, ["API_KEY=", "\n", "[REDACTED]"])
    assert "minimum 30 characters" in error
    pattern = {"start": "API_KEY=", "end": "\n", "replacement": "[REDACTED]\n"}
    made = operate(agent, session_id, "redact", patterns=[pattern])
    assert reads(agent, session_id) == ["export [REDACTED]\nand go on"]
    for path in ("log", "messages", "thread", "operations", "suggestions"):
        assert "abc-123" not in str(get(agent, f"/api/sessions/{session_id}/{path}"))
    described = get(agent, f"/api/operations/{made['operation_id']}")
    assert described["spans"][0]["replacement"] == "[REDACTED]\n"
    assert "sha256" not in described["spans"][0]
    assert '"sha256": ""' in str(
        get(agent, f"/api/sessions/{session_id}/log")["items"][0]["entry"]
    ).replace("'", '"')


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
    key = key_of(reviewer, project, Right.READ, Right.PROPOSE)
    client = Client(headers={"Authorization": f"Bearer {key}"})
    answer = Tools(client, session_id)(
        "context", action="replace", targets=[{"start": VERBOSE, "replacement": "…"}]
    )
    assert answer["operations"][0]["status"] == "proposed"
    assert reads(agent, session_id) == TEXTS
    path = f"/api/operations/{answer['operations'][0]['operation_id']}"
    post(agent, f"{path}/accept")
    assert reads(agent, session_id)[2] == "It said: …."


def test_only_what_is_shown_is_searched_unless_folds_are_included(
    call: Tools, agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "digest", range=[2, 4], summary="A summary of it all.")
    target = {"start": "START_VERBOSE_OUTPUT", "end": "END_VERBOSE_OUTPUT"}
    assert "not found" in replace(call, target)["errors"][0]
    assert replace(call, target, include_folded=True)["success"]
    assert replace(call, {"start": "START_VERBOSE_OUTPUT"})["errors"]
    shown = {"start": "A summary of it all.", "replacement": ""}
    assert "minimum 30" in replace(call, shown)["errors"][0]
    nodes = thread_of(agent, session_id, unfold="o1")["nodes"]
    assert nodes[2]["children"][0]["content"] == "It said: ."


def test_text_that_another_operation_changes_is_overlapping(
    call: Tools, agent: Client, session_id: str
) -> None:
    """Also where that operation is off, or only proposed."""
    operate(
        agent,
        session_id,
        "redact",
        patterns=[{"start": "two three", "occurrence": 1}],
        propose=True,
    )
    target = {"start": "START_VERBOSE_OUTPUT", "end": "END_VERBOSE_OUTPUT"}
    (error,) = replace(call, target)["errors"]
    assert "overlapping with what o1 changes already" in error
    path = f"/api/sessions/{session_id}/operations"
    body = {"type": "replace", "patterns": [target]}
    refused = post(agent, path, body, expect=409)
    assert (refused["code"], refused["operations"]) == ("overlap", ["o1"])


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
    editing = Client(headers={"Authorization": f"Bearer {key_of(editor, project)}"})
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
    from operations.arguments import ReplaceArguments

    place = ("key", "part", "start", "end", "sha256")
    wanted = ReplaceArguments(
        spans=[{name: one[name] for name in place} for one in matches]  # type: ignore[misc]
    ).wanted()
    writing = patterns.change_each(
        caller(owner), UUID(session_id), wanted, expected_head=0
    )
    assert writing.numbers == [1, 2, 3]
    forget_everything()
    operations = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert len({one["bundle_id"] for one in operations}) == 1
    post(agent, f"/api/operations/{operations[0]['id']}/toggle", {"active": False})
    assert reads(agent, session_id)[6:8] == [TEXTS[6], "second  and "]
    assert patterns.suggestions(session)[0].kind == "pip"
