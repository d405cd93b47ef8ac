"""Hindsight of a session: what its operations cost, and what is tried in their place."""

from tests.archive.pruning.conftest import WORK
from tests.operations.support.rest import Tools, get, make_session, post


def hindsight(tools: Tools, query: str = "") -> dict:
    return get(tools.client, f"/api/sessions/{tools.session_id}/hindsight{query}")


def tried(tools: Tools, expect: int = 200, **body: object) -> dict:
    path = f"/api/sessions/{tools.session_id}/hindsight"
    return post(tools.client, path, body, expect=expect)


def losses(found: dict) -> dict[str, dict[str, tuple[list[str], list[str]]]]:
    return {
        one["key"]: {
            loss["text"]: (loss["left_out_in"], loss["used_in"]) for loss in one["lost"]
        }
        for one in found["operations"]
    }


def test_without_operations_nothing_is_lost(tools: Tools) -> None:
    found = hindsight(tools)
    assert (found["references"], found["lost"], found["operations"]) == (0, 0, [])
    assert found["tokens"]["before"] == found["tokens"]["after"] > 0


def test_a_snip_has_lost_what_was_needed_after_it(tools: Tools) -> None:
    snip = tools("snip_messages", start_idx=1, end_idx=2)
    found = hindsight(tools)
    (operation,) = found["operations"]
    assert operation["operation_id"] == snip["operation_id"]
    assert operation["tokens_saved"] == -(
        found["tokens"]["after"] - found["tokens"]["before"]
    )
    assert losses(found) == {
        "o1": {
            "48213": (["m2"], ["m3"]),
            "deploy/local/compose.yaml": (["m2"], ["m5"]),
            "retryBackoffLimit": (["m2"], ["m7"]),
            "notes.txt": (["m1"], ["m7"]),
        }
    }
    assert (found["references"], found["lost"]) == (4, 4)
    kinds = {loss["text"]: loss["kind"] for loss in operation["lost"]}
    assert kinds == {
        "48213": "number",
        "deploy/local/compose.yaml": "path",
        "retryBackoffLimit": "identifier",
        "notes.txt": "file",
    }


def test_what_the_fold_shows_is_not_lost(tools: Tools) -> None:
    summary = "notes.txt says port 48213 and retryBackoffLimit."
    tools("digest_messages", start_idx=1, end_idx=2, summary=summary)
    assert losses(hindsight(tools)) == {
        "o1": {"deploy/local/compose.yaml": (["m2"], ["m5"])}
    }


def test_one_operation_is_asked_for_by_key_or_id(tools: Tools) -> None:
    tools("snip_messages", start_idx=0, end_idx=0)
    second = tools("snip_messages", start_idx=1, end_idx=3)["operation_id"]
    by_key, by_id = (hindsight(tools, f"?operation={one}") for one in ("o2", second))
    assert by_key == by_id
    assert set(losses(by_key)) == {"o2"}
    assert by_key["lost"] == len(by_key["operations"][0]["lost"]) == 3
    assert hindsight(tools, "?operation=o1")["lost"] == 0
    path = f"/api/sessions/{tools.session_id}/hindsight?operation=o9"
    assert get(tools.client, path, expect=404)["at"] == ["operation"]


def test_an_operation_that_is_switched_off_costs_nothing(tools: Tools) -> None:
    snip = tools("snip_messages", start_idx=1, end_idx=2)
    tools("toggle_operation", operation_id=snip["operation_id"], active=False)
    assert hindsight(tools)["operations"] == []


def test_an_inner_fold_and_the_one_around_it_both_left_it_out(tools: Tools) -> None:
    tools("digest_messages", start_idx=2, end_idx=2, summary="Mentions 48213")
    tools("snip_messages", start_idx=1, end_idx=2)
    found = losses(hindsight(tools))
    assert found["o1"]["retryBackoffLimit"] == (["m2"], ["m7"])
    assert found["o2"]["retryBackoffLimit"] == (["m2"], ["m7"])
    assert "48213" not in found["o1"]
    assert found["o2"]["48213"] == (["o1.0", "m2"], ["m3"])


def test_what_replacing_took_from_a_message_is_lost_too(tools: Tools) -> None:
    edit = {
        "type": "replace",
        "patterns": [{"start": "13, set", "end": "compose.ya", "replacement": "0"}],
    }
    path = f"/api/sessions/{tools.session_id}/operations"
    post(tools.client, path, edit, expect=201)
    assert losses(hindsight(tools)) == {
        "o1": {
            "48213": (["m2"], ["m3"]),
            "deploy/local/compose.yaml": (["m2"], ["m5"]),
        }
    }


def test_what_is_redacted_is_named_nowhere(tools: Tools) -> None:
    tools("snip_messages", start_idx=1, end_idx=2)
    path = f"/api/sessions/{tools.session_id}/operations"
    edit = {
        "type": "redact",
        "patterns": [{"start": "482", "end": "13", "all": True}],
        "include_folded": True,
    }
    post(tools.client, path, edit, expect=201)
    assert "48213" not in str(hindsight(tools))


def test_operations_are_tried_in_the_place_of_those_of_the_log(tools: Tools) -> None:
    tools("snip_messages", start_idx=0, end_idx=7)
    wanted = hindsight(tools)
    found = tried(tools, operations=[{"type": "snip", "start_idx": 1, "end_idx": 2}])
    (operation,) = found["operations"]
    assert operation["operation_id"] is None
    assert {loss["text"] for loss in operation["lost"]} == {
        *("48213", "deploy/local/compose.yaml", "retryBackoffLimit", "notes.txt")
    }
    assert operation["tokens_saved"] > 0
    assert hindsight(tools) == wanted


def test_a_policy_is_tried(tools: Tools) -> None:
    found = tried(tools, policy={"preset": "custom", "window": 1})
    assert losses(found) == {
        "window": {
            "deploy/local/compose.yaml": (["m2"], ["m5"]),
            "retryBackoffLimit": (["m2"], ["m7"]),
            "notes.txt": (["m1"], ["m7"]),
        }
    }
    window = found["operations"][0]
    tokens = found["tokens"]
    assert window["tokens_saved"] == tokens["before"] - tokens["after"] > 0


def test_tiers_are_tried(tools: Tools) -> None:
    tiers = {"recent": 20, "older": 20, "inactive": 0, "keep": "head"}
    found = tried(tools, policy={"truncation": tiers})
    assert losses(found)["truncation"] == {
        "deploy/local/compose.yaml": (["m2"], ["m5"]),
        "retryBackoffLimit": (["m2"], ["m7"]),
    }


def test_rules_of_the_pruner_are_tried(tools: Tools) -> None:
    later = [
        {"role": "assistant", "content": "It is in src/parser.py, and src/a12.py."},
        {"role": "assistant", "content": "Said before: src/a13.py"},
    ]
    long = Tools(tools.client, make_session(tools.client, [*WORK, *later]))
    found = tried(long, rules={"name_used_later": False})
    assert found["tokens"]["after"] < found["tokens"]["before"] / 2
    lost = {
        text: where for one in losses(found).values() for text, where in one.items()
    }
    assert lost == {
        "src/a12.py": (["m4"], ["m21"]),
        "src/a13.py": (["m4"], ["m22"]),
    }
    assert hindsight(long)["operations"] == []
    assert tried(long, rules={"keep_last_n": 10})["lost"] == 0


def test_what_is_said_while_a_message_is_still_kept_by_rule_is_said_in_its_sight(
    tools: Tools,
) -> None:
    soon = {"role": "assistant", "content": "So I open src/a12.py and src/a13.py."}
    messages = [*WORK[:5], soon, *WORK[5:], soon | {"content": "Now src/a14.py"}]
    long = Tools(tools.client, make_session(tools.client, messages))
    found = losses(tried(long, rules={"name_used_later": False}))
    assert [text for one in found.values() for text in one] == ["src/a14.py"]


def test_one_thing_is_tried_at_a_time(tools: Tools) -> None:
    tried(tools, expect=422)
    tried(tools, expect=422, policy={}, rules={})
    wrong = tried(tools, expect=422, policy={"windows": 1})
    assert wrong["at"] == ["windows"]
