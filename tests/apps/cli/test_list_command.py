"""`netwright list`: every table, each row with a sentence; a broken part breaks only its row."""

import json

import pytest

from netwright.apps.cli.list_command import TABLES
from netwright.models.catalog import MODELS
from tests.apps.cli.conftest import Type


@pytest.mark.parametrize("kind", TABLES)
def test_every_row_has_a_sentence(type_in: Type, kind: str) -> None:
    shown = json.loads(type_in("list", kind, "--json").out)
    assert shown
    assert all(sentence and "cannot be loaded" not in sentence for sentence in shown.values())
    table = type_in("list", kind).out
    assert all(name in table for name in shown)


def test_a_broken_part_breaks_only_its_row(type_in: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS._rows, "broken", "netwright.models.nowhere:Nothing")
    shown = json.loads(type_in("list", "models", "--json").out)
    assert shown["broken"].startswith("cannot be loaded: ModuleNotFoundError")
    assert shown["mlp"].startswith("Affine maps")
