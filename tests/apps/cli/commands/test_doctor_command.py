"""`netwright doctor`: what is wrong, before anything is trained."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.apps.cli.conftest import Type


def test_healthy_data_is_said_to_be_so(type_in: Type) -> None:
    answer = type_in("doctor", "moons")
    assert answer.code == 0
    assert answer.out.startswith("moons with mlp: nothing found, in ")
    assert "checked: class balance" in answer.out


def test_findings_are_advice_and_no_failure(type_in: Type, things_csv: Path) -> None:
    rows = things_csv.read_text(encoding="utf-8").splitlines()
    ill = [f"{row},{'same' if place else 'x'}" for place, row in enumerate(rows)]
    Path("things.csv").write_text("\n".join(ill), encoding="utf-8")
    options = ("--target", "kind", "--model", "softmax", "--out", "doctor.html")
    answer = type_in("doctor", "things.csv", *options, "--json")
    assert (answer.code, answer.err) == (0, "written: doctor.html\n")
    values = json.loads(answer.out)
    assert (values["data"], values["model"]) == ("things.csv", "softmax")
    assert [finding["illness"] for finding in values["findings"]] == ["constant-column"]
    assert "constant-column" in Path("doctor.html").read_text(encoding="utf-8")


def test_settings_are_those_of_train(type_in: Type, things_csv: Path) -> None:
    answer = type_in("doctor", things_csv, "--target", "kind", "--set", "data.drop=kolour")
    assert answer.code == 2
    assert "has no column 'kolour'; did you mean 'colour'?" in answer.err


def test_what_cannot_be_read_is_refused(type_in: Type) -> None:
    answer = type_in("doctor", "no.csv", "--target", "y")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: no.csv: there is no such file\n"
    refused = type_in("doctor", "iris", "--out", "x.pdf")
    assert (refused.code, refused.err) == (2, "error: a diagnosis is saved as .html, got 'x.pdf'\n")


def test_data_that_cannot_be_loaded_is_a_failure(type_in: Type) -> None:
    Path("e.txt").write_text("", encoding="utf-8")
    answer = type_in("doctor", "e.txt")
    assert answer.code == 1
    assert "not checked: everything else, because the data cannot be loaded" in answer.out


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**{"my number": range(1, len(table) + 1)})


def named(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**{"my id": [f"n{row}" for row in range(len(table))]})


def emptied(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(gaps=np.where(np.arange(len(table)) % 4, np.nan, 1.5 * table["a"]))


def mislabelled(table: pd.DataFrame) -> pd.DataFrame:
    wrong = np.arange(len(table)) // 2 % 6 == 0
    return table.assign(y=np.where(wrong, np.roll(table["y"], 1), table["y"]))


def unlabelled(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(y=table["y"].where(np.arange(len(table)) > 2))


def rare(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["y"] == "no") | (np.arange(len(table)) < 30)]


@pytest.mark.parametrize(
    "plant", [numbered, named, emptied, mislabelled, unlabelled, rare], ids=lambda one: one.__name__
)
def test_every_option_that_is_suggested_can_be_typed(
    plant: Callable[[pd.DataFrame], pd.DataFrame], type_in: Type
) -> None:
    chance = np.random.default_rng(0)
    table = pd.DataFrame(chance.normal(size=(480, 2)), columns=["a", "b"])
    table["a"] += 8 * (np.arange(480) % 2)
    table["y"] = np.resize(["no", "yes"], 480)
    plant(table).to_csv("t.csv", index=False)
    command = ("t.csv", "--target", "y")
    (found,) = json.loads(type_in("doctor", *command, "--json").out)["findings"]
    options = re.findall(r"--(?:set (?:'[^']+'|[^\s;]+)|drop-missing-target)", found["fix"])
    assert len(options) == 1
    answer = type_in("train", "mlp", *command, *shlex.split(options[0]), "--dry-run")
    assert (answer.code, answer.err.count("error")) == (0, 0)


def test_the_option_that_a_series_is_given_can_be_typed(type_in: Type) -> None:
    place = np.arange(80)
    table = pd.DataFrame({"t": place, "v": np.sin(place), "x": np.cos(place)})
    table.assign(gaps=np.where(place % 4, np.nan, place * 7 % 5)).to_csv("s.csv", index=False)
    options = [f"--set=data.{one}" for one in ("path=s.csv", "target=v", "time=t")]
    (found, *_) = json.loads(type_in("doctor", "series", *options, "--json").out)["findings"]
    option = re.findall(r"--set \S+", found["fix"])[0]
    assert option == "--set data.features=v,x"
    answer = type_in("train", "lstm", "series", *options, *option.split(), "--dry-run")
    assert answer.code == 0
