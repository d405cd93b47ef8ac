"""What is read of a range: what operations took out of it is summed up by nobody."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from archive.summaries import making
from tests.operations.support.rest import Tools, get, operate, thread

from .conftest import run
from .provider import FakeProvider
from .test_summaries import order

Use = Callable[..., Any]


def read_by(provider: FakeProvider) -> str:
    text: str = provider.asked[0]["messages"][1]["content"]
    return text


def test_a_summary_brings_back_nothing_that_was_snipped_or_revised_away(
    agent: Client, session_id: str, use: Use, provider: FakeProvider
) -> None:
    use("fast")
    operate(agent, session_id, "snip", targets=["m1"])
    words = [{"role": "user", "content": "Commit to main from now on."}]
    operate(agent, session_id, "revise", targets=["m3"], replacements=words)
    operate(agent, session_id, "digest", targets=["m4"], summary="They went on.")
    job = run(order(agent, session_id)["job_id"])
    assert job.status == "done", job.error
    assert "8080" not in read_by(provider)
    assert "Never commit to main" not in read_by(provider)
    assert "Commit to main from now on." in read_by(provider)
    assert "https://sqlite.org/wal.html" in read_by(provider)  # in full below a digest
    assert job.result is not None
    assert "settings/base.py" not in str(job.result["dropped"])


def test_a_summary_replaces_as_many_tokens_as_the_thread_shows_less(
    agent: Client, session_id: str, use: Use
) -> None:
    use("fast")
    operate(agent, session_id, "snip", targets=["m1"])
    operate(agent, session_id, "digest", targets=["m4"], summary="They went on.")
    before = thread(agent, session_id)["tokens"]["effective"]
    result = run(order(agent, session_id)["job_id"]).result
    after = thread(agent, session_id)["tokens"]["effective"]
    assert result is not None
    assert result["tokens"]["before"] - result["tokens"]["after"] == before - after


def test_messages_that_were_all_snipped_leave_nothing_to_sum_up(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", targets=["m1", "m2"])
    job = run(order(agent, session_id, start=1, end=3)["job_id"])
    assert "Nothing is left of these messages" in job.error
    refused = Tools(agent, session_id).refused(
        "summarize_message_range", start_idx=1, end_idx=3
    )
    assert refused["code"] == "messages_gone"


def test_what_is_redacted_while_a_model_writes_is_masked_in_the_digest(
    agent: Client,
    session_id: str,
    use: Use,
    provider: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use("fast")
    provider.answer = lambda asked: "Port 8080 stays in settings/base.py."
    real = making.call_model

    def redacted_meanwhile(asked: Any, **options: Any) -> Any:
        usage = real(asked, **options)
        if len(provider.asked) == 1:
            pattern = {"start": "settings/base.py", "all": True}
            operate(agent, session_id, "redact", patterns=[pattern])
        return usage

    monkeypatch.setattr(making, "call_model", redacted_meanwhile)
    assert run(order(agent, session_id)["job_id"]).status == "done"
    seen = [get(agent, f"/api/sessions/{session_id}/{it}") for it in ("thread", "log")]
    assert "Port 8080 stays in [redacted]." in str(seen)
    assert "settings/base.py" not in str(seen)
