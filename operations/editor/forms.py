"""The forms of the dialogs: they render fields and pass the input to an edit's arguments.

Validation is done by `operations.edits.arguments`, as for every door. Errors are shown at the
field in which the argument was typed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from pydantic import BaseModel, ValidationError

from contextstudio.accounts.domain.errors import DomainError, Invalid, unknown_name
from contextstudio.accounts.shape import wrong_shape
from operations.domain.tree.span import Span
from operations.edits import lenses
from operations.edits.arguments import (
    ActiveTags,
    DigestArguments,
    InsertArguments,
    MoveArguments,
    RewordAmendment,
    RewordArguments,
    SnipArguments,
    TagArguments,
    TextArguments,
)
from operations.edits.arguments.text import (
    MAX_PATTERN_LENGTH,
    PersonalRedactArguments,
    PersonalReplaceArguments,
)
from operations.form_fields import LongTextField, TagsField
from operations.snapshots.schemas import SnapshotIn
from operations.snapshots.selectors import MAX_NAME_LENGTH

ROLES = [("user", "User"), ("assistant", "Assistant"), ("system", "System")]


class KeysField(forms.CharField):
    """Keys of messages or folds, separated by spaces, in a hidden field."""

    widget = forms.HiddenInput

    def clean(self, value: Any) -> list[str]:
        return str(super().clean(value)).split()


class ArgumentsForm(forms.Form):
    """A form that is read as `model`; if it is valid, `arguments` holds the input."""

    model: type[BaseModel]
    fields_of: ClassVar[Mapping[str, str]] = {}
    """Map of argument to the field it is typed in, where their names differ."""
    arguments: Any

    def clean(self) -> None:
        """Read the arguments, unless a field has errors already."""
        if not self.errors:
            try:
                self.arguments = self.model.model_validate(self.typed())
            except ValidationError as error:
                self.refuse(wrong_shape(error.errors(), model=self.model))

    def typed(self) -> dict[str, Any]:
        names = self.cleaned_data.keys() & self.model.model_fields.keys()
        return {name: self.cleaned_data[name] for name in names}

    def refuse(self, error: DomainError, sentence: str = "") -> None:
        """Add each error to the field it was typed in, or to the form as a whole."""
        visible = {field.name for field in self.visible_fields()}
        for fault in error.errors or (error,):
            typed_in = (
                self.fields_of.get(str(at), str(at)) for at in reversed(fault.at)
            )
            field = next((name for name in typed_in if name in visible), None)
            self.add_error(field, sentence or fault.message)


class EditForm(ArgumentsForm):
    """Base form of an edit: its kind and, after a conflict, the targets that would work."""

    type = forms.CharField(widget=forms.HiddenInput)
    dialog = forms.CharField(widget=forms.HiddenInput, required=False, initial="1")
    needs = KeysField(required=False)

    def typed(self) -> dict[str, Any]:
        """The arguments, with the wider set of targets if the user chose it."""
        typed = super().typed() | {"propose": bool(self.data.get("propose"))}
        if "widen" in self.data and self.cleaned_data["needs"]:
            typed["targets"] = self.cleaned_data["needs"]
        return typed


class ConditionForm(EditForm):
    """An edit that may apply only while tags are active."""

    tags = TagsField(
        required=False,
        label="Only while these tags are active",
        help_text="Leave empty to apply always.",
    )


class DigestForm(ConditionForm):
    """Fold messages into one that sums them up."""

    model = DigestArguments
    targets = KeysField()
    summary = LongTextField(label="What the model sees instead")
    field_order = ["type", "dialog", "targets", "needs", "summary", "tags"]


class SnipForm(ConditionForm):
    """Leave messages out."""

    model = SnipArguments
    targets = KeysField()


class TagForm(EditForm):
    """Give messages tags."""

    model = TagArguments
    targets = KeysField()
    tags = TagsField(label="Tags", help_text="Separate tags with spaces.")


class ReviseForm(ConditionForm):
    """Show other text in place of messages."""

    model = RewordArguments
    targets = KeysField()
    role = forms.TypedChoiceField(
        choices=ROLES, required=False, empty_value=None, label="Role"
    )
    text = LongTextField(label="What the model sees instead")
    field_order = ["type", "dialog", "targets", "needs", "role", "text", "tags"]

    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        if len(str(self["targets"].value() or "").split()) == 1:
            self.fields.pop("role")  # one message keeps its own


class InsertForm(ConditionForm):
    """Insert a new message after another."""

    model = InsertArguments
    fields_of = {"messages": "text"}
    after = KeysField(required=False)
    role = forms.ChoiceField(choices=ROLES, label="Role")
    text = LongTextField(label="Message")
    field_order = ["type", "dialog", "after", "role", "text", "tags"]

    def typed(self) -> dict[str, Any]:
        """One message, and the key it goes after; without a key it goes to the top."""
        role, text = self.cleaned_data["role"], self.cleaned_data["text"]
        after = self.cleaned_data["after"]
        return {
            **super().typed(),
            "after": after[0] if after else -1,
            "messages": [{"role": role, "content": text}],
        }


class AnchorField(forms.CharField):
    """The number of a message. Whether it may be empty depends on the place chosen in the form."""

    def validate(self, value: Any) -> None:
        """Accept an empty value; the form checks it."""


class MoveForm(EditForm):
    """Move messages: after the message with a key, or to the place chosen in the dialog."""

    use_required_attribute = False  # browsers would require the number even if hidden

    model = MoveArguments
    fields_of = {"after": "number"}
    moved = KeysField()
    behind = KeysField(required=False)
    place = forms.ChoiceField(
        choices=[
            ("after", "After a message"),
            ("top", "To the top"),
            ("end", "To the end"),
        ],
        widget=forms.RadioSelect,
        required=False,
        initial="after",
        label="Where to",
    )
    number = AnchorField(
        label="Move after message #",
        help_text="A message number, or o7 for an inserted message.",
    )

    def clean(self) -> None:
        """Refuse a dialog without a number, which would otherwise be a move to the top."""
        given = self.cleaned_data
        is_after = given.get("place") in ("", "after")
        if given.get("dialog") and is_after and not given.get("number"):
            self.add_error(
                "number", "Enter a message number, or choose the top or end."
            )
        super().clean()

    def typed(self) -> dict[str, Any]:
        """The messages to move, and the key they go after or the chosen place."""
        given = self.cleaned_data
        place = given["place"]
        if place in ("top", "end"):
            return {**super().typed(), "after": None, "place": place}
        number = given["number"].strip().lstrip("#")
        key = f"m{number}" if number.isdecimal() else number
        behind = given["behind"]
        typed = super().typed() | {"after": (behind[0] if behind else key) or None}
        return {name: typed[name] for name in typed if name != "place"}


class AmendForm(ConditionForm):
    """New text, or a new condition, for an operation."""

    model = RewordAmendment
    operation = KeysField()
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    """The number of the log entry whose text the dialog started from."""
    text = LongTextField(label="What the model sees", required=False)
    field_order = ["type", "dialog", "operation", "version", "text", "tags"]

    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        if self.is_bound and "text" not in self.data:
            self.fields.pop("text")  # operations without text have no such field


class ActivateForm(ArgumentsForm):
    """The session's active tags, which conditions depend on."""

    model = ActiveTags
    fields_of: ClassVar[Mapping[str, str]] = {"name": "lens"}
    tags = TagsField(
        required=False,
        label="Active tags",
        help_text="Operations with a condition apply only while their tags are active.",
    )
    lens = forms.CharField(
        required=False,
        max_length=lenses.MAX_NAME_LENGTH,
        label="Save as lens",
        help_text="A name under which you can set these tags again.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


class SnapshotForm(ArgumentsForm):
    """The name of a new snapshot."""

    model = SnapshotIn
    name = forms.CharField(
        max_length=MAX_NAME_LENGTH,
        label="Name",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class TextForm(ArgumentsForm):
    """Text inside messages to replace or redact, and its replacement."""

    type = forms.ChoiceField(
        label="Action",
        choices=[
            ("replace", "Replace: the model sees other text"),
            ("redact", "Redact: masked everywhere, for everyone"),
        ],
    )
    start = LongTextField(
        rows=2, max_length=MAX_PATTERN_LENGTH, label="Text, or its start"
    )
    end = LongTextField(
        rows=2,
        max_length=MAX_PATTERN_LENGTH,
        required=False,
        label="End of the text",
        help_text="Each match runs to the nearest end and includes both."
        " Leave empty to match only the text above.",
    )
    regex = forms.BooleanField(required=False)
    replacement = LongTextField(rows=2, required=False, label="Replacement")
    include_folded = forms.BooleanField(required=False)
    fields_of = {"patterns": "start"}

    def clean(self) -> None:
        is_redaction = self.cleaned_data.get("type") == "redact"
        self.model = (
            PersonalRedactArguments if is_redaction else PersonalReplaceArguments
        )
        super().clean()

    def typed(self) -> dict[str, Any]:
        """One pattern, which stands for all its matches."""
        names = ("start", "replacement", "regex")
        pattern = {name: self.cleaned_data[name] for name in names}
        end = self.cleaned_data["end"] if not self.cleaned_data["regex"] else ""
        pattern |= {"end": end or None, "all": True}
        folded = self.cleaned_data["include_folded"]
        return {"patterns": [pattern], "include_folded": folded}

    def chosen(self, spans: Iterable[Span]) -> TextArguments:
        """The arguments with only the spans that were chosen among the matches."""
        given = [
            {
                "key": span.key,
                "part": span.part,
                "start": span.start,
                "end": span.end,
                "sha256": span.sha256,
                "replacement": span.text,
            }
            for span in spans
        ]
        chosen: Any = self.model.model_validate({"spans": given})
        return chosen  # type: ignore[no-any-return]


FORMS: Mapping[str, type[EditForm]] = {
    "digest": DigestForm,
    "snip": SnipForm,
    "tag": TagForm,
    "revise": ReviseForm,
    "insert": InsertForm,
    "resequence": MoveForm,
}


def form_of(data: QueryDict) -> EditForm:
    kind = data.get("type", "")
    if kind not in FORMS:
        raise Invalid(unknown_name("edit", kind, FORMS), at=["type"])
    return FORMS[kind](data)
