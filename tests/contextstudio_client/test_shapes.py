"""The client's shapes against the description of the API, and the package as it is built."""

import json
import os
import subprocess
import sys
import types
import zipfile
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from contextstudio_client import shapes
from tests.servers import ROOT

SCHEMAS = json.loads((ROOT / "tests/snapshots/openapi.json").read_text("utf-8"))
SCHEMAS = SCHEMAS["components"]["schemas"]
NAMED = {
    "Applied": "ApplyOut", "BeforeAfter": "ApplyTokens", "Changed": "ChangedOut",
    "Context": "ContextOut", "ContextTokens": "ContextTokens", "Issue": "IssueOut",
    "Message": "MessageOut", "Messages": "MessageList", "Note": "WarningOut",
    "Operation": "OperationOut", "OperationList": "OperationList",
    "Recorded": "RecordedOut", "RecordedBundle": "BundleOut",
    "RecordedOne": "OneRecorded", "Resolved": "ResolvedOut",
    "SessionInfo": "SessionOut", "Snapshot": "SnapshotOut", "Snapshots": "SnapshotList",
    "Step": "StepOut", "Suspended": "SuspendedOut",
    "Switched": "SwitchOut", "Tools": "ToolList",
}  # fmt: skip
SHAPES = {
    name: one
    for name, one in vars(shapes).items()
    if is_dataclass(one) and isinstance(one, type) and one is not shapes.Page
}
KINDS = {
    str: {"string"}, int: {"integer"}, bool: {"boolean"}, list: {"array"},
    datetime: {"string"}, dict: {"object"}, types.NoneType: {"null"},
}  # fmt: skip


def types_of(schema: dict[str, Any]) -> set[str]:
    if "anyOf" in schema:
        return {kind for one in schema["anyOf"] for kind in types_of(one)}
    if "$ref" in schema:
        return types_of(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    return {schema["type"]} if "type" in schema else set()


def types_read(shape: Any) -> set[str]:
    if get_origin(shape) in (types.UnionType,):
        return {kind for one in get_args(shape) for kind in types_read(one)}
    bare = get_origin(shape) or shape
    return {"object"} if is_dataclass(bare) else KINDS.get(bare, set())


def test_every_shape_is_compared() -> None:
    assert set(SHAPES) == set(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_a_shape_reads_what_the_api_promises(name: str) -> None:
    schema = SCHEMAS[NAMED[name]]
    hints = get_type_hints(SHAPES[name])
    for one in fields(SHAPES[name]):
        described = schema["properties"][one.name]
        if one.default is MISSING:
            assert one.name in schema["required"], one.name
        if hints[one.name] is not Any:
            assert types_of(described) <= types_read(hints[one.name]), one.name


def test_the_package_can_be_built_and_installed_alone(tmp_path: Path) -> None:
    """As `pip install "…#subdirectory=contextstudio_client"` does it, without a network."""
    source = tmp_path / "contextstudio_client"
    source.mkdir()
    for file in (ROOT / "contextstudio_client").iterdir():
        if file.is_file():
            (source / file.name).write_bytes(file.read_bytes())
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*build, *options, "-w", tmp_path, source], check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        packed.extractall(tmp_path / "installed")
    own = {file.name for file in source.glob("*.py")} | {"py.typed"}
    assert {f"contextstudio_client/{name}" for name in own} <= names
    imported = (
        "import contextstudio_client, sys;"
        "assert 'installed' in contextstudio_client.__file__;"
        "assert not {'django', 'pydantic', 'contextstudio'} & set(sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    subprocess.run(
        [sys.executable, "-c", imported],
        check=True,
        env=environment,
        cwd=tmp_path / "installed",
    )
