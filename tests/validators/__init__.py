"""Independent validators of requests: what each provider would refuse, as sentences.

They are written from the providers' public documentation and from refusals reported in issues, and
import nothing of the product, so that its output is checked independently.
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
