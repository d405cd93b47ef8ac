"""Data folders for tests: one per test, and one for a whole module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker


def settings_over(folder: Path) -> dict[str, object]:
    """Settings with this data folder, without what only takes time."""
    return {
        "DATA_DIR": folder,
        "BLOB_DIR": folder / "blobs",
        "SKIP_SECRETS": True,
        "PROVIDER_VARIABLES": {},
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
    }


@pytest.fixture(autouse=True)
def data_folder(settings: LazySettings, tmp_path: Path) -> Path:
    """The data folder of one test."""
    for name, value in settings_over(tmp_path / "data").items():
        setattr(settings, name, value)
    return tmp_path / "data"


@pytest.fixture(scope="module")
def standing_folder(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """A data folder and a transaction around all tests of a module.

    Module-scoped fixtures use both; each test still has a data folder and transaction of its own.
    """
    folder = tmp_path_factory.mktemp("standing")
    with (
        django_db_blocker.unblock(),
        override_settings(**settings_over(folder)),
        transaction.atomic(),
    ):
        yield folder
        transaction.set_rollback(True)
