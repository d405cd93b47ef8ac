"""What goes out in place of what a client sends: its own wherever nothing touches it."""

import pytest

from operations.domain.log.operation import Redact
from tests.operations.support.builders import (
    digest,
    entries,
    insert,
    resequence,
    revise,
    snip,
    span,
)
from threads.domain.message import Role
from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult

from .sending import (
    ASKED,
    BOTH,
    CALLED,
    DONE,
    ONE,
    OTHER,
    PROMPT,
    USE,
    Conversation,
    agree,
    block,
    message,
    result,
    tool,
    user,
)

FORMATS = ("openai", "anthropic")


# What was cut in another way


def test_results_of_several_originals_in_one_message_pass_as_they_were_given() -> None:
    session = Conversation([ASKED, CALLED, ONE, OTHER, DONE], entries(snip(4, 4)))
    given = user(block("a", cache_control={}), block("b"))
    messages = [{"role": "user", "content": "Look."}, USE, given]

    assert session.apply("anthropic", {"messages": messages}).messages == messages


def test_one_of_them_alone_is_written_anew() -> None:
    session = Conversation([ASKED, CALLED, ONE, OTHER], entries(snip(2, 2)))
    given = user(block("a"), block("b", cache_control={}))
    sent = session.apply(
        "anthropic", {"messages": [{"role": "user", "content": "Look."}, USE, given]}
    )

    assert sent.messages[2:] == [user(block("b"), block("a", NEVER))]


def test_results_of_one_original_in_several_messages_pass_as_they_were_given() -> None:
    session = Conversation([ASKED, CALLED, BOTH, DONE], entries(insert("m0", "New.")))
    body = session.export("openai", "original")
    body["messages"][2:4] = [tool("a", x=1), tool("b", is_error=True)]

    sent = session.apply("openai", body).messages

    assert sent == [body["messages"][0], NEW, *body["messages"][1:]]


NEW = {"role": "system", "content": "New."}
NEVER = "[No result of this call was recorded.]"


def test_results_given_side_by_side_stay_apart() -> None:
    between = message(Role.ASSISTANT, Text("And on."))
    asked = {"role": "user", "content": "Look."}
    messages = [asked, USE, user(block("a")), user(block("b"))]
    together = Conversation([ASKED, CALLED, ONE, OTHER])
    parted = Conversation([ASKED, CALLED, ONE, between, OTHER], entries(snip(3, 3)))
    said = {"role": "assistant", "content": "And on."}
    given = {"messages": [*messages[:3], said, messages[3]]}

    assert together.apply("anthropic", {"messages": messages}).messages == messages
    assert parted.apply("anthropic", given).messages == messages


@pytest.mark.parametrize("changed", [None, 0, 1, 2])
def test_a_bound_call_goes_out_as_given_only_if_both_halves_do(
    changed: int | None,
) -> None:
    call = message(Role.ASSISTANT, Text("I look."), ToolCall("a", "look", {}))
    spans = {0: span("m0", 0, 4, "Look"), 1: span("m1", 0, 1, "I")}
    spans[2] = span("m2", 0, 2, "ok")
    masks = [Redact(spans=(spans[changed],))] if changed is not None else []
    session = Conversation([ASKED, call, ONE], entries(*masks, snip(3, 3)))
    body = Conversation([ASKED, call, ONE]).export("openai", "original")
    for one in body["messages"]:
        one["only the client"] = "knows"
    bound = session.apply("openai", body, "a").messages
    free = session.apply("openai", body).messages

    assert ["only the client" in one for one in bound] == [
        *(changed != 0, changed in (None, 0), changed in (None, 0)),
    ]
    assert ["only the client" in one for one in free] == [
        changed != place for place in range(3)
    ]


def test_a_result_whose_call_is_gone_is_not_sent() -> None:
    session = Conversation([ASKED, CALLED, ONE], entries(snip(1, 1)))
    for content in ("Look.", [{"type": "text", "text": "Look."}]):
        messages = [{"role": "user", "content": content}, USE, user(block("a"))]
        sent = session.apply("anthropic", {"messages": messages})

        assert sent.messages == messages[:1]


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_not_sent_at_all_is_passed_over_and_still_a_target(format: str) -> None:
    silent = message(Role.ASSISTANT, Opaque("unheard_of", {}), Thinking("Hm."))
    found = [silent, ASKED, silent, ONE, silent]
    agree(Conversation(found), format)
    agree(Conversation(found, entries(insert("m4", "New."))), format)
    agree(Conversation(found, entries(insert("m2", "New."), snip(0, 1))), format)


def test_calls_without_ids_are_named_as_they_stand_in_the_thread() -> None:
    found = [
        message(Role.ASSISTANT, Text("So."), ToolCall("", name, {}))
        for name in ("first", "second")
    ]
    answered = message(Role.TOOL, ToolResult("", (Text("ok"),), "second"))
    session = Conversation([ASKED, *found, answered], entries(snip(1, 1)))
    sent = agree(session, "anthropic")["messages"]

    assert sent[1]["content"][1]["id"] == sent[2]["content"][0]["tool_use_id"] != ""
    agree(Conversation([ASKED, *found, answered]), "anthropic")


def test_images_and_files_are_known_again_by_their_bytes() -> None:
    plain = Image("text/plain", data=b"\xff")
    picture = Image("image/*", data=b"PNG")
    strange = Image("no media, type", data=b"?")
    found = [message(Role.USER, part) for part in (plain, picture, strange)]
    for format in FORMATS:
        agree(Conversation(found, entries(snip(1, 1))), format)


def test_what_is_redacted_is_known_again_in_either_wording_and_masked_in_both() -> None:
    redact = Redact(spans=(span("m1", 0, 4, "Look", part=1),))
    asked = [message(Role.USER, result("a"), Text("Look.")), DONE]
    masked = Conversation([DONE, *asked], entries(redact))
    open_ = Conversation([DONE, *asked])
    for format in FORMATS:
        expected = agree(masked, format)["messages"]
        given = open_.export(format, "original")

        assert masked.apply(format, given).messages == expected
        assert "Look" not in str(expected)


# The system prompt


def test_a_digest_at_the_top_is_no_system_prompt() -> None:
    found = [PROMPT, ASKED, DONE, ASKED]
    sent = agree(Conversation(found, entries(digest(1, 2))), "anthropic")

    assert sent["system"] == "Be brief."
    assert "<summary>" in sent["messages"][0]["content"][0]["text"]
    sent = agree(Conversation(found, entries(digest(0, 2))), "anthropic")
    assert "system" not in sent


def test_what_is_revised_or_inserted_at_the_top_is_the_system_prompt() -> None:
    found = [PROMPT, message(Role.DEVELOPER, Text("Be kind.")), ASKED]
    revised = agree(Conversation(found, entries(revise(0, 0, "Be long."))), "anthropic")
    added = agree(Conversation(found, entries(insert("m1", "Be glad."))), "anthropic")

    assert revised["system"] == "Be long.\n\nBe kind."
    assert added["system"] == "Be brief.\n\nBe kind.\n\nBe glad."
    assert len(added["messages"]) == 1


def test_a_system_prompt_passes_as_it_was_given_and_so_does_another() -> None:
    empty = message(Role.SYSTEM)
    session = Conversation([PROMPT, empty, ASKED])
    messages = [{"role": "user", "content": "Look."}]
    blocks = [{"type": "text", "text": "Be brief.", "cache_control": {}}]
    own = ["Be brief.", blocks, "Be brief.\n\n"]
    others = ["Be", "Be brief", "Be brief.\n\nBe kind."]
    for prompt in [*own, *others]:
        sent = session.apply("anthropic", {"system": prompt, "messages": messages})
        assert (sent.system, sent.messages) == (prompt, messages)


def test_a_prompt_of_a_client_passes_as_it_came_where_others_change_the_rest() -> None:
    """With what it marks for its provider's cache, be it the session's or a version of it."""
    noted = "x-anthropic-billing-header: cc_version=2.1; cch=7;"
    messages = [{"role": "user", "content": "Look."}, USE, user(block("a"))]
    for found in ([PROMPT, ASKED, CALLED, ONE], [ASKED, CALLED, ONE]):
        at = len(found) - 2
        session = Conversation(found, entries(digest(at, at + 1)))
        for words in ("Be brief.", "Be long."):
            prompt = [
                {"type": "text", "text": noted},
                {"type": "text", "text": words, "cache_control": {}},
            ]
            body = {"system": prompt, "messages": messages}
            sent = session.apply("anthropic", body)
            assert sent.system == prompt
            assert len(sent.messages) < len(messages)


def item(role: str, text: str) -> dict[str, object]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": role, "content": content}


CAREFUL = message(Role.DEVELOPER, Text("Be careful."))
ITEMS = [item("developer", "Be careful."), item("user", "Look.")]


def test_prompts_that_a_client_has_in_items_stay_items() -> None:
    session = Conversation([CAREFUL, ASKED], entries(insert("m1", "New.")))
    sent = session.apply("openai-responses", {"messages": ITEMS})

    assert sent.system is None
    assert sent.messages[:2] == ITEMS
    assert "New." in str(sent.messages[2:])
    assert sent.given == {"m0", "m1"}


def test_they_stay_beside_a_prompt_in_a_member_of_its_own() -> None:
    session = Conversation([PROMPT, CAREFUL, ASKED], entries(insert("m2", "New.")))
    body = {"messages": ITEMS, "system": "Be brief."}
    sent = session.apply("openai-responses", body)

    assert sent.system == "Be brief."
    assert sent.messages[:2] == ITEMS


def test_what_is_left_of_a_prompt_is_said_in_the_member_that_it_had() -> None:
    session = Conversation([PROMPT, CAREFUL, ASKED], entries(snip(0, 0)))
    body = {"messages": ITEMS, "system": "Be brief."}
    sent = session.apply("openai-responses", body)

    assert "Be careful." in str(sent.system)
    assert "Be brief." not in str(sent)


def test_a_message_of_the_system_s_at_the_top_becomes_the_prompt() -> None:
    session = Conversation([PROMPT, ASKED], entries(insert("m1", "New.")))
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
    ]
    sent = session.apply("anthropic", {"messages": messages})

    assert sent.system == "Be brief."
    assert [one["role"] for one in sent.messages] == ["user"]
    assert "New." in str(sent.messages)


def test_a_system_prompt_moved_down_is_framed_and_one_moved_up_is_not() -> None:
    found = [PROMPT, ASKED, message(Role.SYSTEM, Text("Be kind.")), DONE]
    moved = agree(Conversation(found, entries(resequence("m2", "m0"))), "anthropic")

    assert moved["system"] == "Be kind."
    assert "Be brief." in moved["messages"][0]["content"][1]["text"]
    agree(Conversation(found, entries(snip(0, 1))), "anthropic")


def test_openai_s_form_may_have_its_system_prompt_beside_the_messages() -> None:
    found, messages = [PROMPT, ASKED], [{"role": "user", "content": "Look."}]
    body = {"system": "Be brief.", "messages": messages}
    moved = Conversation(found, entries(resequence("m1", "m0")))
    gone = Conversation(found, entries(snip(0, 0)))
    redacted = Conversation(found, entries(Redact(spans=(span("m0", 0, 2, "Be"),))))

    for session, prompt in (
        (gone, None),
        (redacted, "[redacted] brief."),
        (Conversation(found, entries(insert("m1", "New."))), "Be brief."),
    ):
        sent = session.apply("openai", body)
        assert (sent.messages[:1], sent.system) == (messages, prompt)
    sent = moved.apply("openai", body)
    assert sent.messages == [*messages, {"role": "system", "content": "Be brief."}]
    assert sent.system is None
    assert Conversation(found[1:]).apply("openai", {**body, "system": ""}).system == ""


def test_a_system_prompt_of_several_messages_is_not_one_beside_them() -> None:
    prompt = message(Role.SYSTEM, Text("Be brief."), Image("image/png", url="x"))
    body = {"system": "Be brief.", "messages": [{"role": "user", "content": "Look."}]}
    session = Conversation([prompt, ASKED], entries(snip(0, 0)))
    assert session.apply("openai", body).system == "Be brief."
