"""OpenAI's Chat Completions, Responses and rows for training, in and out."""

from . import completions, finetuning, messages, responses

FORMATS = (responses.FORMAT, completions.FORMAT, messages.FORMAT)
WRITERS = {
    "openai": messages.WRITER,
    "openai_responses": responses.WRITER,
    "finetuning": finetuning.WRITER,
}
REQUESTS = {"openai": messages.REQUEST}
