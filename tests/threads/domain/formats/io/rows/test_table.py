"""Tables of text as the rows that formats read."""

import io
import json
from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from threads.domain import formats
from threads.domain.formats.io.rows import table
from threads.domain.formats.sample import HEAD

CHAT = (
    "conversation_id,role,content,created_at\n"
    '1,user,"Hello, there",2026-01-01T00:00:00Z\n'
    '1,assistant,"Two\nlines, and ""one"" quote",2026-01-01T00:00:05Z\n'
    "2,user,Other,2026-01-02T00:00:00Z\n"
    ",,,\n"
    "2,assistant,Sure,2026-01-02T00:00:09Z\n"
)


def rows(data: bytes) -> list[Any]:
    lines = table.lines(io.BytesIO(data), data[:HEAD])
    return [json.loads(line) for line in lines]


def test_a_table_of_messages_is_read_as_its_conversations() -> None:
    data = CHAT.encode()
    assert formats.is_table(data)
    lines = b"".join(table.lines(io.BytesIO(data), data))
    found = formats.read(io.BytesIO(lines))
    said = [[item.parts[0].text for item in one.items] for one in found]  # type: ignore[union-attr]
    assert said == [
        ["Hello, there", 'Two\nlines, and "one" quote'],
        ["Other", "Sure"],
    ]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_separators_and_encodings_of_spreadsheets_are_told(
    separator: str, encoding: str
) -> None:
    text = f"Prompt{separator}Completion\r\nÜber{separator}Schön\r\n"
    data = text.encode(encoding)
    assert formats.is_table(data)
    assert rows(data) == [{"prompt": "Über", "completion": "Schön"}]


def test_columns_are_called_as_members_are_and_none_hides_another() -> None:
    data = b",Conversation ID,role,role,isUser\n0,c,user,guest,TRUE,more\n"
    assert rows(data) == [
        {
            "column_1": "0", "conversation_id": "c", "role": "user", "role_4": "guest",
            "isUser": True, "column_6": "more",
        }
    ]  # fmt: skip


def test_a_list_of_calls_or_blocks_in_a_cell_is_one_and_other_json_is_text() -> None:
    calls = [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]
    cells = {
        "calls": (json.dumps(calls), calls),
        "rows": ('[{"a": 1}]', '[{"a": 1}]'),
        "object": ('{"type": "text"}', '{"type": "text"}'),
        "numbers": ("[1, 2]", "[1, 2]"),
        "empty": ("[]", "[]"),
        "broken": ("[1", "[1"),
    }
    quoted = ('"' + text.replace('"', '""') + '"' for text, _ in cells.values())
    data = f"{','.join(cells)}\n{','.join(quoted)}\n".encode()
    assert rows(data) == [{name: value for name, (_, value) in cells.items()}]


def test_a_request_and_a_response_in_cells_of_these_names_are_read() -> None:
    asked = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    reply = json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": "Ho"}}]}
    )
    quoted = [cell.replace('"', '""') for cell in (asked, reply, asked, "{1}")]
    cells = ",".join(f'"{cell}"' for cell in quoted)
    data = f"request,response,note,proxy_server_request\n{cells}\n".encode()

    (row,) = rows(data)
    assert row["request"] == json.loads(asked) and row["response"] == json.loads(reply)
    assert (row["note"], row["proxy_server_request"]) == (asked, "{1}")
    assert formats.is_table(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"One word\nrole\n",
        b'{"role": "user", "content": "a"}\n',
        b"Dear all, this is a letter, which has commas in it.\nIt is no table.\n",
        b"name,price\ntea,3\n",
        b"role,content\n",
        b",\n1,2\n",
        b"role,\rcontent,a\nuser,b,c\n",
        b"SQLite format 3\0,\r\0,\0\n",
        CHAT.replace("role", "kind").encode(),
    ],
)
def test_what_no_format_reads_by_its_rows_is_no_table(data: bytes) -> None:
    assert not formats.is_table(data)


def test_a_row_that_the_first_bytes_cut_is_not_judged() -> None:
    data = CHAT.encode()
    cut = data[: data.index(b"quote")]
    assert len(table.first_lines(cut).splitlines()) == 1
    assert formats.is_table(cut)


def test_a_table_with_other_columns_is_refused_as_one() -> None:
    with pytest.raises(Invalid, match="a table, but none whose columns") as refused:
        formats.read(io.BytesIO(b"name,price\ntea,3\n"))
    assert refused.value.code == "format_unknown"


def test_a_quote_that_nobody_closes_is_refused_with_its_row() -> None:
    data = b'role,content\nuser,a\nassistant,"' + b"b" * (table.MAX_CELL_LENGTH + 1)
    with pytest.raises(Invalid, match="Row 3 of the table can't be read") as refused:
        rows(data)
    assert refused.value.code == "table_damaged"
    assert table.first_lines(data) == b""


def test_a_table_of_very_many_columns_takes_no_longer_than_one_of_many_rows() -> None:
    names = ",".join(f"c{n}" for n in range(100_000))

    assert [*rows(f"role,{names}\nuser,a".encode())] == [{"role": "user", "c0": "a"}]
