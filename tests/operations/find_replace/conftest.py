"""A session whose texts can be pruned, and the tools on it."""

import pytest
from django.test import Client

from tests.operations.support.rest import Tools, make_session

from .pruned import TEXTS


@pytest.fixture
def session_id(agent: Client) -> str:
    said = [
        {"role": ("user", "assistant")[place % 2], "content": text}
        for place, text in enumerate(TEXTS)
    ]
    return make_session(agent, said)


@pytest.fixture
def call(agent: Client, session_id: str) -> Tools:
    return Tools(agent, session_id)
