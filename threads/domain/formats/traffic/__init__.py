"""What went over the wire between programs and providers: streamed replies."""

from . import event_stream

FORMATS = (event_stream.FORMAT,)
