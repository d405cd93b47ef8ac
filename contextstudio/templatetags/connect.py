"""The section "Connect an agent": what to set in a client, for this server and a new key."""

from typing import Any

from django import template

from contextstudio.accounts.domain.connecting import MCP, connections
from contextstudio.accounts.domain.rights import Right, with_implied
from contextstudio.accounts.keys.services import NewKey

register = template.Library()


@register.inclusion_tag("accounts/connect.html", takes_context=True)
def connect_agent(context: template.RequestContext, key: NewKey) -> dict[str, Any]:
    """The settings of every client with this key, for the address of the requested page."""
    url = context.request.build_absolute_uri("/")
    found = connections(url, key.text)
    keeps = Right.OWN_SESSION in with_implied(map(Right, key.row.scopes))
    return {
        "connections": found,
        "key": key.row,
        "keeps_sessions": keeps,
        "open": found[0].client if keeps else MCP,
    }
