"""A redaction that is on masks its text at every door."""

import json
import re
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from operations.domain.log.operation import Condition, Redact
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from operations.edits.purging import remove_group
from operations.log.cache import forget_everything
from operations.models import LogEntry
from tests.operations.support.rest import get, make_session, operate, post

SECRET = "hunter2-and-more"
WORDS = f"The password is {SECRET}."
MASKED = "The password is [redacted]."


@pytest.fixture
def session_id(agent: Client) -> str:
    """Message 1, an insert (o1) and a digest that was amended (o2, o3) tell the secret.

    So does the title of the insert.
    """
    said = [{"role": "user", "content": words} for words in ("Hello", WORDS, "A", "B")]
    session_id = make_session(agent, said, title="Secrets")
    titled = {"title": f"For {SECRET}"}
    operate(agent, session_id, "insert", after_idx=0, messages=[said[1]], **titled)
    made = operate(agent, session_id, "digest", range=[2, 3], summary=WORDS)
    path = f"/api/operations/{made['operation_id']}/amend"
    post(agent, path, {"summary": f"Note: {WORDS}"})
    return session_id


def span(key: str, words: str = WORDS) -> Span:
    start = words.index(SECRET)
    end = start + len(SECRET)
    return Span(key=key, part=0, start=start, end=end, sha256=fingerprint(SECRET))


def redact(caller: Caller, session_id: str, *spans: Span, **more: Any) -> str:
    edit = Redact(spans=spans, **more)
    transaction = services.record_edit(caller, UUID(session_id), edit)
    return str(transaction.history.rows[transaction.numbers[0]].id)


@pytest.fixture
def redaction(caller: Caller, session_id: str) -> str:
    return redact(
        caller, session_id, span("m1"), span("o1.0"), span("o2.0", f"Note: {WORDS}")
    )


def doors(client: Client, session_id: str) -> dict[str, str]:
    """What each door of reading answers, as text."""
    path = f"/api/sessions/{session_id}"
    operations = get(client, f"{path}/operations")["operations"]
    said = [{"role": "user", "content": words} for words in ("Hello", WORDS, "A", "B")]
    addresses = {
        "messages": f"{path}/messages",
        "annotated": f"{path}/thread?unfold=o2",
        "effective": f"{path}/thread?view=effective",
        "original": f"{path}/thread?view=original",
        "without tags": f"{path}/thread?active_tags=",
        "log": f"{path}/log",
        "export of originals": f"{path}/export?format=contextstudio",
        "export as markdown": f"{path}/export?format=markdown",
        "export of what is sent": f"{path}/export?format=openai&view=effective",
        "page": f"/sessions/{session_id}/",
        "page of originals": f"/sessions/{session_id}/?view=original",
        "page of the effective": f"/sessions/{session_id}/?view=effective",
        "raw": f"/sessions/{session_id}/messages/m1/raw",
        "dialog": f"/sessions/{session_id}/dialogs/amend?operation=o2",
        "versions": f"/sessions/{session_id}/dialogs/versions?operation=o2",
        "list": "/sessions/",
        "operations": f"{path}/operations",
        "what the model sees": f"/sessions/{session_id}/context",
        **{one["key"]: f"/api/operations/{one['id']}" for one in operations},
    }
    found = answers_at(client, addresses, path, said)
    tool = {"session_id": session_id}
    found["tool"] = json.dumps(post(client, "/api/tools/list_operations", tool))
    return found


def thread_doors(client: Client, session_id: str, said: list[Any]) -> dict[str, str]:
    """What the doors of a thread answer that shows its operations."""
    path = f"/api/sessions/{session_id}"
    operations = get(client, f"{path}/operations")["operations"]
    addresses = {
        "effective": f"{path}/thread?view=effective",
        "log": f"{path}/log",
        "export": f"{path}/export?format=markdown&view=effective",
        "transfer": f"{path}/transfer",
        "page": f"/sessions/{session_id}/",
        "what the model sees": f"/sessions/{session_id}/context",
        **{one["key"]: f"/api/operations/{one['id']}" for one in operations},
    }
    return answers_at(client, addresses, path, said)


def answers_at(
    client: Client, addresses: dict[str, str], path: str, said: list[Any]
) -> dict[str, str]:
    """What is answered at each address, and by `apply`."""
    found = {}
    for name, address in addresses.items():
        answer = client.get(address)
        assert answer.status_code == 200, (name, answer.content)
        content = b"".join(answer) if answer.streaming else answer.content
        found[name] = content.decode()
    body = {"messages": said, "append": False}
    found["apply"] = json.dumps(post(client, f"{path}/apply", body))
    return found


def telling(found: dict[str, str]) -> set[str]:
    """The doors at which the secret is told."""
    secret = re.compile(re.escape(SECRET))
    return {name for name, text in found.items() if secret.search(text)}


def test_a_redaction_masks_its_text_at_every_door(
    agent: Client, session_id: str, redaction: str
) -> None:
    """In words of the digest that are no longer in force, too."""
    found = doors(agent, session_id)
    assert telling(found) == set()
    for door in ("messages", "original", "effective", "o1", "apply", "log"):
        assert MASKED in found[door], door


def test_a_redaction_masks_its_text_in_folds_too(
    agent: Client, session_id: str
) -> None:
    """A search finds what is shown: message 1 and its insert are folded away."""
    said = [{"role": "user", "content": WORDS}]
    operate(agent, session_id, "insert", after_idx=3, messages=said)
    operate(agent, session_id, "snip", range=[0, 1])
    pattern = {"start": SECRET, "all": True}
    made = operate(agent, session_id, "redact", patterns=[pattern])
    assert {"m1", "o1.0", "o4.0"} <= set(made["resolved"]["keys"])
    assert telling(doors(agent, session_id)) == set()


def test_words_that_an_operation_is_given_later_are_masked_wherever_they_tell_it(
    agent: Client, session_id: str, redaction: str
) -> None:
    made = get(agent, f"/api/sessions/{session_id}/operations")["operations"][1]
    path = f"/api/operations/{made['id']}/amend"
    post(agent, path, {"summary": f"{SECRET}, {SECRET} and {SECRET}"})
    found = doors(agent, session_id)
    assert telling(found) == set()
    assert "[redacted], [redacted] and [redacted]" in found["effective"]


def test_a_redaction_that_is_off_or_taken_back_masks_nothing(
    agent: Client, session_id: str, redaction: str
) -> None:
    path = f"/api/operations/{redaction}"
    post(agent, f"{path}/toggle", {"active": False})
    assert {"messages", "original", "effective", "apply", "o1"} <= telling(
        doors(agent, session_id)
    )
    post(agent, f"{path}/toggle", {"active": True})
    assert "messages" not in telling(doors(agent, session_id))
    post(agent, f"{path}/revert")
    assert "messages" in telling(doors(agent, session_id))


def test_a_title_that_was_made_of_what_is_redacted_is_masked_and_stays_so(
    agent: Client, caller: Caller
) -> None:
    """No door can read what a title said before: it is no entry of the log."""
    session_id = make_session(agent, [{"role": "user", "content": WORDS}])
    path = f"/api/sessions/{session_id}"
    assert get(agent, path)["title"] == WORDS
    operation = redact(caller, session_id, span("m0"))
    assert get(agent, path)["title"] == MASKED
    pages = f"/sessions/{session_id}/", "/sessions/", "/sessions/?q=password"
    assert not any(SECRET in agent.get(page).content.decode() for page in pages)
    post(agent, f"/api/operations/{operation}/revert")
    assert get(agent, path)["title"] == MASKED


def test_a_title_that_is_given_later_is_masked_too(
    agent: Client, caller: Caller, session_id: str
) -> None:
    redact(caller, session_id, span("m1"))
    path = f"/api/sessions/{session_id}"
    renamed = agent.patch(path, {"title": f"On  {SECRET}"}, "application/json").json()
    assert renamed["title"] == "On [redacted]"
    assert get(agent, path)["title"] == "On [redacted]"


def test_a_title_is_masked_once_a_proposed_redaction_is_accepted(
    agent: Client, caller: Caller
) -> None:
    session_id = make_session(agent, [{"role": "user", "content": WORDS}])
    path = f"/api/sessions/{session_id}"
    transaction = services.record_edit(
        caller, UUID(session_id), Redact(spans=(span("m0"),)), propose=True
    )
    assert get(agent, path)["title"] == WORDS
    operation = transaction.history.rows[transaction.numbers[0]].id
    post(agent, f"/api/operations/{operation}/accept")
    assert get(agent, path)["title"] == MASKED


def test_other_tags_do_not_lift_a_mask(
    agent: Client, caller: Caller, session_id: str
) -> None:
    condition = Condition(tags=("public",))
    spans = span("m1"), span("o1.0"), span("o2.0", f"Note: {WORDS}")
    redact(caller, session_id, *spans, condition=condition)
    assert telling(doors(agent, session_id)) == set()


def test_a_mask_lies_on_what_is_not_in_the_thread_any_more(
    agent: Client, session_id: str, redaction: str
) -> None:
    insert = get(agent, f"/api/sessions/{session_id}/operations")["operations"][0]
    post(agent, f"/api/operations/{insert['id']}/revert")
    assert telling(doors(agent, session_id)) == set()


def test_a_redaction_masks_its_text_in_what_the_thread_does_not_show(
    agent: Client, caller: Caller, session_id: str
) -> None:
    """The insert is off, the digest says something else by now, and another only waits."""
    insert, made = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    post(agent, f"/api/operations/{insert['id']}/toggle", {"active": False})
    post(agent, f"/api/operations/{made['id']}/amend", {"summary": "Nothing"})
    operate(agent, session_id, "digest", range=[0, 0], summary=WORDS, propose=True)
    pattern = {"start": SECRET, "replacement": "", "all": True}
    redacted = operate(agent, session_id, "redact", patterns=[pattern])
    spans = get(agent, f"/api/operations/{redacted['operation_id']}")["spans"]
    assert {one["key"] for one in spans} == {"m1", "o1.0", "o2.0", "o6.0"}
    assert telling(doors(agent, session_id)) == set()
    post(agent, f"/api/operations/{insert['id']}/toggle", {"active": True})
    assert telling(doors(agent, session_id)) == set()


@pytest.mark.parametrize("standing", ["on", "off", "reverted", "proposed"])
def test_a_redaction_masks_its_text_in_replacements(
    agent: Client, caller: Caller, standing: str
) -> None:
    """Whether they are in force, are brought back, or only wait."""
    long = "Words that are long enough to be replaced by an agent."
    said = [{"role": "user", "content": words} for words in (WORDS, long)]
    session_id = make_session(agent, said)
    pattern = {"start": long, "replacement": f"Use {SECRET}"}
    waits = {"propose": True} if standing == "proposed" else {}
    made = operate(agent, session_id, "replace", patterns=[pattern], **waits)
    path = f"/api/operations/{made['operation_id']}"
    if standing == "off":
        post(agent, f"{path}/toggle", {"active": False})
    if standing == "reverted":
        post(agent, f"{path}/revert")
    redact(caller, session_id, span("m0"))
    assert telling(thread_doors(agent, session_id, said)) == set()
    match standing:
        case "off" | "reverted":
            post(agent, f"{path}/toggle", {"active": True})
        case "proposed":
            post(agent, f"{path}/accept")
    for again in (False, True):
        if again:
            forget_everything()
        found = thread_doors(agent, session_id, said)
        assert telling(found) == set()
        assert "Use [redacted]" in found["page"]


def test_what_replacements_say_of_a_masked_text_goes_with_the_message_that_is_purged(
    agent: Client, caller: Caller
) -> None:
    """In what an amendment recorded of one, too."""
    long = "Words that are long enough to be replaced by an agent."
    said = [{"role": "user", "content": words} for words in (WORDS, long)]
    session_id = make_session(agent, said)
    pattern = {"start": long, "replacement": f"Use {SECRET}"}
    made = operate(agent, session_id, "replace", patterns=[pattern])
    path = f"/api/operations/{made['operation_id']}"
    unless = {"tags": ["rehearsal"], "match": "none"}
    post(agent, f"{path}/amend", {"condition": unless})
    redact(caller, session_id, span("m0"))
    remove_group(caller, UUID(session_id), 1)
    forget_everything()
    found = thread_doors(agent, session_id, said)
    assert telling({**found, "apply": ""}) == set()
    assert "Use [redacted]" in found["page"]
    assert found["log"].count("Use [redacted]") == 2


def test_the_log_gives_no_fingerprint_of_what_is_masked(
    agent: Client, caller: Caller
) -> None:
    """A replacement of the same text, taken back since, was recorded with one."""
    session_id = make_session(agent, [{"role": "user", "content": WORDS}])
    whole = {"key": "m0", "start": 0, "end": len(WORDS), "replacement": "Words"}
    made = operate(agent, session_id, "replace", spans=[whole])
    log = f"/api/sessions/{session_id}/log"
    assert fingerprint(WORDS) in str(get(agent, log))
    post(agent, f"/api/operations/{made['operation_id']}/revert")
    redact(caller, session_id, span("m0"))
    assert fingerprint(WORDS) not in str(get(agent, log))


def test_redactions_of_one_text_share_what_the_thread_does_not_show(
    agent: Client, caller: Caller
) -> None:
    """Each takes what no other has, so that none is refused."""
    said = [{"role": "user", "content": words} for words in (WORDS, WORDS)]
    session_id = make_session(agent, said)
    made = operate(agent, session_id, "insert", after_idx=0, messages=[said[0]])
    post(agent, f"/api/operations/{made['operation_id']}/toggle", {"active": False})
    edits = [Redact(spans=(span("m0"),)), Redact(spans=(span("m1"),))]
    done = services.record_bundle(caller, UUID(session_id), edits)
    first, second = (done.history.log.edits[number].edit for number in done.numbers)
    assert isinstance(first, Redact) and isinstance(second, Redact)
    assert [one.key for one in first.spans] == ["m0", "o1.0"]
    assert [one.key for one in second.spans] == ["m1"]


def test_what_titles_say_of_a_masked_text_goes_with_the_message_that_is_purged(
    agent: Client, caller: Caller, session_id: str, redaction: str
) -> None:
    """Of a text that is gone nothing tells any more what to mask."""
    remove_group(caller, UUID(session_id), 2)
    forget_everything()
    titles = LogEntry.objects.values_list("title", flat=True)
    assert "For [redacted]" in titles
    assert not any(SECRET in title for title in titles)


def test_masks_are_read_from_the_database(
    agent: Client, session_id: str, redaction: str
) -> None:
    forget_everything()
    assert "messages" not in telling(doors(agent, session_id))


def test_a_system_prompt_beside_the_messages_is_masked_too(
    agent: Client, caller: Caller
) -> None:
    said = [{"role": "user", "content": "Hello"}]
    session_id = make_session(agent, said, system=WORDS)
    redact(caller, session_id, span("m0"))
    body = {"messages": said, "system": WORDS, "format": "anthropic"}
    answer = post(agent, f"/api/sessions/{session_id}/apply", body)
    assert (answer["system"], answer["messages"]) == (MASKED, said)
