"""Runs of evaluations and of the agents that were made for them."""

from . import inspect_eval, mini_swe_agent, swe_agent, tau2, tau_bench

FORMATS = (
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    tau_bench.FORMAT,
    tau2.FORMAT,
    inspect_eval.FORMAT,
)
