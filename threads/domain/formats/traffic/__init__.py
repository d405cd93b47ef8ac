"""What went over the wire between programs and providers: recorded calls, streamed replies."""

from . import event_stream, har

FORMATS = (har.FORMAT, event_stream.FORMAT)
