"""The form of a policy: every setting of `operations.domain.context.policy`, explained."""

from collections.abc import Mapping
from typing import Any

from django import forms

from operations.domain.context.policy import Memos, Policy, Pruning, encode_policy
from operations.domain.context.truncation import Keep, Tiers
from operations.form_fields import ListField

_MAX_NUMBER = 10**9
_NESTED: Mapping[str, Tiers | Pruning] = {"truncation": Tiers(), "pruning": Pruning()}
_MEMOS = [
    (Memos.OWN.value, "Once the session has saved or retrieved one"),
    (Memos.RELEVANT.value, "When they share words with the last question"),
    (Memos.NONE.value, "Never"),
]
_KEEP = [
    (Keep.HEAD_TAIL.value, "A fifth from the start, the rest from the end"),
    (Keep.HEAD.value, "Only the start"),
]


def _number(label: str, hint: str = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label, help_text=hint, min_value=0, max_value=_MAX_NUMBER
    )


def _switch(label: str, hint: str = "") -> forms.BooleanField:
    widget = forms.CheckboxInput(attrs={"class": "pick"})
    return forms.BooleanField(
        label=label, help_text=hint, required=False, widget=widget
    )


class PolicyForm(forms.Form):
    """The settings of a policy. Those of truncation and pruning count only if these are on."""

    window = _number(
        "Groups to send",
        "A group is a user message and everything up to the next one. 0 sends all groups.",
    )
    isolation = _switch(
        "Isolate providers",
        "Leave out calls and results recorded in another provider's format.",
    )
    markers = _switch(
        "Markers",
        "Add a short line before and after each fold, so that the model can ask for what"
        " it holds.",
    )
    fails_open = _switch(
        "Send unedited on failure",
        "If the proxy can't rewrite a request, send it as it came instead of refusing it."
        " With a redaction in force it is always refused.",
    )
    guidelines = _switch(
        "Guidelines", "Add a layer that tells the model how to read the history."
    )
    memos = forms.ChoiceField(
        label="Memos",
        choices=_MEMOS,
        help_text="When to add a layer with up to five memos of the project.",
    )
    truncation = _switch("Shorten long tool results", "Older results are cut shorter.")
    recent_results = _number("Recent results in the last group")
    recent = _number("Characters per recent result")
    older = _number("Per older result in that group")
    inactive = _number("Per result in earlier groups")
    keep = forms.ChoiceField(label="Part to keep", choices=_KEEP)
    pruning = _switch(
        "Pruning",
        "Old tool results, errors and outdated views are archived and left out.",
    )
    automatic = _switch(
        "Prune automatically",
        "Before a request that leaves too little of the model's window. Otherwise only when"
        " somebody asks for it.",
    )
    large_window = _number("A large window, in tokens")
    remaining_tokens = _number("It is full with this many left")
    remaining_share = forms.FloatField(
        label="A smaller one is full with this share left",
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    keep_last_n = _number("Recent messages to keep")
    condense_after_n = _number("Condense after this many messages")
    remove_errors_after = _number("Drop errors after this many messages")
    condense_above = _number("Condense above this many tokens")
    condense_calls_above = _number(
        "Condense calls above this many tokens",
        "Beyond the usual rules: an old edit or command keeps its tool and its path, and its long"
        " arguments are archived.",
    )

    name_used_later = _switch(
        "Name what is used later",
        "The line in place of a text lists the paths, numbers and names of it that later messages"
        " refer to.",
    )
    likely_names = _number("Likely names to list for each text (0: none)")
    protect_tools = ListField(
        label="Tools to keep",
        required=False,
        help_text="Their results are never left out. Separate with commas; * stands for anything.",
    )
    protect_paths = ListField(
        label="Paths to keep",
        required=False,
        help_text="What is read or edited there is never left out, for example docs/*.md.",
    )
    protect_tags = ListField(
        label="Tags to keep",
        required=False,
        help_text="Messages with one of these tags are never left out.",
    )
    keep_relevant_above = forms.FloatField(
        label="Keep what is relevant above",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="From 0 to 1: how near a message must be to the session's objective to stay."
        " Counts where search by meaning is on. If empty, no message stays for that.",
    )

    def settings(self) -> dict[str, Any]:
        """The settings in the form that `read_policy` takes."""
        given = self.cleaned_data
        plain = ("window", "isolation", "markers", "guidelines", "memos", "fails_open")
        found: dict[str, Any] = {name: given[name] for name in plain}
        for name, default in _NESTED.items():
            inner = {one: given[one] for one in default.__dataclass_fields__}
            found[name] = inner if given[name] else None
        return found


def fields_of(policy: Policy) -> dict[str, Any]:
    """The initial values of the form for a policy; what is off shows its default figures."""
    settings = encode_policy(policy)
    found = {name: value for name, value in settings.items() if name not in _NESTED}
    for name, default in _NESTED.items():
        inner = getattr(policy, name) or default
        found |= {one: _value(inner, one) for one in default.__dataclass_fields__}
        found[name] = settings[name] is not None
    return found


def _value(settings: Tiers | Pruning, name: str) -> Any:
    value = getattr(settings, name)
    return "" if value is None else ListField().prepare_value(value)
