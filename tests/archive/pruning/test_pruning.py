"""Pruning a session by its rules: what it answers, what it records, what is recalled."""

from contextstudio.accounts.models import Project, User
from tests.archive.pruning.conftest import FILE, WORK
from tests.operations.support.rest import Tools, effective, get, operate, post, put
from tests.people import client_of


def prune(tools: Tools, **fields: object) -> dict:
    return post(tools.client, f"/api/sessions/{tools.session_id}/prune", fields)


def classes(found: dict) -> dict[str, str]:
    return {item["key"]: item["class"] for item in found["items"]}


def test_a_dry_run_too_is_refused_where_the_log_has_grown(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}/prune"
    body = {"dry_run": True, "expected_head": 7}
    refused = post(tools.client, path, body, expect=409)
    assert refused["code"] == "stale_head"


def test_nothing_need_be_said_to_prune_by_the_rules(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}/prune"
    found = tools.client.post(path, "", content_type="application/json")
    assert found.status_code == 200, found.content
    assert found.json()["bundle_id"]


def test_a_dry_run_says_what_becomes_of_each_message_and_changes_nothing(
    tools: Tools,
) -> None:
    before = effective(tools.client, tools.session_id)
    found = prune(tools, dry_run=True)
    told = classes(found)
    assert [told[f"m{n}"] for n in range(11)] == [
        *("keep", "remove", "remove", "keep", "condense", "keep", "condense"),
        *("keep", "condense", "condense", "keep"),
    ]
    assert found["bundle_id"] is None
    assert found["first_changed"] == "m1"
    assert found["tokens_saved"] == found["tokens_before"] - found["tokens_after"] > 0
    assert effective(tools.client, tools.session_id) == before


def test_pruning_records_one_bundle_of_condensed_lines(tools: Tools) -> None:
    found = prune(tools)
    shown = effective(tools.client, tools.session_id)
    refs = {item["key"]: item.get("ref_id") for item in found["items"]}
    lines = [message["content"] for message in shown if message["role"] == "tool"]

    def short(key: str) -> str:
        return f"[recall:{refs[key].rsplit('/', 1)[-1]}]"

    names = ", ".join(f"value_{number}" for number in range(10, 50))
    assert lines == [
        f"🔍 Searched 'value_7' in src - 40 matches {short('m4')}",
        f"✏️ Edited src/parser.py {short('m6')}",
        f"⚡ Ran: pytest tests/test_parser.py -x -q - exit 1 {short('m8')}\nNames: {names}",
    ]
    assert [one["content"] for one in shown if one["role"] == "user"] == [
        WORK[0]["content"],
        "Go on",
    ]
    listed = tools("list_operations")["operations"]
    assert {one["bundle_id"] for one in listed} == {found["bundle_id"]}


def test_document_1_what_was_left_out_is_recalled_byte_for_byte(tools: Tools) -> None:
    found = prune(tools)
    refs = {item["key"]: item.get("ref_id") for item in found["items"]}
    read = tools("recall", ref_id=refs["m2"], max_tokens=10_000)
    assert (read["content"], read["content_type"]) == (FILE, "file_view")
    edited = tools("recall", ref_id=refs["m6"], max_tokens=10_000)
    assert edited["content"] == WORK[6]["content"]
    assert edited["file_paths"] == ["src/parser.py"]


def test_taking_the_bundle_back_gives_the_thread_as_it_was(tools: Tools) -> None:
    before = effective(tools.client, tools.session_id)
    bundle = prune(tools)["bundle_id"]
    post(tools.client, f"/api/bundles/{bundle}/revert")
    assert effective(tools.client, tools.session_id) == before
    again = prune(tools)
    assert again["bundle_id"] not in (None, bundle)


def test_a_session_with_nothing_to_prune_records_nothing(tools: Tools) -> None:
    prune(tools)
    again = prune(tools)
    assert (again["bundle_id"], again["tokens_saved"]) == (None, 0)


def test_rules_are_part_of_the_session_s_policy(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}"
    assert get(tools.client, f"{path}/rules")["own"] is False
    put(tools.client, f"{path}/rules", {"rules": {"keep_last_n": 19}})
    policy = get(tools.client, f"{path}/policy")["policy"]
    assert policy["pruning"]["keep_last_n"] == 19
    assert policy["pruning"]["automatic"] is False
    told = classes(prune(tools, dry_run=True))
    assert set(told.values()) == {"keep"}
    refused = put(
        tools.client, f"{path}/rules", {"rules": {"keep_last": 1}}, expect=422
    )
    assert refused["at"] == ["rules", "keep_last"]


def test_what_is_protected_is_kept(tools: Tools) -> None:
    found = prune(tools, dry_run=True, protect={"tools": ["Gr*"], "keys": ["m9"]})
    told = classes(found)
    assert (told["m4"], told["m9"]) == ("keep", "keep")
    found = prune(tools, dry_run=True, protect={"paths": ["parser.py"]})
    assert [classes(found)[key] for key in ("m1", "m2", "m6")] == ["keep"] * 3
    tools("tag_messages", start_idx=8, end_idx=8, tags=["pinned"])
    assert classes(prune(tools, dry_run=True))["m8"] == "keep"


def test_more_keys_than_a_run_takes_are_refused_with_their_place(tools: Tools) -> None:
    path = f"/api/sessions/{tools.session_id}/prune"
    body = {"protect": ["m1"] * 10_001, "dry_run": True}
    assert post(tools.client, path, body, expect=422)["at"] == ["protect", "keys"]
    refused = post(tools.client, path, {"protect": 5}, expect=422)
    assert refused["detail"] == "Input should be an object."
    assert refused["at"] == ["protect"]


def test_a_key_that_is_protected_names_a_message_or_all_of_an_insert(
    tools: Tools,
) -> None:
    said = [{"role": "assistant", "content": "word " * 900}] * 2
    made = operate(tools.client, tools.session_id, "insert", after="m0", messages=said)
    own = [f"{made['key']}.{place}" for place in range(2)]
    assert {classes(prune(tools, dry_run=True))[key] for key in own} == {"condense"}
    told = classes(prune(tools, dry_run=True, protect=[made["key"]]))
    assert {told[key] for key in own} == {"keep"}
    path = f"/api/sessions/{tools.session_id}/prune"
    for given in (["m1", "m999"], {"keys": ["m1", "msg-12345678"]}):
        for dry_run in (True, False):
            body = {"protect": given, "dry_run": dry_run}
            refused = post(tools.client, path, body, expect=422)
            assert refused["at"] == ["protect", "keys", 1]
            assert refused["code"] == "unknown_key"


def test_a_dry_run_says_what_the_ledger_says_once_it_is_done(tools: Tools) -> None:
    assert prune(tools, dry_run=True, rules={"keep_last_n": 99})["bill"] is None
    tried = prune(tools, dry_run=True)["bill"]
    assert prune(tools)["bill"] is None
    total = get(tools.client, f"/api/sessions/{tools.session_id}/ledger")["total"]
    assert {name: tried[name] for name in ("tokens", "turns", "exact")} == {
        name: total[name] for name in ("tokens", "turns", "exact")
    }


def test_a_target_takes_the_least_harmful_first(tools: Tools) -> None:
    whole = prune(tools, dry_run=True)
    target = whole["tokens_before"] - 100
    found = prune(tools, dry_run=True, target_tokens=target)
    told = classes(found)
    assert {key for key, one in told.items() if one != "keep"} == {"m1", "m2"}
    assert found["fits"] is True
    assert prune(tools, dry_run=True, target_tokens=1)["fits"] is False
    loose = prune(tools, dry_run=True, target_tokens=10**6)
    assert loose["tokens_saved"] == 0
    assert prune(tools, target_tokens=target)["bundle_id"]


def test_an_agent_prunes_by_a_tool(tools: Tools) -> None:
    tried = tools("prune", dry_run=True)
    assert {one["class"] for one in tried["items"]} == {"remove", "condense"}
    done = tools("prune", protect={"tools": ["Bash"]})
    assert done["bundle_id"]
    assert "m8" not in {one["key"] for one in done["items"]}
    assert done["status"] == "applied"
    tools("undo_operation", session_id=tools.session_id)
    kept = tools("prune", dry_run=True, protect=["m8"])
    assert "m8" not in {one["key"] for one in kept["items"]}
    assert kept["status"] is None
    assert prune(tools, dry_run=True)["tokens_saved"] == tried["tokens_saved"]


def test_who_may_not_edit_proposes_a_run(
    tools: Tools, reviewer: User, project: Project
) -> None:
    client = client_of(reviewer, project)
    found = post(client, f"/api/sessions/{tools.session_id}/prune")
    assert found["status"] == "proposed"
    listed = tools("list_operations")["operations"]
    assert {one["status"] for one in listed} == {"proposed"}
    post(tools.client, f"/api/bundles/{found['bundle_id']}/accept")
    assert prune(tools, dry_run=True)["tokens_saved"] == 0
