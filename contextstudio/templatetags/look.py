"""Tags and filters for every page: icons, numbers, times and the ids of nodes."""

import re
from datetime import datetime

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from contextstudio.accounts.domain.caller import is_agent

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400
_UNITS = (" min", " h", " day", " days")
_SEGMENT_END = re.compile(r"[/_.](?=[^\s/_.])")


@register.simple_tag
def icon(name: str, classes: str = "") -> SafeString:
    """The icon `name` of the sprite, hidden from assistive technology: text always names it."""
    return format_html(
        '<svg class="i {}" aria-hidden="true"><use href="{}#{}"/></svg>',
        classes,
        static("icons.svg"),
        name,
    )


@register.simple_tag
def agent_badge(actor: str) -> SafeString:
    """The badge after the name of an actor that is an agent."""
    return SafeString(' <span class="badge">agent</span>' if is_agent(actor) else "")


@register.filter
def number(value: int | None) -> str:
    """A count with thousands separators: 48310 → 48,310; empty for None."""
    return "" if value is None else f"{value:,}"


@register.filter
def signed(value: int | None) -> str:
    """A difference with its sign, a true minus, and ± for zero: -98 → −98."""
    if value is None:
        return ""
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{abs(value):,}"


@register.simple_tag
def percent_change(before: int | None, after: int | None) -> str:
    """A relative change: −79%, with a decimal near 0% and 100%."""
    if not before or after is None:
        return ""
    change = 100 * (after - before) / before
    sign = "+" if change > 0 else "−" if change < 0 else "±"
    amount = abs(change)
    if 0 < amount < 0.1:
        return f"{sign}<0.1%"
    if 0 < amount < 0.95 or 99.5 <= amount < 100:
        return f"{sign}{int(amount * 10) / 10}%"
    return f"{sign}{amount:,.0f}%"


def tokens_saved(count: int) -> str:
    """A saving in words: "saves 12 tokens", "adds 4 tokens"."""
    if not count:
        return "saves no tokens"
    return f"{'adds' if count < 0 else 'saves'} {tokens(abs(count))}"


@register.filter
def tokens(count: int) -> str:
    """A number of tokens in words: "1 token", "31,902 tokens"."""
    return "1 token" if count == 1 else f"{count:,} tokens"


@register.filter
def more_tokens(count: int) -> str:
    """A difference in tokens: "−1 token", "+1,204 tokens"."""
    return f"{signed(count)} token{'' if abs(count) == 1 else 's'}"


@register.filter
def saved(count: int) -> str:
    """How much less or more a thread has than its originals: "386 saved", "1,204 added"."""
    return f"{abs(count):,} {'saved' if count >= 0 else 'added'}"


@register.filter
def breakable(text: str) -> SafeString:
    """A text whose paths may wrap between their segments."""
    escaped = conditional_escape(text)
    return SafeString(_SEGMENT_END.sub(r"\g<0><wbr>", escaped))


@register.filter
def ago(when: datetime | None) -> str:
    """The age of a time in one unit: "now", "8 min", "2 h", "3 days", then "5 Nov 2026"."""
    if when is None:
        return ""
    seconds = (timezone.now() - when).total_seconds()
    if seconds < MINUTE:
        return "now"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h"
    days = int(seconds // DAY)
    if days < 7:
        return "1 day" if days == 1 else f"{days} days"
    return f"{when.day} {when:%b %Y}"


@register.filter
def time_ago(when: datetime | None) -> str:
    """Like `ago`, as a phrase: "just now", "8 min ago", then the date."""
    words = ago(when)
    if words == "now":
        return "just now"
    return f"{words} ago" if words.endswith(_UNITS) else words


@register.filter
def moment(when: datetime | None) -> str:
    """A time to the minute, "5 November 2026, 14:02 UTC"; empty for None."""
    return "" if when is None else f"{when.day} {when:%B %Y, %H:%M %Z}"


@register.filter
def node_id(key: str) -> str:
    """The element id of the row or marker with this key: `o7.0` → `n-o7_0`."""
    return f"n-{key.replace('.', '_')}"


@register.filter
def messages(count: int) -> str:
    """A number of messages in words: "1 message", "1,204 messages"."""
    return "1 message" if count == 1 else f"{count:,} messages"
