"""Many writers on one session, over a server that dies under them."""

import os
import threading
from dataclasses import dataclass, field

import httpx
import pytest

from tests.servers import PATIENCE_SECONDS, Server, StartServer

CLIENTS = 50
KILLS = 20 if os.environ.get("SOAK") else 6
SECONDS_FOR_ONE = 120
SECONDS_BEFORE_TRYING_AGAIN = 0.5
SECONDS_BETWEEN = 1.0
"""A pause of each client: what is tested is writing at once, not how much."""


@dataclass
class Writer:
    """A client that adds operations, each under its own key, until it is told to stop."""

    name: int
    server: Server
    key: str
    session_id: str
    stop: threading.Event
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Per idempotency key the id of the operation that the server says it recorded."""
    refused: list[str] = field(default_factory=list)

    def run(self) -> None:
        number = 0
        with httpx.Client(headers={"Authorization": f"Bearer {self.key}"}) as client:
            while number == 0 or not self.stop.is_set():
                self._add(client, f"{self.name}-{number}")
                number += 1
                self.stop.wait(SECONDS_BETWEEN)

    def _add(self, client: httpx.Client, key: str) -> None:
        """Send one operation, and again under the same key, until it is acknowledged."""
        body = {
            "type": "tag",
            "start_idx": self.name,
            "end_idx": self.name,
            "tags": [key],
        }
        waiting = threading.Event()
        tries = SECONDS_FOR_ONE * 2
        while tries:
            # While the server is killed again and again, one of many may not get its turn.
            tries -= self.stop.is_set()
            try:
                answer = client.post(
                    f"{self.server.url}/api/sessions/{self.session_id}/operations",
                    json=body,
                    headers={"Idempotency-Key": key},
                    timeout=PATIENCE_SECONDS,
                )
            except httpx.TransportError:
                waiting.wait(SECONDS_BEFORE_TRYING_AGAIN)
                continue
            if answer.status_code == 201:
                self.acknowledged[key] = answer.json()["operation_id"]
                return
            if answer.status_code < 500 and "idempotency_key_in_use" not in answer.text:
                self.refused.append(answer.text)
                return
            waiting.wait(SECONDS_BEFORE_TRYING_AGAIN)
        self.refused.append(f"{key} was never acknowledged")


@pytest.fixture(scope="module")
def server(start_server: StartServer) -> Server:
    return start_server()


def test_no_acknowledged_operation_is_lost_or_doubled_while_the_server_is_killed(
    server: Server,
) -> None:
    key = server.key()
    session_id = _session(server, key)
    stop = threading.Event()
    writers = [Writer(name, server, key, session_id, stop) for name in range(CLIENTS)]
    threads = [threading.Thread(target=writer.run) for writer in writers]
    for thread in threads:
        thread.start()
    for kill in range(KILLS):
        _wait_for_more(writers, kill)
        server.kill()
        server.start()
    stop.set()
    for thread in threads:
        thread.join(2 * SECONDS_FOR_ONE)
    assert [writer.refused for writer in writers if writer.refused] == []
    entries = _log(server, key, session_id)
    assert [entry["number"] for entry in entries] == list(range(1, len(entries) + 1))
    recorded = {tag: entry["id"] for entry in entries for tag in entry["entry"]["tags"]}
    assert len(recorded) == len(entries), "an operation was recorded twice"
    acknowledged = {
        key: id_ for writer in writers for key, id_ in writer.acknowledged.items()
    }
    assert acknowledged == recorded
    assert len(acknowledged) >= CLIENTS


def _wait_for_more(writers: list[Writer], kill: int) -> None:
    """Until writing goes on after the last kill."""
    waiting = threading.Event()
    seen = sum(len(writer.acknowledged) for writer in writers)
    for _ in range(SECONDS_FOR_ONE * 10):
        if sum(len(writer.acknowledged) for writer in writers) > seen + 5:
            return
        waiting.wait(0.1)
    raise AssertionError(f"nobody could write after {kill} kills")


def _session(server: Server, key: str) -> str:
    messages = [
        {"role": "user", "content": f"message {index}"} for index in range(CLIENTS)
    ]
    answer = httpx.post(
        f"{server.url}/api/sessions",
        json={"title": "Many writers", "messages": messages},
        headers={"Authorization": f"Bearer {key}"},
        timeout=PATIENCE_SECONDS,
    )
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def _log(server: Server, key: str, session_id: str) -> list[dict]:
    entries: list[dict] = []
    cursor = None
    while True:
        answer = httpx.get(
            f"{server.url}/api/sessions/{session_id}/log",
            params={"limit": 500} | ({"cursor": cursor} if cursor else {}),
            headers={"Authorization": f"Bearer {key}"},
            timeout=PATIENCE_SECONDS,
        ).json()
        entries += answer["items"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return entries
