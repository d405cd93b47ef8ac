"""The product's settings, with shorter leases: no test should wait half a minute."""

from contextstudio.settings import *  # noqa: F403  # all of them but one

JOB_LEASE_SECONDS = 3
