"""The table of views: every row loads, tells what it shows, and where it comes from."""

from netwright.core.config import parse
from netwright.recipes.views.catalog import VIEWS


def test_every_row_has_a_card_and_settings_with_defaults() -> None:
    for name in VIEWS:
        entry = VIEWS.load(name)
        assert entry.card.sentence.endswith((".", "?")), name
        assert entry.card.source, name
        parse(entry.settings, {}, "view")


def test_what_the_report_shows_stands_before_what_is_shown_on_request() -> None:
    shown = [VIEWS.load(name).section is not None for name in VIEWS]
    assert shown == sorted(shown, reverse=True)
