"""The middleware in LangChain's own agents, against a real server."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from contextstudio_client import AsyncClient, Client, NotFound, Retries, Unreachable
from contextstudio_client.langchain import ContextStudioMiddleware
from tests.servers import Server

pytestmark = pytest.mark.sqlite
"""The middleware asks by HTTP; which database answers changes nothing for it."""

NOWHERE = "http://127.0.0.1:9"


@tool
def count_boats(harbour: str) -> str:
    """Count the boats in a harbour."""
    return f"14 boats in {harbour}"


@tool
def recall(ref_id: str) -> str:
    """Give back what was left out."""
    return ref_id


class Model(BaseChatModel):
    """Calls the tool where the word is said, else says how many messages it was sent."""

    sent: list[list[BaseMessage]] = []
    model_name: str = "gpt-4o"

    @property
    def _llm_type(self) -> str:
        return "test"

    def bind_tools(self, tools: Any, **options: Any) -> "Model":
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        self.sent.append(messages)
        said = AIMessage(f"I was sent {len(messages)} messages.")
        if isinstance(messages[-1], HumanMessage) and "Count" in messages[-1].text:
            call = {"name": "count_boats", "args": {"harbour": "here"}, "id": "call_1"}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


class Talk:
    """A conversation of an agent, by blocking or, through a portal, by awaiting."""

    def __init__(self, portal: BlockingPortal | None, **options: Any) -> None:
        self.portal, self.model = portal, Model(sent=[])
        self.thread_id = str(uuid.uuid4())
        self.agent = create_agent(
            self.model,
            options.pop("tools", [count_boats]),
            system_prompt="You count boats.",
            middleware=[ContextStudioMiddleware(**options)],
        )
        self.messages: list[BaseMessage] = []

    def say(self, text: str, **configurable: Any) -> str:
        configurable = configurable or {"thread_id": self.thread_id}
        given = {"messages": [*self.messages, HumanMessage(text)]}
        config: Any = {"configurable": configurable}
        if self.portal is None:
            found = self.agent.invoke(given, config)
        else:
            found = self.portal.call(self.agent.ainvoke, given, config)
        self.messages = found["messages"]
        return self.messages[-1].text


@pytest.fixture
def studio(server: Server) -> Iterator[Client]:
    with Client(server.url, server.key()) as client:
        yield client


@pytest.fixture
def talking(kind: str, server: Server, studio: Client) -> Iterator[Callable[..., Talk]]:
    """Begins conversations with the server, or with the one at `url`."""
    if kind == "blocking":
        yield lambda **options: Talk(None, **{"client": studio, **options})
        return
    with start_blocking_portal() as portal:
        client = AsyncClient(server.url, server.key())
        yield lambda **options: Talk(portal, **{"async_client": client, **options})
        portal.call(client.close)


Talking = Callable[..., Talk]


def test_a_conversation_with_tools_is_the_session(
    talking: Talking, studio: Client
) -> None:
    talk = talking()
    assert talk.say("Count them.") == "I was sent 4 messages."
    assert talk.say("Thanks.") == "I was sent 6 messages."
    held = studio.session(external_id=talk.thread_id).messages()
    roles = ["system", "user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [one.role for one in held] == roles
    assert held[2].tool_calls is not None
    assert held[2].tool_calls[0]["function"]["name"] == "count_boats"
    assert (held[3].content, held[3].tool_call_id) == ("14 boats in here", "call_1")
    assert held[6].content == "I was sent 6 messages."


def test_an_operation_is_in_the_next_call_and_the_agent_keeps_its_messages(
    talking: Talking, studio: Client
) -> None:
    talk = talking()
    talk.say("One")
    talk.say("Two")
    session = studio.session(external_id=talk.thread_id)
    session.record("digest", start_idx=1, end_idx=2, summary="They said one.")
    talk.say("Three")
    sent = talk.model.sent[-1]
    assert [type(one).__name__ for one in sent] == [
        "SystemMessage",
        "SystemMessage",
        "HumanMessage",
        "AIMessage",
        "HumanMessage",
    ]
    assert "They said one." in sent[1].text
    # What no operation touched is the agent's own object, whatever else it carries.
    assert sent[3] is talk.messages[3]
    assert len(talk.messages) == 6
    assert session.info().message_count == 7


def test_what_operations_make_can_be_sent_by_langchains_models_of_any_provider(
    talking: Talking, studio: Client
) -> None:
    """Those for Anthropic raise an error for system messages that don't stand at the top."""
    talk = talking()
    talk.say("One")
    talk.say("Two")
    session = studio.session(external_id=talk.thread_id)
    session.record("digest", start_idx=3, end_idx=4, summary="They said two.")
    talk.say("Three")
    sent = talk.model.sent[-1]
    assert [one.type for one in sent] == ["system", "human", "ai", "human", "human"]
    assert "They said two." in sent[3].text
    session.record("digest", start_idx=1, end_idx=1, summary="They said one.")
    talk.say("Four")
    kinds = [one.type for one in talk.model.sent[-1]]
    assert kinds[:4] == ["system", "system", "human", "ai"]


def test_a_message_that_is_several_in_openais_form_is_sent_as_these(
    talking: Talking, studio: Client
) -> None:
    talk = talking()
    talk.say("Count them.")
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "14 boats"}
    words = {"type": "text", "text": "And yesterday?"}
    talk.messages[2:] = [HumanMessage([result, words])]
    talk.say("Thanks.")
    held = studio.session(external_id=talk.thread_id).messages()
    assert "14 boats" in [one.content for one in held]
    sent = [one.text for one in talk.model.sent[-1]]
    assert sent.count("14 boats") == 1
    assert sent.count("And yesterday?") == 1


@pytest.mark.parametrize(
    "block",
    [
        {"type": "video", "base64": "AAAA", "mime_type": "video/mp4"},
        {"type": "media", "mime_type": "application/pdf", "data": "AAAA"},
        {"type": "file", "url": "https://harbour.test/plan.pdf"},
    ],
    ids=lambda block: block["type"],
)
def test_what_openais_form_has_no_room_for_is_sent_and_kept_as_it_is(
    talking: Talking, studio: Client, block: dict[str, str]
) -> None:
    talk = talking()
    talk.messages = [HumanMessage(["Look at this.", block])]
    talk.say("What is it?")
    session = studio.session(external_id=talk.thread_id)
    [_, words, kept] = [part for one in session.messages(0, 2) for part in one.parts]
    assert (words["text"], kept["type"]) == ("Look at this.", "opaque")
    session.record("snip", start_idx=3, end_idx=3)
    talk.say("And now?")
    sent = talk.model.sent[-1]
    assert [type(one).__name__ for one in sent[1:]] == ["HumanMessage"] * 3
    assert sent[1] is talk.messages[0]


@pytest.mark.parametrize("tools", [[count_boats], [count_boats, recall]])
def test_an_agent_is_told_of_recall_where_it_has_the_tool(
    talking: Talking, studio: Client, tools: list[Any]
) -> None:
    talk = talking(tools=tools)
    talk.say("One")
    session = studio.session(external_id=talk.thread_id)
    summary = "They said one [recall:msg-00000000]."
    session.record("digest", start_idx=1, end_idx=2, summary=summary)
    talk.say("Two")
    assert ("[recall:msg-00000000]" in talk.model.sent[-1][1].text) is (recall in tools)


def test_the_session_may_be_named_by_the_program(
    talking: Talking, studio: Client
) -> None:
    name = str(uuid.uuid4())
    talking(session=name).say("Here")
    talking(session=lambda request: f"{name}-2").say("There")
    for one in (name, f"{name}-2"):
        assert studio.session(external_id=one).info().message_count == 3


def test_a_call_without_a_session_is_an_error(talking: Talking) -> None:
    with pytest.raises(ValueError, match="Name the session"):
        talking().say("Whose?", other=1)


def test_without_a_server_a_call_is_refused_or_sent_as_it_is(
    talking: Talking, caplog: pytest.LogCaptureFixture
) -> None:
    at_once = Retries(attempts=1)
    options: dict[str, Any] = {
        "client": Client(NOWHERE, retries=at_once),
        "async_client": AsyncClient(NOWHERE, retries=at_once),
    }
    closed = talking(failing="closed", **options)
    with pytest.raises(Unreachable):
        closed.say("Anybody?")
    assert closed.model.sent == []
    opened = talking(failing="open", **options)
    assert opened.say("Anybody?") == "I was sent 2 messages."
    assert "sent without ContextStudio" in caplog.text
    options["client"].close()


def test_a_session_that_was_deleted_is_refused_and_then_looked_up_anew(
    talking: Talking, studio: Client
) -> None:
    talk = talking()
    talk.say("One")
    studio.session(external_id=talk.thread_id).delete(purge=True)
    with pytest.raises(NotFound):
        talk.say("Two")
    assert talk.say("Two") == "I was sent 4 messages."
    assert studio.session(external_id=talk.thread_id).info().message_count == 5
