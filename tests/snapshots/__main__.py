"""The agreed description of the API: `make snapshot` writes it, `--check` compares.

The contract is version 1: additions are free, changes are not. So that nothing changes unnoticed,
the description is kept beside the tests and its changes are visible in every review.
"""

import difflib
import json
import os
import sys
from pathlib import Path

import django

SNAPSHOT = Path(__file__).with_name("openapi.json")


def described() -> str:
    """The current description, in a form whose differences are readable."""
    from contextstudio.api import api  # needs Django's set-up

    return json.dumps(api.get_openapi_schema(), indent=1, sort_keys=True) + "\n"


def main() -> int:
    """Write the description, or with `--check` print the differences and return 1."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
    django.setup()
    now = described()
    if "--check" not in sys.argv[1:]:
        SNAPSHOT.write_text(now)
        return 0
    agreed = SNAPSHOT.read_text()
    if now == agreed:
        return 0
    difference = difflib.unified_diff(
        agreed.splitlines(), now.splitlines(), "agreed", "now", lineterm="", n=2
    )
    print("\n".join(difference))
    print("The API's description has changed; where that is meant: make snapshot")
    return 1


if __name__ == "__main__":
    sys.exit(main())
