"""What a person sends in: files, or text."""

import io
import json
from collections.abc import Sequence

from django import forms

from threads.store.blobs import ReceivedFile, store_stream

from . import Keep, Upload, keep_received


class ImportForm(forms.Form):
    """One or more files (`file`, with their `paths`), or a pasted transcript."""

    text = forms.CharField(required=False, strip=False)
    paths = forms.CharField(required=False, strip=False)

    def clean(self) -> dict[str, object]:
        """Something must have been sent."""
        if (
            not self.files.getlist("file")
            and not self.cleaned_data.get("text", "").strip()
        ):
            raise forms.ValidationError("Choose a file or paste a transcript.")
        return self.cleaned_data

    def upload(self) -> Upload:
        """The file, the files or the text, as kept in the blob store."""
        text = self.cleaned_data.get("text", "")
        files = received(self.files.getlist("file"), self.cleaned_data.get("paths", ""))
        if text.strip():
            stream = io.BytesIO(text.encode("utf-8", "surrogatepass"))
            files.append(("", lambda: store_stream(stream)))
        return keep_received(files)


def received(files: Sequence[object], paths: str) -> list[tuple[str, Keep]]:
    """Files of a request by their paths: `paths` is a JSON list of them, or says nothing.

    A request names files without their folders, so a page says these beside them.
    """
    found = [file for file in files if isinstance(file, ReceivedFile)]
    try:
        named = json.loads(paths) if paths else []
    except ValueError:
        named = []
    if not (isinstance(named, list) and len(named) == len(found)):
        named = []
    return [
        (str(named[place]) if named else file.name or "", file.keep)
        for place, file in enumerate(found)
    ]
