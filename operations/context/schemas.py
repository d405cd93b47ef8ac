"""What the API takes and answers of contexts, policies, scratchpads and state."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody

ProviderName = Annotated[
    str,
    Field(
        description="openai, openai-responses, anthropic, gemini, mistral, deepseek, "
        "bedrock or generic-strict; empty: the session's own."
    ),
]


class PolicyIn(RequestBody):
    """A policy: a preset, and the settings that differ from it; null for no policy of its own."""

    policy: dict[str, Any] | None


class SessionPolicyIn(PolicyIn):
    """A policy of one session, whose effect can be tried."""

    dry_run: bool = False
    """Answer what it would change, and save nothing."""
    provider: ProviderName = ""


class PolicyOut(BaseModel):
    """The policy in force, and the presets to choose from."""

    policy: dict[str, Any]
    own: bool
    """Whether it is the session's own; else the project's, or `replay`."""
    presets: dict[str, dict[str, Any]]


class LeftOutOut(BaseModel):
    """What a message lost, and why."""

    key: str
    tokens: int
    why: str


class StepOut(BaseModel):
    """What a step did: before + added - what was left out = after."""

    name: str
    before: int
    after: int
    added: int
    left_out: list[LeftOutOut]


class EffectOut(BaseModel):
    """What a policy would change; figures are tokens."""

    policy: dict[str, Any]
    before: int
    after: int
    steps: list[StepOut]


class IssueOut(BaseModel):
    """A rule of the provider that the thread breaks, and what was done about it."""

    rule: str
    severity: Literal["note", "repaired", "refused"]
    keys: list[str]
    detail: str
    repair: str


class InjectedOut(BaseModel):
    """A memo that is sent, and why."""

    id: str
    text: str
    why: str


class LayerOut(BaseModel):
    """Text that precedes the history."""

    name: str
    text: str
    tokens: int
    keys: list[str]


class RangeOut(BaseModel):
    """Consecutive messages of one group."""

    group: int
    first: str
    last: str
    count: int
    tokens: int


class ContextTokens(BaseModel):
    """Tokens of the originals, of the thread, and of what is sent; `by_layer` adds up to `sent`."""

    total: int
    shown: int
    sent: int
    by_layer: dict[str, int]
    tokenizer: str
    exact: bool


class ContextOut(BaseModel):
    """What would be sent to a model now."""

    session_id: str
    provider: str
    model: str
    policy: str
    request: dict[str, Any]
    messages: list[dict[str, Any]]
    system: Annotated[
        Any,
        Field(description="The system prompt, if the provider takes it separately."),
    ] = None
    layers: list[LayerOut]
    injected: Annotated[
        list[InjectedOut], Field(description="The memos that are sent, at most five.")
    ]
    issues: list[IssueOut]
    steps: list[StepOut]
    over_budget: bool
    max_tokens: int | None
    heaviest: list[RangeOut]
    tokens: ContextTokens
