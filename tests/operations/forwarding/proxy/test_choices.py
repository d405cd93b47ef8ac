"""Several replies to one request: the first is recorded, and its client may go on from any."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from operations.forwarding.proxy.recording import Outcome, record_outcome
from operations.forwarding.proxy.replies import ReplyReader
from operations.log.selectors import load_thread
from operations.models import OtherChoice
from threads.models import Session

from .conftest import Ask

CHAT, GEMINI = "/v1/chat/completions", "/v1beta/models/g:generateContent"


def chat(*texts: str) -> bytes:
    messages = [
        {"role": "assistant", "content": one, "reasoning_content": "Hm."}
        for one in texts
    ]
    choices = [{"index": n, "message": one} for n, one in enumerate(messages)]
    return json.dumps({"choices": choices}).encode()


def chat_in_pieces(*texts: str) -> bytes:
    pieces = [
        {"choices": [{"index": n, "delta": {"content": half}}]}
        for halves in zip(*((one[:3], one[3:]) for one in texts), strict=True)
        for n, half in enumerate(halves)
    ]
    events = [b"data: %b\n\n" % json.dumps(one).encode() for one in pieces]
    return b"".join([*events, b"data: [DONE]\n\n"])


def gemini(*texts: str) -> bytes:
    parts = [[{"text": "Hm.", "thought": True}, {"text": one}] for one in texts]
    found = [
        {"index": n, "content": {"role": "model", "parts": one}}
        for n, one in enumerate(parts)
    ]
    return json.dumps({"candidates": found}).encode()


def gemini_in_pieces(*texts: str) -> bytes:
    """Each candidate in chunks of its own; the index of the first is left out, being 0."""
    found = [
        {"content": {"parts": [{"text": half}]}, **({"index": n} if n else {})}
        for n, one in enumerate(texts)
        for half in (one[:3], one[3:])
    ]
    events = [json.dumps({"candidates": [one]}).encode() for one in found]
    return b"".join(b"data: %b\n\n" % one for one in events)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "answer", "streams"),
    [
        (CHAT, chat, False),
        (CHAT, chat_in_pieces, True),
        (GEMINI, gemini, False),
        (GEMINI, gemini_in_pieces, True),
    ],
)
def test_who_goes_on_from_another_choice_stays_in_the_session(
    ask: Ask, path: str, answer: Callable[..., bytes], streams: bool
) -> None:
    def said(*texts: str) -> dict[str, Any]:
        """What was said in turn, by the user first."""
        if path == CHAT:
            roles = ["user", "assistant", "user"]
            pairs = zip(roles, texts, strict=False)
            return {"messages": [{"role": a, "content": b} for a, b in pairs]}
        roles = ["user", "model", "user"]
        pairs = zip(roles, texts, strict=False)
        return {"contents": [{"role": a, "parts": [{"text": b}]} for a, b in pairs]}

    first = ask(path, said("How many boats?"))
    assert first.exchange is not None
    form = "openai" if path == CHAT else "gemini"
    kind = "text/event-stream" if streams else "application/json"
    reader = ReplyReader(form, kind)
    reader.feed(answer("14 boats.", "15 boats.", "16 boats."))
    finish = partial(reader.finish, broken=False)
    assert record_outcome(first.exchange, Outcome(read=finish)) == 1
    next_ = ask(path, said("How many boats?", "16 boats.", "And ferries?"))
    assert next_.exchange is not None
    session = Session.objects.get()
    assert next_.exchange.session_id == session.pk
    assert (
        next_.body
        == json.dumps(said("How many boats?", "16 boats.", "And ferries?")).encode()
    )
    shown = [one.key for one in load_thread(session).effective()]
    assert shown == ["m0", "m2", "m3"]
    other = ask(path, said("How many boats?", "17 boats.", "And ferries?"))
    assert other.exchange is not None
    assert other.exchange.session_id != session.pk


@pytest.mark.django_db
def test_of_a_session_that_is_gone_by_then_no_choice_is_known(ask: Ask) -> None:
    first = ask(CHAT, {"messages": [{"role": "user", "content": "How many boats?"}]})
    assert first.exchange is not None
    Session.objects.all().delete()
    reader = ReplyReader("openai", "application/json")
    reader.feed(chat("14 boats.", "15 boats."))
    finish = partial(reader.finish, broken=False)
    assert record_outcome(first.exchange, Outcome(read=finish)) is None
    assert not OtherChoice.objects.exists()
