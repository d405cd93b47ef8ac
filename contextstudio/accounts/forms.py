"""The forms of accounts."""

from typing import Any

from django import forms

from .domain.caller import Caller
from .domain.rights import Right
from .models import Project
from .selectors import visible_projects


class SignInForm(forms.Form):
    """A name and a password."""

    username = forms.CharField(max_length=150, strip=False)
    password = forms.CharField(max_length=1000, strip=False, widget=forms.PasswordInput)


class KeyForm(forms.Form):
    """What a new key is for: a project of the caller, and at most the caller's rights in it."""

    name = forms.CharField(max_length=100)
    project = forms.ModelChoiceField(
        Project.objects.none(), to_field_name="slug", empty_label=None
    )
    scopes = forms.MultipleChoiceField(
        choices=[(right.value, right.value) for right in Right],
        widget=forms.CheckboxSelectMultiple,
        initial=[Right.READ.value, Right.PROPOSE.value],
    )

    def __init__(self, caller: Caller, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["project"].queryset = visible_projects(caller)  # type: ignore[attr-defined]
