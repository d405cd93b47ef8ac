"""Fields that the forms of several capabilities have."""

import re
from collections.abc import Iterator
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


class ListField(forms.CharField):
    """Texts with commas between them; one that holds a comma stands in quotation marks."""

    between, gap = ",", ", "
    """What parts texts, as a set of characters of an expression, and what is put there."""

    def prepare_value(self, value: Any) -> Any:
        """What the field shows of a list."""
        is_list = isinstance(value, list | tuple)
        return self.gap.join(map(self._written, value)) if is_list else value

    def clean(self, value: Any) -> list[str]:
        """Each text once. Raises ValidationError where there must be one and is none."""
        texts = self._texts(str(super().clean(value)))
        found = list(dict.fromkeys(filter(None, texts)))
        if self.required and not found:
            raise forms.ValidationError(self.error_messages["required"], "required")
        return found

    def plain(self, text: str) -> str:
        """What a text means that stands without quotation marks."""
        return text.strip()

    def _texts(self, words: str) -> Iterator[str]:
        quoted = rf'"((?:[^"]|"")*)"\s*(?=[{self.between}]|$)'
        for found in re.finditer(rf"\s*(?:{quoted}|([^{self.between}]+))", words):
            text, plain = found.groups()
            yield self.plain(plain) if text is None else text.replace('""', '"')

    def _written(self, text: str) -> str:
        if not text.startswith('"') and list(self._texts(text)) == [text]:
            return text
        return '"' + text.replace('"', '""') + '"'


class TagsField(ListField):
    """Tags, with blanks or commas between them; one that holds such stands in quotation marks."""

    between, gap = r"\s,", " "

    def plain(self, text: str) -> str:
        return text.lstrip("#")
