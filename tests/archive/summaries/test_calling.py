"""One call of a model: every form goes by our transport, which follows nothing and checks where."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from archive.summaries.calling import CallFailed, ModelCall, call_model, plain
from tests.descriptors import many_open
from tests.servers import ROOT

from .provider import KEY, PATIENCE_SECONDS, SUMMARY, FakeProvider

ASKED = ModelCall(
    form="hosted_vllm",
    model="fast",
    base_url="",
    api_key=KEY,
    messages=[{"role": "user", "content": "Hello"}],
    max_tokens=10,
    timeout=PATIENCE_SECONDS,
    private=True,
)
FORMS = {"hosted_vllm": "redirect", "anthropic": "claude-x", "gemini": "gemini-x"}


def call(form: str, base_url: str, *, private: bool = True) -> str:
    """Why a call gives nothing."""
    with pytest.raises(CallFailed) as failed:
        call_model(
            replace(
                ASKED,
                form=form,
                model=FORMS[form],
                base_url=base_url,
                private=private,
            ),
            on_text=lambda text: None,
        )
    return failed.value.failure.value


def worker(caller: int) -> subprocess.Popen[str]:
    """The process that calls models, for the process with this id."""
    return subprocess.Popen(
        [sys.executable, "-m", "archive.summaries.calling.worker", str(caller)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("form", FORMS)
def test_no_form_follows_a_redirect_with_its_key(
    provider: FakeProvider, form: str
) -> None:
    base = provider.base_url.removesuffix("/v1") + "/moved"
    assert call(form, base) == "redirect"
    (path,) = provider.paths
    assert path.startswith("/moved")


@pytest.mark.parametrize("form", FORMS)
def test_no_form_dials_a_private_address_that_is_not_allowed(
    provider: FakeProvider, form: str
) -> None:
    assert call(form, provider.base_url, private=False) == "address"
    assert provider.paths == []


def test_a_provider_that_is_not_there_is_unreachable() -> None:
    assert call("hosted_vllm", "http://127.0.0.1:1/v1") == "unreachable"
    assert call("hosted_vllm", "http://nowhere.invalid/v1") == "unreachable"


def test_a_model_that_only_thinks_for_now_is_not_taken_for_silent(
    provider: FakeProvider,
) -> None:
    asked = replace(ASKED, model="thinking", base_url=provider.base_url)
    with worker(os.getpid()) as process:
        process.stdin.write(json.dumps(asdict(asked)) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"text": ""}
        assert not provider.go_on.is_set()
        provider.go_on.set()
        process.stdin.close()
        *texts, end = map(json.loads, process.stdout)
    assert "".join(one["text"] for one in texts) == SUMMARY
    assert end == {"done": {"input": 100, "output": 20, "is_cut": False}}


def test_a_call_is_not_made_for_a_caller_that_was_killed_before_it(
    provider: FakeProvider,
) -> None:
    asked = replace(ASKED, base_url=provider.base_url)
    elsewhere = os.getppid()
    with worker(elsewhere) as process:
        told, _ = process.communicate(json.dumps(asdict(asked)) + "\n")
    assert (told, provider.asked) == ("", [])


def test_a_model_is_called_by_a_server_of_many_connections() -> None:
    with many_open():
        assert call("hosted_vllm", "http://127.0.0.1:1/v1") == "unreachable"


@pytest.mark.parametrize(
    ("retry", "seconds"),
    [
        ("Sat, 01 Nov 2025 10:00:40 GMT", 40.0),
        ("Saturday, 01-Nov-25 10:01:00 GMT", 60.0),
        ("Sat, 01 Nov 2025 09:00:00 -0000", 0.0),
        ("Sat, 01 Nov 2095 10:00:40 GMT", 999_999.0),
        ("Sat, 99 Nov 2025 10:00:40 GMT", None),
        ("soon", None),
    ],
)
def test_a_provider_may_ask_to_wait_until_a_date(
    provider: FakeProvider, retry: str, seconds: float | None
) -> None:
    provider.dates = {"retry": retry, "date": "Sat, 01 Nov 2025 10:00:00 GMT"}
    asked = replace(ASKED, model="dated", base_url=provider.base_url)
    with pytest.raises(CallFailed) as failed:
        call_model(asked, on_text=lambda text: None)
    assert failed.value.retry_after == seconds


def test_a_date_without_the_provider_s_own_is_reckoned_from_now(
    provider: FakeProvider,
) -> None:
    provider.dates = {"retry": "Sat, 01 Nov 2005 10:00:40 GMT"}
    asked = replace(ASKED, model="dated", base_url=provider.base_url)
    with pytest.raises(CallFailed) as failed:
        call_model(asked, on_text=lambda text: None)
    assert failed.value.retry_after == 0


@pytest.mark.parametrize(("model", "given"), [("plain", 100), ("blocks", None)])
def test_an_answer_that_comes_at_once_is_taken(
    provider: FakeProvider, model: str, given: int | None
) -> None:
    said: list[str] = []
    asked = replace(ASKED, model=model, base_url=provider.base_url)
    usage = call_model(asked, on_text=said.append)
    assert "".join(said) == SUMMARY
    assert (usage.input, usage.output, usage.is_cut) == (given, 20, False)


@pytest.mark.parametrize("body", [b"[]", b"{}", b"?", b'{"choices": [{"message": 1}]}'])
def test_what_is_no_chat_completion_is_no_answer(body: bytes) -> None:
    assert plain.read(body) is None


def test_an_answer_without_words_says_nothing() -> None:
    body = b'{"choices": [{"message": {"content": null}}]}'
    answer = plain.read(body)
    assert answer is not None
    assert (answer.text, answer.used) == ("", {"input": None, "output": None})
