"""The form of a policy: every setting of `operations.domain.context.policy`, with what it means."""

from collections.abc import Mapping
from typing import Any

from django import forms

from operations.domain.context.policy import Memos, Policy, Pruning, encode_policy
from operations.domain.context.truncation import Keep, Tiers

_MOST = 10**9
_NESTED: Mapping[str, Tiers | Pruning] = {"truncation": Tiers(), "pruning": Pruning()}
_MEMOS = [
    (Memos.OWN.value, "Once the session saved or retrieved one"),
    (Memos.RELEVANT.value, "Those that share words with the last question"),
    (Memos.NONE.value, "Never"),
]
_KEEP = [
    (Keep.HEAD_TAIL.value, "A fifth from the head, the rest from the tail"),
    (Keep.HEAD.value, "The head alone"),
]


def _number(label: str, hint: str = "") -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=hint, min_value=0, max_value=_MOST)


def _switch(label: str, hint: str = "") -> forms.BooleanField:
    widget = forms.CheckboxInput(attrs={"class": "pick"})
    return forms.BooleanField(
        label=label, help_text=hint, required=False, widget=widget
    )


class PolicyForm(forms.Form):
    """Settings of a policy. Those of truncation and pruning count where these are on."""

    window = _number(
        "Groups that are sent",
        "A group is a user's message with all that follows it. 0 sends all of them.",
    )
    isolation = _switch(
        "Isolate providers",
        "Leave out calls and results that were recorded in another provider's form.",
    )
    markers = _switch(
        "Markers",
        "A short line before and after what stands for a fold, so that the model can ask"
        " for what is in it.",
    )
    guidelines = _switch(
        "Guidelines", "A layer that tells the model how to read the history."
    )
    memos = forms.ChoiceField(
        label="Memos",
        choices=_MEMOS,
        help_text="When a layer holds up to five memos of the project.",
    )
    truncation = _switch("Cut long results of tools", "The older the shorter.")
    recent_results = _number("Newest results in the last group")
    recent = _number("Characters of each of these")
    older = _number("Of the others in that group")
    inactive = _number("Of those in all other groups")
    keep = forms.ChoiceField(label="What is kept of them", choices=_KEEP)
    pruning = _switch(
        "Figures for pruning",
        "When a session is to be made shorter. They change nothing of what is sent.",
    )
    large_window = _number("Tokens of a large window")
    remaining_tokens = _number("It is full with so many left")
    remaining_share = forms.FloatField(
        label="A smaller one with this share left",
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    keep_last_n = _number("Last messages that stay")
    condense_after_n = _number("Condense behind so many")
    remove_errors_after = _number("Drop errors behind so many")
    condense_above = _number("Condense above so many tokens")

    def settings(self) -> dict[str, Any]:
        """The settings as `read_policy` takes them."""
        given = self.cleaned_data
        plain = ("window", "isolation", "markers", "guidelines", "memos")
        found: dict[str, Any] = {name: given[name] for name in plain}
        for name, default in _NESTED.items():
            inner = {one: given[one] for one in default.__dataclass_fields__}
            found[name] = inner if given[name] else None
        return found


def fields_of(policy: Policy) -> dict[str, Any]:
    """A policy as the form's fields; what is off has the figures that it begins with."""
    settings = encode_policy(policy)
    found = {name: value for name, value in settings.items() if name not in _NESTED}
    for name, default in _NESTED.items():
        inner = getattr(policy, name) or default
        found |= {one: getattr(inner, one) for one in default.__dataclass_fields__}
        found[name] = settings[name] is not None
    return found
