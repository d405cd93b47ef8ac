"""The form of a memo."""

from django import forms

from operations.form_fields import LongTextField, TagsField

from .memos import LONGEST

MOST_TAGS = 20


class MemoForm(forms.Form):
    """Something worth knowing in every session of the project."""

    content = LongTextField(
        rows=5,
        max_length=LONGEST,
        label="What later sessions need to know",
        help_text="One fact that makes sense without this conversation.",
    )
    tags = TagsField(
        required=False,
        label="Tags",
        help_text="Separate tags with spaces, for example gotcha or arch-decision.",
    )

    def clean_tags(self) -> list[str]:
        """Raises ValidationError for too many."""
        tags: list[str] = self.cleaned_data["tags"]
        if len(tags) > MOST_TAGS:
            raise forms.ValidationError(f"A memo has at most {MOST_TAGS} tags.")
        return tags
