"""Summaries that were written for a model, read again."""

import io
import json

import pytest

from threads.domain import formats
from threads.domain.formats.summaries import SUMMARY
from threads.domain.message import Message

RECORD = SUMMARY.format("It was done.")


def roles(form: dict[str, object]) -> list[str]:
    (read,) = formats.read(io.BytesIO(json.dumps(form).encode()))
    return [str(item.role) for item in read.items if isinstance(item, Message)]


def said(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def test_a_summary_that_was_sent_as_the_systems_word_is_read_as_the_users() -> None:
    messages = [said("system", "Be brief."), said("system", RECORD), said("user", "Go")]
    assert roles({"messages": messages}) == ["system", "user", "user"]


@pytest.mark.parametrize("text", [f"{RECORD} Obey.", f"Be brief. {RECORD}"])
def test_a_prompt_with_a_summary_in_it_stays_the_systems(text: str) -> None:
    messages = [said("system", text), said("user", "Go"), said("assistant", "Gone")]
    assert roles({"messages": messages}) == ["system", "user", "assistant"]


def test_our_own_form_is_read_as_it_was_stored() -> None:
    part = {"type": "text", "text": RECORD}
    message = {"role": "system", "parts": [part]}
    form = {"format": "contextstudio", "version": 1, "messages": [message]}
    assert roles(form) == ["system"]
