"""The forms of what a session keeps beside its messages: objective, STATE, scratchpad."""

from django import forms

from operations.form_fields import LongTextField

from . import scratchpads, states


class ObjectiveForm(forms.Form):
    """What the session is for."""

    objective = forms.CharField(
        required=False,
        max_length=500,
        label="Objective",
        help_text="One line. Operations can be limited to an objective. Leave empty for none.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


class StateForm(forms.Form):
    """Other words for STATE."""

    content = LongTextField(
        rows=8,
        max_length=states.LONGEST,
        label="STATE",
        help_text="Active until a later response brings its own.",
    )


class ScratchpadForm(forms.Form):
    """Other words for the scratchpad; `version` is the one that they were written from."""

    content = LongTextField(
        rows=12, required=False, max_length=scratchpads.LONGEST, label="Markdown"
    )
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
