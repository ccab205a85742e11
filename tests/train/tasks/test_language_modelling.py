"""Language modelling: perplexity, the entropy of a chain, the trivial guess."""

import math

import pytest
import torch

from netwright.core.errors import DataError
from netwright.train.evaluate import evaluate, evaluate_baseline
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.language_modelling import LanguageModelling
from tests.train.token_data import CHAIN, KINDS, Bigrams, markov_text, text_data, whole

TASK = LanguageModelling(KINDS)


def entropy_rate() -> float:
    """Nats a token of the chain: the entropy of its rows, each as often as it is visited."""
    shares = torch.linalg.matrix_power(CHAIN, 200)[0]
    return float(-(shares @ torch.special.xlogy(CHAIN, CHAIN).sum(dim=1)))


@pytest.mark.covers("language-modeling")
def test_a_uniform_model_has_all_tokens_as_perplexity_and_bigrams_reach_the_entropy_rate() -> None:
    data = text_data(length=40_001, window=20)
    even = evaluate(Bigrams(torch.zeros(KINDS, KINDS)), data.train, TASK)
    assert even["perplexity"] == pytest.approx(KINDS)
    text = markov_text(40_000, seed=2)
    counts = torch.bincount(KINDS * text[:-1] + text[1:], minlength=KINDS**2) + 0.5
    counted = evaluate(Bigrams(counts.view(KINDS, KINDS).log().float()), data.train, TASK)
    assert counted["loss"] == pytest.approx(entropy_rate(), rel=0.02)
    assert counted["perplexity"] == pytest.approx(math.exp(counted["loss"]), rel=1e-6)
    assert counted["bits_per_token"] == pytest.approx(counted["loss"] / math.log(2), rel=1e-6)


@pytest.mark.covers("markov-model")
def test_counted_pairs_estimate_a_chain_and_are_likelier_than_counted_tokens() -> None:
    text = markov_text(100_000, seed=3)
    counts = torch.bincount(KINDS * text[:-1] + text[1:], minlength=KINDS**2).view(KINDS, KINDS)
    estimated = counts / counts.sum(dim=1, keepdim=True)
    torch.testing.assert_close(estimated.double(), CHAIN, rtol=0, atol=0.02)
    data = text_data(length=2_001, window=20)
    targets, before = data.train.targets.flatten(), data.train.inputs.flatten()
    own = torch.bincount(KINDS * before + targets, minlength=KINDS**2).view(KINDS, KINDS)
    pairs = evaluate(Bigrams(own.log().clamp_min(-1e9)), data.train, TASK)
    single = evaluate(Bigrams(own.sum(dim=0).log().expand(KINDS, KINDS)), data.train, TASK)
    assert pairs["loss"] <= single["loss"]


def test_what_is_kept_of_a_text_is_three_numbers() -> None:
    data = text_data()
    logits = torch.randn(len(data.train), 4, KINDS)
    kept = TASK.compared(TASK.predictions(logits), data.train.targets)
    assert kept.shape == (len(data.train), 3)
    with pytest.raises(DataError, match=r"^probabilities must be finite"):
        TASK.compared(torch.full((1, 4, KINDS), torch.nan), data.train.targets[:1])
    measures = TASK.measure(kept, data.train.targets)
    assert measures["perplexity"] == pytest.approx(
        float(TASK.loss(logits, whole(data.train)).exp()), rel=1e-5
    )


def test_the_trivial_guess_is_the_shares_of_the_tokens_each_counted_once_more() -> None:
    data = text_data()
    guess = TASK.baseline(data.train)
    counts = torch.bincount(data.train.targets.flatten(), minlength=KINDS) + 1
    torch.testing.assert_close(guess, counts / counts.sum())
    assert data.val is not None
    same = evaluate(Bigrams(guess.log().expand(KINDS, KINDS)), data.val, TASK)
    wanted = {name: value for name, value in same.items() if name != "loss"}
    assert evaluate_baseline(data.val, guess, TASK) == pytest.approx(wanted, rel=1e-6)
    unseen = LanguageModelling(KINDS + 1).baseline(data.train)
    assert unseen[KINDS] > 0


def test_the_guess_in_words() -> None:
    data = text_data()
    words = task_for(data).describe_baseline(data.train, ())
    assert words == "each token as often as in the training text, whatever came before"
