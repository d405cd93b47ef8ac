"""OpenAI's Chat Completions, Responses and rows for training, in and out."""

from . import messages, responses, training

FORMATS = (responses.FORMAT, training.FORMAT, messages.FORMAT)
WRITERS = {
    "openai": messages.WRITER,
    "openai_responses": responses.WRITER,
    "finetuning": training.WRITER,
}
REQUESTS = {"openai": messages.REQUEST}
