"""Sequence to sequence: told the truth and left alone are two measures; both by hand."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from netwright.core.errors import ConfigError
from netwright.data.catalog import load
from netwright.data.dataset import Split
from netwright.data.spec import IGNORED
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.decoding.source_decoder import SourceDecoder
from netwright.models.sequence.encoder_decoder import EncoderDecoder, EncoderDecoderConfig
from netwright.train.evaluate import evaluate, evaluate_baseline, measure_quickly, predict
from netwright.train.tasks.catalog import task_for, task_from_json
from netwright.train.tasks.sequence_to_sequence import SequenceToSequence

TOKENS = 9
TASK = SequenceToSequence(TOKENS)


class NextLetter(nn.Module, SourceDecoder):
    """Says the letter after that it hears, after BOS the source's first; and 7 instead of 6."""

    def _next(self, heard: Tensor, first: Tensor) -> Tensor:
        said = torch.where(heard == BOS, first, heard + 1)
        said = torch.where(said == 6, 7, said)
        return 50.0 * one_hot(said.clamp(0, TOKENS - 1), TOKENS)

    def forward(self, inputs: Tensor) -> Tensor:
        """Inputs of two source tokens."""
        return self._next(inputs[:, 2:], inputs[:, :1])

    def read_source(self, source: Tensor) -> Any:
        """The first token."""
        return source[:, 0]

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """One letter on."""
        return self._next(tokens, state), state


# 4 5 6 7 is expected; told the truth one token is wrong, left alone the mistake is carried on.
PAIRS = Split(
    inputs=torch.tensor([[4, PAD, BOS, 4, 5, 6], [4, PAD, BOS, 4, PAD, PAD]]),
    targets=torch.tensor([[4, 5, 6, 7], [4, 5, IGNORED, IGNORED]]),
)


def test_a_mistake_is_carried_on_only_where_nothing_is_told() -> None:
    answers = predict(NextLetter(), PAIRS.inputs, TASK)
    assert answers[0].tolist() == [[4, 5, 7, 7], [4, 5, 7, 8]]
    measures = evaluate(NextLetter(), PAIRS, TASK)
    assert measures["accuracy"] == pytest.approx(5 / 6)
    assert measures["free_accuracy"] == pytest.approx(4 / 6)
    assert measures["sequence_accuracy"] == pytest.approx(1 / 2)
    assert measures["loss"] == pytest.approx(50 / 6, rel=1e-4)  # one of six tokens is 50 nats off


def test_weights_count_as_often() -> None:
    weights = torch.tensor([3.0, 1.0])
    weighed = Split(inputs=PAIRS.inputs, targets=PAIRS.targets, weights=weights)
    measures = evaluate(NextLetter(), weighed, TASK)
    assert measures["accuracy"] == pytest.approx((3 * 3 + 2) / (3 * 4 + 2))
    assert measures["sequence_accuracy"] == pytest.approx(1 / 4)


def test_while_training_the_told_accuracy_is_shown() -> None:
    measures = measure_quickly(NextLetter(), PAIRS, TASK)
    assert measures == pytest.approx({"loss": 50 / 6, "accuracy": 5 / 6}, rel=1e-4)


def test_nothing_counts_after_the_end() -> None:
    class Ends(NextLetter):
        """Says the end, then nonsense."""

        def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
            """The end after the first."""
            said = torch.where(tokens == BOS, state, torch.where(tokens == EOS, 8, EOS))
            return 1.0 * one_hot(said, TOKENS), state

    targets = torch.tensor([[4, EOS, IGNORED, IGNORED]])
    split = Split(inputs=PAIRS.inputs[1:], targets=targets)
    assert predict(Ends(), split.inputs, TASK)[0, 1].tolist() == [4, EOS, EOS, EOS]
    assert evaluate(Ends(), split, TASK)["sequence_accuracy"] == 1.0


def test_the_baseline_says_the_commonest_token_everywhere() -> None:
    guess = TASK.baseline(PAIRS)
    assert int(guess.argmax()) in {4, 5}
    measures = evaluate_baseline(PAIRS, guess, TASK)
    assert measures == {
        "accuracy": pytest.approx(2 / 6),
        "free_accuracy": pytest.approx(2 / 6),
        "sequence_accuracy": 0.0,
    }
    assert TASK.describe_baseline(PAIRS, ()) == (
        "always the most common token of the training targets"
    )


def test_pairs_ask_for_it_and_it_comes_back_from_json() -> None:
    data = load("reverse", n=50, length=4)
    task = task_for(data)
    assert isinstance(task, SequenceToSequence)
    again = task_from_json(task.to_json())
    assert isinstance(again, SequenceToSequence)
    assert again.num_classes == data.spec.num_outputs == 30


def test_a_model_that_knows_nothing_is_as_unsure_as_there_are_tokens() -> None:
    data = load("reverse", n=50, length=4)
    config = EncoderDecoderConfig(hidden=4, embedding=2)
    model = EncoderDecoder.build(config, data.spec)
    nn.init.zeros_(model.head.weight)
    nn.init.zeros_(model.head.bias)
    measures = evaluate(model, data.split("test"), task_for(data))
    assert measures["loss"] == pytest.approx(math.log(30))


def test_a_model_that_reads_no_source_is_refused() -> None:
    class Plain(nn.Module):
        """Logits, and no way to go on from them."""

        def forward(self, inputs: Tensor) -> Tensor:
            """As many as there are targets."""
            return torch.zeros(len(inputs), 4, TOKENS)

    with pytest.raises(
        ConfigError,
        match=r"^sequence-to-sequence training needs a model with a source and a target "
        r"\(SourceDecoder\), got Plain$",
    ):
        evaluate(Plain(), PAIRS, TASK)
