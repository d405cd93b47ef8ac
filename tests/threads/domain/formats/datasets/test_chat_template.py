"""Chat templates: a conversation as one text, bare or in the rows of a data set."""

from typing import Any

import pytest

from tests.threads.support.readings import events, messages, parts, read
from threads.domain.formats import detect
from threads.domain.message import Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult

CHATML = (
    "<|im_start|>system\nBe brief.<|im_end|>\n"
    "<|im_start|>user\nMake tea.\n\nGreen.<|im_end|>\n"
    "<|im_start|>assistant\nReady.<|im_end|>\n"
)
SAID = [
    (Role.SYSTEM, "Be brief."),
    (Role.USER, "Make tea.\n\nGreen."),
    (Role.ASSISTANT, "Ready."),
]
LLAMA_3 = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nMake tea.\n\nGreen.<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nReady.<|eot_id|>"
)
ALL = {
    "ChatML": CHATML,
    "Llama 3": LLAMA_3,
    "Llama 4": LLAMA_3.replace("start_header_id", "header_start")
    .replace("end_header_id", "header_end")
    .replace("eot_id", "eot"),
    "Gemma": "<bos><start_of_turn>system\nBe brief.<end_of_turn>\n"
    "<start_of_turn>user\nMake tea.\n\nGreen.<end_of_turn>\n"
    "<start_of_turn>model\nReady.<end_of_turn>\n",
    "gpt-oss": "<|start|>system<|message|>Be brief.<|end|>"
    "<|start|>user<|message|>Make tea.\n\nGreen.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>Ready.<|return|>",
    "Phi": "<|system|>\nBe brief.<|end|>\n<|user|>\nMake tea.\n\nGreen.<|end|>\n"
    "<|assistant|>\nReady.<|end|>\n",
    "Zephyr": "<|system|>\nBe brief.</s>\n<|user|>\nMake tea.\n\nGreen.</s>\n"
    "<|assistant|>\nReady.</s>\n",
    "Llama 2": "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nMake tea.\n\nGreen. [/INST] "
    "Ready. </s>",
    "Mistral": "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT]"
    "[INST]Make tea.\n\nGreen.[/INST]Ready.</s>",
}


def said(data: Any) -> list[tuple[Role, str]]:
    [transcript] = read(data)
    assert transcript.format == "chat_template"
    return [(message.role, message.text) for message in messages(transcript)]


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
def test_each_template_is_read_bare_and_in_rows(text: str) -> None:
    assert said(text.encode()) == said({"text": text}) == SAID
    assert [
        said_by for row in read([{"text": text}] * 2) for said_by in [row.title]
    ] == ["Make tea. Green."] * 2


def test_guanacos_rows_are_read_and_a_text_like_them_is_text_with_headings() -> None:
    text = "### Human: Make tea.### Assistant: Ready."

    assert said({"text": text}) == [
        (Role.USER, "Make tea."),
        (Role.ASSISTANT, "Ready."),
    ]
    candidates = detect(text.replace("###", "\n###").encode())
    assert "chat_template" not in [one.format for one in candidates]


def test_a_mark_at_the_end_asks_for_an_answer_which_may_stand_beside_it() -> None:
    prompt = CHATML.removesuffix("Ready.<|im_end|>\n")

    assert said({"prompt": prompt}) == SAID[:2]
    assert said({"prompt": prompt, "completion": "Ready.<|im_end|>"}) == SAID


def test_an_answer_that_the_text_holds_already_is_no_second_one() -> None:
    row = {"instruction": "Make tea.", "output": "Ready.", "text": CHATML}

    assert said(row) == SAID


def test_hermes_calls_and_results_are_linked() -> None:
    text = (
        "<|im_start|>user\nHow hot?<|im_end|>\n"
        "<|im_start|>assistant\nI look.\n<tool_call>\n"
        '{"name": "look", "arguments": {"at": "tea"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n90\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n90 degrees.<|im_end|>"
    )

    [transcript] = read(text.encode())

    assert parts(transcript)[1:3] == [
        (Text("I look."), ToolCall("call_1", "look", {"at": "tea"})),
        (ToolResult("call_1", (Text("90"),)),),
    ]


def test_llamas_calls_and_results_are_linked() -> None:
    mark = "<|start_header_id|>{}<|end_header_id|>\n\n"
    text = (
        f"{mark.format('user')}How hot?<|eot_id|>"
        f"{mark.format('assistant')}<|python_tag|>"
        '{"name": "look", "parameters": {"at": "tea"}}<|eom_id|>'
        f"{mark.format('ipython')}90<|eot_id|>"
    )

    [transcript] = read(text.encode())

    assert parts(transcript)[1:] == [
        (ToolCall("call_1", "look", {"at": "tea"}),),
        (ToolResult("call_1", (Text("90"),)),),
    ]


def test_gpt_oss_thinks_calls_and_answers() -> None:
    text = (
        "<|start|>developer<|message|># Tools<|end|>"
        "<|start|>user<|message|>How hot?<|end|>"
        "<|start|>assistant<|channel|>analysis<|message|>I have to look.<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>"
        '{"at": "tea"}<|call|>'
        "<|start|>functions.look to=assistant<|channel|>commentary<|message|>90<|end|>"
        "<|start|>assistant<|channel|>analysis<|message|>That was it.<|end|>"
    )

    [transcript] = read(text.encode())

    assert [message.role for message in messages(transcript)] == [
        *("developer", "user", "assistant", "tool", "assistant"),
    ]
    assert parts(transcript)[2:] == [
        (Thinking("I have to look."), ToolCall("call_1", "look", {"at": "tea"})),
        (ToolResult("call_1", (Text("90"),), "look"),),
        (Thinking("That was it."),),
    ]


def test_thoughts_that_lead_to_no_answer_stand_before_what_is_said_next() -> None:
    text = (
        "<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>"
        "<|start|>user<|message|>Well?<|end|>"
    )

    [transcript] = read(text.encode())

    assert parts(transcript) == [(Thinking("Hm."),), (Text("Well?"),)]


def test_a_speakers_name_is_kept() -> None:
    text = CHATML.replace("user\n", "user name=ada\n")

    [transcript] = read(text.encode())

    assert [message.name for message in messages(transcript)] == [None, "ada", None]


def test_what_is_in_no_known_turn_is_kept_as_events() -> None:
    text = CHATML + "Some words.\n<|im_start|>narrator\nSteam rises.<|im_end|>"

    [transcript] = read({"text": text, "source": "a data set of tea"})

    assert len(messages(transcript)) == 3
    assert events(transcript) == ["outside", "narrator", "source"]


def test_a_row_without_such_a_text_among_others_is_left_out() -> None:
    assert len(read([{"text": CHATML}, {"text": "no turns at all"}])) == 1


def test_text_that_only_speaks_of_marks_is_none() -> None:
    text = b"## User\nWhat is <|im_start|>user\n?\n\n## Assistant\nA mark."

    assert read(text)[0].format == "role_headings"
