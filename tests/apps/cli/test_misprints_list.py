"""`netwright theory --misprints`: lines, JSON and a page."""

# ruff: noqa: RUF001 - the Greek letters are meant

import json
from pathlib import Path

import pytest

from netwright.theory.misprints.catalog import MISPRINTS
from tests.apps.cli.conftest import Type


def test_misprints_as_lines(type_in: Type) -> None:
    answer = type_in("theory", "--misprints")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    place = lines.index(next(line for line in lines if line.startswith("  nesterov-look-ahead: ")))
    assert lines[place + 1].strip() == "right  v ← γ v + η ∇ L(w - γ v),   w ← w - v"
    assert lines[place + 2].strip() == "wrong  v ← γ v + η ∇ L(w + γ v),   w ← w - v"
    assert lines[place + 4] == ""


@pytest.mark.slow
def test_misprints_as_a_page(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("theory", "--misprints", "--html", "misprints.html")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[-1] == "page: misprints.html"
    page = (tmp_path / "misprints.html").read_text(encoding="utf-8")
    assert all(f'id="{misprint.name}"' in page for misprint in MISPRINTS)


def test_misprints_as_json(type_in: Type) -> None:
    told = json.loads(type_in("theory", "--misprints", "--json").out)
    assert [entry["name"] for entry in told] == [misprint.name for misprint in MISPRINTS]
    assert all(entry["experiment"]["tells"] for entry in told if entry["experiment"])


def test_misprints_go_alone(type_in: Type) -> None:
    answer = type_in("theory", "novikoff", "--misprints")
    assert answer.code == 2
    assert answer.err == "error: --misprints takes no claims or settings\n"
