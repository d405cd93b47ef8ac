"""Contents of the Gemini API, in and out, and the sessions of Gemini CLI."""

from . import cli, cli_stream, messages

FORMATS = (messages.FORMAT, cli.FORMAT, cli_stream.FORMAT)
WRITERS = {"gemini": messages.WRITER}
