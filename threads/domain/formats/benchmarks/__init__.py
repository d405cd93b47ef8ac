"""Runs of evaluations, and of agents made for them."""

from . import inspect_eval, swe_agent, tau

FORMATS = (*swe_agent.FORMATS, *tau.FORMATS, inspect_eval.FORMAT)
