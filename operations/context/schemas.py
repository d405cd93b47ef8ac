"""What the API takes and answers of contexts, policies, scratchpads and state."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody

ProviderName = Annotated[
    str,
    Field(
        description="`openai`, `openai-responses`, `anthropic`, `gemini`, `mistral`, `deepseek`, "
        "`bedrock` or `generic-strict`; by default the session's."
    ),
]


class PolicyIn(RequestBody):
    """A policy to set."""

    policy: dict[str, Any] | None
    """A preset, and the settings that differ from it; null to have no policy of its own."""


class SessionPolicyIn(PolicyIn):
    """A policy to set for a session, or to try."""

    dry_run: bool = False
    """Whether to save nothing and only return what the policy would change."""
    provider: ProviderName = ""


class PolicyOut(BaseModel):
    """The policy in force, and the presets to choose from."""

    policy: dict[str, Any]
    own: bool
    """Whether it is the session's own; otherwise it is the project's, or `replay`."""
    presets: dict[str, dict[str, Any]]


class LeftOutOut(BaseModel):
    """The tokens that a step left out of a message, and why."""

    key: str
    tokens: int
    why: str


class StepOut(BaseModel):
    """What a step did, in tokens: `before` + `added` - those of `left_out` = `after`."""

    name: str
    before: int
    after: int
    added: int
    left_out: list[LeftOutOut]


class EffectOut(BaseModel):
    """What a policy would change: the tokens sent before and after."""

    policy: dict[str, Any]
    before: int
    after: int
    steps: list[StepOut]


class IssueOut(BaseModel):
    """A provider's rule that the messages break, and what was done about it."""

    rule: str
    """`R1` to `R19`, as docs/providers.md numbers them."""
    severity: Literal["note", "repaired", "refused"]
    """`note`: sent as it is; `refused`: no request can be made."""
    keys: list[str]
    """Keys of the messages."""
    detail: str
    """What was found."""
    repair: str
    """What was done about it; empty if nothing was."""


class InjectedOut(BaseModel):
    """A memo that is sent, and why it was chosen."""

    id: str
    text: str
    why: str


class LayerOut(BaseModel):
    """Text that is sent before the history: system prompt, state, scratchpad or memos."""

    name: str
    text: str
    tokens: int
    keys: list[str]
    """Keys of the messages that it was made of; none but for the system prompt."""


class RangeOut(BaseModel):
    """Consecutive messages of one group."""

    group: int
    """The group's number."""
    first: str
    """Key of the first message."""
    last: str
    count: int
    tokens: int


class ContextTokens(BaseModel):
    """How many tokens the originals have, how many the thread, and how many are sent."""

    total: int
    """Of all originals."""
    shown: int
    """Of the thread, after its operations."""
    sent: int
    """Of what would be sent."""
    by_layer: dict[str, int]
    """The tokens of each layer and of the `history`; they add up to `sent`."""
    tokenizer: str
    exact: bool
    """Whether this is the model's own tokenizer; otherwise counts are estimates."""


class ContextOut(BaseModel):
    """What would be sent to a model now."""

    session_id: str
    provider: str
    model: str
    policy: str
    """The preset of the policy in force."""
    request: dict[str, Any]
    """The request body, in the provider's format."""
    messages: list[dict[str, Any]]
    """The messages in `request`."""
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
    """What each step of the assembly left out or added, in order."""
    over_budget: bool
    """Whether more than `max_tokens` would be sent."""
    max_tokens: int | None
    heaviest: list[RangeOut]
    """The ranges with the most tokens, which are worth folding first."""
    tokens: ContextTokens
