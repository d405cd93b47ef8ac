"""Fields that the forms of several capabilities have."""

from typing import Any

from django import forms


def sendable(text: str) -> str:
    """Words as a form may hold them: a half of a surrogate pair can't be sent."""
    return text.encode("utf-8", "replace").decode()


class LongTextField(forms.CharField):
    """Text of many lines, kept as it was typed.

    With `rows` it is a piece of a message; without, all of one, whose tokens the page says.
    """

    def __init__(self, **options: Any) -> None:
        rows = options.pop("rows", None)
        attributes = {"rows": rows or 12, "spellcheck": "true", "dir": "auto"}
        if rows is None:
            attributes["data-count-tokens"] = ""
        widget = forms.Textarea(attrs=attributes)
        super().__init__(strip=False, widget=widget, **options)

    def clean(self, value: Any) -> str:
        """Line ends as transcripts have them: a browser sends CR LF."""
        return str(super().clean(value)).replace("\r\n", "\n")


class TagsField(forms.CharField):
    """Tags, with blanks or commas between them."""

    def clean(self, value: Any) -> list[str]:
        """Each tag once."""
        names = str(super().clean(value)).replace(",", " ").split()
        return list(
            dict.fromkeys(name.lstrip("#") for name in names if name.strip("#"))
        )
