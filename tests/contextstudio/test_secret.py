"""The secret key belongs to one installation and one owner."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contextstudio.environment import secret_key


def test_the_key_is_drawn_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    first = secret_key(tmp_path / "data")
    assert len(first) > 60
    assert secret_key(tmp_path / "data") == first
    mode = (tmp_path / "data" / "secret_key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret_key"]


def test_two_installations_have_different_keys(tmp_path: Path) -> None:
    assert secret_key(tmp_path / "one") != secret_key(tmp_path / "two")


def test_those_who_start_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: secret_key(tmp_path), range(32)))
    assert len(keys) == 1
