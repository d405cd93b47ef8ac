"""REST: projects, their members, keys, jobs."""

from .keys import router as keys
from .projects import router as projects

ROUTERS = (projects, keys)
