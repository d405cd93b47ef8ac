"""`GET /api/sessions/{id}/ledger`: what operations cost once and save each turn."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from operations.context.model_catalog import prices_of
from operations.domain.providers.passes.turn_order import CLOSER
from tests.operations.support.rest import get, make_session, operate, post, put, said
from threads.domain.formats.summaries import SUMMARY
from threads.tokens import count_many

WORDS = 60
TEXTS = [f"{index} " + "word " * WORDS for index in range(40)]
MODEL = "claude-sonnet-4-5"
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
READ, WRITE = 0.3e-6, 3.75e-6


def spoken(texts: list[str]) -> list[dict[str, Any]]:
    """Messages of user and assistant in turn."""
    return [
        {**one, "content": text}
        for one, text in zip(said(len(texts)), texts, strict=True)
    ]


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, spoken(TEXTS), system="Be brief.")


def ledger(client: Client, session_id: str, *, expect: int = 200, **query: Any) -> Any:
    query = {"provider": "anthropic", "model": MODEL, **query}
    return get(client, f"/api/sessions/{session_id}/ledger", expect=expect, **query)


def test_the_figures_are_those_that_a_hand_estimates(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "digest", range=[21, 30], summary="Ten of them.")
    prefix, folded = (sum(count_many(TEXTS[a:b])) for a, b in ((0, 20), (20, 30)))
    prefix += count_many(["Be brief."])[0]
    rest = sum(count_many([*TEXTS[30:], CLOSER]))
    after = prefix + count_many([SUMMARY.format("Ten of them.")])[0] + rest
    before = prefix + folded + rest
    found = ledger(agent, session_id)
    assert found["prices"] == {
        "model": MODEL,
        "input": 3e-6,
        "write": WRITE,
        "read": READ,
        "minimum": 1024,
        "block": 1,
        "estimated": [],
    }
    (row,) = found["operations"]
    assert row["tokens"] == {
        "before": before,
        "after": after,
        "saved": before - after,
        "prefix": prefix,
        "kept": prefix,
        "rewritten": after - prefix,
        "uncached": 0,
    }
    once, per_turn = (after - prefix) * (WRITE - READ), (before - after) * READ
    assert row["cost"]["once"] == pytest.approx(once)
    assert row["cost"]["per_turn"] == pytest.approx(per_turn)
    assert row["turns"] == -(-once // per_turn) == 13
    assert (row["key"], row["type"], row["status"]) == ("o1", "digest", "applied")
    assert (row["exact"], found["total"]["exact"]) == (False, True)
    assert found["total"]["first"] == "o1.0"
    exact = ledger(agent, session_id, operation="o1")["operations"]
    names = ("tokens", "cost", "turns")
    for one in (*exact, found["total"]):
        assert [one[name] for name in names] == [row[name] for name in names]


def test_of_a_model_that_no_map_knows_the_turns_are_told_and_no_price(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[21, 30])
    known, unknown = (
        ledger(agent, session_id, model=model) for model in (MODEL, "house-model")
    )
    assert unknown["prices"]["model"] is None
    assert unknown["prices"]["estimated"] == ["prices", "minimum"]
    assert [unknown["prices"][name] for name in ("input", "write", "read")] == [
        None
    ] * 3
    assert unknown["total"]["cost"] is None
    for name in ("tokens", "turns"):
        assert unknown["total"][name] == known["total"][name]
    mistral = ledger(agent, session_id, provider="mistral", model="")
    assert mistral["total"]["turns"] == 0
    assert mistral["notes"] == [
        {
            "rule": "R17",
            "detail": "Nothing is cached: each turn pays for all that is sent.",
        }
    ]


def test_a_proposal_saves_no_more_than_is_sent_of_what_it_folds(agent: Client) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "a", "content": "word " * 9_000}
    session_id = make_session(agent, [*said(2), call, result, *said(2)])
    slop = {"policy": {"preset": "slop"}}
    put(agent, f"/api/sessions/{session_id}/policy", slop)
    operate(agent, session_id, "snip", range=[2, 3], propose=True)
    found = ledger(agent, session_id)
    (row,) = found["operations"]
    assert row["tokens"]["before"] == found["sent"] < 9_000
    assert row["tokens"]["after"] == row["tokens"]["prefix"] > 0


def test_what_waits_or_is_off_shows_what_would_come_of_it(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[31, 34])
    operate(agent, session_id, "digest", range=[21, 24], summary="x", propose=True)
    found = ledger(agent, session_id)
    one, waiting = found["operations"]
    assert (one["status"], waiting["status"]) == ("applied", "proposed")
    assert waiting["tokens"]["before"] == one["tokens"]["after"] == found["sent"]
    (exact,) = ledger(agent, session_id, operation="o2")["operations"]
    assert exact["tokens"] == waiting["tokens"]
    assert exact["exact"]
    assert found["total"]["tokens"] == one["tokens"]
    post(agent, f"/api/operations/{one['operation_id']}/toggle", {"active": False})
    (off,) = ledger(agent, session_id, operation="o1")["operations"]
    assert off["status"] == "off"
    assert off["tokens"]["saved"] == one["tokens"]["saved"]
    assert [row["key"] for row in ledger(agent, session_id)["operations"]] == ["o2"]


@pytest.mark.parametrize("applies", [False, True])
def test_a_snip_of_a_digest_saves_the_frame_around_the_summary_too(
    agent: Client, session_id: str, applies: bool
) -> None:
    operate(agent, session_id, "digest", range=[21, 24], summary="They looked around.")
    operate(agent, session_id, "snip", range=[21, 24], propose=not applies)
    row = ledger(agent, session_id)["operations"][1]
    (exact,) = ledger(agent, session_id, operation="o2")["operations"]
    assert exact["exact"]
    assert row["tokens"]["saved"] == exact["tokens"]["saved"] > 20


def test_operations_of_a_bundle_have_a_row_together(
    agent: Client, session_id: str
) -> None:
    snips = [{"type": "snip", "range": [at, at + 1]} for at in (21, 31)]
    path = f"/api/sessions/{session_id}/bundles"
    waiting = [one | {"propose": True} for one in snips]
    made = post(agent, path, {"operations": waiting}, expect=201)
    (row,) = (proposed := ledger(agent, session_id))["bundles"]
    assert (row["bundle_id"], row["waits"]) == (made["bundle_id"], True)
    post(agent, f"/api/bundles/{made['bundle_id']}/accept", {})
    found = ledger(agent, session_id)
    (applied,) = found["bundles"]
    assert not applied["waits"]
    assert row["first"] == proposed["operations"][0]["first"]
    assert applied["tokens"] == row["tokens"] == found["total"]["tokens"]
    assert [applied[name] for name in ("cost", "turns")] == [
        found["total"][name] for name in ("cost", "turns")
    ]


def test_what_is_proposed_twice_saves_each_time_what_it_would_alone(
    agent: Client, session_id: str
) -> None:
    snips = [
        {"type": "snip", "range": [at, at + 1], "propose": True} for at in (21, 31)
    ]
    path = f"/api/sessions/{session_id}/bundles"
    post(agent, path, {"operations": snips}, expect=201)
    once = ledger(agent, session_id)
    post(agent, path, {"operations": snips}, expect=201)
    twice = ledger(agent, session_id)
    told = [one["tokens"] for one in twice["operations"]]
    assert told == 2 * [one["tokens"] for one in once["operations"]]
    assert all(tokens["saved"] > 0 for tokens in told)
    (bundle,) = once["bundles"]
    assert [one["tokens"] for one in twice["bundles"]] == 2 * [bundle["tokens"]]


def test_an_operation_alone_of_its_bundle_has_no_row_together(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[21, 22])
    assert ledger(agent, session_id)["bundles"] == []


def test_a_redaction_is_estimated_without_showing_what_it_masks(
    agent: Client, session_id: str
) -> None:
    patterns = [{"start": TEXTS[9][:100], "all": True}]
    operate(agent, session_id, "redact", patterns=patterns)
    (row,) = ledger(agent, session_id, operation="o1")["operations"]
    assert not row["exact"]
    assert row["first"] == "m10"
    assert row["tokens"]["saved"] > 0


def test_a_change_counts_from_where_the_request_differs_not_the_thread(
    agent: Client,
) -> None:
    """A result that stands apart from its call is sent directly behind it."""
    messages = [
        *spoken(TEXTS[:4]),
        {"role": "user", "content": "Look."},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "user", "content": TEXTS[5]},
        {"role": "tool", "tool_call_id": "a", "content": "found"},
        {"role": "user", "content": TEXTS[7]},
    ]
    session_id = make_session(agent, messages)
    operate(agent, session_id, "snip", range=[7, 7])
    found = ledger(agent, session_id, provider="openai", model="gpt-5")
    (row,) = found["operations"]
    assert row["first"] == "o1"
    assert found["total"]["first"] == "m5"
    assert found["total"]["tokens"]["prefix"] == sum(count_many([*TEXTS[:4], "Look."]))


def test_signatures_that_an_operation_breaks_are_named(agent: Client) -> None:
    def answer(number: int) -> dict[str, Any]:
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
        text = {"type": "text", "text": TEXTS[number]}
        return {"role": "assistant", "content": [thought, text]}

    messages = [
        one
        for number in range(6)
        for one in ({"role": "user", "content": TEXTS[number]}, answer(number))
    ]
    session_id = make_session(agent, messages, parsing_strategy="anthropic")
    operate(agent, session_id, "snip", range=[4, 4])
    operate(agent, session_id, "replace", patterns=[{"start": TEXTS[4], "all": True}])
    found = ledger(agent, session_id)
    first, second = (row["seals"] for row in found["operations"])
    assert first == ["m5", "m7"]
    assert second == []  # without it they would be invalid all the same
    assert found["total"]["seals"] == ["m5", "m7", "m9", "m11"]
    assert "R8" in {note["rule"] for note in found["notes"]}
    exact = ledger(agent, session_id, operation="o1")["operations"][0]
    assert exact["seals"] == first
    assert ledger(agent, session_id, provider="openai")["total"]["seals"] == []


def test_claudes_own_clearing_is_told_the_least_that_pays(
    agent: Client,
) -> None:
    messages = [
        *spoken(TEXTS[:20]),
        {"role": "user", "content": "Look."},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "a", "content": "found " * 2000},
    ]
    session_id = make_session(agent, messages)
    (note,) = ledger(agent, session_id)["notes"]
    assert note["rule"] == "R18"
    assert "clear_at_least of 1,0" in note["detail"]


def test_what_is_not_there_is_refused(
    agent: Client, session_id: str, client: Client, stranger: User, viewer: User
) -> None:
    assert ledger(agent, session_id, operation="o9", expect=404)["at"] == ["operation"]
    assert ledger(agent, session_id, provider="acme", expect=422)["at"] == ["provider"]
    for user, status in ((stranger, 404), (viewer, 200)):
        person = Client()
        person.force_login(user)
        ledger(person, session_id, expect=status)


def test_prices_are_the_packaged_maps_and_what_is_missing_is_named() -> None:
    found = prices_of("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert [least for least, _ in found.tariff.tiers] == [0, 200_001]
    assert found.estimated == ()
    assert prices_of("deepseek", "deepseek-chat").model == "deepseek-chat"
    assert prices_of("gemini", "GEMINI-2.5-PRO").tariff.minimum == 2048
    assert prices_of("openai", "azure/gpt-5").estimated == ("minimum",)
    assert prices_of("anthropic", "").model == ""
