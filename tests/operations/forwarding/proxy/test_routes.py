"""Which requests hold a conversation, however their address is spelled."""

import pytest

from contextstudio.accounts.domain.errors import NotFound
from operations.forwarding.proxy.routes import RequestKind, is_forwarded, route_of


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/v1/chat/completions", "openai"),
        ("/v1/chat/completions/", "openai"),
        ("/v1/chat%2Fcompletions", "openai"),
        ("/s/boats/v1/responses/", "openai-responses"),
        ("/v1/%6dessages", "anthropic"),
        ("/v1beta/models/gemini-2.5-pro%3AgenerateContent", "gemini"),
        ("/v1beta/models/gemini-2.5-pro:streamGenerateContent/", "gemini"),
    ],
)
def test_a_conversation_is_one_however_its_address_is_spelled(
    path: str, form: str
) -> None:
    route = route_of("POST", path.encode(), {})
    assert (route.form, route.kind) == (form, RequestKind.REPLY)
    if form != "gemini":
        assert path.endswith(route.path)
        return
    assert route.model == "gemini-2.5-pro"
    assert f"/models/{route.model}:" in route.path


@pytest.mark.parametrize(
    ("path", "sent", "form"),
    [
        ("/v1/v1/messages", "/v1/messages", "anthropic"),
        ("/v1/%76%31/messages/", "/v1/messages", "anthropic"),
        ("/s/boats/v1/v1/v1/chat/completions", "/v1/chat/completions", "openai"),
        ("/v1/v1/models/a%2Fb", "/v1/models/a%2Fb", ""),
        (
            "/v1/v1beta/models/gemini-2.5-pro:generateContent",
            "/v1beta/models/gemini-2.5-pro:generateContent",
            "gemini",
        ),
    ],
)
def test_a_version_that_a_client_says_twice_counts_once(
    path: str, sent: str, form: str
) -> None:
    """Anthropic's clients put it behind whatever base URL they are given."""
    route = route_of("POST", path.encode(), {})
    assert (route.path, route.form) == (sent, form)


@pytest.mark.parametrize("begin", ["", "/s/boats"])
def test_a_model_of_gemini_may_be_asked_without_a_version(begin: str) -> None:
    """As LiteLLM does at an address that it is given without one."""
    path = f"{begin}/models/gemini-2.5-pro:streamGenerateContent"
    assert is_forwarded(path)
    route = route_of("POST", path.encode(), {})
    assert (route.form, route.kind) == ("gemini", RequestKind.REPLY)
    assert route.path == "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    assert (route.model, route.streams) == ("gemini-2.5-pro", True)


@pytest.mark.parametrize(
    "path", ["/models", "/models/a", "/models/a/b:c", "/models/a:"]
)
def test_what_else_begins_so_is_not_forwarded(path: str) -> None:
    assert not is_forwarded(path)


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/models", "/v1/models/"])
def test_whatever_else_passes_as_it_is(path: str) -> None:
    route = route_of("GET", path.encode(), {})
    assert (route.path, route.kind) == (path, RequestKind.OTHER)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/messages/count_tokens", RequestKind.COUNT),
        ("/v1/responses/input_tokens", RequestKind.COUNT),
        ("/v1/responses/compact", RequestKind.COMPACTION),
        ("/v1beta/models/gemini-2.5-pro:countTokens", RequestKind.COUNT),
    ],
)
def test_what_is_asked_about_a_conversation_holds_one_too(
    path: str, kind: RequestKind
) -> None:
    """What a redaction hides does not go out with it."""
    assert route_of("POST", path.encode(), {}).kind is kind


@pytest.mark.parametrize(
    "path",
    [
        "/chat/completions",
        "/responses",
        "/s/boats/chat/completions",
        "/s/boats",
        "/s/a/b/v1/messages",
    ],
)
def test_an_address_without_its_version_is_told_where_that_stands(path: str) -> None:
    assert is_forwarded(path)
    with pytest.raises(NotFound, match="ends in /v1"):
        route_of("POST", path.encode(), {})
