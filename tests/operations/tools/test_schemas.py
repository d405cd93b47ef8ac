"""The table of tools as function schemas: what a model is told is what is taken."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.test import Client

from operations.tools import TOOLS
from operations.tools.offered import ProxyTools
from operations.tools.schemas import description, parameters
from tests.operations.support.rest import get

from .cases import CASES
from .doors import post_mcp

ALL = ",".join(TOOLS)
ANY_ID = "00000000-0000-4000-8000-000000000000"


def listed(agent: Client, form: str) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = get(agent, "/api/tools", format=form)["tools"]
    return tools


def test_every_form_lists_every_tool_with_its_description(agent: Client) -> None:
    functions = [tool["function"] for tool in listed(agent, "openai")]
    assert [tool["name"] for tool in functions] == list(TOOLS)
    for form, member in (("anthropic", "input_schema"), ("mcp", "inputSchema")):
        for tool, function in zip(listed(agent, form), functions, strict=True):
            assert tool["name"] == function["name"]
            assert tool["description"] == description(TOOLS[tool["name"]])
            assert tool[member] == function["parameters"]
    get(agent, "/api/tools", format="gemini", expect=422)


def test_mcp_lists_the_same_tools(agent: Client, key: str) -> None:
    status, body = post_mcp("tools/list", key)
    assert status == 200
    assert body["result"]["tools"] == listed(agent, "mcp")


def test_a_schema_is_made_once() -> None:
    assert parameters(TOOLS["recall"]) is parameters(TOOLS["recall"])


@pytest.mark.parametrize("name", CASES)
def test_a_schema_takes_the_good_call_and_nothing_unknown(name: str) -> None:
    schema = parameters(TOOLS[name])
    call = {
        field: ANY_ID
        for field in ("session_id", "operation_id", "memo_id")
        if field in schema["required"]
    } | dict(CASES[name].arguments)
    jsonschema.validate(call, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**call, "colour": "red"}, schema)


def test_no_tool_but_recall_names_recall_since_each_may_be_offered_alone() -> None:
    told = {
        name: description(tool) + str(parameters(tool)) for name, tool in TOOLS.items()
    }
    assert {name for name, words in told.items() if "recall" in words} == {"recall"}


@pytest.mark.parametrize("name", TOOLS)
def test_a_description_says_when_and_how(name: str) -> None:
    tool = TOOLS[name]
    words = tool.__doc__ or ""
    assert len(words.split()) > 12
    assert len(words.split("\n")[0]) <= 100
    text = str(parameters(tool))
    assert "$ref" not in text
    assert "'null'" not in text
    assert not (tool.reads_only and tool.is_permanent)


def test_openai_is_given_no_description_of_more_characters_than_it_takes(
    agent: Client,
) -> None:
    functions = [tool["function"] for tool in listed(agent, "openai")]
    for function, offered in zip(
        functions, ProxyTools().offered_tools(ALL), strict=True
    ):
        told = description(TOOLS[function["name"]])
        assert function["description"].partition("\n")[0] == told.partition("\n")[0]
        assert len(function["description"]) <= 1024
        assert offered.function["description"] == function["description"]
        assert offered.description == told


@pytest.mark.parametrize("name", TOOLS)
def test_a_list_says_what_it_holds_as_every_provider_takes_it(name: str) -> None:
    """OpenAI and Gemini refuse a request with a tool that lists the places of a list instead."""
    for schema in inner_schemas(parameters(TOOLS[name])):
        assert "prefixItems" not in schema
        if schema.get("type") == "array":
            assert schema["items"]


def inner_schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    members = value.values() if isinstance(value, dict) else value
    for one in members if isinstance(value, dict | list) else ():
        yield from inner_schemas(one)


def test_what_requests_are_offered_is_made_once() -> None:
    first, again = (ProxyTools().offered_tools("edit,recall") for _ in range(2))
    assert len(first) > 1
    assert all(one is other for one, other in zip(first, again, strict=True))
