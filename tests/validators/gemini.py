"""Requests of Gemini's generateContent.

Members and types: https://ai.google.dev/api/generate-content and the types of the
`google-genai` package; names are taken in snake case too, as JSON of protocol buffers is.
Order of turns: "Please ensure that function call turn comes immediately after a user turn or
after a function response turn" https://github.com/google-gemini/gemini-cli/issues/26486, "the
number of function response parts is equal to the number of function call parts"
https://github.com/google-gemini/gemini-cli/issues/3814. The first turn:
https://github.com/google-gemini/generative-ai-js/blob/main/src/methods/chat-session-helpers.ts.
Signatures of the current turn:
https://ai.google.dev/gemini-api/docs/thought-signatures. Schemas of tools
https://github.com/adolfousier/opencrabs/issues/99.
"""

from collections.abc import Iterator
from typing import Any

from .checks import filled, matches, members, named, positive, validator
from .gemini_parts import NAME, camel, kind_of, part_problems

Form = dict[str, Any]

TOP = named(
    "contents tools toolConfig safetySettings systemInstruction generationConfig"
    " cachedContent model labels serviceTier store"
)
GENERATION = named(
    "stopSequences responseMimeType responseSchema responseJsonSchema responseModalities"
    " candidateCount maxOutputTokens temperature topP topK seed presencePenalty"
    " frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig"
    " thinkingConfig imageConfig mediaResolution"
)
SCHEMA = named(
    "anyOf default description enum example format items maxItems maxLength maxProperties"
    " maximum minItems minLength minProperties minimum nullable pattern properties"
    " propertyOrdering required title type"
)


@validator
def validate(given: dict[str, Any]) -> Iterator[str]:
    """What the provider would refuse in a request; nothing if it is accepted."""
    request = camel(given)
    yield from members(request, TOP, "request", required=("contents",))
    config = request.get("generationConfig", {})
    yield from members(camel(config), GENERATION, "generationConfig")
    if isinstance(config, dict) and "maxOutputTokens" in camel(config):
        yield from positive(camel(config)["maxOutputTokens"], "maxOutputTokens")
    if "systemInstruction" in request:
        yield from _content(request["systemInstruction"], "systemInstruction")
    yield from _tools(request.get("tools", []))
    contents = request.get("contents")
    if not isinstance(contents, list) or not contents:
        yield "GenerateContentRequest.contents: contents is not specified."
        return
    wrong = [
        problem
        for place, content in enumerate(contents)
        for problem in _content(content, f"contents[{place}]", roles=("user", "model"))
    ]
    yield from wrong or _conversation(contents)


def _conversation(contents: list[Form]) -> Iterator[str]:
    turns = [
        (content.get("role", "user"), [camel(part) for part in content["parts"]])
        for content in contents
    ]
    yield from _order(turns)
    yield from _signatures(turns)


def _content(
    content: Any, at: str, roles: tuple[str, ...] = ("user", "model", "system")
) -> Iterator[str]:
    yield from members(content, ("role", "parts"), at)
    if not isinstance(content, dict):
        return
    role = content.get("role", "user")
    if role not in roles:
        yield f"{at}.role: Please use a valid role: {', '.join(roles)}."
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        yield f"GenerateContentRequest.{at}.parts: contents.parts must not be empty."
        return
    for k, part in enumerate(parts):
        yield from part_problems(part, f"{at}.parts[{k}]", role)


def _order(turns: list[tuple[str, list[Form]]]) -> Iterator[str]:
    if turns[0][0] != "user":
        yield "contents: First content should be with role 'user'."
    asked: list[Form] = []
    for place, (role, parts) in enumerate([*turns, ("", [])]):
        at = f"contents[{place}]"
        calls = [p["functionCall"] for p in parts if kind_of(p) == "functionCall"]
        answers = [
            p["functionResponse"] for p in parts if kind_of(p) == "functionResponse"
        ]
        if answers and not asked:
            yield (
                f"{at}: Please ensure that function response turn comes immediately after a"
                " function call turn."
            )
        elif len(answers) != len(asked):
            yield (
                f"{at}: Please ensure that the number of function response parts is equal"
                " to the number of function call parts of the function call turn."
            )
        elif asked:
            yield from _pairs(asked, answers, at)
        if calls and place and turns[place - 1][0] != "user":
            yield (
                f"{at}: Please ensure that function call turn comes immediately after a"
                " user turn or after a function response turn."
            )
        asked = calls if role == "model" else []


def _pairs(asked: list[Form], answers: list[Form], at: str) -> Iterator[str]:
    names = sorted(str(call.get("name")) for call in asked)
    if names != sorted(str(answer.get("name")) for answer in answers):
        yield f"{at}: function response names don't match those of the function calls."
    ids = [call["id"] for call in asked if call.get("id")]
    answered = [answer["id"] for answer in answers if answer.get("id")]
    if ids and answered and sorted(ids) != sorted(answered):
        yield f"{at}: function response ids don't match those of the function calls."


def _signatures(turns: list[tuple[str, list[Form]]]) -> Iterator[str]:
    """Check that each step of the current turn has its first call signed.

    The current turn begins with the last user content without a function response.
    """
    start = 0
    for place, (role, parts) in enumerate(turns):
        if role == "user" and all(kind_of(p) != "functionResponse" for p in parts):
            start = place
    for place, (_, parts) in enumerate(turns[start:], start):
        calls = [part for part in parts if kind_of(part) == "functionCall"]
        if calls and not calls[0].get("thoughtSignature"):
            yield (
                f"contents[{place}]: Function call is missing a thought_signature in"
                " functionCall parts."
            )


def _tools(tools: Any) -> Iterator[str]:
    if not isinstance(tools, list):
        yield "tools: expected an array."
        return
    names = []
    for k, tool in enumerate(tools):
        at = f"tools[{k}]"
        if not isinstance(tool, dict):
            yield f"{at}: expected an object."
            continue
        declarations = camel(tool).get("functionDeclarations", [])
        if "functionDeclarations" in camel(tool):
            yield from filled(declarations, f"{at}.functionDeclarations")
        for place, declaration in enumerate(declarations or ()):
            here = f"{at}.function_declarations[{place}]"
            known = (
                *("name", "description", "parameters", "parametersJsonSchema"),
                *("response", "responseJsonSchema", "behavior"),
            )
            yield from members(declaration, known, here, required=("name",))
            if isinstance(declaration, dict):
                names.append(str(declaration.get("name")))
                yield from matches(declaration.get("name"), NAME, f"{here}.name", 128)
                if "parameters" in declaration:
                    yield from _schema(declaration["parameters"], f"{here}.parameters")
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"tools: Duplicate function declaration found: {name}."


def _schema(schema: Any, at: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{at}: expected an object."
        return
    for name in schema:
        if name not in SCHEMA:
            yield f"Unknown name {name!r} at '{at}': Cannot find field."
    if isinstance(schema.get("type"), list):
        yield f"Proto field is not repeating, cannot start list: {at}.type."
    if str(schema.get("type")).upper() == "ARRAY" and "items" not in schema:
        yield f"{at}.items: missing field."
    properties = schema.get("properties", {})
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        yield from _schema(inner, f"{at}.properties[{name}]")
    for inner in schema.get("anyOf", ()):
        yield from _schema(inner, f"{at}.any_of")
    if "items" in schema:
        yield from _schema(schema["items"], f"{at}.items")
