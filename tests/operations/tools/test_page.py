"""docs/tools.md is what the table of tools says."""

import io

from django.core.management import call_command

from tests.servers import ROOT


def test_the_reference_page_is_current() -> None:
    output = io.StringIO()
    call_command("tools_page", stdout=output)
    page = (ROOT / "docs" / "tools.md").read_text("utf-8")
    assert page == output.getvalue(), "manage.py tools_page > docs/tools.md"
