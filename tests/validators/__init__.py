"""Independent readers of requests: what each provider would refuse of one, as sentences.

They are written from the providers' public documentation and the refusals known from issues,
and import nothing of the product, so that what compiles is checked by somebody else.
"""

from . import (
    anthropic,
    bedrock,
    deepseek,
    gemini,
    generic_strict,
    mistral,
    openai,
    openai_responses,
)

VALIDATORS = {
    "openai": openai.validate,
    "openai-responses": openai_responses.validate,
    "anthropic": anthropic.validate,
    "gemini": gemini.validate,
    "mistral": mistral.validate,
    "deepseek": deepseek.validate,
    "bedrock": bedrock.validate,
    "generic-strict": generic_strict.validate,
}
