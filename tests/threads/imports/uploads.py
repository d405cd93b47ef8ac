"""Files and images as tests send them."""

import base64
import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.operations.support.rest import said

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
CHAT = json.dumps(said(3)).encode()


def image(data: bytes, media_type: str) -> dict[str, Any]:
    encoded = base64.b64encode(data).decode()
    url = {"url": f"data:{media_type};base64,{encoded}"}
    return {"type": "image_url", "image_url": url}


def with_image(data: bytes = PNG, media_type: str = "image/png") -> dict[str, Any]:
    text = {"type": "text", "text": "Look:"}
    return {"role": "user", "content": [text, image(data, media_type)]}


def upload(
    client: Client, data: bytes, *, name: str = "chat.json", **fields: str
) -> Any:
    file = SimpleUploadedFile(name, data)
    return client.post("/api/sessions/import", {"file": file, **fields})
