"""A page names its script and all that this imports, so that a browser asks for them at once."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.staticfiles.finders import get_finder

from contextstudio.templatetags import modules
from contextstudio.web.static_files import version

_ADDRESS = re.compile(r'(?:href|src)="/static/(?:[0-9a-f]{12}/)?([^"]+)"')


@pytest.fixture
def written(settings: LazySettings, tmp_path: Path) -> Iterator[Path]:
    """A folder in the place of the product's static files: a circle of modules beside another."""
    settings.STATICFILES_DIRS = [tmp_path]
    (tmp_path / "base").mkdir()
    (tmp_path / "page.js").write_text(
        'import "./base/one.js";\nimport { two } from "./base/two.js";\nlet last = "./x.js";\n'
    )
    (tmp_path / "base/one.js").write_text(
        'import {\n  two,\n  three,\n} from "../base/two.js";\nexport * from "../three.js";\n'
    )
    (tmp_path / "base/two.js").write_text('import "./one.js";')
    (tmp_path / "three.js").write_text("// It imports nothing.")
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    for kept in (version, get_finder, modules._kept):
        kept.cache_clear()


def test_all_that_a_module_imports_is_named_once_before_it(written: Path) -> None:
    named = _ADDRESS.findall(modules.module("page.js"))
    assert named == ["base/one.js", "base/two.js", "three.js", "page.js"]


def test_while_one_works_on_modules_a_new_import_is_seen(
    settings: LazySettings, written: Path
) -> None:
    settings.DEBUG = True
    assert len(_ADDRESS.findall(modules.module("page.js"))) == 4
    (written / "four.js").touch()
    (written / "three.js").write_text('import "./four.js";')
    assert _ADDRESS.findall(modules.module("page.js"))[-2:] == ["four.js", "page.js"]


def test_in_production_they_are_read_where_they_were_gathered(
    settings: LazySettings, written: Path
) -> None:
    settings.STATICFILES_DIRS = []
    settings.PRODUCTION, settings.STATIC_ROOT = True, written
    assert len(_ADDRESS.findall(modules.module("page.js"))) == 4


def test_a_module_that_is_not_there_is_said(written: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.js"):
        modules.module("gone.js")
