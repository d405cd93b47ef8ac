"""opencode's database: the same session as from its export."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.readings import told
from threads.domain import formats
from threads.domain.formats import opencode
from threads.domain.formats.io import sqlite_file
from threads.domain.formats.opencode import database as opencode_database
from threads.domain.message import Message
from threads.domain.transcript import Parent, Relation

from .sessions import CALLED, fill, read


def by_path_or_copy(path: Path, *, is_copied: bool) -> BinaryIO:
    return io.BytesIO(path.read_bytes()) if is_copied else path.open("rb")


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_database_holds_sessions_and_their_sub_agents(
    tmp_path: Path, is_copied: bool
) -> None:
    fill(tmp_path / "o.db").close()
    with by_path_or_copy(tmp_path / "o.db", is_copied=is_copied) as file:
        first, second = formats.read(file)
        exported = read(*CALLED)
        items = list(first.items)
        database = opencode_database.Database(sqlite_file.open_file(file))
        assert database.call_of("ses_1", "nobody") == ""

    assert (first.format, first.strategy, first.title) == (
        "opencode",
        "gemini",
        "A lamp",
    )
    assert [item.parts for item in items if isinstance(item, Message)] == [
        item.parts for item in exported
    ]
    assert items[1].records == ("row:message/2", "row:part/2")
    assert second.external_id == "ses_2"
    assert second.parent == Parent(
        external_id="ses_1", relation=Relation.SUBAGENT, call_id="1"
    )


def test_a_row_that_can_t_be_read_is_an_event_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(fill(tmp_path / "o.db")) as database:
        database.execute("UPDATE part SET data = '{' WHERE message_id = 'msg_1'")
        database.execute("UPDATE message SET data = 7 WHERE id = 'msg_9'")
        database.commit()
    with (tmp_path / "o.db").open("rb") as file:
        [found] = formats.read(file)
        assert told(list(found.items))[:2] == ["part", "user/empty"]
        assert [warning.message.split(":")[0] for warning in found.warnings] == [
            "At part[1]"
        ]
        monkeypatch.setattr(sqlite_file, "MAX_ROW", 10)
        list(found.items)
        assert "longer than" in found.warnings[0].message


def test_a_database_of_another_s_or_a_broken_one_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.executescript("CREATE TABLE session (a); CREATE VIEW part AS SELECT 1")
    other = (tmp_path / "a.db").read_bytes()
    with pytest.raises(Invalid) as refusal:
        formats.read(io.BytesIO(other), "opencode")
    with pytest.raises(Invalid) as broken:
        formats.read(io.BytesIO(opencode.SQLITE + b"\0" * 100), "opencode")
    fill(tmp_path / "o.db").close()
    raw = (
        (tmp_path / "o.db")
        .read_bytes()
        .replace(b"title text NOT", b"title \xa6\xc1 ( NO")
    )
    with pytest.raises(Invalid, match="can't be read"):
        formats.read(io.BytesIO(raw), "opencode")
    with pytest.raises(Invalid) as by_name:
        formats.read(io.BytesIO(other), name="opencode.db")

    assert refusal.value.code == by_name.value.code == "format_unsupported"
    assert broken.value.code == "database_broken"


def test_a_database_that_breaks_off_tells_so(tmp_path: Path) -> None:
    fill(tmp_path / "o.db").close()
    with (tmp_path / "o.db").open("rb") as file:
        first, _ = formats.read(file)
        (tmp_path / "o.db").write_bytes(b"gone")
        assert told(list(first.items)) == []

    assert [warning.code for warning in first.warnings] == ["database_broken"]
