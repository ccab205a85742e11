"""Several inputs of one example: trained, resumed, asked, examined and shown like one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import DataError, NetwrightError
from netwright.core.trees import tensors_of
from netwright.data.dataset import check_data
from netwright.data.fingerprint import fingerprint
from netwright.data.loading.loader import BatchLoader
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.subject import Subject
from tests.doors.two_inputs import TwoInputs, two_inputs_data
from tests.undrawn import undrawn

__all__ = ["undrawn"]


def module() -> TwoInputs:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return TwoInputs()


def fit(**settings: Any) -> nw.Run:
    return nw.fit(module(), two_inputs_data(), quiet=True, **{"epochs": 2, **settings})


def test_a_batch_holds_the_rows_of_every_part() -> None:
    train = two_inputs_data().train
    batch = next(BatchLoader(train, 8, seed=3).epoch(0))
    for part, whole in zip(tensors_of(batch.inputs), tensors_of(train.inputs), strict=True):
        assert torch.equal(part, whole[batch.rows])


def test_a_run_learns_answers_and_is_opened_again(tmp_path: Path) -> None:
    run = fit(epochs=20, lr=0.02, out=tmp_path / "run")
    assert run.results["metrics"]["accuracy"] >= 0.8
    asked = {"numbers": [[9.0, 0, 0], [-9.0, 0, 0]], "category": [4, 0]}
    assert run.predict(asked).tolist() == [1, 0]
    again = nw.open_run(tmp_path / "run", TwoInputs())
    assert again.predict(asked).tolist() == [1, 0]
    inputs, targets = (
        two_inputs_data().split("test").inputs,
        two_inputs_data().split("test").targets,
    )
    assert again.evaluate((inputs, targets)) == run.evaluate()


def test_a_run_that_was_cut_short_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = fit(out=tmp_path / "whole", save_steps=1)
    fit(out=tmp_path / "cut", max_steps=3, save_steps=1)
    resumed = fit(out=tmp_path / "cut", resume="auto")
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, resumed.model.state_dict()[name])


@pytest.mark.usefixtures("undrawn")
def test_the_report_has_the_views_that_need_no_single_input(tmp_path: Path) -> None:
    run = fit(save=False)
    page = run.report(tmp_path / "report.html").read_text()
    assert "wrong-examples" in run.views()
    assert "input 1" in page
    subject = Subject(run, *run.data_at_hand())
    refused = VIEWS.load("saliency").why_not(subject)
    assert refused == "this view is for a model of one input, TwoInputs reads several"
    for name in ("activations", "gradient-flow", "summary"):
        VIEWS.load(name).show(subject, {})
    without = Subject(run, None, "it is gone")
    assert "it is gone" in VIEWS.load("summary").why_not(without)


def test_the_doctor_examines_data_and_module() -> None:
    found = nw.doctor(two_inputs_data(), module())
    assert any("memorised" in what for what in found.seen.looked_at)
    assert not found.findings


def test_equal_rows_are_equal_in_every_part() -> None:
    data = two_inputs_data()
    doubled = data.train.take(torch.arange(64) // 2)
    found = nw.doctor(replace(data, train=doubled), module()).findings
    assert "duplicates" in {one.illness for one in found}


def test_parts_that_differ_give_other_fingerprints() -> None:
    train = two_inputs_data().train
    changed = {**train.inputs, "category": train.inputs["category"].flip(0)}
    assert fingerprint(train) != fingerprint(replace(train, inputs=changed))
    assert fingerprint(train) == fingerprint(two_inputs_data().train)


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    data = two_inputs_data()
    ragged = replace(data.train, inputs={**data.train.inputs, "category": torch.zeros(3).long()})
    with pytest.raises(DataError, match="must all have as many rows, got 64 and 3"):
        check_data(replace(data, train=ragged))
    with pytest.raises(NetwrightError, match=r"mlp needs .*, got several inputs"):
        nw.fit("mlp", data, save=False, quiet=True)
    wide = replace(data.train, inputs={**data.train.inputs, "numbers": torch.zeros(64, 2)})
    with pytest.raises(NetwrightError, match=r"fails on inputs of shape \(32, 2\) and \(32,\)"):
        nw.fit(module(), replace(data, train=wide), save=False, quiet=True)


def test_the_guard_names_the_row_whose_part_is_not_finite() -> None:
    class Blind(TwoInputs):
        def forward(self, parts: Any) -> torch.Tensor:
            if self.training and torch.is_grad_enabled():
                parts["numbers"][2] = float("nan")
            return super().forward(parts)

    with pytest.raises(NetwrightError, match=r"the inputs of row .* are not finite"):
        nw.fit(Blind(), two_inputs_data(), save=False, quiet=True, epochs=1)
