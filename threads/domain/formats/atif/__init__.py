"""ATIF, the interchange format of agents' trajectories, versions 1.0 to 1.8.

A trajectory is one JSON document of numbered steps by the system, the user or the agent. An agent's
step holds its reasoning, text and calls, and the results of the calls; here the results become a
message with the role `tool` after it. Trajectories of sub-agents are embedded or in files beside
it, and a continuation is a file of its own: `folder` joins files that belong together.

Source: the RFC "Agent Trajectory Format" of Harbor, and the models of the package `atif`.
"""

from typing import BinaryIO

from threads.domain.formats.format import Format, Writer
from threads.domain.formats.io import json_file
from threads.domain.formats.kit.transcripts import require_transcripts
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Transcript, Warning

from .folder import gather
from .trajectory import NAME, embedded, identity, is_trajectory, open_steps, transcript
from .writing import write, write_archive


def read(file: BinaryIO, name: str) -> list[Transcript]:
    """The trajectories of a file, including embedded ones. Raises Invalid if none has messages."""
    skipped: list[Warning] = []
    found: list[Transcript] = []
    for span in json_file.documents(file, skipped):
        steps = open_steps(file, span)
        external_id, parent = identity(steps, name)
        if own := transcript(steps, external_id, parent):
            found.append(own)
        else:
            skipped.extend(steps.warnings)
        found += embedded(steps, external_id)
    return require_transcripts(found, skipped)


def _score(sample: Sample) -> float:
    return 0.95 if any(map(is_trajectory, (sample.object, *sample.rows[:1]))) else 0


FORMAT = Format(NAME, "an ATIF trajectory", _score, read, gather=gather)
WRITER = Writer("ATIF trajectory", "json", "application/json", write)
ARCHIVE_WRITER = Writer("ATIF with its files", "zip", "application/zip", write_archive)
FORMATS = (FORMAT,)
WRITERS = {"atif": WRITER, "atif_zip": ARCHIVE_WRITER}
