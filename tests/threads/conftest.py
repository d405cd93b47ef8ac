"""Imports for tests, by the project's owner, with a format made up for them."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project
from threads import imports
from threads.domain import formats
from threads.imports.running.outcome import Imported

from .support.importing import Take, kept
from .support.stub_format import FORMAT


@pytest.fixture
def stub_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the made-up format before all others."""
    monkeypatch.setattr(formats, "ALL_FORMATS", (FORMAT, *formats.ALL_FORMATS))


@pytest.fixture
def take(stub_format: None, caller: Caller, project: Project) -> Take:
    """Imports at once."""

    def take(data: bytes | dict[str, bytes], **options: Any) -> Imported:
        return imports.import_upload(caller, project, kept(data, **options))

    return take


@pytest.fixture
def stage(stub_format: None, caller: Caller, project: Project) -> Take:
    """Imports as a job does; not yet published."""

    def stage(
        data: bytes | dict[str, bytes],
        job_id: uuid.UUID,
        progress: Callable[..., object] = lambda *_: None,
    ) -> Imported:
        return imports.import_staged(
            caller, project, kept(data), job_id=job_id, progress=progress
        )

    return stage
