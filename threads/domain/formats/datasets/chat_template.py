"""Conversations as one text, as a model's chat template writes them: the bare text, or rows of it.

Training sets have it in a member (`text`), logs of local servers in `prompt`, the answer beside
it. Each turn begins with a mark that names who speaks, and ends with another. Calls and results
of tools are read where a turn holds them as Hermes (Qwen), Llama 3 or gpt-oss writes them.

Sources: the chat templates of the models, as `transformers` applies them; OpenAI's `harmony`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO, NamedTuple

from threads.domain.formats.arguments import parsed, read_call
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, text_lines
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.kit.items import Item, Items, items_in, opened, others
from threads.domain.formats.kit.transcripts import (
    at_least_one,
    transcript_of,
    warn_first,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

from . import sharegpt

NAME = "chat_template"
LABEL = "text of a chat template"
HELD_IN = ("text", "prompt", "conversation", "chat", "messages", "input", "formatted")
"""Members that hold such a text."""
ANSWERED_IN = ("completion", "response", "output", "generated_text")
"""Members that go on with it."""


class ChatTemplate(NamedTuple):
    """How a turn begins, with who speaks as its group, and what it may end with."""

    begins: str
    ends: str


TEMPLATES = (
    ChatTemplate(r"<\|im_start\|>([^<|\n]{1,64})\n", r"<\|im_end\|>"),
    ChatTemplate(
        r"<\|start_header_id\|>([^<|\n]{1,64})<\|end_header_id\|>\n*",
        r"<\|(?:eot_id|eom_id|end_of_text)\|>",
    ),
    ChatTemplate(
        r"<\|header_start\|>([^<|\n]{1,64})<\|header_end\|>\n*",
        r"<\|(?:eot|eom|end_of_text)\|>",
    ),
    ChatTemplate(r"<start_of_turn>(\w{1,64})\n", r"<end_of_turn>"),
    ChatTemplate(
        r"<\|start\|>((?:[^<\n]|<\|(?:channel|constrain)\|>){1,200})<\|message\|>",
        r"<\|(?:end|call|return)\|>",
    ),
    ChatTemplate(r"<\|(system|user|assistant|tool)\|>\n?", r"<\|end\|>|</s>"),
    ChatTemplate(r"(\[INST\]|\[/INST\]|\[SYSTEM_PROMPT\])", r"\[/SYSTEM_PROMPT\]|</s>"),
)
"""ChatML, Llama 3, Llama 4, Gemma, gpt-oss (Harmony), Zephyr and Phi, Llama 2 and Mistral."""
OF_ROWS = (*TEMPLATES, ChatTemplate(r"### (Human|User|Assistant|System): ?", r"</s>"))
"""Guanaco's too, which in a file of its own is text with headings."""
_AROUND = re.compile(
    r"(?:\s|<s>|</s>|<bos>|<eos>|<\|begin_of_text\|>|<\|endoftext\|>)*"
)
"""What stands before, between and behind turns and says nothing."""
_SYSTEM = re.compile(r"\s*<<SYS>>(.*?)<</SYS>>", re.DOTALL)
"""The system's words in the first turn of Llama 2."""
_SPEAKERS = {
    "[INST]": "user",
    "[/INST]": "assistant",
    "[SYSTEM_PROMPT]": "system",
}
_PYTHON_TAG = "<|python_tag|>"
_TO = re.compile(r"to=(?:functions\.)?([\w.-]{1,128})")


class TemplateTurn(NamedTuple):
    """What one turn says, and who."""

    speaker: str
    words: str


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of a text, or of each row that holds one."""
    if _template(_head(file), TEMPLATES):
        items = Items(partial(_of_text, file))
        return at_least_one([transcript_of(items, format=NAME)], [], LABEL)
    skipped: list[Warning] = []
    opener = opened(file)
    found = [
        transcript_of(items_in(opener, partial(_of_row, span)), format=NAME)
        for span in json_file.held_objects(file, "", skipped)
    ]
    return warn_first(at_least_one(found, skipped, LABEL), skipped)


def turns_of(text: str, template: ChatTemplate) -> Iterator[TemplateTurn]:
    """The turns of a text in their order; those in which nothing is said are left out.

    What stands outside turns comes as a turn of nobody.
    """
    begins = template.begins.replace("(", "(?:", 1)
    turn = re.compile(
        rf"{template.begins}(.*?)(?:{template.ends}|(?={begins})|\Z)", re.DOTALL
    )
    after = 0
    for found in turn.finditer(text):
        yield from _outside(text[after : found.start()])
        speaker = _SPEAKERS.get(found[1], found[1].strip())
        if found[2].strip():
            yield TemplateTurn(speaker, found[2].strip())
        after = found.end()
    yield from _outside(text[after:])


def message_of(turn: TemplateTurn) -> Message | None:
    """What a turn says, calls and results still without ids; None where nobody known speaks."""
    head, _, channel = turn.speaker.partition("<|channel|>")
    role, _, rest = head.strip().partition(" ")
    if to := _TO.search(f"{rest} {channel}"):
        return _addressed(role, to[1], turn.words)
    if channel.startswith("analysis"):
        return Message(role=Role.ASSISTANT, parts=(Thinking(turn.words),))
    if turn.words.startswith(_PYTHON_TAG):
        called = parsed(turn.words.removeprefix(_PYTHON_TAG).strip())
        return sharegpt.read_turn({"from": "function_call", "value": called})
    if role == "user" and sharegpt.answers(turn.words):
        role = "tool"
    if role == "developer":
        return Message(role=Role.DEVELOPER, parts=(Text(turn.words),))
    said = sharegpt.read_turn({"from": role.lower(), "value": turn.words})
    name = fields.as_word(rest.removeprefix("name=")) if "name=" in rest else None
    return replace(said, name=name) if said and name else said


def _addressed(role: str, to: str, words: str) -> Message:
    """A turn of gpt-oss to somebody: of the assistant to a tool, or of a tool to the assistant."""
    part: Part = read_call("", to, words)
    if role != "assistant":
        name = role.removeprefix("functions.")
        part = ToolResult("", (Text(words),), name)
    by = Role.ASSISTANT if isinstance(part, ToolCall) else Role.TOOL
    return Message(role=by, parts=(part,))


def _outside(words: str) -> Iterator[TemplateTurn]:
    if not _AROUND.fullmatch(words):
        yield TemplateTurn("", words.strip())


def _template(
    text: JSON, known: tuple[ChatTemplate, ...] = OF_ROWS
) -> ChatTemplate | None:
    """The template of a text, which begins with a turn of somebody known."""
    if not isinstance(text, str):
        return None
    begin = _AROUND.match(text)
    for template in known:
        found = re.compile(template.begins).match(text, begin.end() if begin else 0)
        if found and message_of(TemplateTurn(_SPEAKERS.get(found[1], found[1]), "x")):
            return template
    return None


def _asks(text: str) -> bool:
    """Whether a text ends where somebody's turn begins: what is said then stands elsewhere."""
    template = _template(text)
    begins = list(re.finditer(template.begins, text)) if template else []
    return bool(begins) and not text[begins[-1].end() :].strip()


def _head(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(text_lines.KEPT).decode("utf-8-sig", "replace")


def _of_text(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    span = json_file.whole(file)
    text = text_lines.words(file, span, 1, warnings)
    if text is not None:
        yield from _items(text.removeprefix("\ufeff"), (span.record,))


def _of_row(row: ByteSpan, file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
    file = json_file.in_memory(file, row)
    members = json_file.members(file, row.start, warnings)
    said = {
        name: words
        for name in (*HELD_IN, *ANSWERED_IN)
        if name in members
        and isinstance(words := json_file.get(file, members, name), str)
    }
    held = next((name for name in HELD_IN if _template(said.get(name))), None)
    if held is None:
        yield from others(members, set())
        return
    used = [held]
    if _asks(said[held]):
        used += [name for name in ANSWERED_IN if name in said][:1]
    records = tuple(members[name].record for name in used)
    yield from _items("".join(said[name] for name in used), records)
    yield from others(members, set(used))


def _items(text: str, records: tuple[str, ...]) -> Iterator[Item]:
    """The messages of a text. What an assistant thinks stands in the message that it leads to."""
    ids, thought = CallIds(), tuple[Part, ...]()
    template = _template(text)
    for turn in turns_of(text, template) if template else ():
        parts = thought
        for system in _SYSTEM.findall(turn.words) if turn.speaker == "user" else ():
            yield Message(
                role=Role.SYSTEM, parts=(Text(system.strip()),), records=records
            )
        message = message_of(turn._replace(words=_SYSTEM.sub("", turn.words).strip()))
        if message is None:
            yield Event(turn.speaker or "outside", records[0])
            continue
        if message.role is not Role.ASSISTANT and thought:
            yield Message(role=Role.ASSISTANT, parts=thought, records=records)
            parts = ()
        thought = ()
        said = replace(message, parts=(*parts, *message.parts), records=records)
        if all(isinstance(part, Thinking) for part in said.parts):
            thought = said.parts
        else:
            yield ids.given(said)
    if thought:
        yield Message(role=Role.ASSISTANT, parts=thought, records=records)


def _score(sample: Sample) -> float:
    """A text or a row that begins with a turn: as sure as of a data set."""
    if not sample.rows:
        return 0.9 if _template(sample.text, TEMPLATES) else 0
    held = (row.get(name) for row in sample.rows for name in HELD_IN)
    return 0.93 if any(map(_template, held)) else 0


FORMAT = Format(NAME, LABEL, _score, read)
