"""A database that can't be read any more while its messages are: what came before stays."""

from collections.abc import Callable

import pytest

from contextstudio.accounts.domain.errors import Invalid
from tests.threads.support.databases import database
from tests.threads.support.readings import messages, read
from threads.domain.formats.io.sqlite_file import SqliteFile

from .agents import test_goose_database as goose
from .ai_sdk import test_cursor_cli as cursor
from .exports import test_open_webui as open_webui


def of_goose() -> bytes:
    rows = [goose.row(1, "user", goose.words("Look."))]
    return database(goose.TABLES, {"sessions": [goose.SESSION], "messages": rows})


def of_open_webui() -> bytes:
    said = open_webui.said("1", None, "user", "Look.")
    return open_webui.in_database(open_webui.chat(said)["chat"])


@pytest.mark.parametrize(
    "made", [of_goose, of_open_webui, lambda: cursor.store(*cursor.CHAT)]
)
def test_what_cannot_be_opened_again_is_a_warning(
    made: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    [found] = read(made())
    assert messages(found)

    def gone(_: SqliteFile) -> None:
        raise Invalid("The database can't be read.", code="damaged")

    monkeypatch.setattr(SqliteFile, "opened", gone)
    assert not messages(found)
    assert "damaged" in [one.code for one in found.warnings]
