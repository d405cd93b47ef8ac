"""The secret key belongs to one installation and one owner."""

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connections

from contextstudio.environment import secret_key


def test_the_key_is_drawn_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    first = secret_key(tmp_path / "data")
    assert len(first) > 60
    assert secret_key(tmp_path / "data") == first
    mode = (tmp_path / "data" / "secret_key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret_key"]


def test_a_new_data_folder_is_its_owners_alone(tmp_path: Path) -> None:
    secret_key(tmp_path / "data")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


@pytest.mark.sqlite
def test_a_new_database_is_its_owners_alone_with_what_sqlite_keeps_beside_it(
    db: None, tmp_path: Path
) -> None:
    path = tmp_path / "contextstudio.sqlite3"
    database = connections["default"].copy()
    database.settings_dict = database.settings_dict | {"NAME": path}
    with closing(database), database.cursor() as cursor:
        cursor.execute("CREATE TABLE held (text)")
        modes = {one.name: one.stat().st_mode for one in tmp_path.glob(f"{path.name}*")}
    assert path.name in modes
    assert {stat.S_IMODE(mode) for mode in modes.values()} == {0o600}


def test_two_installations_have_different_keys(tmp_path: Path) -> None:
    assert secret_key(tmp_path / "one") != secret_key(tmp_path / "two")


def test_those_who_start_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: secret_key(tmp_path), range(32)))
    assert len(keys) == 1
