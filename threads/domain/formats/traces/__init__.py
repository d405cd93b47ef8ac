"""Traces that programs recorded of their calls to models."""

from . import langchain, langfuse, langsmith, otel

FORMATS = (langsmith.FORMAT, langchain.FORMAT, langfuse.FORMAT, otel.FORMAT)
