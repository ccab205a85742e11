"""Inputs as the model takes them: what is joined is what is encoded together."""

from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import DataError
from netwright.core.trees import join_rows

SMALL: dict[str, Any] = {"epochs": 1, "quiet": True, "save": False}


def test_inputs_that_are_encoded_apart_and_joined_are_those_encoded_together() -> None:
    run = nw.fit("mlp", "iris", hidden=(4,), **SMALL)
    rows = [dict.fromkeys(run.spec.feature_names, float(row)) for row in range(1, 6)]
    apart = join_rows([run.encode(rows[:2]), run.encode(rows[2:])])
    assert torch.equal(apart, run.encode(rows))
    assert torch.equal(run.predictions_of(apart), run.predictions(rows))


def test_nothing_to_encode_is_refused() -> None:
    run = nw.fit("mlp", "iris", hidden=(4,), **SMALL)
    with pytest.raises(DataError, match="no inputs were given to predict"):
        run.encode(torch.zeros(0, 4))


def test_a_run_on_arrays_remarks_on_arrays_and_on_tables() -> None:
    run = nw.fit("mlp", "iris", hidden=(4,), **SMALL)
    row = dict.fromkeys(run.spec.feature_names, 3.0) | {run.spec.feature_names[2]: 1e3}
    (said,) = run.remarks([row, row])
    assert said.startswith(f"{run.spec.feature_names[2]}: 2 rows lie far outside the training")
    assert run.remarks(torch.tensor([list(row.values())] * 2)) == (said,)
