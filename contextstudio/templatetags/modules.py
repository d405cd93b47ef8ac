"""The tag for a page's script, which preloads all that the script imports."""

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

from django import template
from django.conf import settings
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

_IMPORT = re.compile(
    r"""^(?:import|export)\b[^;"']*["'](\.[^"']+)["'];""", re.MULTILINE
)


@register.simple_tag
def module(name: str) -> SafeString:
    """The script element of a module, after preload links for its direct and indirect imports.

    By itself a browser discovers imports level by level, each of which takes a round trip.
    """
    imported = _read(name) if settings.DEBUG else _kept(name)
    links = format_html_join(
        "\n",
        '<link rel="modulepreload" href="{}">',
        ((static(one),) for one in imported),
    )
    return format_html(
        '{}\n<script type="module" src="{}"></script>', links, static(name)
    )


@cache
def _kept(name: str) -> tuple[str, ...]:
    return _read(name)


def _read(name: str) -> tuple[str, ...]:
    """The static files that a module imports, each once, in the order of discovery."""
    found = [name]
    for one in found:  # grows while it is iterated over
        found += [met for met in _imports(one) if met not in found]
    return tuple(found[1:])


def _imports(name: str) -> list[str]:
    """The direct imports of a module. Raises FileNotFoundError if it doesn't exist."""
    path = (
        Path(settings.STATIC_ROOT, name)
        if settings.PRODUCTION
        else Path(finders.find(name) or name)
    )
    named = dict.fromkeys(_IMPORT.findall(path.read_text("utf-8")))
    return [normpath(join(dirname(name), address)) for address in named]
