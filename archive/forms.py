"""The form of a memo."""

from django import forms

from operations.form_fields import LongTextField, TagsField

from .memos import LONGEST

MOST_TAGS = 20
LONGEST_TAG = 100


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
        """Raises ValidationError for too many, or one that is too long."""
        tags: list[str] = self.cleaned_data["tags"]
        if any(len(tag) > LONGEST_TAG for tag in tags):
            raise forms.ValidationError(f"A tag has at most {LONGEST_TAG} characters.")
        if len(tags) > MOST_TAGS:
            raise forms.ValidationError(f"A memo has at most {MOST_TAGS} tags.")
        return tags
