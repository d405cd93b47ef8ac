"""Digests, snips and recalls by worked examples, and npl-context's tools by their names."""

from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import Tools, effective, keys, make_session
from threads.domain.formats.summaries import SUMMARY

COUNT = 12


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


@pytest.fixture
def call(agent: Client, session_id: str) -> Tools:
    return Tools(agent, session_id)


def read(agent: Client, session_id: str) -> list[tuple[str, str]]:
    """What the model sees: roles and words."""
    return [(node["role"], node["content"]) for node in effective(agent, session_id)]


def original(index: int) -> tuple[str, str]:
    return ("user" if index % 2 == 0 else "assistant", f"message {index}")


def originals(*indexes: int) -> list[tuple[str, str]]:
    return [original(index) for index in indexes]


def test_tag_messages_5_to_10_as_database_design(call: Tools, agent: Client) -> None:
    answer = call("tag_messages", range=[5, 10], tags=["database-design"])
    assert answer["success"] is True
    assert answer["tag_count"] == 1
    tagged = [
        node["index"]
        for node in call.thread()["nodes"]
        if node["tags"] == ["database-design"]
    ]
    assert tagged == list(range(5, 11))


def test_tag_count_is_the_number_of_tags(call: Tools) -> None:
    answer = call("tag_messages", start_idx=0, end_idx=1, tags=["a", "b", "a"])
    assert answer["tag_count"] == 2


def test_digest_messages_3_to_8_becomes_one_system_message(
    call: Tools, agent: Client, session_id: str
) -> None:
    summary = "Discussed auth options; chose JWT"
    answer = call("digest_messages", range=[3, 8], summary=summary)
    assert answer["operation_id"]
    assert read(agent, session_id) == [
        *originals(0, 1, 2),
        ("system", summary),
        *originals(9, 10, 11),
    ]


def test_revise_messages_5_to_10_shows_two_others_between_two_markers(
    call: Tools, agent: Client, session_id: str
) -> None:
    others = [
        {"role": "user", "content": "Refined question about auth"},
        {"role": "assistant", "content": "Here's the JWT implementation..."},
    ]
    answer = call("revise_messages", range=[5, 10], replacements=others)
    assert answer["operation_id"]
    assert read(agent, session_id) == [
        *originals(0, 1, 2, 3, 4),
        *((other["role"], other["content"]) for other in others),
        original(11),
    ]
    fold = call.thread()["nodes"][5]
    assert fold["marker"]["before"]
    assert fold["marker"]["after"]
    unfolded = call.thread(unfold=fold["key"])["nodes"][5]
    assert [child["index"] for child in unfolded["children"]] == list(range(5, 11))


def test_snip_messages_5_to_8_leaves_a_single_marker(
    call: Tools, agent: Client, session_id: str
) -> None:
    assert call("snip_messages", range=[5, 8])["operation_id"]
    assert read(agent, session_id) == originals(0, 1, 2, 3, 4, 9, 10, 11)
    fold = call.thread()["nodes"][5]
    assert (fold["kind"], fold["type"], fold["replacement"]) == ("fold", "snip", [])
    assert fold["marker"]["before"]
    assert fold["marker"]["after"] is None


def test_resequence_messages_in_the_order_8_9_5_6_7_10_11_and_back(
    call: Tools, agent: Client, session_id: str
) -> None:
    answer = call("resequence_messages", new_order=[8, 9, 5, 6, 7, 10, 11])
    reordered = originals(0, 1, 2, 3, 4, 8, 9, 5, 6, 7, 10, 11)
    assert read(agent, session_id) == reordered
    operation = {"operation_id": answer["operation_id"]}
    call("toggle_operation", **operation, active=False)
    assert read(agent, session_id) == originals(*range(COUNT))
    call("toggle_operation", **operation, active=True)
    assert read(agent, session_id) == reordered


def test_insert_messages_after_5_stands_between_5_and_6(
    call: Tools, agent: Client, session_id: str
) -> None:
    words = "(Context: user later clarified they meant PostgreSQL)"
    messages = [{"role": "assistant", "content": words}]
    assert call("insert_messages", after=5, messages=messages)["operation_id"]
    assert read(agent, session_id) == [
        *originals(*range(6)),
        ("assistant", words),
        *originals(*range(6, COUNT)),
    ]


def test_operations_that_do_not_overlap_come_to_what_its_algorithm_comes_to(
    call: Tools, agent: Client, session_id: str
) -> None:
    """Descending order, inclusive slices, as the pre-request hook of the document does it."""
    inserted = {"role": "user", "content": "in between"}
    call("snip_messages", start_idx=1, end_idx=2)
    call("digest_messages", start_idx=8, end_idx=10, summary="Sum")
    call("insert_messages", after_idx=5, messages=[inserted])
    expected = originals(*range(COUNT))
    expected[8:11] = [("system", "Sum")]
    expected[6:6] = [("user", "in between")]
    del expected[1:3]
    assert read(agent, session_id) == expected


def test_messages_are_named_by_the_short_ids_that_answers_give(call: Tools) -> None:
    listed = call("get_message_range", start=0, end=9)["messages"]
    ids = [message["short_id"] for message in listed]
    call("snip_messages", targets=[ids[3], "m4"])
    call("insert_messages", after=ids[7], messages=[{"role": "user", "content": "Hi"}])
    call("resequence_messages", order=[ids[2], ids[1]])
    operations = call("list_operations")["operations"]
    told = [(one["first"], one["last"], one["count"]) for one in operations]
    assert told == [("m3", "m4", 2), ("m7", "m7", 1), ("m1", "m2", 2)]
    refused = call.refused("snip_messages", targets=["m1", "msg-00000000"])
    assert refused["at"] == ["targets", 1]
    assert refused["detail"] == "There is no message msg-00000000."


def test_an_undo_names_its_entries_even_where_no_status_changes(call: Tools) -> None:
    call("snip_messages", range=[1, 2])
    call("set_active_tags", tags=["brief"])
    undone = call("undo_operation", session_id=call.session_id)
    assert (undone["entries"], undone["changed"]) == (["o2"], [])
    assert call("undo_operation", session_id=call.session_id)["entries"] == ["o1"]
    assert call("redo_operation", session_id=call.session_id)["entries"] == ["o1"]


def test_list_operations_says_what_each_covers_and_begins_what_it_shows(
    call: Tools,
) -> None:
    call("digest_messages", range=[3, 5], summary=f"Chose\nJWT {'a' * 200}")
    call("insert_messages", after_idx=-1, messages=[{"role": "user", "content": "Hi"}])
    call("tag_messages", targets=["o2.0"], tags=["dead end", "auth"])
    call("resequence_messages", new_order=[7, 1])
    listed = call("list_operations")["operations"]
    told = [
        (one["first"], one["last"], one["count"], one["words"][:10]) for one in listed
    ]
    assert told == [
        ("m3", "m5", 3, "Chose JWT "),
        (None, None, 0, "Hi"),
        ("o2.0", "o2.0", 1, "dead end, "),
        ("m1", "m7", 2, ""),
    ]
    assert listed[0]["words"].endswith("…")
    assert call("list_operations", n=2)["operations"] == listed[-2:]


def test_list_operations_tells_the_active_ones_from_all(call: Tools) -> None:
    call("snip_messages", range=[1, 2])
    off = call("digest_messages", range=[4, 5], summary="Sum")
    call("toggle_operation", operation_id=off["operation_id"], active=False)
    everything = call("list_operations", active_only=False)["operations"]
    assert [(one["type"], one["status"]) for one in everything] == [
        ("snip", "applied"),
        ("digest", "off"),
    ]
    assert call("list_operations")["operations"] == everything
    active = call("list_operations", active_only=True)["operations"]
    assert [one["key"] for one in active] == ["o1"]


def test_revert_operation_takes_back_and_a_second_time_changes_nothing(
    call: Tools, agent: Client, session_id: str
) -> None:
    made = call("digest_messages", range=[4, 5], summary="Sum")
    first = call("revert_operation", operation_id=made["operation_id"])
    assert (first["success"], first["head"]) == (True, 2)
    assert read(agent, session_id) == originals(*range(COUNT))
    (listed,) = call("list_operations")["operations"]
    assert listed["status"] == "reverted"
    assert listed["reverted_at"] is not None
    again = call("revert_operation", operation_id=made["operation_id"])
    assert (again["success"], again["head"]) == (True, 2)
    restored = call("toggle_operation", operation_id=made["operation_id"], active=True)
    assert restored["head"] == 3
    assert keys(agent, session_id)[4] == "o1"


@pytest.mark.parametrize(
    ("condition", "holds_under"),
    [
        ({"tags": ["draft"]}, {"draft": True, "final": False, "": False}),
        (
            {"condition": {"tags": ["draft", "final"], "match": "any"}},
            {"draft": True, "final": True, "": False},
        ),
        (
            {"condition": {"tags": ["draft", "final"], "match": "all"}},
            {"draft": False, "draft,final": True},
        ),
        (
            {"condition": {"tags": ["draft"], "match": "none"}},
            {"draft": False, "final": True, "": True},
        ),
    ],
)
def test_a_conditional_operation_applies_only_while_its_tags_are_active(
    call: Tools,
    agent: Client,
    session_id: str,
    condition: dict[str, Any],
    holds_under: dict[str, bool],
) -> None:
    call("snip_messages", range=[5, 8], **condition)
    for tags, holds in holds_under.items():
        active = [tag for tag in tags.split(",") if tag]
        answer = call("set_active_tags", tags=active)
        assert answer["active_tags"] == sorted(active)
        assert len(read(agent, session_id)) == COUNT - 4 * holds
    for tags, holds in holds_under.items():
        nodes = call.thread(active_tags=tags, view="effective")["nodes"]
        assert len(nodes) == COUNT - 4 * holds


def test_active_tags_that_stay_the_same_need_no_entry(call: Tools) -> None:
    assert call("set_active_tags", tags=["a", "b"])["head"] == 1
    assert call("set_active_tags", tags=["b", "a", "b"])["head"] == 1


def test_the_hook_rewrites_what_is_about_to_be_sent(
    call: Tools, agent: Client, session_id: str
) -> None:
    made = call("digest_messages", range=[3, 8], summary="Sum")
    sent = [{"role": role, "content": text} for role, text in originals(*range(COUNT))]
    answer = call.post("apply", {"messages": sent})
    assert answer["messages"] == [
        *sent[:3],
        {"role": "system", "content": SUMMARY.format("Sum")},
        *sent[9:],
    ]
    assert answer["applied"] == [made["operation_id"]]


def test_tools_take_what_every_tool_takes_and_refuse_the_rest(
    call: Tools, agent: Client, session_id: str
) -> None:
    made = call("snip_messages", range=[1, 2], project="demo", expected_head=0)
    operation = {"operation_id": made["operation_id"], "session_id": session_id}
    call("list_operations", project="demo", expected_head=1)
    call("toggle_operation", **operation, active=False, expected_head=1)
    call("set_active_tags", tags=["a"], expected_head=2)
    call("revert_operation", **operation, expected_head=3)
    assert call.refused("list_operations", expected_head=3)["code"] == "stale_head"
    assert call.refused("revert_operation", **operation, expected_head=3)["head"] == 4
    assert call.refused("toggle_operation", **operation)["at"] == ["active"]
    assert call.refused("set_active_tags", tags=[], lens="x")["at"] == ["lens"]
    assert call.refused("no_such_tool")["status"] == 404
    other = make_session(agent, 2)
    refused = call.refused("revert_operation", **operation | {"session_id": other})
    assert (refused["status"], refused["at"]) == (404, ["operation_id"])
