"""Sessions of Claude Code as the terminal shows them, and as `/export` writes them."""

import io
from itertools import pairwise

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.sources import SOURCES
from threads.domain.message import Message, Role
from threads.domain.part import Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript

SESSION = """\
╭──────────────────────────╮
│ ✻ Welcome to Claude Code │
╰──────────────────────────╯

> fix the failing test in the
  harbour module

✻ Thinking…

  The user wants a fix.

⏺ Let me look at it.

⏺ Read(src/harbour/test_quay.py)
  ⎿  Read 34 lines (ctrl+o to expand)

⏺ Bash(cd src && python -m pytest
      harbour)
  ⎿  Error: 1 failed
     assert 3 == 4

       … +12 lines (ctrl+o to expand)
  ⎿  Interrupted

⏺ Update Todos
  ⎿  ☒ Look at the test
     ☐ Mend the quay

⏺ charts - find_quay (MCP)(name: "Old pier")
  ⎿  One found

⏺ The quay is one short (see line 12):

  - `count` begins at 1
    - so the last is left out

> /clear
  ⎿  (no content)

✻ Churned for 12s

❯ thanks
"""


def read(text: str) -> tuple[Transcript, list[Message | Event]]:
    (transcript,) = formats.read(io.BytesIO(text.encode()))
    return transcript, list(transcript.items)  # type: ignore[arg-type]  # no compactions


def test_words_thoughts_calls_and_results_are_told_by_their_marks() -> None:
    transcript, items = read(SESSION)
    said = [item for item in items if isinstance(item, Message)]
    assert [one.role for one in said] == [
        *(Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.TOOL),
        *(Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT),
        *(Role.USER, Role.USER),
    ]
    assert said[0].parts == (Text("fix the failing test in the\nharbour module"),)
    assert said[1].parts == (
        Thinking("The user wants a fix."),
        Text("Let me look at it."),
        ToolCall("call_1", "Read", "src/harbour/test_quay.py"),
    )
    read_ = ToolResult("call_1", (Text("Read 34 lines (ctrl+o to expand)"),), "Read")
    assert said[2].parts == (read_,)
    bash = "cd src && python -m pytest\n    harbour"
    assert said[3].parts == (ToolCall("call_2", "Bash", bash),)
    failed = "Error: 1 failed\nassert 3 == 4\n\n  … +12 lines (ctrl+o to expand)"
    (result,) = said[4].parts
    assert result == ToolResult(
        "call_2", (Text(failed), Text("Interrupted")), "Bash", is_error=True
    )
    assert said[5].parts == (ToolCall("call_3", "Update Todos", {}),)
    mcp = ToolCall("call_4", "charts - find_quay (MCP)", 'name: "Old pier"')
    assert said[7].parts == (mcp,)
    words = "- `count` begins at 1\n  - so the last is left out"
    assert said[9].text == f"The quay is one short (see line 12):\n\n{words}"
    assert said[11].text == "thanks"
    assert transcript.title == "fix the failing test in the harbour module"
    assert (transcript.format, transcript.strategy) == (
        "claude_code_terminal",
        "anthropic",
    )
    assert SOURCES[transcript.format] == "Claude Code"


def test_what_the_terminal_shows_besides_is_an_event_where_it_stands() -> None:
    _, items = read(SESSION)
    events = [place for place, item in enumerate(items) if isinstance(item, Event)]
    assert events == [0, 12, 13]  # the welcome, what /clear printed, how long it took
    assert [item.type for item in items if isinstance(item, Event)] == ["output"] * 3


def test_every_line_is_in_a_record() -> None:
    _, items = read(SESSION)
    spans = [
        tuple(map(int, record.removeprefix("bytes:").split("-")))
        for item in items
        for record in (item.records if isinstance(item, Message) else (item.record,))
    ]
    places = sorted(spans)
    assert places[0][0] == 0
    assert places[-1][1] == len(SESSION.encode())
    assert all(one[1] == other[0] for one, other in pairwise(places))


def test_a_session_may_begin_in_the_middle_and_end_with_a_call() -> None:
    _, items = read("  ⎿  the rest of a result\n\n● Bash(ls)\n  ⎿  a\n\n● Bash(pwd)\n")
    event, *said = items
    assert isinstance(event, Event)
    assert [one.role for one in said if isinstance(one, Message)] == [
        *(Role.ASSISTANT, Role.TOOL, Role.ASSISTANT)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "● One point\n● Another point\n",
        "> a quotation\n\nand words\n",
        "Text with ⏺ in it\n  ⎿ and this\n",
    ],
)
def test_other_texts_with_such_marks_are_not_taken(text: str) -> None:
    with pytest.raises(Invalid):
        formats.read(io.BytesIO(text.encode()))


def test_a_session_in_which_nobody_speaks_is_refused() -> None:
    with pytest.raises(Invalid, match="holds"):
        formats.read(io.BytesIO("⏺ \n  ⎿  \n".encode()), "claude_code_terminal")
