"""The summary lines of documents 0, 1, 2 and 4, each as a test of its name."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.test import Client

from archive.summaries import services as summary_services
from archive.summaries import tools as summary_tools
from archive.summaries.choosing import in_force
from contextstudio.accounts.jobs.workers import Workers
from contextstudio.accounts.models import Job, Project
from operations.messages import pairs
from tests.operations.support.rest import Tools, get, make_session, post, put, thread
from tests.threads.imports.uploads import upload
from threads.models import Session

from .conftest import SAID, WORDS, run
from .provider import PATIENCE_SECONDS, FakeProvider
from .test_summaries import order

Use = Callable[..., Any]
STATE = "### STATE\nGoal: choose a database\nContext: settings/base.py"


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    # On a busy machine a worker's first call of a model takes longer than an agent waits.
    monkeypatch.setattr(summary_tools, "PATIENCE", float(PATIENCE_SECONDS))
    running = Workers(1)
    running.start()
    yield running
    running.stop()


def chosen(agent: Client, session_id: str) -> tuple[str, str]:
    found = get(agent, "/api/providers", session=session_id)["chosen"]
    return f"{found['provider']}/{found['model']}", found["why"]


def change(agent: Client, path: str, **fields: Any) -> Any:
    answer = agent.patch(f"/api/{path}/summaries", fields, "application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_document_1_the_fastest_whose_key_is_present(
    agent: Client, session_id: str, settings: LazySettings
) -> None:
    for variable, model in (
        ("GROQ_API_KEY", "groq/llama-3.1-8b-instant"),
        ("XAI_API_KEY", "xai/grok-3-mini"),
        ("CEREBRAS_API_KEY", "cerebras/llama3.1-8b"),
    ):
        variables = {**settings.PROVIDER_VARIABLES, variable: "key"}
        settings.PROVIDER_VARIABLES = variables
        assert chosen(agent, session_id)[0] == model
    settings.PROVIDER_VARIABLES = {**variables, "OPENAI_API_KEY": "cs_of_a_client"}
    assert "2,000 tokens/s" in chosen(agent, session_id)[1]
    items = get(agent, "/api/providers", project="demo")["items"]
    sources = {one["name"]: one["source"] for one in items if one["is_set"]}
    assert sources == dict.fromkeys(("cerebras", "xai", "groq"), "environment")


def test_document_1_then_the_current_providers_small_model(
    agent: Client, settings: LazySettings
) -> None:
    settings.PROVIDER_VARIABLES = {"OPENAI_API_KEY": "key"}
    upstream = {"base_url": "https://93.184.216.34/v1", "api_key": "sk-ant"}
    put(agent, "/api/projects/demo/upstreams/anthropic", upstream)
    said = make_session(agent, 2, parsing_strategy="anthropic")
    model, why = chosen(agent, said)
    assert model == "anthropic/claude-haiku-4-5"
    assert "requests go to" in why
    assert chosen(agent, make_session(agent, 2))[0] == "openai/gpt-4.1-mini"


def test_document_1_ollama_needs_an_address_and_no_key(
    agent: Client, session_id: str, settings: LazySettings
) -> None:
    settings.PROVIDER_VARIABLES = {"OLLAMA_API_BASE": "http://127.0.0.1:11434"}
    assert chosen(agent, session_id)[0] == "ollama/llama3.2"
    (ollama,) = (
        one
        for one in get(agent, "/api/providers", session=session_id)["items"]
        if one["is_set"]
    )
    assert ollama["base_url"] == "http://127.0.0.1:11434/v1"


def test_document_1_summarization_settings_of_a_project_and_a_session(
    agent: Client, session_id: str, settings: LazySettings
) -> None:
    settings.PROVIDER_VARIABLES = {"GROQ_API_KEY": "key", "OPENAI_API_KEY": "key"}
    change(agent, "projects/demo", summarization_provider="openai")
    assert chosen(agent, session_id) == (
        "openai/gpt-4.1-mini",
        "Chosen by the project.",
    )
    change(
        agent, f"sessions/{session_id}", summarization_model="groq/openai/gpt-oss-20b"
    )
    assert chosen(agent, session_id) == (
        "groq/openai/gpt-oss-20b",
        "Chosen by this session.",
    )
    ordered = order(agent, session_id, provider="rules")
    assert (ordered["provider"], ordered["why"]) == (
        None,
        "Chosen by the request.",
    )
    kept = get(agent, f"/api/sessions/{session_id}/summaries")
    assert kept["summarization_model"] == "groq/openai/gpt-oss-20b"
    answer = agent.patch(
        "/api/projects/demo/summaries",
        {"summarization_provider": "nobody"},
        "application/json",
    )
    assert answer.json()["at"] == ["summarization_provider"]


def test_document_1_disable_auto_summarize_is_set_for_imported_sessions(
    agent: Client, session_id: str, project: Project
) -> None:
    own = Session.objects.get(pk=session_id)
    assert not in_force(project, own).disable_auto_summarize
    change(agent, "projects/demo", disable_auto_summarize=True)
    assert in_force(project, own).disable_auto_summarize
    change(agent, f"sessions/{session_id}", disable_auto_summarize=False)
    assert not in_force(project, own).disable_auto_summarize
    made = post_file(agent)
    imported = Session.objects.get(pk=made)
    change(agent, "projects/demo", disable_auto_summarize=False)
    assert in_force(project, imported).disable_auto_summarize
    change(agent, f"sessions/{made}", disable_auto_summarize=False)
    assert not in_force(project, imported).disable_auto_summarize


def post_file(agent: Client) -> str:
    answer = upload(agent, b'[{"role": "user", "content": "Hello"}]')
    session_id: str = answer.json()["sessions"][0]["id"]
    return session_id


@pytest.mark.django_db(transaction=True)
def test_document_1_a_summary_is_streamed(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    workers: Workers,
) -> None:
    use("slow")
    order(agent, session_id)
    assert provider.began.wait(PATIENCE_SECONDS)
    while "preview" not in (notes := Job.objects.get(kind="summary").notes):
        pass
    assert notes["preview"] == "They chos"
    assert notes["by"] == "compatible/slow"
    provider.go_on.set()


def test_document_1_prune_first_then_summarise(
    agent: Client, use: Use, provider: FakeProvider
) -> None:
    said = [{"role": "user", "content": f"{n}. {WORDS * 40}"} for n in range(16)]
    session_id = make_session(agent, said, model="gpt-4")  # 8,192 tokens
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"preset": "nexora"}})
    body = {"messages": [*said, {"role": "user", "content": "And now?"}]}
    post(agent, f"/api/sessions/{session_id}/apply", body)
    assert not Job.objects.exists()  # no provider is set
    use("fast")
    body["messages"].append({"role": "user", "content": "Well?"})
    post(agent, f"/api/sessions/{session_id}/apply", body)
    job = Job.objects.get()
    assert job.arguments["keys"] == [f"m{n}" for n in range(7)]
    body["messages"].append({"role": "user", "content": "Still?"})
    post(agent, f"/api/sessions/{session_id}/apply", body)
    assert Job.objects.count() == 1  # the first still waits
    job = run(str(job.pk))
    assert job.status == "done", job.error
    (digest,) = thread(agent, session_id)["operations"]
    assert (digest["type"], digest["status"]) == ("digest", "applied")
    assert provider.asked


def test_an_automatic_summary_leaves_what_is_pinned_with_its_call(
    agent: Client, use: Use, provider: FakeProvider
) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
    }
    said: list[Any] = [
        {"role": "user", "content": f"{n}. {WORDS * 40}"} for n in range(20)
    ]
    said[2] = {"role": "assistant", "content": "", "tool_calls": [call]}
    said[3] = {"role": "tool", "tool_call_id": "c1", "content": "A result to keep"}
    session_id = make_session(agent, said, model="gpt-4")  # 8,192 tokens
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"preset": "nexora"}})
    Tools(agent, session_id)("tag_messages", start_idx=3, end_idx=3, tags=["pinned"])
    Tools(agent, session_id)("tag_messages", start_idx=5, end_idx=5, tags=["pinned"])
    use("fast")
    body = {"messages": [*said, {"role": "user", "content": "And now?"}]}
    post(agent, f"/api/sessions/{session_id}/apply", body)
    job = Job.objects.get()
    assert job.arguments["keys"] == ["m0", "m1", "m4", *(f"m{n}" for n in range(6, 10))]
    assert run(str(job.pk)).status == "done"
    body["messages"].append({"role": "user", "content": "Well?"})
    sent = post(agent, f"/api/sessions/{session_id}/apply", body)["messages"]
    assert [one["content"] for one in sent if one["role"] == "tool"] == [
        "A result to keep"
    ]
    assert said[5] in sent


def test_an_automatic_summary_leaves_the_calls_of_all_that_is_pinned(
    agent: Client, use: Use, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "NEAR", 1)
    monkeypatch.setattr(pairs, "MAX_RUNS", 2)
    monkeypatch.setattr(summary_services, "MAX_RUNS", 2)
    said: list[Any] = [{"role": "user", "content": WORDS * 60}]
    for n in range(12):
        made = {"name": "f", "arguments": "{}"}
        call = {"id": f"c{n}", "type": "function", "function": made}
        said += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"Kept {n}"},
            {"role": "user", "content": WORDS * 40},
        ]
    session_id = make_session(agent, said, model="gpt-4")  # 8,192 tokens
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"preset": "nexora"}})
    for n in range(8):
        at = 3 * n + 2
        Tools(agent, session_id)(
            "tag_messages", start_idx=at, end_idx=at, tags=["pinned"]
        )
    use("fast")
    post(agent, f"/api/sessions/{session_id}/apply", {"messages": said})
    keys = Job.objects.get().arguments["keys"]
    assert keys == ["m0", *(f"m{3 * n + 3}" for n in range(8)), "m25", "m26"]


@pytest.mark.django_db(transaction=True)
def test_document_2_rebuild_state_is_a_summarisers_proposal_shown_as_a_difference(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    workers: Workers,
) -> None:
    use("fast")
    provider.answer = lambda asked: STATE
    put(agent, f"/api/sessions/{session_id}/state", {"content": "Goal: by hand"})
    rebuilt = Tools(agent, session_id)("rebuild_state")
    assert (rebuilt["status"], rebuilt["made_by"]) == ("proposed", "compatible/fast")
    assert "-Goal: by hand\n+Goal: choose a database" in rebuilt["difference"]
    assert "Never commit to main" in provider.asked[0]["messages"][1]["content"]
    in_force = get(agent, f"/api/sessions/{session_id}/state")
    assert "by hand" in str(in_force)  # nothing is changed


@pytest.mark.django_db(transaction=True)
def test_document_0_an_objective_is_proposed_by_the_summariser(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    workers: Workers,
) -> None:
    use("fast")
    provider.answer = lambda asked: STATE
    Tools(agent, session_id)("rebuild_state")
    assert Job.objects.get(kind="state").result["objective"] == "choose a database"  # type: ignore[index]


@pytest.mark.django_db(transaction=True)
def test_a_summary_under_an_idempotency_key_is_one_job_and_holds_up_nobody(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    path = "/api/tools/summarize_message_range"
    body = {"session_id": session_id, "start_idx": 1, "end_idx": 5}
    key = {"Idempotency-Key": "once"}
    answers = [post(agent, path, body, **key) for _ in range(2)]
    assert answers == [{"job_id": str(Job.objects.get().pk)}] * 2
    assert run(answers[0]["job_id"]).status == "done"


@pytest.mark.django_db(transaction=True)
def test_a_summary_whose_wait_meets_an_outage_is_answered_with_its_job_and_not_ordered_twice(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("terminating connection")

    use("fast")
    monkeypatch.setattr(summary_tools, "get_job", refuse)
    tools = Tools(agent, session_id)
    answer = tools("summarize_message_range", start_idx=1, end_idx=5)
    assert answer == {"job_id": str(Job.objects.get().pk)}


@pytest.mark.django_db(transaction=True)
def test_document_4_summarize_message_range_stores_the_summary_beside_the_messages(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use("fast")
    tools = Tools(agent, session_id)
    made = tools("summarize_message_range", start_idx=1, end_idx=5)
    assert (made["made_by"], made["status"]) == ("compatible/fast", "proposed")
    assert len(thread(agent, session_id)["nodes"]) == len(SAID)
    use("broken")
    refused = tools.refused("summarize_message_range", start_idx=1, end_idx=5)
    assert refused["code"] == "provider_broken"
    workers.stop()
    monkeypatch.setattr(summary_tools, "PATIENCE", 0)
    later = tools("summarize_message_range", start_idx=1, end_idx=5)
    assert set(later) == {"job_id"}


def test_a_long_range_is_summed_up_in_parts_that_are_joined(
    agent: Client, use: Use, provider: FakeProvider
) -> None:
    said = [{"role": "user", "content": f"{n}. {WORDS * 60}"} for n in range(12)]
    session_id = make_session(agent, said)
    use("fast")  # of a window that nobody knows: 8,192 tokens
    provider.answer = lambda asked: "A part."
    job = run(order(agent, session_id, start=0, end=12)["job_id"])
    assert job.status == "done", job.error
    systems = [one["messages"][0]["content"][:12] for one in provider.asked]
    assert systems.count("You sum up a") == 3
    assert systems.count("You are give") == 2  # the join, and the verification
    assert all(len(str(one["messages"])) < 40_000 for one in provider.asked)
