"""Archives packed by tests, and what is unpacked from them."""

import io
import zipfile

from threads.imports.upload import UnpackedUpload, keep_upload, unpack
from threads.store import blobs


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return held.getvalue()


def brought(data: bytes, name: str = "file", **options: int) -> UnpackedUpload:
    return unpack(keep_upload(io.BytesIO(data), name=name), **options)


def contents(found: UnpackedUpload) -> dict[str, bytes]:
    return {one.name: blobs.read(one.sha256) for one in found.members}


def codes(found: UnpackedUpload) -> dict[str, str]:
    return {problem.name: problem.code for problem in found.problems}
