"""OpenAI's Chat Completions, Responses and training rows, read and written."""

from threads.domain.formats.requests import RequestReader

from . import items, messages, request, responses, training

FORMATS = (responses.FORMAT, training.FORMAT, messages.FORMAT)
WRITERS = {
    "openai": messages.WRITER,
    "openai_responses": responses.WRITER,
    "finetuning": training.WRITER,
}
REQUESTS = {"openai": messages.REQUEST, "openai-responses": request.REQUEST}
READERS = {
    "openai": RequestReader(messages.read_messages),
    "openai-responses": RequestReader(
        request.read_messages, bound_call=items.bound_call
    ),
}
