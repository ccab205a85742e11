"""`netwright doctor`: what is wrong, before anything is trained."""

import json
from pathlib import Path

from tests.apps.cli.conftest import Type


def test_healthy_data_is_said_to_be_so(type_in: Type) -> None:
    answer = type_in("doctor", "moons")
    assert answer.code == 0
    assert answer.out.startswith("moons with mlp: nothing found, in ")
    assert "looked at: the shares of the classes" in answer.out


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
