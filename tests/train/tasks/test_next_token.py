"""The next token: as language modelling with the targets moved by one place."""

import pytest
import torch

from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.train.tasks.catalog import task_from_json
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.next_token import NextToken

LOGITS = torch.randn(4, 5, 7, generator=torch.Generator().manual_seed(0))
TOKENS = torch.randint(0, 7, (4, 5), generator=torch.Generator().manual_seed(1))
TOKENS[1, 3:] = -100


def batch(targets: torch.Tensor) -> Batch:
    return Batch(targets, targets, None, torch.arange(4))


def test_outputs_are_compared_with_the_targets_one_place_later() -> None:
    task, moved = NextToken(7), LanguageModelling(7)
    logits, targets = LOGITS[:, :-1], TOKENS[:, 1:]
    assert task.loss(LOGITS, batch(TOKENS)) == moved.loss(logits, batch(targets))
    assert task.counted(TOKENS) == moved.counted(targets) == 14
    assert task.counted_each(TOKENS).tolist() == [4, 2, 4, 4]
    assert task.headline_sum(LOGITS, TOKENS, None) == moved.headline_sum(logits, targets, None)
    said = task.compared(task.predictions(LOGITS), TOKENS)
    assert torch.equal(said, moved.compared(moved.predictions(logits), targets))
    guess = torch.full((7,), 1 / 7)
    assert torch.equal(task.guessed(guess, TOKENS), moved.guessed(guess, targets))
    train = Split(inputs=TOKENS, targets=TOKENS)
    assert torch.equal(task.baseline(train), moved.baseline(Split(inputs=targets, targets=targets)))


def test_it_is_the_loss_of_causal_models_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    labels = TOKENS.clone()
    config = transformers.GPT2Config(
        vocab_size=7, n_embd=8, n_layer=1, n_head=2, n_positions=8, bos_token_id=0, eos_token_id=0
    )
    with torch.random.fork_rng(), torch.no_grad():
        model = transformers.GPT2LMHeadModel(config).eval()
        output = model(input_ids=TOKENS.clamp_min(0), labels=labels)
    loss = NextToken(7).loss(output.logits, batch(TOKENS))
    assert float(loss) == pytest.approx(float(output.loss), rel=1e-5)


def test_it_is_built_again_from_what_it_wrote() -> None:
    again = task_from_json(NextToken(7, smoothing=0.1).to_json())
    assert isinstance(again, NextToken)
    assert (again.num_classes, again.smoothing) == (7, 0.1)
