"""A thread whose first messages are needed later."""

import pytest
from django.test import Client

from tests.archive.pruning.conftest import call, result
from tests.operations.support.rest import Tools, make_session

PORT = "The port is 48213, set in deploy/local/compose.yaml."
THREAD = [
    {"role": "user", "content": "Find out why the worker dies"},
    call("c1", "Bash", '{"command": "cat notes.txt"}'),
    result("c1", f"{PORT}\nOwner: retryBackoffLimit"),
    {"role": "assistant", "content": "It dies of a limit. Look at 48213."},
    {"role": "user", "content": "Mend it"},
    call("c2", "Edit", '{"file_path": "deploy/local/compose.yaml", "old": "a"}'),
    result("c2", "Edited."),
    {"role": "assistant", "content": "I set retryBackoffLimit in notes.txt."},
]


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, THREAD))
