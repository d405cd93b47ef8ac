"""The dialogs' forms: what a person fills in to record, amend or move something."""

from collections.abc import Mapping
from typing import Any

from django import forms

from operations.domain.tree.key import made_place, original_index
from operations.edits.arguments.pattern import LONGEST_PATTERN
from operations.form_fields import KeysField, LongTextField, TagsField

ROLES = [("user", "User"), ("assistant", "Assistant"), ("system", "System")]


class EditForm(forms.Form):
    """What every edit's form has: its kind, and whether it is to wait for review."""

    template = "operations/editor/dialogs/form.html"
    type = forms.CharField(widget=forms.HiddenInput)
    dialog = forms.CharField(widget=forms.HiddenInput, required=False, initial="1")
    needs = KeysField(required=False)

    def arguments(self) -> dict[str, Any]:
        """The fields as `operations.edits.arguments` takes them: here what it acts on alone."""
        return {"targets": self.chosen()}

    def chosen(self) -> list[str]:
        """What the edit acts on: the wider set, where the person chose it."""
        wider: list[str] = self.cleaned_data.get("needs") or []
        given: list[str] = self.cleaned_data["targets"]
        return wider if "widen" in self.data and wider else given


class ConditionForm(EditForm):
    """An edit that may apply only while tags are active."""

    tags = TagsField(
        required=False,
        label="Only while these tags are active",
        help_text="Leave empty to apply always.",
    )

    def condition(self) -> dict[str, Any]:
        """The tags, where some are given."""
        return {"tags": self.cleaned_data["tags"]} if self.cleaned_data["tags"] else {}


class DigestForm(ConditionForm):
    """Fold messages into one that sums them up."""

    targets = KeysField()
    summary = LongTextField(label="What the model sees instead")
    field_order = ["type", "dialog", "targets", "needs", "summary", "tags"]

    def arguments(self) -> dict[str, Any]:
        """See `DigestArguments`."""
        summary = self.cleaned_data["summary"]
        return {"targets": self.chosen(), "summary": summary, **self.condition()}


class SnipForm(ConditionForm):
    """Leave messages out."""

    targets = KeysField()

    def arguments(self) -> dict[str, Any]:
        """See `SnipArguments`."""
        return {**super().arguments(), **self.condition()}


class TagForm(EditForm):
    """Give messages tags."""

    targets = KeysField()
    tags = TagsField(label="Tags", help_text="Separate tags with spaces.")

    def arguments(self) -> dict[str, Any]:
        """See `TagArguments`."""
        return {"targets": self.chosen(), "tags": self.cleaned_data["tags"]}


class ReviseForm(ConditionForm):
    """Show other words in the place of messages."""

    targets = KeysField()
    role = forms.ChoiceField(choices=ROLES, required=False, label="Role")
    text = LongTextField(label="What the model sees instead")
    field_order = ["type", "dialog", "targets", "needs", "role", "text", "tags"]

    def arguments(self) -> dict[str, Any]:
        """See `ReviseArguments`; of one message everything but its words is kept."""
        role, text = self.cleaned_data["role"] or "user", self.cleaned_data["text"]
        replacements = [{"role": role, "content": text}]
        return {
            "targets": self.chosen(),
            "replacements": replacements,
            **self.condition(),
        }


class InsertForm(ConditionForm):
    """Put a message of one's own behind another."""

    after = KeysField(required=False)
    role = forms.ChoiceField(choices=ROLES, label="Role")
    text = LongTextField(label="Message")
    field_order = ["type", "dialog", "after", "role", "text", "tags"]

    def arguments(self) -> dict[str, Any]:
        """See `InsertArguments`."""
        message = {
            "role": self.cleaned_data["role"],
            "content": self.cleaned_data["text"],
        }
        after = self.cleaned_data["after"]
        anchor = {"after": after[0]} if after else {"after_idx": -1}
        return {**anchor, "messages": [message], **self.condition()}


class MoveForm(EditForm):
    """Move messages behind another: its key, or from the dialog its number."""

    moved = KeysField()
    behind = KeysField(required=False)
    number = forms.CharField(
        required=False,
        label="Move after message #",
        help_text="A message number, or o7 for an inserted message. Leave empty for the top.",
    )

    def clean_number(self) -> str:
        """The key that a number means. Raises ValidationError."""
        given = str(self.cleaned_data["number"]).strip().lstrip("#")
        key = f"m{given}" if given.isdecimal() else given
        if key and original_index(key) is None and made_place(key) is None:
            raise forms.ValidationError("Enter a message number.")
        return key

    @property
    def anchor(self) -> str | None:
        """The key behind which they go; None is the top."""
        behind = self.cleaned_data["behind"]
        return (behind[0] if behind else self.cleaned_data["number"]) or None


class AmendForm(ConditionForm):
    """Other words, or another condition, for an operation."""

    operation = KeysField()
    text = LongTextField(label="What the model sees", required=False)
    field_order = ["type", "dialog", "operation", "text", "tags"]


class ActivateForm(forms.Form):
    """The tags under which conditions hold."""

    tags = TagsField(
        required=False,
        label="Active tags",
        help_text="Operations with a condition apply only while their tags are active.",
    )


class TextForm(forms.Form):
    """Words inside messages to replace or redact: which, and what is read instead."""

    type = forms.ChoiceField(
        label="Action",
        choices=[
            ("replace", "Replace: the model sees other text"),
            ("redact", "Redact: masked everywhere, for everyone"),
        ],
    )
    start = LongTextField(rows=2, max_length=LONGEST_PATTERN, label="Start of the text")
    end = LongTextField(
        rows=2,
        max_length=LONGEST_PATTERN,
        required=False,
        label="End of the text",
        help_text="Each match runs to the nearest end and includes both."
        " Leave empty to match only the start.",
    )
    replacement = LongTextField(rows=2, required=False, label="Replacement")
    include_folded = forms.BooleanField(required=False)

    def arguments(self) -> dict[str, Any]:
        """The pattern as `TextArguments` take it: all of its matches."""
        words = {name: self.cleaned_data[name] for name in ("start", "replacement")}
        pattern = {**words, "end": self.cleaned_data["end"] or None, "all": True}
        return {
            "type": self.cleaned_data["type"],
            "patterns": [pattern],
            "include_folded": self.cleaned_data["include_folded"],
        }


FORMS: Mapping[str, type[EditForm]] = {
    "digest": DigestForm,
    "snip": SnipForm,
    "tag": TagForm,
    "revise": ReviseForm,
    "insert": InsertForm,
    "resequence": MoveForm,
    "amend": AmendForm,
}
