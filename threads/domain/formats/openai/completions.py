"""Data sets of prompts and completions: `{"prompt", "completion"}` a line.

Both are text, or both lists of OpenAI's messages; all else of a row is an event. Sources:
platform.openai.com/docs/guides/fine-tuning (before chats), huggingface.co/docs/trl/dataset_formats.
"""

from collections.abc import Iterator

from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.list_format import ListFormat, each, has_members
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Text

from .messages import read_element

ROLES = {"prompt": Role.USER, "completion": Role.ASSISTANT}


def _text(name: str, row: Element) -> Iterator[Message]:
    """A text as a message; its blanks stay, for they were trained on."""
    text: JSON = fields.require(row.value, str, "text or a list of messages", ())
    parts = (Text(text),) if text else ()
    yield Message(role=ROLES[name], parts=parts, records=(row.record,))


LIST_FORMAT = ListFormat(
    name="completions",
    label="a data set of prompts and completions",
    score=has_members("prompt", "completion", score=0.7),
    lists=dict.fromkeys(ROLES, each(read_element)),
    text=_text,
)
FORMAT = LIST_FORMAT.format
