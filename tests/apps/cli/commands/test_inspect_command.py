"""`netwright inspect`: views of a run in words, as pictures, pages and numbers."""

import json
from pathlib import Path

import pytest

import netwright as nw
from tests.apps.cli.conftest import Type


def test_without_a_view_the_runs_views_are_listed(type_in: Type, things_run: Path) -> None:
    answer = type_in("inspect", things_run)
    assert answer.code == 0
    assert "confusion" in answer.out
    assert "Which classes are taken for which." in answer.out
    assert "residuals" not in answer.out
    assert set(json.loads(type_in("inspect", things_run, "--json").out)) >= {"confusion", "curves"}


def test_a_view_is_told_and_saved(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    answer = type_in("inspect", things_run, "summary", "--save", "layers.svg")
    assert answer.code == 0
    assert answer.out.endswith("written: layers.svg\n")
    assert b"<svg" in (tmp_path / "layers.svg").read_bytes()


def test_beside_a_picture_only_its_caption_is_told(type_in: Type, things_run: Path) -> None:
    assert "BACKWARD" in type_in("inspect", things_run, "backprop").out
    caption = nw.inspect(things_run, "backprop").caption
    answer = type_in("inspect", things_run, "backprop", "--save", "steps.svg")
    assert answer.out.split() == [*caption.split(), "written:", "steps.svg"]  # lines may be wrapped


def test_numbers_as_json(type_in: Type, things_run: Path) -> None:
    shown = json.loads(type_in("inspect", things_run, "confusion", "--json").out)
    assert {"big", "small"} == set(shown["class_names"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["confusio"], "error: unknown view 'confusio'; did you mean 'confusion'?"),
        (["curves", "--save", "x.gif"], "error: a view is saved as .svg, .png, .html, got 'x.gif'"),
        (
            ["curves", "--save", "no/x.svg"],
            "error: a view is saved in a folder that exists, got 'no'",
        ),
        (["curves", "--set", "cells"], "error: --set must be KEY=VALUE, got 'cells'"),
        (["curves", "--set", "cells=3"], "error: unknown setting 'view.cells'; there are axis"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    type_in: Type, things_run: Path, words: list[str], sentence: str
) -> None:
    answer = type_in("inspect", things_run, *words)
    assert (answer.code, answer.err) == (2, f"{sentence}\n")


def test_an_input_of_ones_own_is_looked_at(type_in: Type, things_run: Path) -> None:
    row = "size=9.5,colour=red"
    answer = type_in("inspect", things_run, "occlusion", "--of", row, "--json")
    wanted = nw.inspect(things_run, "occlusion", of={"size": "9.5", "colour": "red"}).to_json()
    assert json.loads(answer.out) == json.loads(json.dumps(wanted))
    refused = type_in("inspect", things_run, "occlusion", "--of", "size")
    assert refused.code == 2 and refused.err.startswith('error: --of must be like "a=1,b=x"')
    assert type_in("inspect", things_run, "--of", row).code == 2


def test_what_is_no_run_is_refused(type_in: Type) -> None:
    answer = type_in("inspect", "nowhere", "curves")
    assert answer.code == 2
    assert answer.err == "error: nowhere is not a run folder: there is no such folder\n"


def test_other_data_is_looked_at(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("size,colour,kind\n9.0,red,big\n1.0,red,small\n")
    seen = type_in("inspect", things_run, "confusion", "--data", "new.csv", "--json")
    assert sum(map(sum, json.loads(seen.out)["counts"])) == 2


def test_saving_needs_a_view(type_in: Type, things_run: Path) -> None:
    answer = type_in("inspect", things_run, "--save", "x.svg")
    sentence = "error: --save, --example, --of and --set need the name of a view\n"
    assert (answer.code, answer.err) == (2, sentence)
