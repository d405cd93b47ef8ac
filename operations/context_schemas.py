"""What the API takes and answers of contexts, policies, scratchpads and state."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ProviderName = Annotated[
    str,
    Field(
        description="openai, openai-responses, anthropic, gemini, mistral, deepseek, "
        "bedrock or generic-strict; empty: the session's own."
    ),
]


class Taken(BaseModel):
    """A request's body: unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class PolicyIn(Taken):
    """A policy: a preset, and what is to be otherwise in it; null: none of one's own."""

    policy: dict[str, Any] | None
    dry_run: bool = False
    """Answer what it would change, and save nothing."""
    provider: ProviderName = ""


class PolicyOut(BaseModel):
    """The policy in force, and the presets that can be taken."""

    policy: dict[str, Any]
    own: bool
    """Whether it is the session's own; else the project's, or `replay`."""
    presets: dict[str, dict[str, Any]]


class LeftOutOut(BaseModel):
    """What a message lost."""

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
    """A rule of the provider that the thread doesn't keep, and what was done."""

    rule: str
    severity: Literal["note", "repaired", "refused"]
    keys: list[str]
    detail: str
    repair: str


class LayerOut(BaseModel):
    """Words that stand before the history."""

    name: str
    text: str
    tokens: int
    keys: list[str]


class RangeOut(BaseModel):
    """Messages of one group that stand behind one another."""

    group: int
    first: str
    last: str
    count: int
    tokens: int


class ContextTokens(BaseModel):
    """Of the originals, of the thread, and of what is sent; `by_layer` adds up to `sent`."""

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
        Any, Field(description="Where the provider takes it by itself.")
    ] = None
    layers: list[LayerOut]
    issues: list[IssueOut]
    steps: list[StepOut]
    over_budget: bool
    max_tokens: int | None
    heaviest: list[RangeOut]
    tokens: ContextTokens


class ScratchpadIn(Taken):
    """New words for the scratchpad."""

    content: str
    action: Literal["update", "append"] = "update"
    expected_version: int | None = Field(None, ge=0)


class ScratchpadOut(BaseModel):
    """A version of the scratchpad."""

    content: str
    version: int
    actor: str
    created_at: str | None


class ScratchpadsOut(BaseModel):
    """All versions of the scratchpad, newest first."""

    items: list[ScratchpadOut]


class StateIn(Taken):
    """New words for STATE."""

    content: str


class StateOut(BaseModel):
    """A version of STATE; `key` is the response that it is from."""

    version: int
    text: str
    goal: str
    context: str
    resolved: str
    technical_anchors: str
    key: str | None
    actor: str
    created_at: str | None
    in_force: bool


class StatesOut(BaseModel):
    """STATE in force, and all versions, oldest first."""

    state: StateOut | None
    versions: list[StateOut]
    objective_suggested: str
    """STATE's goal, where the session has no objective of its own."""
