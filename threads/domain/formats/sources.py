"""Names for where sessions come from: the agent, the service or the library."""

SOURCES = {
    "ai_sdk": "AI SDK",
    "aider": "aider",
    "alpaca": "Data set",
    "amp": "Amp",
    "antigravity": "Antigravity",
    "api": "API",
    "atif": "ATIF",
    "autogen": "AutoGen",
    "chat_template": "Data set",
    "chatgpt": "ChatGPT",
    "claude_ai": "Claude.ai",
    "claude_code": "Claude Code",
    "claude_code_stream": "Claude Code",
    "claude_code_terminal": "Claude Code",
    "claude_code_web": "Claude Code",
    "claude_managed": "Claude Managed Agents",
    "cline": "Cline",
    "codex": "Codex",
    "codex_exec": "Codex",
    "completions": "Data set",
    "contextstudio": "ContextStudio",
    "contextstudio-session": "ContextStudio",
    "copilot_chat": "Copilot Chat",
    "continue": "Continue",
    "copilot_replay": "Copilot Chat",
    "copilot_cli": "Copilot CLI",
    "crush": "Crush",
    "cursor": "Cursor",
    "cursor_cli": "Cursor",
    "cursor_run": "Cursor",
    "deepseek": "DeepSeek",
    "droid": "Droid",
    "droid_stream": "Droid",
    "gemini_cli": "Gemini CLI",
    "gemini_cli_stream": "Gemini CLI",
    "goose": "Goose",
    "grok": "Grok",
    "grok_com": "Grok",
    "inspect": "Inspect",
    "kimi": "Kimi",
    "kiro": "Kiro",
    "langchain": "LangChain",
    "langfuse": "Langfuse",
    "langsmith": "LangSmith",
    "letta": "Letta",
    "librechat": "LibreChat",
    "mini_swe_agent": "mini-SWE-agent",
    "open_webui": "Open WebUI",
    "openai_agents": "OpenAI Agents",
    "opencode": "opencode",
    "opencode_run": "opencode",
    "openhands": "OpenHands",
    "otel": "OpenTelemetry",
    "pi": "pi",
    "preferences": "Data set",
    "proxy": "Proxy",
    "pydantic_ai": "Pydantic AI",
    "qwen_code": "Qwen Code",
    "sharegpt": "Data set",
    "specstory": "SpecStory",
    "swe_agent": "SWE-agent",
    "tau2": "tau2",
    "tau_bench": "tau-bench",
    "zed": "Zed",
}
"""Map of format to source. Request forms and plain text have none: any program may write them."""
PROXY = "proxy"
"""The format of sessions made by the proxy, followed by the agent's name if it is known."""
_AGENTS = {
    "claude-cli/": "claude_code",
    "codex": "codex",
    "geminicli": "gemini_cli",
    "opencode/": "opencode",
}
"""Map of the start of an agent's User-Agent, in lower case, to the agent."""
SOURCES |= {f"{PROXY}_{agent}": SOURCES[agent] for agent in _AGENTS.values()}
FILE = "File"
"""The name of the source if the format has none."""


def source_of(format: str) -> str:
    """The name of the source of sessions in this format."""
    return SOURCES.get(format, FILE)


def formats_of(source: str) -> list[str]:
    """The formats of a source, whose name is case-insensitive; none if it is `FILE` or unknown."""
    return [name for name, said in SOURCES.items() if said.lower() == source.lower()]


def proxy_format(client: str) -> str:
    """The format of a session that the proxy makes for a client, by its User-Agent."""
    said = client.lower()
    for beginning, agent in _AGENTS.items():
        if said.startswith(beginning):
            return f"{PROXY}_{agent}"
    return PROXY


def is_from_proxy(format: str) -> bool:
    """Whether sessions in this format were made by the proxy."""
    return format == PROXY or format.startswith(f"{PROXY}_")
