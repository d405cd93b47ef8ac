"""Rules R3, R4, R5 and R19 of docs/providers.md: turns, system messages, framed summaries."""

from collections.abc import Iterator

import pytest

from operations.domain.providers import PROVIDERS, compile_request
from operations.domain.providers.passes.turn_order import BRIDGE, CLOSER, OPENER
from operations.domain.providers.request import Compiled, Severity
from threads.domain.formats.anthropic.messages import FRAME
from threads.domain.formats.kit.transcripts import title_of_texts
from threads.domain.formats.summaries import SUMMARY
from threads.domain.part import Thinking

from .drafts import call, draft, issue, message, result, rules, spoken

STRICT = ("mistral", "generic-strict")
ALTERNATING = (
    "anthropic",
    "gemini",
    "mistral",
    "deepseek",
    "bedrock",
    "generic-strict",
)


def words(compiled: Compiled) -> Iterator[tuple[str, str]]:
    """Role and words of each message, whatever the form."""
    for form in compiled.messages:
        content = form.get("content", form.get("parts"))
        if isinstance(content, list):
            content = "\n\n".join(block["text"] for block in content if "text" in block)
        yield form["role"].replace("model", "assistant"), content


@pytest.mark.parametrize("provider", ALTERNATING)
def test_a_context_without_messages_has_a_user_that_opens(provider: str) -> None:
    compiled = compile_request(provider, draft())
    assert list(words(compiled)) == [("user", OPENER)]
    assert compiled.origins == ((),)
    assert issue(compiled, "R4").severity == Severity.REPAIRED


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_so_it_has_where_speakers_need_not_alternate(provider: str) -> None:
    compiled = compile_request(provider, draft(("assistant", " "), ("user",)))
    assert len(compiled.messages) == 1
    assert [(found.rule, found.keys) for found in compiled.issues] == [
        ("R4", ()),
        ("R4", ("m0", "m1")),
    ]


@pytest.mark.parametrize("provider", ALTERNATING)
def test_a_user_is_first_and_last(provider: str) -> None:
    compiled = compile_request(provider, draft(("assistant", "hello")))
    assert list(words(compiled)) == [
        ("user", OPENER),
        ("assistant", "hello"),
        ("user", CLOSER),
    ]
    assert compiled.origins == ((), ("m0",), ())
    assert {"R3", "R4"} <= rules(compiled)


def test_openai_takes_any_order() -> None:
    compiled = compile_request("openai", draft(("assistant", "a"), ("assistant", "b")))
    assert compiled.issues == ()
    assert spoken(compiled) == [("assistant", "a"), ("assistant", "b")]


@pytest.mark.parametrize("provider", ALTERNATING)
def test_one_who_speaks_twice_in_a_row_sends_one_message(provider: str) -> None:
    rows = (
        ("user", "a"),
        ("user", "b"),
        ("assistant", "c"),
        ("assistant", "d"),
        ("user", "e"),
    )
    compiled = compile_request(provider, draft(*rows))
    assert list(words(compiled)) == [
        ("user", "a\n\nb"),
        ("assistant", "c\n\nd"),
        ("user", "e"),
    ]
    assert compiled.origins == (("m0", "m1"), ("m2", "m3"), ("m4",))
    found = issue(compiled, "R3")
    assert found.keys == ("m1", "m3")
    is_theirs = provider in ("anthropic", "gemini")
    assert found.severity == (Severity.NOTE if is_theirs else Severity.REPAIRED)


@pytest.mark.parametrize("provider", STRICT)
def test_an_assistant_speaks_between_results_and_a_user(provider: str) -> None:
    compiled = compile_request(
        provider,
        draft(
            ("user", "go"),
            ("assistant", call("abcdefghi")),
            ("tool", result("abcdefghi", "A")),
            ("user", "so?"),
        ),
    )
    assert spoken(compiled)[1:] == [
        ("assistant", ""),
        ("tool", "A"),
        ("assistant", BRIDGE),
        ("user", "so?"),
    ]
    assert compiled.origins[3] == ()
    assert issue(compiled, "R3").keys == ("m3",)


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_results_and_the_words_behind_them_are_one_message(provider: str) -> None:
    compiled = compile_request(
        provider,
        draft(
            ("user", "go"),
            ("assistant", call("a")),
            ("tool", result("a", "A")),
            ("user", "so?"),
            ("assistant", call("b")),
            ("tool", result("b", "B")),
            ("assistant", call("c")),
            ("tool", result("c", "C")),
        ),
    )
    assert "R3" not in rules(compiled)
    assert compiled.origins[2:] == (("m2", "m3"), ("m4",), ("m5",), ("m6",), ("m7",))
    assert len(compiled.messages[2]["content"]) == 2


def test_all_layers_are_one_system_prompt() -> None:
    context = draft(("user", "hi"), system="Be kind.")
    expected = {
        "anthropic": ("system", "Be kind."),
        "openai-responses": ("instructions", "Be kind."),
        "gemini": ("systemInstruction", {"parts": [{"text": "Be kind."}]}),
        "bedrock": ("system", [{"text": "Be kind."}]),
    }
    for provider in PROVIDERS:
        compiled = compile_request(provider, context)
        if provider in expected:
            member, value = expected[provider]
            assert compiled.request[member] == compiled.system == value
        else:
            assert compiled.messages[0] == {"role": "system", "content": "Be kind."}
            assert (compiled.system, compiled.origins[0]) == (None, ())


@pytest.mark.parametrize("provider", ALTERNATING)
def test_a_system_message_further_down_is_a_users_in_a_frame(provider: str) -> None:
    compiled = compile_request(
        provider, draft(("user", "a"), ("assistant", "b"), ("system", "Now French."))
    )
    assert list(words(compiled))[2] == ("user", FRAME.format("Now French."))
    assert issue(compiled, "R5").keys == ("m2",)


def test_openai_takes_it_as_it_is() -> None:
    rows = ("developer", "a"), ("user", "b"), ("system", "c")
    compiled = compile_request("openai", draft(*rows))
    assert spoken(compiled) == list(rows)
    assert compiled.issues == ()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_summary_is_framed_as_a_record(provider: str) -> None:
    words_ = "Went well. <thinking>secret plan</thinking> Wrote b.py."
    digest = message(0, "system", words_, key="o1.0", index=None, kind="digest")
    compiled = compile_request(provider, draft(digest, ("user", "go on")))
    assert SUMMARY.format("Went well. Wrote b.py.") in str(compiled.request).replace(
        "\\n", "\n"
    )
    assert "secret plan" not in str(compiled.request)
    assert issue(compiled, "R9").keys == issue(compiled, "R19").keys == ("o1.0",)
    assert issue(compiled, "R19").severity == Severity.NOTE


def test_an_empty_summary_is_not_sent() -> None:
    digest = message(0, "system", "<think>hm</think>", key="o1.0", kind="digest")
    compiled = compile_request("openai", draft(digest, ("user", "go on")))
    assert spoken(compiled) == [("user", "go on")]
    assert {"R4", "R9"} == rules(compiled)


def test_reasoning_that_nothing_ends_stays_and_takes_no_time() -> None:
    words_ = (
        "<thinking>a</thinking> \nb" + "<think>" * 50_000 + "<thinking>c</thinking>d"
    )
    digest = message(0, "system", words_, key="o1.0", kind="digest")
    [(_, sent), _] = spoken(compile_request("openai", draft(digest, ("user", "go on"))))

    assert SUMMARY.format("b" + "<think>" * 50_000 + "d") in sent


def test_raw_reasoning_in_what_operations_made_is_not_sent() -> None:
    made = message(
        1, "assistant", Thinking("hm", "seal"), "b", kind="revise", strategy="anthropic"
    )
    asked = message(2, "user", Thinking("hm", "seal"), "c", strategy="anthropic")
    compiled = compile_request("anthropic", draft(("user", "a"), made, asked, intact=3))
    assert spoken(compiled) == [("user", "a"), ("assistant", "b"), ("user", "c")]
    assert issue(compiled, "R9").keys == ("m1", "m2")


def test_the_name_of_a_speaker_is_sent_where_it_is_legal() -> None:
    rows = message(0, "user", "a", name="ann"), message(1, "user", "b", name="a b")
    compiled = compile_request("openai", draft(*rows))
    assert [form.get("name") for form in compiled.messages] == ["ann", None]
    assert issue(compiled, "R16").keys == ("m1",)
    compiled = compile_request("generic-strict", draft(*rows))
    assert [form.get("name") for form in compiled.messages] == [None]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_no_json_holds_is_replaced(provider: str) -> None:
    from json import dumps

    bad = call("\ud800", "l\udfff", **{"\ud800": ["\ud801", float("inf"), 1.5]})
    context = draft(
        ("user", "a\ud800b"),
        ("assistant", Thinking("\ud800", "x"), bad),
        ("tool", result("\ud800", "\udfff", name="é")),
        ("user", "ü"),
        system="\ud800",
    )
    compiled = compile_request(provider, context)
    sent = dumps(compiled.request, ensure_ascii=False, allow_nan=False)
    assert "a�b" in sent.encode().decode()
    [found] = [one for one in compiled.issues if "UTF-8" in one.detail]
    assert (found.rule, found.keys) == ("R16", ("m0", "m1", "m2"))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tools_are_defined_in_the_providers_form(provider: str) -> None:
    tools = [
        {"type": "function", "function": {"name": "look", "description": "Looks."}},
        {
            "type": "function",
            "function": {"name": "look", "parameters": {"type": "object"}},
        },
        {
            "type": "function",
            "function": {"name": "a.b", "parameters": {"type": "object"}},
        },
    ]
    compiled = compile_request(provider, draft(("user", "hi"), tools=tools))
    sent = str(compiled.request.get("tools") or compiled.request["toolConfig"])
    assert sent.count("'look'") == sent.count("'a_b'") == sent.count("Looks.") == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("function", [5, "look", None, []])
def test_a_function_that_is_none_is_read_as_a_tool_of_its_other_members(
    provider: str, function: object
) -> None:
    tools = [{"name": "look", "function": function}]
    compiled = compile_request(provider, draft(("user", "hi"), tools=tools))
    assert "'look'" in str(compiled.request)


@pytest.mark.parametrize("frame", [SUMMARY.format("Lakes:\n\nthree."), OPENER])
def test_what_a_request_puts_before_a_conversation_names_no_session(frame: str) -> None:
    assert title_of_texts([frame, "Count the lakes."]) == "Count the lakes."
    assert title_of_texts([f"{frame}\n\nCount the lakes."]) == "Count the lakes."
    assert title_of_texts([frame]) == ""


def test_calls_that_an_operation_brings_behind_an_answer_of_gemini_are_sent_with_it() -> (
    None
):
    """What a model said in pieces is sent as it came; the provider reads it as one."""

    def found(index: int) -> tuple[Severity, int]:
        asked, said = message(0, "user", "Count."), message(1, "assistant", "I look.")
        calls = message(index, "assistant", call("a"))
        results = message(index + 1, "user", result("a", "14"))
        compiled = compile_request("gemini", draft(asked, said, calls, results))
        return issue(compiled, "R3").severity, len(compiled.messages)

    assert found(3) == (Severity.REPAIRED, 3)
    assert found(2) == (Severity.NOTE, 3)


def test_results_of_calls_that_an_operation_joins_are_sent_to_gemini_in_one_message() -> (
    None
):
    """What a client itself sent in pieces is sent as it came."""

    def is_joined(index: int) -> bool:
        asked, calls = message(0, "user", "Count."), message(1, "assistant", call("a"))
        more = message(2, "assistant", call("b"))
        results = message(3, "user", result("a", "14"))
        others = message(index, "user", result("b", "3"))
        compiled = compile_request("gemini", draft(asked, calls, more, results, others))
        assert len(compiled.messages) == 3
        return "R3" in rules(compiled)

    assert is_joined(5)
    assert not is_joined(4)
