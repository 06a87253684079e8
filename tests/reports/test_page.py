"""What a page is made of: a section that lacks something is refused, and so is a missing Jinja2."""

import sys

import pytest
from runs import one_sentence

from grbp.errors import InvalidInput, MissingExtra
from grbp.reports.page import Section, environment


def test_a_figure_without_words_and_a_torn_table_are_refused() -> None:
    with pytest.raises(InvalidInput, match="alt text"):
        Section("a", "b", b"<svg/>", " ")
    with pytest.raises(InvalidInput, match="2 columns"):
        Section("a", "b", head=("x", "y"), rows=[("1", "2"), ("3",)])


def test_without_jinja2_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r"pip install 'grbp\[plots\]'") as caught:
        environment()
    one_sentence(caught.value)
