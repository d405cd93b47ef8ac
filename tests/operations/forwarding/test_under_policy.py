"""`apply` under a policy, with layers, and where a provider's rules ask for a repair."""

from typing import Any

import pytest
from django.test import Client

from operations.domain.context.portions import making
from operations.domain.providers import CompiledPortion
from operations.domain.providers.passes.findings import Finding
from operations.domain.providers.request import Compiled, Severity
from tests.operations.support.rest import (
    RECALL,
    get,
    make_session,
    operate,
    post,
    put,
    said,
)

COUNT = 5


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


def apply(client: Client, session_id: str, messages: Any, **fields: Any) -> Any:
    body = {"messages": messages, **fields}
    return post(client, f"/api/sessions/{session_id}/apply", body)


def marked(messages: list[Any]) -> list[Any]:
    """The same messages with a field that only their client knows."""
    return [{**one, "x": place} for place, one in enumerate(messages)]


def called(*ids: str) -> list[dict[str, Any]]:
    calls = [
        {"id": id_, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for id_ in ids
    ]
    results = [
        {"role": "tool", "tool_call_id": id_, "content": f"seen {id_} " + "x" * 900}
        for id_ in ids
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def test_the_window_of_a_policy_holds_for_the_hook_too(
    agent: Client, session_id: str
) -> None:
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"window": 1}})
    sent = marked(said(COUNT))
    answer = apply(agent, session_id, sent)
    assert answer["messages"] == sent[4:]
    found = get(agent, f"/api/sessions/{session_id}/context")
    assert [one["name"] for one in answer["steps"]] == [
        *("replay", "window", "layers", "compile"),
    ]
    assert answer["tokens"] == {
        "before": found["tokens"]["total"],
        "after": found["tokens"]["sent"],
    }


def test_a_question_stays_in_the_window_while_a_client_that_went_back_to_it_works_on(
    agent: Client, session_id: str
) -> None:
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"window": 1}})
    apply(agent, session_id, said(COUNT))
    again = [*said(1), *called("a")]
    assert apply(agent, session_id, again[:1])["messages"] == again[:1]
    assert apply(agent, session_id, again)["messages"] == again
    more = [*again, *called("b")]
    assert apply(agent, session_id, more)["messages"] == more
    found = get(agent, f"/api/sessions/{session_id}/context?provider=openai")
    assert found["messages"] == more


def test_markers_go_out_where_the_policy_wants_them(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", start_idx=1, end_idx=2)
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"markers": True}})
    sent = marked(said(COUNT))
    answer = apply(agent, session_id, sent)
    marker = {"role": "system", "content": "▸ snip o1: 2 messages"}
    assert answer["messages"] == [sent[0], marker, *sent[3:]]
    found = get(agent, f"/api/sessions/{session_id}/context?provider=openai")
    assert found["messages"] == [said(COUNT)[0], marker, *said(COUNT)[3:]]
    assert answer["tokens"]["after"] == found["tokens"]["sent"]
    thread = get(agent, f"/api/sessions/{session_id}/thread")
    assert thread["nodes"][1]["marker"] == {"before": marker["content"], "after": None}


def test_layers_stand_in_the_system_prompt(agent: Client, session_id: str) -> None:
    path = f"/api/sessions/{session_id}"
    put(agent, f"{path}/scratchpad", {"content": "- [ ] ship"})
    sent = marked(said(COUNT))
    answer = apply(agent, session_id, sent)
    system, *rest = answer["messages"]
    assert system["role"] == "system"
    assert "- [ ] ship" in system["content"]
    assert rest == sent
    blocks = [
        {"role": one["role"], "content": [{"type": "text", "text": one["content"]}]}
        for one in said(COUNT)
    ]
    beside = apply(agent, session_id, blocks, format="anthropic")
    assert "- [ ] ship" in str(beside["system"])
    assert beside["messages"] == blocks


def test_the_clients_own_system_prompt_passes_beside_a_policy(agent: Client) -> None:
    session_id = make_session(agent, COUNT, system="Be brief.")
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"window": 1}})
    own = {"role": "system", "content": "Be brief.", "x": "own"}
    answer = apply(agent, session_id, [own, *said(COUNT)])
    assert answer["messages"] == [own, *said(COUNT)[4:]]
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "e"}}]
    beside = apply(agent, session_id, said(COUNT), format="anthropic", system=system)
    assert beside["system"] == system
    assert beside["messages"] == said(COUNT)[4:]


def test_a_half_of_a_call_is_never_sent(agent: Client) -> None:
    messages = marked([*said(1), *called("a", "b"), *said(1)])
    session_id = make_session(agent, messages)
    operate(agent, session_id, "snip", range=[1, 1])
    answer = apply(agent, session_id, messages)
    assert [one["rule"] for one in answer["issues"]] == ["R1"]
    assert answer["issues"][0]["keys"] == ["m2", "m3"]
    assert answer["messages"] == [messages[0], messages[4]]
    assert answer["steps"][-1]["left_out"][0]["key"] == "m2"


def test_results_are_cut_by_the_tiers_of_a_policy(agent: Client) -> None:
    messages = marked([*said(1), *called("a"), *said(1)])
    session_id = make_session(agent, messages)
    policy = {"truncation": {"inactive": 100, "keep": "head"}}
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": policy})
    answer = apply(agent, session_id, messages, tools=[RECALL])
    cut = answer["messages"][2]
    assert cut["content"].startswith("seen a xxx")
    assert 'recall(ref_id="m2")' in cut["content"]
    assert [answer["messages"][place] for place in (0, 1, 3)] == [
        messages[place] for place in (0, 1, 3)
    ]


def test_what_no_provider_takes_is_refused_with_its_rule(
    agent: Client, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {Finding("R9", Severity.REFUSED, "It can't be sent."): {0: "m0"}}
    refused = CompiledPortion(Compiled({}, [], None, (), (), (), (), ""), found, 0)
    monkeypatch.setattr(making, "compile_portion", lambda *_: refused)
    operate(agent, session_id, "snip", range=[1, 1])
    path = f"/api/sessions/{session_id}/apply"
    found = post(agent, path, {"messages": said(COUNT)}, expect=422)
    assert (found["code"], found["detail"]) == ("refused", "It can't be sent.")
    assert found["errors"] == [
        {
            "code": "R9",
            "detail": "It can't be sent.",
            "at": ["messages"],
            "keys": ["m0"],
        }
    ]


def test_a_thread_without_a_question_has_layers_too(agent: Client) -> None:
    session_id = make_session(agent, [])
    put(agent, f"/api/sessions/{session_id}/scratchpad", {"content": "Plan"})
    answer = apply(agent, session_id, [{"role": "system", "content": "Be brief."}])
    assert answer["messages"][0]["content"].startswith("Be brief.\n\n## Scratchpad")


def test_the_hook_uses_up_a_slice(agent: Client, session_id: str) -> None:
    slice = {"start_message_index": 0, "end_message_index": 1}
    post(agent, "/api/tools/request_context_slice", {"session_id": session_id, **slice})
    focused = [said(COUNT)[0], said(COUNT)[-1]]
    looking = apply(agent, session_id, said(COUNT), append=False)
    assert looking["messages"] == focused
    assert apply(agent, session_id, said(COUNT))["messages"] == focused
    assert apply(agent, session_id, said(COUNT))["messages"] == said(COUNT)


@pytest.mark.parametrize("odd", [{}, {"function": "recall"}, {"name": ["recall"]}])
def test_what_is_no_tool_is_asked_for_no_name(
    agent: Client, session_id: str, odd: dict[str, Any]
) -> None:
    messages = get(agent, f"/api/sessions/{session_id}/context?provider=openai")
    sent = apply(agent, session_id, messages["messages"], tools=[odd])
    assert sent["messages"] == messages["messages"]


@pytest.mark.parametrize("policy", [{"window": 3}, {"guidelines": True}], ids=str)
@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_side_call_that_is_only_looked_at_is_its_own_messages(
    agent: Client, form: str, policy: dict[str, Any]
) -> None:
    prompt = [{"role": "system", "content": "You count boats."}]
    beside = {"system": "You count boats."} if form == "anthropic" else {}
    head = [] if beside else prompt
    first = [*head, {"role": "user", "content": "How many boats?"}]
    session_id = make_session(agent, 0)
    apply(agent, session_id, first, format=form, **beside)
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": policy})
    asked = [
        {"role": "user", "content": "Which flags are up?"},
        {"role": "assistant", "content": "Three of them."},
        {"role": "user", "content": "Name them."},
    ]
    answer = apply(
        agent, session_id, [*head, *asked], format=form, append=False, **beside
    )
    assert answer["messages"][len(head) :] == asked
    told = answer["messages"][0]["content"] if head else answer["system"]
    assert told.startswith("You count boats.")


def test_the_answer_says_whether_thinking_must_be_off(agent: Client) -> None:
    """Its caller knows the mode of thinking, and turns it off (R6)."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="}
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "14"}
    given = [
        *said(3),
        {"role": "assistant", "content": [thought, call]},
        {"role": "user", "content": [result]},
    ]
    session_id = make_session(agent, [])
    assert not apply(agent, session_id, given, format="anthropic")["thinking_off"]
    operate(agent, session_id, "snip", targets=["m1"])
    again = apply(agent, session_id, given, format="anthropic")
    assert again["thinking_off"]
    assert thought not in again["messages"][-2]["content"]
    answer = [{"role": "assistant", "content": "14."}, *said(1)]
    later = apply(agent, session_id, [*given, *answer], format="anthropic")
    assert not later["thinking_off"]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_side_call_that_is_only_looked_at_holds_nothing_of_its_session(
    agent: Client, is_known: bool
) -> None:
    session_id = make_session(agent, 0)
    question = {"role": "user", "content": "How many boats?"}
    first = [question, {"role": "assistant", "content": "14."}, question]
    apply(agent, session_id, first, format="anthropic", system="You count boats.")
    policy = {"policy": {"window": 5, "guidelines": True}}
    put(agent, f"/api/sessions/{session_id}/policy", policy)
    asked = [
        {"role": "user", "content": "Which flags are up?"},
        {"role": "assistant", "content": "Three of them."},
        {"role": "user", "content": "Name them."},
    ]
    beside = {"format": "anthropic", "system": "You name flags."}
    known = session_id
    if is_known:
        known = apply(agent, session_id, asked[:1], **beside)["session_id"]
    for _ in range(2):
        answer = apply(agent, session_id, asked, append=False, **beside)
        assert (answer["messages"], answer["system"]) == (asked, "You name flags.")
        assert answer["session_id"] == known
