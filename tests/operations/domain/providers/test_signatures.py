"""Rules R6, R7, R10, R12, R13 of docs/providers.md: reasoning is sent whole and valid, or not."""

import pytest

from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.chat import PLACEHOLDER
from operations.domain.providers.gemini import UNCHECKED
from operations.domain.providers.passes.signatures import count_intact, signed_keys
from operations.domain.providers.request import Compiled, Draft, Outgoing, Severity
from threads.domain.formats.summaries import SUMMARY
from threads.domain.part import Image, Opaque, Thinking

from .drafts import PNG, blocks, call, draft, issue, message, result, rules

SIGNED = ("anthropic", "bedrock")


def rounds(count: int = 3, **members: object) -> Draft:
    """Questions, each with signed reasoning, a call, its result, and an answer."""
    rows: list[tuple[object, ...]] = []
    for n in range(count):
        rows += [
            ("user", f"question {n}"),
            ("assistant", Thinking(f"hm {n}", f"seal{n}"), call(f"c{n}")),
            ("tool", result(f"c{n}", "R")),
            ("assistant", Thinking("", data=f"hidden{n}"), "answer"),
        ]
    return draft(*rows, ("user", "last"), strategy="anthropic", **members)


def thoughts(compiled: Compiled) -> list[str]:
    """The signatures of the reasoning that is sent, in their order."""
    found = []
    for block in blocks(compiled):
        if block.get("type") in ("thinking", "redacted_thinking"):
            found.append(block.get("signature") or block["data"])
        elif "reasoningContent" in block:
            text = block["reasoningContent"].get("reasoningText", {})
            found.append(
                text.get("signature") or block["reasoningContent"]["redactedContent"]
            )
    return found


@pytest.mark.parametrize("provider", SIGNED)
def test_where_nothing_is_changed_all_signatures_are_sent(provider: str) -> None:
    compiled = compile_request(provider, rounds(2, intact=9))
    assert thoughts(compiled) == ["seal0", "hidden0", "seal1", "hidden1"]
    assert {"R6", "R7"}.isdisjoint(rules(compiled))


@pytest.mark.parametrize("provider", SIGNED)
@pytest.mark.parametrize("intact", range(0, 12, 2))
def test_from_the_first_change_on_no_signature_is_sent(
    provider: str, intact: int
) -> None:
    whole = thoughts(compile_request(provider, rounds(intact=13)))
    compiled = compile_request(provider, rounds(intact=intact))
    assert thoughts(compiled) == whole[: intact // 2]
    assert len(issue(compiled, "R7").keys) == 6 - intact // 2


def test_what_a_compiler_itself_changes_breaks_the_signatures_behind_it() -> None:
    for place, bad in (
        (0, ("assistant", "hi")),
        (3, ("system", "b")),
        (4, ("tool", result("x"))),
    ):
        messages = list(rounds().messages)
        messages.insert(place, message(place, *bad, key="x", strategy="anthropic"))
        compiled = compile_request("anthropic", draft(*messages, intact=14))
        assert len(thoughts(compiled)) == place // 2
        assert issue(compiled, "R7").severity == Severity.REPAIRED


def test_an_empty_message_breaks_no_signature_for_it_was_never_sent() -> None:
    messages = [message(0, "user", " ", key="x"), *rounds(1).messages]
    compiled = compile_request("anthropic", draft(*messages, intact=6))
    assert thoughts(compiled) == ["seal0", "hidden0"]
    assert rules(compiled) == {"R4"}


def test_a_missing_result_breaks_the_signatures_behind_the_call() -> None:
    messages = list(rounds().messages)
    del messages[6]
    compiled = compile_request("anthropic", draft(*messages, intact=12))
    assert thoughts(compiled) == ["seal0", "hidden0", "seal1"]


def test_reasoning_of_others_and_without_signature_is_not_sent() -> None:
    rows = (
        message(0, "user", "a"),
        message(1, "assistant", Thinking("hm", "seal"), "b", strategy="gemini"),
        message(2, "user", "c"),
        message(3, "assistant", Thinking("hm"), "d", strategy="anthropic"),
        message(4, "user", "e"),
        message(5, "assistant", Thinking("hm", "seal"), "f", strategy="anthropic"),
        message(6, "user", "g"),
    )
    compiled = compile_request("anthropic", draft(*rows, intact=7))
    assert thoughts(compiled) == []
    assert issue(compiled, "R6").keys == ("m1", "m3")
    assert issue(compiled, "R7").keys == ("m5",)


def test_reasoning_without_signature_breaks_no_other_for_it_was_never_sent() -> None:
    rows = (
        ("user", "a"),
        ("assistant", Thinking("hm")),  # of a response that broke off
        ("assistant", Thinking("hm", "seal"), "b"),
        ("user", "c"),
    )
    context = draft(*rows, strategy="anthropic", intact=4)
    assert thoughts(compile_request("anthropic", context)) == ["seal"]


@pytest.mark.parametrize("provider", SIGNED)
def test_no_answer_ends_in_reasoning(provider: str) -> None:
    rows = ("user", "a"), ("assistant", Thinking("hm", "seal")), ("user", "b")
    compiled = compile_request(provider, draft(*rows, strategy="anthropic", intact=3))
    assert [form["role"] for form in compiled.messages] == ["user"]
    assert compiled.origins == (("m0", "m2"),)
    assert issue(compiled, "R6").keys == ("m1",)
    rows = ("user", "a"), ("assistant", "b", Thinking("hm", "seal")), ("user", "c")
    compiled = compile_request(provider, draft(*rows, strategy="anthropic", intact=3))
    assert thoughts(compiled) == []
    assert len(compiled.messages) == 3


def test_an_answer_in_progress_that_lost_its_reasoning_is_named() -> None:
    context = draft(*rounds(1).messages[:3], intact=0)
    compiled = compile_request("anthropic", context)
    assert issue(compiled, "R6").severity == Severity.NOTE
    assert issue(compiled, "R6").keys == ("m1",)
    whole = compile_request("anthropic", draft(*rounds(1).messages[:3], intact=3))
    assert whole.issues == ()
    plain = draft(("user", "a"), ("assistant", call("a")), ("tool", result("a")))
    assert compile_request("anthropic", plain).issues == ()


def test_the_step_of_an_answer_that_lost_its_reasoning_is_named_if_it_is_the_last() -> (
    None
):
    steps = [
        row
        for name in "ab"
        for row in (
            ("assistant", Thinking("Hm.", "c2lnbmVk"), call(name)),
            ("tool", result(name)),
        )
    ]
    context = draft(("user", "look"), *steps, intact=2)
    assert issue(compile_request("anthropic", context), "R6").keys == ("m3",)
    more = ("assistant", call("c")), ("tool", result("c"))
    context = draft(("user", "look"), *steps, *more, intact=2)
    compiled = compile_request("anthropic", context)
    assert [one.rule for one in compiled.issues] == ["R7"]


# OpenAI's Responses


def test_reasoning_items_are_sent_before_their_item_and_without_ids() -> None:
    rows = (
        ("user", "a"),
        ("assistant", Thinking("sum", data="enc"), call("a")),
        ("tool", result("a", "R")),
        ("assistant", Thinking("words only"), Thinking("", data="enc2"), "done"),
        ("assistant", Thinking("", data="enc3")),
    )
    compiled = compile_request("openai-responses", draft(*rows, intact=5))
    assert [item["type"] for item in compiled.messages] == [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "reasoning",
        "message",
    ]
    assert not any("id" in item for item in compiled.messages)
    assert compiled.origins[1:3] == (("m1",), ("m1",))
    assert issue(compiled, "R10").keys == ("m4",)
    assert compiled.request["store"] is False


def test_behind_a_change_no_reasoning_item_is_sent() -> None:
    rows = ("user", "a"), ("assistant", Thinking("sum", data="enc"), "b")
    compiled = compile_request("openai-responses", draft(*rows, intact=0))
    assert [item["type"] for item in compiled.messages] == ["message", "message"]
    assert issue(compiled, "R7").keys == ("m1",)


@pytest.mark.parametrize("kind", ["compaction", "compaction_summary"])
def test_a_compaction_is_sent_whole_and_named(kind: str) -> None:
    item = {"type": kind, "id": "cmp_1", "encrypted_content": "x"}
    rows = ("user", "a"), ("assistant", Opaque(kind, item), "b"), ("user", "c")
    compiled = compile_request("openai-responses", draft(*rows))
    assert compiled.messages[1] == {"type": "compaction", "encrypted_content": "x"}
    assert issue(compiled, "R11").keys == ("m1",)
    assert issue(compiled, "R11").severity == Severity.NOTE


def test_a_compaction_in_words_is_framed_as_a_summary() -> None:
    item = {"type": "compaction", "content": "They built it."}
    rows = ("user", "a"), ("assistant", Opaque("compaction", item)), ("user", "c")
    compiled = compile_request("anthropic", draft(*rows, strategy="anthropic"))
    assert compiled.messages[1]["content"] == SUMMARY.format("They built it.")


# Gemini


def parts_of(compiled: Compiled) -> list[dict[str, object]]:
    return [part for form in compiled.messages for part in form["parts"]]


def test_calls_of_the_turn_in_progress_have_a_signature() -> None:
    rows = (
        ("user", "old"),
        ("assistant", call("a")),
        ("tool", result("a")),
        ("user", "new"),
        ("assistant", call("b"), call("c")),
        ("tool", result("b"), result("c", Image("image/png", data=PNG))),
        ("assistant", call("d")),
    )
    compiled = compile_request("gemini", draft(*rows))
    signatures = [
        p.get("thoughtSignature") for p in parts_of(compiled) if "functionCall" in p
    ]
    assert signatures == [None, UNCHECKED, None, UNCHECKED]
    assert issue(compiled, "R12").keys == ("m4", "m6")
    assert issue(compiled, "R15").keys == ("m5",)


def test_gemini_keeps_its_own_signatures_of_unchanged_messages() -> None:
    answer = Thinking("", data="c2VhbA=="), call("a")
    rows = (
        message(0, "user", "a", changed=True),
        message(
            1, "assistant", Thinking("think", "dGg="), *answer, strategy="gemini_gca"
        ),
    )
    compiled = compile_request("gemini", draft(*rows))
    thought, called = compiled.messages[1]["parts"]
    assert thought == {"text": "think", "thought": True, "thoughtSignature": "dGg="}
    assert called["thoughtSignature"] == "c2VhbA=="
    assert "R12" not in rules(compiled)
    changed = message(1, "assistant", *answer, strategy="gemini", changed=True)
    compiled = compile_request("gemini", draft(rows[0], changed))
    assert parts_of(compiled)[1]["thoughtSignature"] == UNCHECKED
    assert issue(compiled, "R7").keys == ("m1",)


def test_signatures_that_gemini_would_refuse_are_not_sent() -> None:
    rows = (
        ("user", "a"),
        (
            "assistant",
            Thinking("think", "not base64!"),
            Thinking("", data="x"),
            call("a"),
        ),
        ("tool", result("a")),
        (
            "assistant",
            Thinking("", data="c2VhbA=="),
            Opaque("executableCode", {"executableCode": {}}),
            "b",
        ),
        ("assistant", "c", Thinking("", data="c2VhbA==")),
    )
    compiled = compile_request("gemini", draft(*rows, strategy="gemini"))
    assert "base64" not in str(compiled.request)
    assert "c2VhbA==" not in str(compiled.request)
    assert [found.keys for found in compiled.issues if found.rule == "R6"] == [
        ("m1",),
        ("m3", "m4"),
    ]


# DeepSeek


def test_every_answer_to_deepseek_has_reasoning() -> None:
    rows = (
        ("user", "a"),
        ("assistant", Thinking("one"), Thinking("two"), call("a")),
        ("tool", result("a", "R")),
        ("assistant", "b"),
        ("user", "c"),
        ("assistant", Thinking("x", "seal"), "d"),
        ("user", "e"),
    )
    compiled = compile_request("deepseek", draft(*rows, strategy="deepseek"))
    reasoning = [
        form["reasoning_content"]
        for form in compiled.messages
        if form["role"] == "assistant"
    ]
    assert reasoning == ["one\n\ntwo", PLACEHOLDER, PLACEHOLDER]
    assert issue(compiled, "R13").keys == ("m3", "m5")
    assert issue(compiled, "R6").keys == ("m5",)


@pytest.mark.parametrize("provider", ["openai", "mistral", "generic-strict"])
def test_reasoning_has_no_place_in_plain_chat(provider: str) -> None:
    rows = ("user", "a"), ("assistant", Thinking("hm", "seal"), "b"), ("user", "c")
    compiled = compile_request(provider, draft(*rows))
    assert compiled.messages[1] == {"role": "assistant", "content": "b"}
    assert issue(compiled, "R6").severity == Severity.NOTE


@pytest.mark.parametrize("provider", PROVIDERS)
def test_reasoning_alone_is_no_answer(provider: str) -> None:
    rows = ("user", "a"), ("assistant", Thinking("hm")), ("user", "b")
    compiled = compile_request(provider, draft(*rows))
    assert "hm" not in str(compiled.request) or provider == "deepseek"


def thread() -> list[Outgoing]:
    return list(rounds(2).messages)


def test_messages_are_intact_up_to_the_first_that_is_not_as_it_was_recorded() -> None:
    messages = thread()
    assert count_intact(messages) == 9
    assert count_intact(messages[2:], 2) == 7
    assert count_intact(messages[2:]) == 0
    assert count_intact([*messages[:3], *messages[4:]]) == 3
    made = message(4, "user", "x", kind="revise")
    assert count_intact([*messages[:4], made]) == 4
    assert count_intact([*messages[:4], message(4, "user", "x", changed=True)]) == 4


def test_messages_with_signatures_are_found_at_the_places_that_are_asked_for() -> None:
    assert [*signed_keys(thread(), lambda place: place > 2)] == ["m3", "m5", "m7"]
