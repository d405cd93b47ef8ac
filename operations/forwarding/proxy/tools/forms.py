"""The forms in which tools are offered."""

from collections.abc import Mapping

from .anthropic import AnthropicTools
from .chat import ChatTools
from .form import ToolForm
from .gemini import GeminiTools
from .responses import ResponsesTools

FORMS: Mapping[str, ToolForm] = {
    "openai": ChatTools(),
    "openai-responses": ResponsesTools(),
    "anthropic": AnthropicTools(),
    "gemini": GeminiTools(),
}
