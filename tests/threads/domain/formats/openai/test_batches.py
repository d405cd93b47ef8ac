"""Files of batches and of training, as the APIs of OpenAI and Anthropic take and give them."""

from typing import Any

from tests.threads.support.readings import events, messages, read, texts, told
from tests.threads.support.transcripts import lines
from threads.domain.message import Usage

ASKED = {"role": "user", "content": "How many lakes?"}
ANSWER = {"role": "assistant", "content": "Nine."}
REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Nine."}],
    "usage": {"input_tokens": 4, "output_tokens": 2},
}
COMPLETION = {
    "object": "chat.completion",
    "model": "gpt-x",
    "choices": [{"index": 0, "message": ANSWER}],
    "usage": {"prompt_tokens": 4, "completion_tokens": 2},
}


def request(number: int, **body: Any) -> dict[str, Any]:
    return {
        "custom_id": f"lake-{number}",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "gpt-x", "messages": [ASKED], **body},
    }


def test_each_request_of_an_openai_batch_is_a_conversation() -> None:
    found = read(lines(request(1), request(2, max_tokens=9)))

    assert [one.format for one in found] == ["openai", "openai"]
    assert [(one.title, one.model) for one in found] == [
        ("How many lakes?", "gpt-x")
    ] * 2
    assert [texts(one) for one in found] == [["How many lakes?"]] * 2
    assert events(found[1]) == ["custom_id", "method", "url", "max_tokens"]


def test_a_reply_of_an_openai_batch_is_named_by_its_own_id() -> None:
    line = {"id": "b", "custom_id": "lake-1", "response": {"body": COMPLETION}}
    [found] = read(lines(line))

    assert (found.format, found.title, found.model) == ("openai", "lake-1", "gpt-x")
    [message] = messages(found)
    assert (message.text, message.usage) == (
        "Nine.",
        Usage(input_tokens=4, output_tokens=2),
    )


def test_a_request_for_responses_in_a_batch_may_ask_in_one_text() -> None:
    body = {"model": "gpt-x", "input": "How many lakes?"}
    line = {"custom_id": "lake-1", "url": "/v1/responses", "body": body}
    [found] = read(lines(line))

    assert (found.format, told(found)[0]) == (
        "openai_responses",
        "user: How many lakes?",
    )


def test_a_row_for_training_by_preference_ends_as_is_preferred() -> None:
    bad = {"role": "assistant", "content": "Many."}
    row = {
        "input": {"messages": [ASKED], "tools": []},
        "preferred_output": [ANSWER],
        "non_preferred_output": [bad],
    }
    for data in (lines(row, row), [row, row]):
        first, _ = read(data)
        assert (first.format, texts(first)) == ("openai", ["How many lakes?", "Nine."])
        assert events(first) == ["non_preferred_output", "tools"]


def test_a_request_of_an_anthropic_batch_is_read_with_its_system_prompt() -> None:
    params = {"model": "claude-x", "system": "Count.", "messages": [ASKED]}
    rows = [{"custom_id": f"lake-{number}", "params": params} for number in (1, 2)]

    for data in (lines(*rows), {"requests": rows}):
        found = read(data)
        assert [one.format for one in found] == ["anthropic", "anthropic"]
        assert texts(found[1]) == ["Count.", "How many lakes?"]


def test_a_reply_of_an_anthropic_batch_keeps_its_usage() -> None:
    result = {"type": "succeeded", "message": REPLY}
    [found] = read(lines({"custom_id": "lake-1", "result": result}))

    assert (found.format, found.title) == ("anthropic", "lake-1")
    [message] = messages(found)
    assert (message.text, message.model) == ("Nine.", "claude-x")
    assert message.usage == Usage(input_tokens=4, output_tokens=2)


def test_a_request_of_a_batch_that_failed_is_reported() -> None:
    good = {"custom_id": "lake-1", "result": {"type": "succeeded", "message": REPLY}}
    bad = {"custom_id": "lake-2", "result": {"type": "errored", "error": {}}}
    [found] = read(lines(good, bad))

    assert [warning.code for warning in found.warnings] == ["no_messages"]
