"""Recorded traffic between programs and providers: requests with responses, streamed replies."""

from . import event_stream, har

FORMATS = (har.FORMAT, event_stream.FORMAT)
