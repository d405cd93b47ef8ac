"""Fields that hold several texts: what they show is what they read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.form_fields import ListField, TagsField

FIELDS = (ListField(required=False), TagsField(required=False))
some_texts = st.lists(
    st.text(alphabet='ab,#" ', min_size=1).map(str.strip).filter(bool), unique=True
)


@pytest.mark.parametrize("field", FIELDS)
@given(texts=some_texts)
def test_what_a_field_shows_of_texts_it_reads_as_these_texts(
    field: ListField, texts: list[str]
) -> None:
    assert field.clean(field.prepare_value(texts)) == texts


def test_texts_are_parted_by_commas_and_tags_by_blanks_too() -> None:
    paths, tags = FIELDS
    assert paths.clean("docs/*, a b.md,, docs/*") == ["docs/*", "a b.md"]
    assert tags.clean("#brief, long  brief #") == ["brief", "long"]
    assert paths.prepare_value(["docs/*", "a,b.md"]) == 'docs/*, "a,b.md"'
    assert tags.prepare_value(("brief", "to do")) == 'brief "to do"'
    assert tags.clean('"to do" half"open') == ["to do", 'half"open']
    assert tags.prepare_value("as typed") == "as typed"
