"""Whoever asks, gets the same request: every door, whatever was done, every policy and provider."""

import json
import os
import random
from collections.abc import Iterator
from itertools import pairwise
from math import gcd
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.models import Project, User
from operations.context.inputs import counter_of
from operations.context.policies import set_policy
from operations.context.services import ContextQuery, assemble_session
from operations.domain.context.policy import PRESETS
from operations.domain.log.operation import (
    Digest,
    Edit,
    Insert,
    Redact,
    Resequence,
    Revise,
    Snip,
)
from operations.domain.providers import PROVIDERS
from operations.domain.tree.key import original_key
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span, fingerprint
from operations.edits.services import record_edit
from tests.operations.domain.forwarding.sending import said_in
from tests.operations.support.conversations import recorded
from tests.operations.support.request_texts import tokens_of
from tests.operations.support.rest import RECALL, get, post
from tests.people import caller
from threads import tokens
from threads.domain.message import Message, Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.domain.tokens import total, words
from threads.models import Session
from threads.sessions.services import NewSession, create_session

REFERENCE = "[recall:msg-00000000]"
LOGS = 200 if os.environ.get("SOAK") else 60
EDITS = 4
MAX_LENGTH = 12
EXPORTS = {
    "openai": ("openai", "messages"),
    "anthropic": ("anthropic", "messages"),
    "gemini": ("gemini", "contents"),
    "openai-responses": ("openai_responses", "input"),
}
"""By provider: the export that has its form, and the member that holds the messages."""

pytestmark = pytest.mark.sqlite
"""No database changes what is made."""


def made_up() -> list[Message]:
    """A talk with a prompt, signed thinking, parallel calls, and a call that nobody answered."""
    said = [Message(role=Role.SYSTEM, parts=(Text("Be brief."),))]
    for turn in range(3):
        ids = [f"toolu_{turn}{k}" for k in range(2)]
        calls = [ToolCall(id_, "look", {"at": turn}) for id_ in ids]
        thought = Thinking(f"Thought {turn}", f"c2VhbA{turn}=")
        said.append(Message(role=Role.USER, parts=(Text(f"Question {turn}?"),)))
        said.append(Message(role=Role.ASSISTANT, parts=(thought, *calls)))
        said += [
            Message(role=Role.TOOL, parts=(ToolResult(id_, (Text(f"Seen {id_}."),)),))
            for id_ in ids
        ]
        said.append(Message(role=Role.ASSISTANT, parts=(Text(f"Answer {turn}."),)))
    return [*said, Message(role=Role.USER, parts=(Text("And now?"),))]


def threads_of(samples: Path) -> Iterator[tuple[str, list[Message]]]:
    """Stretches of real sessions beside the one that is made up, without end."""
    whole = recorded(samples, 200_000) if samples.is_dir() else []
    for chance in map(random.Random, range(LOGS)):
        if not whole or chance.random() < 0.3:
            yield "anthropic", made_up()
            continue
        one = chance.choice(whole)
        start = chance.randrange(max(1, len(one.messages) - MAX_LENGTH))
        said = one.messages[start : start + MAX_LENGTH]
        yield one.strategies[0], said


def edits_of(chance: random.Random, said: list[Message]) -> Iterator[Edit]:
    """Operations of every kind that changes what is sent, at random places."""
    for _ in range(EDITS):
        first = chance.randrange(len(said))
        last = min(len(said) - 1, first + chance.randrange(4))
        targets = tuple(map(original_key, range(first, last + 1)))
        made = (
            MadeMessage(
                "system", (Text(f"What was said before, in short {REFERENCE}."),), 8
            ),
        )
        answer = (MadeMessage("assistant", (Text("Another answer."),), 3),)
        texts = [
            (place, part.text)
            for place, part in enumerate(said[first].parts)
            if isinstance(part, Text) and part.text
        ]
        place, text = texts[0] if texts else (0, "")
        word = text[:5]
        span = Span(
            key=targets[0],
            part=place,
            start=0,
            end=len(word),
            sha256=fingerprint(word),
        )
        yield chance.choice(
            [
                Digest(targets=targets, messages=made),
                Snip(targets=targets),
                Revise(targets=targets, messages=answer),
                Insert(after=targets[0], messages=made),
                Resequence(order=targets[::-1]),
                *([Redact(spans=(span,))] if word else []),
            ]
        )


def record_all(owner: User, session: Session, edits: Iterator[Edit]) -> int:
    """Record what can be recorded; how many that is."""
    count = 0
    for edit in edits:
        try:
            record_edit(caller(owner), session.pk, edit)
        except (Conflict, Invalid):
            continue
        count += 1
    return count


def test_every_door_gives_the_same_request(
    agent: Client, owner: User, project: Project, shared_samples: Path
) -> None:
    person, recorded_edits = Client(), 0
    person.force_login(owner)
    providers, presets = list(PROVIDERS), list(PRESETS)
    assert gcd(len(providers), len(presets)) == 1  # each provider meets every policy
    for number, (strategy, said) in enumerate(threads_of(shared_samples)):
        new = NewSession(title="t", messages=said, parsing_strategy=strategy)
        session = create_session(caller(owner), project, new)
        edits = edits_of(random.Random(number), said)
        recorded_edits += record_all(owner, session, edits)
        preset = presets[number % len(presets)]
        set_policy(caller(owner), session.pk, {"preset": preset})
        agree(agent, person, session, providers[number % len(providers)])
        form = ("openai", "anthropic")[number % 2]
        for recalls in (True, False):
            agree_on_apply(agent, session, form, recalls=recalls)
    assert recorded_edits > 2 * LOGS


def agree(client: Client, person: Client, session: Session, provider: str) -> None:
    """All who ask for the request are given the same one, and its figures are right."""
    path = f"/api/sessions/{session.pk}"
    found = get(client, f"{path}/context", provider=provider)
    request, figures = found["request"], found["tokens"]

    shown = post(
        client,
        "/api/tools/show_context",
        {"session_id": str(session.pk), "provider": provider, "max_tokens": 10**6},
    )
    assert shown["request"] == request
    page = person.get(f"/sessions/{session.pk}/context.json", {"provider": provider})
    assert page.json() == request
    if provider in EXPORTS:
        form, _ = EXPORTS[provider]
        exported = export(client, session, form)
        assert exported == request

    session.refresh_from_db()
    context = assemble_session(session, ContextQuery(provider=provider))
    written = [part for turn in context.compiled.turns for part in turn.parts]
    media = sum(total(counted, lambda _: 0) for counted in words(written))
    count = tokens.counter(session.encoding)
    assert figures["sent"] == tokens_of(provider, request, count) + media
    steps = found["steps"]
    assert (steps[0]["before"], steps[-1]["after"]) == (
        figures["total"],
        figures["sent"],
    )
    for before, after in pairwise(steps):
        assert before["after"] == after["before"]
    for step in steps:
        lost = sum(one["tokens"] for one in step["left_out"])
        assert step["before"] + step["added"] - lost == step["after"]
    assert sum(figures["by_layer"].values()) == figures["sent"]


def agree_on_apply(
    client: Client, session: Session, format: str, *, recalls: bool
) -> None:
    """`apply` sends what the context shows, once a client sends what was recorded.

    Where nothing is to be done it sends that itself; what a rule takes from a message for its
    own sake it leaves in the client's own.
    """
    path = f"/api/sessions/{session.pk}"
    body = export(client, session, format, view="original")
    fields = {name: body[name] for name in ("messages", "system") if name in body}
    answer = client.post(
        f"{path}/apply",
        {
            **fields,
            "format": format,
            "append": False,
            "tools": [RECALL] if recalls else [],
        },
        "application/json",
    )
    if answer.status_code == 409:  # its form can't tell two of these messages apart
        return
    assert answer.status_code == 200, answer.content
    found = answer.json()
    context = get(client, f"{path}/context", provider=format, recall=recalls)
    told = json.dumps(found["messages"]) + str(found.get("system"))
    if not recalls and "recall" not in json.dumps(fields):
        assert "recall" not in told
    if not found["applied"] and not found["steps"]:
        assert found["messages"] == fields["messages"]
        return
    request, own = context["request"], {"R2", "R6", "R15", "R16"}
    if own.isdisjoint(issue["rule"] for issue in context["issues"]):
        said = said_in(request["messages"], format)
        assert said_in(found["messages"], format) == said
        assert found.get("system") == request.get("system")
        assert found["tokens"]["after"] == context["tokens"]["sent"]
        return
    # What the client sends otherwise than a rule has it stays as it sends it, and nothing else.
    expected = [*request["messages"], *fields["messages"]]
    assert all(message in expected for message in found["messages"])


def export(
    client: Client, session: Session, format: str, view: str = "effective"
) -> Any:
    query = {"format": format, "view": view}
    answer = client.get(f"/api/sessions/{session.pk}/export", query)
    return json.loads(b"".join(answer))


def test_what_is_counted_is_the_tokenizer_s_own(owner: User, project: Project) -> None:
    new = NewSession(title="t", messages=made_up(), parsing_strategy="anthropic")
    session = create_session(caller(owner), project, new)
    context = assemble_session(session, ContextQuery(provider="anthropic"))
    texts = (Text(context.compiled.prompt),)
    count = counter_of(session.encoding)
    said = sum(count(turn.parts) for turn in context.compiled.turns)
    assert context.sent == count(texts) + said
