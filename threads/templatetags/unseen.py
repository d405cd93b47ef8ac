"""A filter for text of transcripts, agents and people that a template prints itself."""

from django import template

from threads.rendering.hidden import visible

register = template.Library()
register.filter("visible", visible, is_safe=False)
