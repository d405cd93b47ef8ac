"""REST: projects, their members, keys, jobs."""

from .jobs import router as jobs
from .keys import router as keys
from .projects import router as projects

ROUTERS = (projects, jobs, keys)
