"""What is looked at in a model, and what is said of it."""

import pytest

from netwright.data.checkup.examination import Examination
from netwright.recipes.doctor import overfit_one_batch
from netwright.recipes.doctor.model_checkup import look_at_model
from netwright.recipes.fitting.fit import prepare


def test_all_checks_are_made_and_told() -> None:
    spreads = "how differences between rows propagate through the layers at initialisation"
    ending = "what the outputs end in"
    by_heart = "whether 3 rows can be memorised"
    assert look_at_model(prepare("mlp", "moons", hidden=(8, 8))) == Examination(
        looked_at=(spreads, ending, by_heart)
    )
    assert look_at_model(prepare("mlp", "moons", hidden=(8,))) == Examination(
        looked_at=(ending, by_heart),
        not_looked_at=(f"{spreads}: 1 hidden layer, wanted at least 2",),
    )


@pytest.mark.parametrize("model", ["ridge", "restarts"])
def test_models_with_a_rule_of_their_own_are_left_out(model: str) -> None:
    seen = look_at_model(prepare(model, "diabetes"))
    assert seen == Examination(not_looked_at=(f"{model}: it has its own learning rule",))


def test_a_batch_that_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overfit_one_batch, "MOST_SECONDS", 0.0)
    seen = look_at_model(prepare("mlp", "moons", hidden=(8,)))
    assert seen.findings == ()
    assert seen.looked_at[-1].startswith(
        "whether 3 rows can be memorised; undecided: time was up after 0 steps, the loss "
    )
