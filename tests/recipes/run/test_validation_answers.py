"""Answers of validation rows: the same in parts as at once."""

import pytest
import torch

import netwright as nw
from netwright.recipes.run import validation_answers as module
from netwright.recipes.run.validation_answers import validation_answers


def test_parts_say_what_the_whole_says(monkeypatch: pytest.MonkeyPatch) -> None:
    run = nw.fit("lda", "iris", save=False, quiet=True)
    rows = run.data.split("val")
    whole = validation_answers(run.model, rows, run.task)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 4)
    torch.testing.assert_close(validation_answers(run.model, rows, run.task), whole)
    assert whole.shape == (len(rows), 3)
