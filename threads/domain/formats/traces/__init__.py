"""What programs recorded of their calls to models: LangChain, Langfuse, OpenTelemetry."""

from . import langchain, langfuse, otel

FORMATS = (langchain.FORMAT, langfuse.FORMAT, otel.FORMAT)
