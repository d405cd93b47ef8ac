"""Rules R1 and R2 of docs/providers.md: each call is directly followed by its one result."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.passes.pairing import (
    LEFT_OUT,
    LEFT_OUT_FOR_GOOD,
    NEVER,
)
from operations.domain.providers.request import Compiled, LeftOutResult, Severity
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

from .drafts import call, draft, issue, message, result, rules, spoken


def answered(compiled: Compiled) -> list[tuple[str, str]]:
    """Id and words of the results of an OpenAI request, in their order."""
    tools = (form for form in compiled.messages if form["role"] == "tool")
    return [(form["tool_call_id"], form["content"]) for form in tools]


def called(compiled: Compiled) -> list[str]:
    return [
        one["id"] for form in compiled.messages for one in form.get("tool_calls", ())
    ]


def test_what_is_whole_goes_out_as_it_is() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", "I look", call("a"), call("b")),
            ("tool", result("b", "B")),
            ("tool", result("a", "A")),
            ("assistant", "done"),
        ),
    )
    assert compiled.issues == ()
    assert answered(compiled) == [("b", "B"), ("a", "A")]
    assert compiled.origins == (("m0",), ("m1",), ("m2",), ("m3",), ("m4",))


def test_calls_that_did_not_stand_together_are_reported_as_sent_together() -> None:
    rows = (
        ("user", "go"),
        ("assistant", call("a")),
        ("assistant", "I look", call("b")),
        ("tool", result("a", "A")),
        ("tool", result("b", "B")),
    )
    as_said = draft(*rows)
    assert compile_request("openai", as_said).issues == ()
    moved = [
        one._replace(index=(one.index or 0) + 3) if place == 2 else one
        for place, one in enumerate(as_said.messages)
    ]
    compiled = compile_request("openai", replace(as_said, messages=moved))
    found = issue(compiled, "R3")
    assert (found.severity, found.keys) == (Severity.REPAIRED, ("m2",))
    assert compiled.origins[1] == ("m1", "m2")


def test_a_result_that_names_its_tool_is_sent_as_it_is() -> None:
    rows = (
        ("user", "go"),
        ("assistant", call("a")),
        ("tool", result("a", "A", name="look")),
    )
    compiled = compile_request("gemini", draft(*rows))
    (answer,) = compiled.messages[2]["parts"]
    assert answer["functionResponse"]["name"] == "look"
    assert rules(compiled) == {"R12"}  # the call bears no signature


def test_a_result_without_its_call_is_not_sent() -> None:
    compiled = compile_request(
        "openai", draft(("user", "go"), ("tool", result("x", "?")))
    )
    assert spoken(compiled) == [("user", "go")]
    found = issue(compiled, "R1")
    assert (found.severity, found.keys) == (Severity.REPAIRED, ("m1",))


def test_a_second_result_of_a_call_is_not_sent() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", call("a")),
            ("tool", result("a", "1"), result("a", "2")),
        ),
    )
    assert answered(compiled) == [("a", "1")]
    assert issue(compiled, "R1").keys == ("m2",)


def test_a_call_without_its_result_gets_one_that_says_how_to_recall_it() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", call("a"), call("b")),
            left_out={"a": LeftOutResult("m2", "o7", 9)},
        ),
    )
    assert answered(compiled) == [
        ("a", LEFT_OUT.format(by="o7", key="m2")),
        ("b", NEVER),
    ]
    assert compiled.origins == (("m0",), ("m1",), ("m1",), ("m1",))
    assert issue(compiled, "R1").keys == ("m1",)


def test_who_can_not_recall_a_result_is_told_how_much_it_was() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", call("a"), call("b")),
            left_out={"a": LeftOutResult("m2", "window", 1200)},
            can_recall=False,
        ),
    )
    told = LEFT_OUT_FOR_GOOD.format(by="window", tokens=1200)
    assert told == "[This result of 1,200 tokens was left out by window.]"
    assert answered(compiled) == [("a", told), ("b", NEVER)]


def test_a_result_that_stands_apart_goes_directly_behind_its_call() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("tool", result("a", "A")),
            ("user", "go"),
            ("assistant", call("a"), call("b")),
            ("user", "wait"),
            ("tool", result("b", "B")),
        ),
    )
    roles = [role for role, _ in spoken(compiled)]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assert answered(compiled) == [("a", "A"), ("b", "B")]
    assert issue(compiled, "R1").keys == ("m0", "m4")


def test_an_answer_in_pieces_is_one_message_where_its_results_follow_together() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", call("a")),
            ("assistant", call("b")),
            ("tool", result("a", "A"), result("b", "B")),
        ),
    )
    assert compiled.issues == ()
    assert [role for role, _ in spoken(compiled)] == [
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert compiled.origins[1] == ("m1", "m2")


def test_results_stand_before_the_words_of_their_message() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"), ("assistant", call("a")), ("user", "and?", result("a", "A"))
        ),
    )
    assert compiled.issues == ()
    assert spoken(compiled)[2:] == [("tool", "A"), ("user", "and?")]


def test_results_in_an_answer_are_the_tools() -> None:
    compiled = compile_request(
        "openai",
        draft(("user", "go"), ("assistant", call("a"), result("a", "A"), "done")),
    )
    assert compiled.issues == ()
    assert spoken(compiled)[2:] == [("tool", "A"), ("assistant", "done")]


def test_one_id_used_twice_becomes_two() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", call("a")),
            ("tool", result("a", "1")),
            ("assistant", call("a")),
            ("tool", result("a", "2")),
        ),
    )
    first, second = called(compiled)
    assert first == "a" != second
    assert answered(compiled) == [("a", "1"), (second, "2")]
    assert issue(compiled, "R2").keys == ("m3",)


def test_calls_without_ids_are_matched_by_name_and_order() -> None:
    compiled = compile_request(
        "openai",
        draft(
            ("user", "go"),
            ("assistant", call("", "read"), call("", "write")),
            ("tool", result("", "W", name="write"), result("", "?", name="none")),
            ("tool", result("", "R")),
        ),
    )
    read, write = called(compiled)
    assert answered(compiled) == [(write, "W"), (read, "R")]


@pytest.mark.parametrize(
    ("provider", "longest"),
    [("openai", 40), ("openai-responses", 64), ("anthropic", 64)],
)
def test_an_id_is_kept_where_it_is_legal(provider: str, longest: int) -> None:
    for id_, stays in (
        ("x" * longest, True),
        ("x" * (longest + 1), False),
        ("a:b", False),
    ):
        rows = ("user", "go"), ("assistant", call(id_)), ("tool", result(id_, "A"))
        compiled = compile_request(provider, draft(*rows))
        assert ("R2" not in rules(compiled)) is stays


def test_mistral_gets_ids_of_nine_letters_and_digits_the_same_each_time() -> None:
    rows = (
        ("user", "go"),
        ("assistant", call("call_1")),
        ("tool", result("call_1", "A")),
    )
    one, other = (compile_request("mistral", draft(*rows)) for _ in range(2))
    [id_] = called(one)
    assert len(id_) == 9
    assert id_.isalnum()
    assert answered(one) == answered(other) == [(id_, "A")]


def test_names_of_tools_are_made_legal() -> None:
    long = "a.b" * 40
    rows = [("user", "go")]
    rows += [
        ("assistant", call(str(n), name)) for n, name in enumerate((long, "", "1x"))
    ]
    chat = compile_request("openai", draft(*rows))
    names = [
        one["function"]["name"]
        for form in chat.messages
        for one in form.get("tool_calls", ())
    ]
    assert names == [("a_b" * 40)[:64], "tool_", "1x"]
    gemini = compile_request("gemini", draft(*rows))
    parts = [part for form in gemini.messages for part in form["parts"]]
    assert [p["functionCall"]["name"] for p in parts if "functionCall" in p][
        2
    ] == "tool_1x"
    assert issue(chat, "R2").keys == ("m1", "m2")


def test_arguments_are_an_object() -> None:
    given = ["{", '{"a": 1}', "", None, [1], {"a": 2}]
    calls = [ToolCall(str(n), "look", arguments) for n, arguments in enumerate(given)]
    compiled = compile_request("openai", draft(("user", "go"), ("assistant", *calls)))
    sent = [one["function"]["arguments"] for one in compiled.messages[1]["tool_calls"]]
    assert sent == [
        '{"input": "{"}',
        '{"a": 1}',
        "{}",
        "{}",
        '{"input": [1]}',
        '{"a": 2}',
    ]
    assert issue(compiled, "R16").keys == ("m1",)


def test_arguments_that_are_text_stay_text_in_responses() -> None:
    compiled = compile_request(
        "openai-responses",
        draft(("user", "go"), ("assistant", ToolCall("a", "run", "ls"))),
    )
    assert compiled.messages[1]["type"] == "custom_tool_call"
    assert compiled.messages[1]["input"] == "ls"


parts = st.one_of(
    st.builds(Text, st.sampled_from(("words", " ", "\ud800"))),
    st.builds(ToolCall, st.sampled_from("ab"), st.just("look"), st.just({})),
    st.builds(ToolResult, st.sampled_from("abc"), st.just((Text("R"),))),
    st.builds(Thinking, st.just("hm"), st.sampled_from((None, "seal"))),
)
rows = st.tuples(
    st.sampled_from(("system", "user", "assistant", "tool")),
    st.lists(parts, max_size=4),
)


@settings(max_examples=40)
@given(st.lists(rows, max_size=6), st.integers(0, 6))
def test_whatever_stands_where_each_call_has_its_one_result(
    given: list[tuple[str, list[Text]]], intact: int
) -> None:
    context = draft(*((role, *found) for role, found in given), intact=intact)
    for provider in PROVIDERS:
        compiled = compile_request(provider, context)
        assert len(compiled.origins) == len(compiled.messages) > 0
        assert {key for keys in compiled.origins for key in keys} <= {
            one.key for one in context.messages
        }
        repr(compiled.request).encode()
    compiled = compile_request("openai", context)
    waiting: list[str] = []
    for form in compiled.messages:
        if form["role"] == "tool":
            waiting.remove(form["tool_call_id"])
        else:
            assert not waiting
            waiting = [one["id"] for one in form.get("tool_calls", ())]
    assert not waiting
    assert len(set(called(compiled))) == len(called(compiled))


def test_a_message_of_an_operation_is_told_by_its_key() -> None:
    made = message(0, "tool", result("x"), key="o3.0", index=None, kind="insert")
    compiled = compile_request("openai", draft(("user", "go"), made))
    assert issue(compiled, "R1").keys == ("o3.0",)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_was_said_after_a_result_that_is_left_out_stays_behind_its_stub(
    provider: str,
) -> None:
    rows = [
        message(0, "user", "go"),
        message(1, "assistant", call("a")),
        message(3, "assistant", "It says so."),
        message(4, "user", "thanks"),
    ]
    left_out = {"a": LeftOutResult("m2", "o7", 9)}
    compiled = compile_request(provider, draft(*rows, left_out=left_out))
    words = json.dumps(compiled.messages)
    assert words.index("left out by o7") < words.index("It says so.")


def test_an_answer_in_pieces_stays_one_where_its_result_follows_or_is_left_out() -> (
    None
):
    rows = [
        message(0, "user", "go"),
        message(1, "assistant", call("a")),
        message(2, "assistant", "I look.", call("b")),
        message(4, "tool", result("b", "B")),
    ]
    left_out = {"a": LeftOutResult("m3", "o7", 9)}
    compiled = compile_request("openai", draft(*rows, left_out=left_out))
    assert called(compiled) == ["a", "b"]
    assert [form["role"] for form in compiled.messages] == [
        *("user", "assistant", "tool", "tool"),
    ]
