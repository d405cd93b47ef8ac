"""A session of twenty messages, and people who view it in a browser."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.log.cache import forget_everything
from operations.log.selectors import load_thread
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.models import Session
from threads.sessions.services import NewSession, create_session


@pytest.fixture
def memory() -> Iterator[None]:
    """Clear the process's caches before and after the test."""
    forget_everything()
    yield
    forget_everything()


def message(index: int) -> Message:
    """Four turns of five: a question, text with a call, its result, a call, an answer."""
    parts: tuple[Part, ...]
    match index % 5:
        case 0:
            return Message(role=Role.USER, parts=(Text(f"Question {index}"),))
        case 1:
            call = ToolCall(
                f"call-{index}", "bash", {"command": f"pytest tests/part_{index}.py"}
            )
            parts = (Text(f"Words {index}"), call)
        case 2:
            result = ToolResult(f"call-{index - 1}", (Text(f"{index} passed"),))
            return Message(role=Role.TOOL, parts=(result,))
        case 3:
            parts = (
                ToolCall(f"call-{index}", "read", {"path": f"src/module_{index}.py"}),
            )
        case _:
            parts = (Text(f"Answer {index}"),)
    return Message(role=Role.ASSISTANT, parts=parts, model="sable-4")


@pytest.fixture
def session(editor: User, project: Project) -> Session:
    """Twenty messages."""
    new = NewSession(title="Twenty", messages=[message(index) for index in range(20)])
    return create_session(caller(editor), project, new)


class _Facts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[str, str] = {}
        self.articles: list[str] = []
        self.swaps: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.get("id") == "thread-facts":
            self.facts = given
        if tag == "article":
            self.articles.append(given["id"])
        if "hx-swap-oob" in given:
            self.swaps.append(f"{given['hx-swap-oob']} {given.get('id', '')}".strip())


def read(response: HttpResponse) -> _Facts:
    """Parse the articles, swaps and facts of a response."""
    parser = _Facts()
    parser.feed(response.content.decode())
    return parser


@dataclass
class Page:
    """A browser's page of one session: it knows its head, and sends what the script sends."""

    client: Client
    session: Session
    view: str = "annotated"
    head: int = 0
    loaded: str = "0-100"
    answers: list[HttpResponse] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"/sessions/{self.session.pk}/"

    @property
    def keys(self) -> list[str]:
        """The keys at the top level of the current thread."""
        self.session.refresh_from_db()
        return load_thread(self.session).keys

    def get(self, path: str = "", **fields: Any) -> HttpResponse:
        return self.client.get(self.url + path, fields, headers={"HX-Request": "true"})

    def post(self, path: str, **fields: Any) -> HttpResponse:
        stamp = {
            "head": self.head,
            "messages": self.session.message_count,
            "view": self.view,
            "loaded": self.loaded,
        }
        answer = self.client.post(
            self.url + path, {**stamp, **fields}, headers={"HX-Request": "true"}
        )
        if "X-Head" in answer.headers:
            self.head = int(answer["X-Head"])
        return answer

    def edit(self, kind: str, **fields: Any) -> HttpResponse:
        return self.post("operations", type=kind, **fields)

    def rows(self, **fields: Any) -> list[str]:
        answer = self.client.get(self.url, {"view": self.view, **fields})
        return read(answer).articles


@pytest.fixture
def open_page(session: Session) -> Callable[..., Page]:
    """Opens the session in a person's browser."""

    def open_as(user: User, **options: Any) -> Page:
        client = Client()
        client.force_login(user)
        return Page(client, session, **options)

    return open_as


@pytest.fixture
def page(open_page: Callable[..., Page], editor: User) -> Page:
    """The session in the editor's browser."""
    return open_page(editor)
