"""A person who orders jobs of every kind, and answers what jobs ask, while things are killed."""

import io
import json
import random
import threading
import uuid
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx

from .journal import FREE, Journal

SUMMARY, BY_RULE, OF_NO_COST = "summary", "outline", "free summary"
IMPORT, TRIAL, TEST, STATE = "import", "trial", "test", "state"
KINDS = (SUMMARY, IMPORT, SUMMARY, TEST, SUMMARY, BY_RULE, SUMMARY, TRIAL, OF_NO_COST)
UNFINISHED = ("queued", "running", "asks")
PATIENCE_SECONDS = 240
MAX_AT_ONCE = 6
MESSAGES = 6
"""The length of a range to summarise; a session has `RANGES` of them, each for one order."""
RANGES = 3
FILES, LINES = 55, 4
"""For an import: as many files as make it a job, and the messages in each."""
SHORT_WORDS, LONG_WORDS = 60, 1_500


@dataclass
class Order:
    """A job that was ordered, and what was observed of it."""

    name: str
    kind: str
    job: str
    session: str = ""
    status: str = "queued"
    asked: int = 0
    """How often it asked before a payment was repeated."""


class Person:
    """A client of the API that sends each request until it is answered."""

    def __init__(
        self, url: str, key: str, journal: Journal, *, seed: int, sessions: int
    ) -> None:
        self.orders: list[Order] = []
        self.steps = 0
        """Orders that were accepted, and status changes of jobs that were observed."""
        self._sessions = sessions
        self._url, self._journal = url, journal
        self._chance = random.Random(f"person {seed}")
        self._waiting = threading.Event()
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"}, timeout=30
        )
        self._ranges: list[tuple[str, int, str]] = []
        """Ranges still to be summarised: session, first message, name of the order."""
        self._named = 0

    def prepare(self, base_url: str, key: str) -> None:
        """Set up two providers, create the sessions with the ranges, and order a STATE."""
        providers = {"openai": (key, "usual"), "ollama": ("", FREE)}
        for name, (own, model) in providers.items():
            body = {"base_url": base_url, "api_key": own, "model": model}
            self._send("PUT", f"/api/projects/demo/providers/{name}", json=body)
        for number in range(self._sessions):
            self._add_session(LONG_WORDS if number % 3 == 1 else SHORT_WORDS)
        self._chance.shuffle(self._ranges)
        self._order_state()

    def work(self, stop: threading.Event) -> None:
        """Order and answer until told to stop, and then until all jobs have ended."""
        tries = PATIENCE_SECONDS * 5
        while tries:
            tries -= stop.is_set()
            self._look()
            left = sum(one.status in UNFINISHED for one in self.orders)
            if stop.is_set() and not left:
                return
            if not stop.is_set() and left < MAX_AT_ONCE:
                self._order(KINDS[len(self.orders) % len(KINDS)])
                self.steps += 1
            self._waiting.wait(0.2)

    def wait_for_what_follows(self) -> None:
        """Wait until the jobs that nobody ordered have ended too."""
        for _ in range(PATIENCE_SECONDS * 5):
            found = [
                self._send("GET", f"/api/jobs?status={status}")["items"]
                for status in UNFINISHED
            ]
            if not any(found):
                return
            self._waiting.wait(0.2)

    def _look(self) -> None:
        for order in self.orders:
            if order.status not in UNFINISHED:
                continue
            status = self._send("GET", f"/api/jobs/{order.job}")["status"]
            self.steps += status != order.status
            order.status = status
            if order.status == "asks":
                self._answer(order)
            elif order.status in UNFINISHED and self._chance.random() < 0.001:
                self._send("POST", f"/api/jobs/{order.job}/cancel")

    def _answer(self, order: Order) -> None:
        order.asked += 1
        if self._chance.random() < 0.2:
            self._send("POST", f"/api/jobs/{order.job}/cancel")
            return
        self._journal.permit(order.name)
        order.status = self._send("POST", f"/api/jobs/{order.job}/continue")["status"]

    def _order(self, kind: str) -> None:
        match kind:
            case "import":
                self._order_import()
            case "trial":
                policy = {"policy": {"pruning": {}}, "sessions": 50}
                self._note(kind, "/api/projects/demo/hindsight", json=policy)
            case "test":
                path = "/api/projects/demo/providers/openai/test"
                self._note(kind, path, json={"model": self._name()})
            case _ if self._ranges:
                self._order_summary(kind)
            case _:
                self._order(TEST)

    def _order_import(self) -> None:
        name, packed = self._name(), io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for number in range(FILES):
                document = {
                    "session_id": f"{name} {number}",
                    "messages": _said([name] * LINES, f"of file {number}"),
                }
                archive.writestr(f"{number}.json", json.dumps(document))
        file = {"file": (f"{name}.zip", packed.getvalue())}
        self._note(IMPORT, "/api/sessions/import", name=name, files=file)

    def _order_summary(self, kind: str) -> None:
        session, start, name = self._ranges.pop()
        provider = {BY_RULE: "rules", OF_NO_COST: "ollama"}.get(kind, "openai")
        body = {"start": start, "end": start + MESSAGES, "provider": provider}
        path = f"/api/sessions/{session}/summaries"
        self._note(kind, path, name=name, session=session, json=body)

    def _order_state(self) -> None:
        """Request it as an agent does, but without waiting for it as the tool would."""
        name = self._name()
        body = {"title": name, "messages": _said([name] * MESSAGES, "of one name")}
        session = self._send("POST", "/api/sessions", json=body)["id"]
        tool = f"{self._url}/api/tools/rebuild_state"
        with suppress(httpx.ReadTimeout):
            self._client.post(tool, json={"session_id": session}, timeout=1)
        found: list[str] = []
        while not found:
            jobs = self._send("GET", "/api/jobs")["items"]
            found = [job["id"] for job in jobs if job["kind"] == STATE]
        self.orders.append(Order(name, STATE, found[0]))

    def _add_session(self, words: int) -> None:
        names = [self._name() for _ in range(RANGES)]
        body = {
            "title": " ".join(names),
            "messages": _said(
                [name for name in names for _ in range(MESSAGES)], "w " * words
            ),
        }
        session = self._send("POST", "/api/sessions", json=body)["id"]
        self._ranges += [
            (session, number * MESSAGES, name) for number, name in enumerate(names)
        ]

    def close(self) -> None:
        self._client.close()

    def _note(
        self, kind: str, path: str, *, name: str = "", session: str = "", **sent: Any
    ) -> None:
        name = name or sent.get("json", {}).get("model") or self._name()
        answer = self._send("POST", path, **sent)
        self.orders.append(Order(name, kind, answer["job_id"], session))

    def _name(self) -> str:
        self._named += 1
        return f"order-{self._named}"

    def _send(self, method: str, path: str, **sent: Any) -> Any:
        """Send a request with one idempotency key until it is answered; returns the answer."""
        headers = {"Idempotency-Key": str(uuid.uuid4())} if method != "GET" else {}
        for _ in range(PATIENCE_SECONDS * 5):
            try:
                url = f"{self._url}{path}"
                answer = self._client.request(method, url, headers=headers, **sent)
            except httpx.TransportError:
                self._waiting.wait(0.2)
                continue
            if answer.is_success:
                return answer.json()
            if answer.status_code < 500 and "in_use" not in answer.text:
                raise AssertionError(f"{method} {path}: {answer.text}")
            self._waiting.wait(0.2)
        raise AssertionError(f"{method} {path} was never answered")


def _said(names: list[str], rest: str) -> list[dict[str, str]]:
    return [
        {
            "role": ("user", "assistant")[index % 2],
            "content": f"{name}: line {index} in src/{name}/m{index}.py {rest}",
        }
        for index, name in enumerate(names)
    ]
