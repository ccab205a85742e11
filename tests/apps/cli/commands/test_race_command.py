"""`netwright race`: tables, JSON, pages and pictures, and refusals."""

import json
from pathlib import Path

import pytest

from netwright.theory.optimizers.surfaces import SURFACES
from tests.apps.cli.conftest import Type


def test_a_race_is_a_table_for_each_surface(type_in: Type) -> None:
    answer = type_in("race", "sgd", "adam", "--steps", 10)
    assert (answer.code, answer.err) == (0, "")
    assert all(name in answer.out for name in SURFACES)
    assert answer.out.count("adam") == len(SURFACES)


def test_a_race_as_json_with_a_rate_that_is_given(type_in: Type) -> None:
    answer = type_in("race", "sgd", "--surface", "ravine", "--lr", "sgd=0.01", "--json")
    told = json.loads(answer.out)
    assert told["steps"] == 200
    (race,) = told["races"]
    assert race["surface"] == "ravine"
    assert race["laps"][0]["lr"] == 0.01


def test_pages_hold_all_surfaces_and_pictures_one_each(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("race", "sgd", "--steps", 5, "--out", "race.html")
    assert answer.out.endswith("written: race.html\n")
    assert (tmp_path / "race.html").read_text().count("data:image/svg+xml") == len(SURFACES)
    type_in("race", "sgd", "--steps", 5, "--surface", "saddle", "--out", "one.png")
    type_in("race", "sgd", "--steps", 5, "--out", "all.svg")
    assert (tmp_path / "one.png").exists()
    assert sorted(path.stem for path in tmp_path.glob("all-*.svg")) == [
        f"all-{name}" for name in sorted(SURFACES)
    ]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["sgdd"], "error: unknown optimizer 'sgdd'; did you mean 'sgd'?"),
        (["sgd", "--lr", "0.1"], "error: --lr must be NAME=RATE, got '0.1'"),
        (["sgd", "--lr", "sgd=0"], "error: the learning rate of sgd must be above 0, got 0"),
        (
            ["sgd", "--lr", "sgd=1", "--lr", "sgd=2"],
            "error: --lr must be given once for sgd, got two",
        ),
        (
            ["sgd", "--out", "nowhere/a.png"],
            "error: a race is saved in a folder that exists, got 'nowhere'",
        ),
        (["sgd", "--out", "a.gif"], "error: a race is saved as .svg, .png, .html, got 'a.gif'"),
    ],
    ids=["name", "pair", "rate", "twice", "folder", "format"],
)
def test_what_cannot_be_raced_is_refused(type_in: Type, words: list[str], refusal: str) -> None:
    answer = type_in("race", *words)
    assert (answer.code, answer.out, answer.err.strip()) == (2, "", refusal)
