"""Conversations as one text, as a model's chat template writes them: a bare text, or rows with one.

Training sets have the text in a member (`text`), logs of local servers have it in `prompt`, with
the answer beside it. Each turn begins with a mark that names the speaker, and ends with another.
Tool calls and results are read in the forms of Hermes (Qwen), Llama 3 and gpt-oss.

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
from threads.domain.formats.kit.items import (
    Item,
    Items,
    already_open,
    items_in,
    member_events,
)
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    transcript_of,
    with_skipped_warnings,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

from . import sharegpt

NAME = "chat_template"
LABEL = "text of a chat template"
HELD_IN = ("text", "prompt", "conversation", "chat", "messages", "input", "formatted")
"""Members that may hold such a text."""
ANSWERED_IN = ("completion", "response", "output", "generated_text")
"""Members that may continue the text."""


class ChatTemplate(NamedTuple):
    """Patterns of how a turn begins, with the speaker as the group, and of how it may end."""

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
"""Also Guanaco's, which as a file of its own is read as text with headings."""
_AROUND = re.compile(
    r"(?:\s|<s>|</s>|<bos>|<eos>|<\|begin_of_text\|>|<\|endoftext\|>)*"
)
"""Meaningless text before, between and after turns."""
_SYSTEM = re.compile(r"\s*<<SYS>>(.*?)<</SYS>>", re.DOTALL)
"""The system prompt in Llama 2's first turn."""
_SPEAKERS = {
    "[INST]": "user",
    "[/INST]": "assistant",
    "[SYSTEM_PROMPT]": "system",
}
_PYTHON_TAG = "<|python_tag|>"
_TO = re.compile(r"to=(?:functions\.)?([\w.-]{1,128})")


class TemplateTurn(NamedTuple):
    """The speaker and the text of a turn."""

    speaker: str
    words: str


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of a text, or of each row with a text. Raises Invalid if there is none."""
    if _template(_head(file), TEMPLATES):
        items = Items(partial(_of_text, file))
        return require_transcripts([transcript_of(items, format=NAME)], [], LABEL)
    skipped: list[Warning] = []
    opener = already_open(file)
    found = [
        transcript_of(items_in(opener, partial(_of_row, span)), format=NAME)
        for span in json_file.held_objects(file, "", skipped)
    ]
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def turns_of(text: str, template: ChatTemplate) -> Iterator[TemplateTurn]:
    """The turns of a text in order; empty turns are left out.

    Text outside turns is yielded as a turn without a speaker.
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
    """The message of a turn, its calls and results still without ids; None for unknown speakers."""
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
    """An addressed turn of gpt-oss: assistant to tool (a call), or tool to assistant (a result)."""
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
    """The template of a text that begins with a turn by a known speaker; else None."""
    if not isinstance(text, str):
        return None
    begin = _AROUND.match(text)
    for template in known:
        found = re.compile(template.begins).match(text, begin.end() if begin else 0)
        if found and message_of(TemplateTurn(_SPEAKERS.get(found[1], found[1]), "x")):
            return template
    return None


def _asks(text: str) -> bool:
    """Whether a text ends with the beginning of a turn, whose content is then elsewhere."""
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
        yield from member_events(members, set())
        return
    used = [held]
    if _asks(said[held]):
        used += [name for name in ANSWERED_IN if name in said][:1]
    records = tuple(members[name].record for name in used)
    yield from _items("".join(said[name] for name in used), records)
    yield from member_events(members, set(used))


def _items(text: str, records: tuple[str, ...]) -> Iterator[Item]:
    """The messages of a text. Reasoning is part of the assistant message that it leads to."""
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
    """By a text, or a row with a text, that begins with a turn."""
    if not sample.rows:
        return 0.9 if _template(sample.text, TEMPLATES) else 0
    held = (row.get(name) for row in sample.rows for name in HELD_IN)
    return 0.93 if any(map(_template, held)) else 0


FORMAT = Format(NAME, LABEL, _score, read)
