"""Tagging: right tags, sentences without a mistake, the commonest tag as the trivial guess."""

import pytest
import torch

from netwright.train.evaluate import evaluate, evaluate_baseline
from netwright.train.tasks.catalog import task_from_json
from netwright.train.tasks.tagging import Tagging
from tests.train.token_data import small_lstm, tagged_data
from tests.train.toy_runs import toy_fit

TASK = Tagging(4)


def test_measures_by_hand() -> None:
    targets = tagged_data().train.targets
    said = torch.tensor([[1, 1, 2, 0], [2, 2, 0, 0], [1, 1, 1, 1], [3, 0, 0, 0]])
    # Of ten tokens eight are right; the first and the last sentence are.
    logits = torch.eye(4)[said]
    kept = TASK.compared(TASK.predictions(logits), targets)
    assert torch.equal(kept, said)
    f1_scores = [0, 2 * 5 / (6 + 6), 2 * 2 / (2 + 3), 1]
    assert TASK.measure(kept, targets) == pytest.approx(
        {"accuracy": 8 / 10, "sequence_accuracy": 2 / 4, "f1": sum(f1_scores) / 4}
    )


def test_the_trivial_guess_gives_every_token_the_commonest_tag() -> None:
    data = tagged_data()
    guess = TASK.baseline(data.train)
    assert guess.tolist() == pytest.approx([2 / 14, 7 / 14, 3 / 14, 2 / 14])
    values = evaluate_baseline(data.train, guess, TASK)
    assert values["accuracy"] == 6 / 10
    assert values["sequence_accuracy"] == 0
    words = TASK.describe_baseline(data.train, data.spec.class_names)
    assert words == "always 'noun', 50.00% of the training tokens"


def test_a_small_model_learns_the_tags_by_heart() -> None:
    data = tagged_data()
    model = small_lstm(data.spec)
    toy_fit(model, data, epochs=60, lr=0.1, restore_best=False)
    values = evaluate(model, data.train, TASK)
    assert values["accuracy"] == values["sequence_accuracy"] == 1


def test_a_task_of_an_older_run_folder_is_read() -> None:
    assert type(task_from_json({"kind": "tagging", "num_classes": 4})) is Tagging
    assert type(task_from_json(TASK.to_json())) is Tagging
