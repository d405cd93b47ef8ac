"""One call of a model: every form goes by our transport, which follows nothing and checks where."""

import json
import os
import subprocess
import sys
from dataclasses import asdict

import pytest

from archive.summaries.calling import CallFailed, ModelCall, call_model
from tests.descriptors import many_open
from tests.servers import ROOT

from .provider import KEY, PATIENCE_SECONDS, FakeProvider

FORMS = {"hosted_vllm": "redirect", "anthropic": "claude-x", "gemini": "gemini-x"}


def call(form: str, base_url: str, *, private: bool = True) -> str:
    """Why a call gives nothing."""
    with pytest.raises(CallFailed) as failed:
        call_model(
            ModelCall(
                form=form,
                model=FORMS[form],
                base_url=base_url,
                api_key=KEY,
                messages=[{"role": "user", "content": "Hello"}],
                max_tokens=10,
                timeout=30,
                private=private,
            ),
            on_text=lambda text: None,
        )
    return failed.value.failure.value


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


def test_a_call_is_not_made_for_a_caller_that_was_killed_before_it(
    provider: FakeProvider,
) -> None:
    asked = ModelCall(
        form="hosted_vllm",
        model="fast",
        base_url=provider.base_url,
        api_key=KEY,
        messages=[{"role": "user", "content": "Hello"}],
        max_tokens=10,
        timeout=PATIENCE_SECONDS,
        private=True,
    )
    elsewhere = str(os.getppid())
    answered = subprocess.run(
        [sys.executable, "-m", "archive.summaries.calling.worker", elsewhere],
        input=json.dumps(asdict(asked)) + "\n",
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert (answered.stdout, provider.asked) == ("", [])


def test_a_model_is_called_by_a_server_of_many_connections() -> None:
    with many_open():
        assert call("hosted_vllm", "http://127.0.0.1:1/v1") == "unreachable"
