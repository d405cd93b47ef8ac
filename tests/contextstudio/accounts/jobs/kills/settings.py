"""The product's settings, with leases that end sooner: nobody waits half a minute for a test."""

from contextstudio.settings import *  # noqa: F403  # all of them but one

JOB_LEASE_SECONDS = 3
