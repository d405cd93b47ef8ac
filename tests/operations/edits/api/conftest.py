"""A session of ten messages, and people with limited rights."""

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import make_session
from tests.people import client_of

from .editing import COUNT


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


@pytest.fixture
def path(session_id: str) -> str:
    return f"/api/sessions/{session_id}"


@pytest.fixture
def colleague(editor: User, project: Project) -> Client:
    """A client of another person who may edit."""
    return client_of(editor, project)


@pytest.fixture
def proposer(reviewer: User, project: Project) -> Client:
    """A client of a person who may propose and review, but not edit."""
    return client_of(reviewer, project)
