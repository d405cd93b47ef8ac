"""Contexts in the terms of the public API."""

from collections.abc import Iterable
from typing import Any

from operations.domain.context.policy import encode_policy
from operations.domain.context.step import Step
from operations.domain.providers.request import Issue, Layer
from threads import tokens

from .services import Context, Effect


def present_context(context: Context) -> dict[str, Any]:
    """A context in the terms of the public API."""
    compiled, assembly = context.compiled, context.assembly
    by_layer = {layer.name: layer.tokens for layer in assembly.layers}
    answer: dict[str, Any] = {
        "session_id": str(context.session.pk),
        "provider": context.provider,
        "model": context.model,
        "policy": context.policy.preset,
        "request": compiled.request,
        "messages": compiled.messages,
        "layers": [_present_layer(layer) for layer in assembly.layers],
        "injected": present_injected(assembly.layers),
        "issues": [present_issue(issue) for issue in compiled.issues],
        "steps": [present_step(step) for step in context.steps],
        "over_budget": context.over_budget,
        "max_tokens": context.max_tokens,
        "heaviest": [one._asdict() for one in context.heaviest],
        "tokens": {
            "total": assembly.total,
            "shown": assembly.shown,
            "sent": context.sent,
            "by_layer": by_layer | {"history": context.sent - sum(by_layer.values())},
            "tokenizer": context.encoding,
            "exact": tokens.is_exact(context.model),
        },
    }
    if compiled.system is not None:
        answer["system"] = compiled.system
    return answer


def _present_layer(layer: Layer) -> dict[str, Any]:
    names = ("name", "text", "tokens", "keys")
    return {name: getattr(layer, name) for name in names}


def present_injected(layers: Iterable[Layer]) -> list[dict[str, str]]:
    """The memos that are sent, and why."""
    return [one._asdict() for layer in layers for one in layer.injected]


def present_effect(effect: Effect) -> dict[str, Any]:
    """What a policy would change."""
    return {
        "policy": encode_policy(effect.after.policy),
        "before": effect.before.sent,
        "after": effect.after.sent,
        "steps": [present_step(step) for step in effect.after.steps],
    }


def present_issue(issue: Issue) -> dict[str, Any]:
    """A violated rule."""
    return {
        "rule": issue.rule,
        "severity": issue.severity.value,
        "keys": list(issue.keys),
        "detail": issue.detail,
        "repair": issue.repair,
    }


def present_step(step: Step) -> dict[str, Any]:
    """What a step did, including each message that lost something."""
    return {
        "name": step.name,
        "before": step.before,
        "after": step.after,
        "added": step.added,
        "left_out": [
            {"key": key, "tokens": tokens, "why": why}
            for key, tokens, why in step.left_out
        ],
    }
