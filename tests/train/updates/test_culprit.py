"""Where a number came from; the guard's own tests go through all causes."""

import pytest
import torch

from netwright.core.seeding import seeded
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.state import TrainState
from netwright.train.tasks import per_token
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.updates.culprit import find_culprit
from tests.train.token_data import KINDS, text_data, whole
from tests.train.toy_runs import toy_start, toy_trainer


def test_without_a_batch_at_hand_the_loss_alone_is_blamed() -> None:
    assert find_culprit(toy_start()) == "the loss is not finite"


def in_parts(monkeypatch: pytest.MonkeyPatch, *, tied: bool = True) -> tuple[TrainState, GPT]:
    """A run with a batch at hand, whose logits are never made as a whole."""
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", KINDS)
    monkeypatch.setattr(per_token, "MOST_AT_ONCE", 2 * 4 * KINDS)
    data = text_data()
    with seeded(0):
        model = GPT.build(GPTConfig(layers=1, heads=2, width=8, tied=tied), data.spec)
    state = toy_trainer(data, task=LanguageModelling(KINDS)).start(model, data)
    state.batch, state.loss = whole(data.train), torch.tensor(float("nan"))
    monkeypatch.setattr(model, "forward", None)
    return state, model


def test_of_a_large_vocabulary_logits_are_never_made_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state, _ = in_parts(monkeypatch)
    assert find_culprit(state) == "outputs are finite, the loss is not"


@pytest.mark.parametrize(("tied", "layer"), [(True, "model"), (False, "head")])
def test_logits_that_are_not_finite_are_found_in_parts(
    monkeypatch: pytest.MonkeyPatch, tied: bool, layer: str
) -> None:
    state, model = in_parts(monkeypatch, tied=tied)
    with torch.no_grad():
        model.ln_f.weight.fill_(1e30)  # what goes into the head is finite
        model._head_weight.mul_(1e12)
    assert find_culprit(state) == f"the output of layer {layer!r} is not finite"
