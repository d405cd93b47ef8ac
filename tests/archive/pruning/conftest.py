"""A thread of an agent's work, long enough to be pruned."""

from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import Tools, make_session

FILE = "\n".join(f"{number}: value_{number} = {number}" for number in range(80))


def call(id_: str, name: str, arguments: str, words: str | None = None) -> Any:
    function = {"name": name, "arguments": arguments}
    calls = [{"id": id_, "type": "function", "function": function}]
    return {"role": "assistant", "content": words, "tool_calls": calls}


def result(id_: str, content: str) -> Any:
    return {"role": "tool", "tool_call_id": id_, "content": content}


WORK = [
    {"role": "user", "content": "Mend the parser in src/parser.py"},
    call("c1", "Read", '{"file_path": "src/parser.py"}'),
    result("c1", FILE),
    call("c2", "Grep", '{"pattern": "value_7", "path": "src"}', "Who uses it?"),
    result("c2", "\n".join(f"src/a{n}.py:{n}: value_7" for n in range(40))),
    call("c3", "Edit", '{"file_path": "src/parser.py", "old": "a", "new": "b"}'),
    result("c3", "The file src/parser.py has been updated.\n" + FILE),
    call("c4", "Bash", '{"command": "pytest tests/test_parser.py -x -q"}'),
    result("c4", "Exit code 1\n" + FILE),
    {"role": "assistant", "content": "A long plan. " * 300},
    {"role": "user", "content": "Go on"},
    *({"role": "assistant", "content": f"Step {number}"} for number in range(10)),
]
"""21 messages; in m1 to m9 everything but the calls' own text is condensed or removed."""


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, WORK))
