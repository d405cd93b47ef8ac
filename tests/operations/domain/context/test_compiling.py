"""What is said to be sent is what the request holds, text by text."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operations.domain.context.compiling import compilation_result
from operations.domain.providers import PROVIDERS, compile_request
from tests.operations.support.prepared import MODELS, Context, characters, contexts
from tests.operations.support.request_texts import tokens_of
from threads.domain.tokens import total, words


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(context=contexts(), data=st.data())
def test_what_is_sent_is_counted_on_the_request_s_own_texts(
    provider: str, context: Context, data: st.DataObject
) -> None:
    draft = context.for_model(data.draw(st.sampled_from(MODELS[provider])))
    compiled = compile_request(provider, draft)
    found = compilation_result(context.assembly, compiled, characters)

    written = [part for turn in compiled.turns for part in turn.parts]
    media = sum(total(counted, lambda _: 0) for counted in words(written))
    assert found.step.after == tokens_of(provider, compiled.request, len) + media
    steps = [*context.assembly.steps, found.step]
    for step in steps:
        lost = sum(omission.tokens for omission in step.left_out)
        assert step.before + step.added - lost == step.after
    assert all(one.after == other.before for one, other in pairwise(steps))


@given(context=contexts())
def test_what_a_request_has_of_each_message_and_what_it_adds_make_it_up(
    context: Context,
) -> None:
    compiled = compile_request("openai", context.for_model("gpt-4.1"))
    found = compilation_result(context.assembly, compiled, characters)
    left_out = [omission.key for omission in found.step.left_out]
    assert len(left_out) == len(set(left_out))
    keys = {key for turn in compiled.turns for key in turn.keys}

    assert [one.key for one in found.messages] == [
        one.key for one in context.assembly.messages
    ]
    for sent, message in zip(found.messages, context.assembly.messages, strict=True):
        assert sent._replace(tokens=message.tokens) == message
        assert message.key in keys or sent.tokens == 0
