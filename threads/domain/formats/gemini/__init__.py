"""Contents of the Gemini API, read and written, and the sessions of Gemini CLI."""

from threads.domain.formats.requests import RequestReader

from . import cli, cli_stream, messages, request

FORMATS = (messages.FORMAT, cli.FORMAT, cli_stream.FORMAT)
WRITERS = {"gemini": messages.WRITER}
REQUESTS = {"gemini": request.REQUEST}
READERS = {
    "gemini": RequestReader(
        request.read_messages, request.read_system, from_any_place=False
    )
}
