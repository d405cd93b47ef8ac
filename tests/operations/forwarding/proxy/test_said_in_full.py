"""Requests that don't say a whole conversation: nothing at all, or only what is new of a thread."""

import json
from typing import Any

import pytest

from operations.forwarding.proxy.problems import refusal_body
from operations.forwarding.proxy.unchanged import ThreadNotFound
from operations.forwarding.upstreams.services import WireProvider
from threads.models import Message, Session

from .conftest import Ask, Proxy

CHAT, GEMINI = "/v1/chat/completions", "/v1beta/models/g:generateContent"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, {"messages": []}),
        ("/v1/messages", {"messages": [], "system": "Be brief."}),
        ("/v1/responses", {"input": []}),
        ("/v1/responses", {"instructions": "Be brief."}),
        (GEMINI, {"contents": []}),
    ],
)
@pytest.mark.parametrize("name", ["", "boats"])
def test_a_request_without_messages_leaves_no_session(
    ask: Ask, path: str, body: dict[str, Any], name: str
) -> None:
    def send() -> None:
        sent = ask(path, body, name)
        assert sent.body == json.dumps(body).encode()
        assert sent.exchange is None

    send()
    assert not Session.objects.exists()
    ask(CHAT, {"messages": [{"role": "user", "content": "How many boats?"}]}, "boats")
    send()
    assert Session.objects.count() == Message.objects.count() == 1


@pytest.mark.django_db
def test_one_whose_words_its_provider_keeps_has_a_session(ask: Ask) -> None:
    assert ask("/v1/responses", {"prompt": {"id": "pmpt_1"}}).exchange is not None


@pytest.mark.django_db
def test_who_says_only_what_is_new_of_a_thread_is_asked_for_all_of_it(ask: Ask) -> None:
    messages = [{"role": "user", "content": "How many boats?"}]
    whole: dict[str, Any] = {"messages": messages, "thread": {"type": "create"}}
    first = ask("/v1/messages", whole)
    assert first.body == json.dumps(whole).encode()
    new = {"type": "continue", "previous_message_id": "msg_1"}
    with pytest.raises(ThreadNotFound) as refused:
        ask("/v1/messages", {"messages": messages, "thread": new})
    told = json.loads(refusal_body(WireProvider.ANTHROPIC, refused.value))
    assert refused.value.status == 404
    assert told["error"]["type"] == "not_found_error"
    assert told["error"]["details"] == {"error_code": "thread_not_found"}
    assert Session.objects.count() == Message.objects.count() == 1


def test_anthropics_own_client_goes_on_a_thread_by_saying_all_of_it(
    proxy: Proxy,
) -> None:
    import anthropic

    client = anthropic.Anthropic(base_url=proxy.url, api_key=proxy.key, max_retries=0)
    thread = client.beta.messages.thread(model="claude-sonnet-5", max_tokens=99)
    thread.send({"role": "user", "content": "How many boats?"})
    proxy.operate(type="digest", targets=["m0"], summary="They asked for boats.")
    thread.send({"role": "user", "content": "And ferries?"})
    sent = proxy.provider.last.json
    assert [one["role"] for one in sent["messages"]] == ["user", "assistant", "user"]
    assert "They asked for boats." in str(sent["messages"][0])
    assert sent["thread"] == {"type": "create"}
    assert len(proxy.messages()) == 4
    client.close()
