"""Finds who speaks in a record, by the member names that programs use in their own formats.

A record is either a message that names its speaker (`sender` and `text`, `type` and `content`), or
a pair of a question and its answer (`user` and `bot`, `user_input` and `bot_response`, `question`
and `answer`). The tables here recognise both, and both are read as messages with a role and
content. `kit.spoken` decides which lists of them are conversations.

Sources: real files, named in `docs/formats.md`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from threads.domain.message import Role
from threads.domain.part import JSON

from . import fields

Record = dict[str, Any]
NAMES = {
    **dict.fromkeys(("user", "human", "customer"), Role.USER),
    **dict.fromkeys(
        ("assistant", "ai", "aiassistant", "agent", "support"), Role.ASSISTANT
    ),
    **dict.fromkeys(("bot", "chatbot", "model", "llm"), Role.ASSISTANT),
    **dict.fromkeys(("gpt", "chatgpt", "claude", "gemini"), Role.ASSISTANT),
    **dict.fromkeys(("bard", "bing"), Role.ASSISTANT),
    "system": Role.SYSTEM,
}
"""Map of speaker name to role; names are in lower case, without blanks and without a `SUFFIX`."""
SPEAKING = ("message", "msg", "text", "content")
ASKING = ("input", "query", "question", "prompt")
ANSWERING = ("response", "reply", "answer", "output")
SUFFIX = re.compile(rf"(?<=.)({'|'.join(SPEAKING + ASKING + ANSWERING)})\Z")
"""The ending of a speaker's name that denotes what is said: `HumanMessage`, `bot_response`."""
SPEAKER_MEMBERS = ("role", "sender", "speaker", "author", "from", "type", "sender_type")
"""Members that name the speaker of a message, in order of preference."""
TYPES = frozenset({"user", "human", "assistant", "ai", "bot", "chatbot", "agent"})
"""The names that count in a `type`: `model` and `system` also occur on records nobody said."""
_USERS = {True: Role.USER, False: Role.ASSISTANT}
_BOTS = {True: Role.ASSISTANT, False: Role.USER}
FLAGS = {
    **dict.fromkeys(("is_user", "isUser", "isCreatedByUser"), _USERS),
    **dict.fromkeys(("is_bot", "isBot"), _BOTS),
}
"""Boolean members that say whose a message is."""
CONTENT_MEMBERS = ("content", "text", "message", "msg", "mes", "body", "value")
"""Members that hold the content of a message."""
KEPT_MEMBERS = ("id", "name", "tool_calls", "reasoning_content")
"""Other members of such a message that are read."""
TIME_MEMBERS = (
    *("timestamp", "created_at", "createdAt", "time", "date"),
    *("send_date", "timeSent"),
)
BARE = frozenset(NAMES) - {"system", "customer", "agent", "support", "model", "llm"}
"""Names that denote what is said even without a suffix; `model`, say, is a request's setting."""
ROWS = {
    ("question", "answer"): "",
    ("question", "response"): "",
    ("query", "answer"): "",
    ("query", "response"): "",
    ("prompt", "response"): "",
    ("prompt", "answer"): "",
    ("prompt", "output"): "",
    ("prompt", "completion"): "",
    ("instruction", "response"): "",
    ("message", "response"): "",
    ("message", "reply"): "",
    ("q", "a"): "q",
    ("input", "response"): "input",
    ("input", "output"): "input",
}
"""Pairs of members that name no speaker: rows of a data set or, with a time, of a log. Some of
these names have other uses too; for them, the given member must hold several words, as no number
or path does."""
SIDES = [frozenset(names) for names in zip(*ROWS, strict=True)]
SESSIONS = (
    *("conversation_id", "conversationId", "thread_id", "threadId"),
    *("session_id", "sessionId", "chat_id", "chatId"),
)
"""Members in which a row names its conversation, the most specific first."""
LOGGED = frozenset({"timestamp", "time", *SESSIONS})
"""Members that show that a row belongs to a log."""
GREETING = "<|BEGIN-VISIBLE-CHAT|>"
"""The question in text-generation-webui's files if the assistant speaks first."""
_PROSE = re.compile(r"[^\W\d_]\s+[^\W\d_]|[^\x00-\x7f]")


class SpokenPair(NamedTuple):
    """The members of a record that hold a question and its answer."""

    asked: str
    answered: str
    is_row: bool
    """Whether the pair is a whole conversation, like a row of a data set."""


def may_speak(names: Iterable[str | int]) -> bool:
    """Whether a record with these members may be a message or a pair."""
    members = {name: "" for name in names if isinstance(name, str)}
    return not members.keys().isdisjoint({*SPEAKER_MEMBERS, *FLAGS}) or all(
        _sides(members)
    )


# Messages


def message_in(record: Record) -> Record | None:
    """The record as a message with role and content; None if it has no known speaker."""
    role = next(_roles(record), None)
    words = next(_words(record), None)
    if role is None or not (words or fields.items(record, "tool_calls")):
        return None
    kept = {name: record[name] for name in KEPT_MEMBERS if name in record}
    return {**moment_in(record), **kept, "role": str(role), "content": words}


def unknown_speaker_in(record: Record) -> str:
    """The name of a record's unknown speaker; empty if the record says nothing."""
    return fields.text(record, "sender", "speaker") if any(_words(record)) else ""


def is_text(content: JSON) -> bool:
    """Whether content says something, as a text or as blocks with a type."""
    if isinstance(content, str):
        return bool(content.strip())
    if isinstance(content, list) and content:
        return all(isinstance(one, dict) and "type" in one for one in content)
    return False


def _roles(record: Record) -> Iterator[Role]:
    for member in SPEAKER_MEMBERS:
        role, name, _ = _role_in_name(fields.text(record, member))
        if role and (member != "type" or name in TYPES):
            yield role
    if not record.get("is_system"):  # a notice by the program, shown only to its user
        for member, roles in FLAGS.items():
            if isinstance(flag := record.get(member), bool):
                yield roles[flag]


def _words(record: Record) -> Iterator[JSON]:
    return (record[name] for name in CONTENT_MEMBERS if is_text(record.get(name)))


def moment_in(record: Record) -> Record:
    """The time of a record, as a member of a message; empty if it has none."""
    moment = next((record[name] for name in TIME_MEMBERS if record.get(name)), None)
    return {} if moment is None else {"timestamp": moment}


@lru_cache(maxsize=1 << 10)
def _role_in_name(called: str) -> tuple[Role | None, str, str]:
    """The role that a member name or speaker name denotes, the bare name, and its suffix."""
    plain = re.sub(r"[\s_-]+", "", called[:64]).lower()
    said = SUFFIX.search(plain)
    name = plain[: said.start()] if said else plain
    is_bot = name.endswith("bot")  # a bot with a name of its own: `hotel_bot`
    return Role.ASSISTANT if is_bot else NAMES.get(name), name, said[1] if said else ""


# Pairs


def pair_in(record: Record, *, surely: bool = True) -> SpokenPair | None:
    """The pair in a record; None if there is none, or if a side says nothing.

    With `surely`, a pair whose names have other uses must hold several words.
    """
    asked, answered = _sides(record)
    if not (_is_words(record.get(asked)) and _is_words(record.get(answered))):
        return None
    if _role_in_name(asked)[0] or _role_in_name(answered)[0]:
        return SpokenPair(asked, answered, is_row=False)
    if (prose := ROWS.get((asked, answered))) is None:
        return None
    if surely and prose and not _PROSE.search(record[prose]):
        return None
    return SpokenPair(asked, answered, LOGGED.isdisjoint(record))


def pair_messages(record: Record) -> list[Record]:
    """The two messages of a pair; just one if the pair names both sides and the other is empty."""
    asked, answered = _sides(record)
    is_named = (
        _role_in_name(asked)[0]
        and _role_in_name(answered)[0]
        and _is_words(record[asked])
    )
    if not is_named and pair_in(record, surely=False) is None:
        return []
    sides = ((Role.USER, record[asked]), (Role.ASSISTANT, record[answered]))
    return [
        {**moment_in(record), "role": str(role), "content": said}
        for role, said in sides
        if said not in (None, "", [], {})
    ]


def bare_pair(record: JSON) -> list[Record]:
    """The messages of a list of two texts, a question and its answer; empty for anything else.

    This is Gradio's history; a text is null if nobody has said anything yet.
    """
    if type(record) is not list or len(record) != 2:
        return []
    if not all(one is None or type(one) is str for one in record):
        return []
    sides = zip((Role.USER, Role.ASSISTANT), record, strict=True)
    return [
        {"role": str(role), "content": said}
        for role, said in sides
        if said and said != GREETING
    ]


def are_bare_pairs(records: JSON) -> bool:
    """Whether a list consists of such pairs, and most answers have several words."""
    if not isinstance(records, list) or not all(map(bare_pair, records)):
        return False
    answers = [one[1] for one in records if one[1]]
    return 2 * len([*filter(_PROSE.search, answers)]) > len(answers)


def _sides(record: Record) -> tuple[str, str]:
    """The members that hold the question and the answer; empty if there is none."""
    asked = _side(record, Role.USER, 0, ANSWERING)
    return asked, _side(record, Role.ASSISTANT, 1, ASKING)


def _side(record: Record, role: Role, place: int, never: tuple[str, ...]) -> str:
    """A side's member: the first that names speaker and kind, else kind only, else speaker only."""
    found: dict[int, str] = {}
    for name, said in record.items():
        by, stem, how = _role_in_name(name)
        if isinstance(said, bool | int | float) or how in never:
            continue
        if by is role and how:
            found.setdefault(0, name)
        elif name in SIDES[place]:
            found.setdefault(1, name)
        elif by is role and (stem in BARE or stem.endswith("bot")):
            found.setdefault(2, name)
    return found[min(found)] if found else ""


def _is_words(said: JSON) -> bool:
    return isinstance(said, str) and bool(said.strip())
