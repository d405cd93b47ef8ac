"""Pattern-based pruning: the cases t1–t4, every error, and the examples of the guide."""

from django.test import Client

from tests.operations.support.rest import Tools, get, make_session, operate, post
from tests.operations.support.rest import thread as thread_of
from threads.models import Message

from .pruned import LOGS, LOWER, VERBOSE, reads, refused, replace


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
    assert "after its start in the same part" in end


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
    assert "overlapping with text that o1 already changes" in error
    path = f"/api/sessions/{session_id}/operations"
    body = {"type": "replace", "patterns": [target]}
    refused = post(agent, path, body, expect=409)
    assert (refused["code"], refused["operations"]) == ("overlap", ["o1"])
