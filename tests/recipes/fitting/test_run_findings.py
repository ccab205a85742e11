"""What is told of a run that has ended: of models with a rule of their own, too; causes first."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import netwright as nw
from netwright.core.seeding import seeded
from netwright.recipes.fitting.run_findings import BRINGS_ABOUT
from netwright.train.watching.symptoms import SYMPTOMS
from tests.train.toy_runs import FEATURES, OUTPUTS, toy_data

SHORT: dict[str, Any] = {"epochs": 2, "device": "cpu", "quiet": True}


def illnesses(run: nw.Run) -> list[str]:
    return [finding["illness"] for finding in run.results["findings"]]


def test_what_an_illness_brings_about_is_a_symptom_by_name() -> None:
    names = {symptom.__name__.replace("_", "-") for symptom in SYMPTOMS}
    assert set().union(*BRINGS_ABOUT.values()) <= names


@pytest.mark.parametrize(("value", "told"), [(1e5, ["target-outliers"]), (0.1, None)])
def test_a_model_with_a_rule_of_its_own_is_told_of_its_data(
    tmp_path: Path, value: float, told: list[str] | None
) -> None:
    data = toy_data("real", rows=200, test=40)
    targets = data.train.targets.clone()
    targets[3] = value
    data = replace(data, train=replace(data.train, targets=targets))
    run = nw.fit("ridge", data, out=tmp_path / "run", device="cpu", quiet=True)
    found = run.results.get("findings")
    assert (None if found is None else illnesses(run)) == told


def test_far_targets_that_are_learned_as_well_are_not_told(tmp_path: Path) -> None:
    data = toy_data("real", rows=200, test=40)
    inputs = data.train.inputs.clone()
    inputs[3] = 1e5
    data = replace(data, train=replace(data.train, inputs=inputs, targets=inputs.clone()))
    run = nw.fit("ridge", data, out=tmp_path / "run", device="cpu", quiet=True)
    assert run.results["metrics"]["r2"] > 0.9
    assert "findings" not in run.results


def test_without_the_doctor_nothing_is_told(tmp_path: Path) -> None:
    with seeded(0):
        model = nn.Sequential(nn.Linear(FEATURES, OUTPUTS), nn.Softmax(dim=1))
    run = nw.fit(model, toy_data(), out=tmp_path / "run", doctor=False, **SHORT)
    assert "findings" not in run.results


def test_what_was_found_in_the_data_is_printed_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = toy_data(rows=60)
    data.train.targets[data.train.targets == 2] = 0
    data.train.targets[7] = 2
    run = nw.fit("mlp", data, out=tmp_path / "run", epochs=1, device="cpu")
    assert "single-row-class" in illnesses(run)
    assert "doctor: 1 of 3 classes has at most one training row" in capsys.readouterr().err
