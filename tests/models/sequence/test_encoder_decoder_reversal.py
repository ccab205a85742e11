"""What encoder-decoders learn of saying letters backwards, with attention and without."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.text.pair_encoder import PairEncoder
from netwright.layers.attention.attentive_decoder import LookingDecoder
from netwright.models.sequence.encoder_decoder import (
    Attention,
    EncoderDecoder,
    EncoderDecoderConfig,
)
from netwright.train.evaluate import evaluate, predict
from netwright.train.tasks.catalog import task_for
from tests.models.sequence.specs import train

BATCH = 64


def learned(
    data: Data, attention: Attention, hidden: int, steps: int, lr: float = 0.01
) -> EncoderDecoder:
    config = EncoderDecoderConfig(attention=attention, hidden=hidden, embedding=16)
    with seeded(0):
        model = EncoderDecoder.build(config, data.spec)

    def batch(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(data.train), (BATCH,), generator=numbers)
        return data.train.inputs[rows], data.train.targets[rows]

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(logits.flatten(0, 1), targets.flatten())

    train(model, batch, loss, steps=steps, lr=lr)
    return model


@pytest.fixture(scope="module")
def twelve() -> Data:
    """Twelve letters, to be said backwards."""
    return load("reverse", n=2000, length=12, min_length=12, symbols=8)


@pytest.mark.slow
@pytest.mark.covers("seq2seq")
def test_a_fixed_context_is_enough_for_six_letters() -> None:
    data = load("reverse", n=2000, length=6, symbols=4)
    model, task = learned(data, "none", hidden=64, steps=150, lr=0.02), task_for(data)
    test, encoder = data.split("test"), data.preprocessor
    assert isinstance(encoder, PairEncoder)
    assert evaluate(model, test, task)["free_accuracy"] >= 0.95
    said = predict(model, test.inputs, task)[:, 1]  # (N, 7): of six letters read, and the end
    pairs = zip(encoder.write(said), encoder.decode(test.inputs), strict=True)
    lengths = {len(text) for text, pair in pairs if text == pair["target"]}
    assert lengths >= {3, 4, 5, 6}  # each ends where it should


@pytest.mark.slow
@pytest.mark.covers("bahdanau-attention")
def test_of_twelve_letters_attention_says_what_a_fixed_context_cannot_hold(twelve: Data) -> None:
    test, task = twelve.split("test"), task_for(twelve)
    attentive = learned(twelve, "bahdanau", hidden=32, steps=120)
    plain = learned(twelve, "none", hidden=32, steps=120)
    assert evaluate(attentive, test, task)["free_accuracy"] >= 0.95
    assert evaluate(plain, test, task)["free_accuracy"] < 0.8


def check_that_all_weight_on_the_end_is_the_last_state(
    attentive: EncoderDecoder, inputs: Tensor
) -> None:
    state, decoder = attentive.read_source(inputs[:2, :12]), attentive.decoder
    assert isinstance(decoder, LookingDecoder)
    last_only = state.memory._replace(mask=state.memory.mask & (torch.arange(12) == 11))
    one_hot = decoder.look(state.recurrent[0], last_only)
    assert one_hot.tolist() == [[[0.0] * 11 + [1.0]]] * 2
    context = (one_hot @ last_only.places)[:, 0]
    forth, back = state.recurrent[0][:, 0].chunk(2, dim=1)
    torch.testing.assert_close(context[:, :16], forth)  # where plain decoders begin
    assert not torch.isclose(context[:, 16:], back).all()  # read from the end, it ended at place 0


@pytest.mark.slow
@pytest.mark.covers("seq2seq-attention", "attention-alignment-inspection")
def test_the_alignment_is_backwards_and_all_weight_on_the_end_is_the_last_state(
    twelve: Data,
) -> None:
    attentive = learned(twelve, "luong-dot", hidden=32, steps=300)
    inputs = twelve.split("test").inputs
    with torch.no_grad():
        weights = attentive.attention_weights(inputs)[:, :12]  # (N, 12, 12), without the end
    backwards = 11 - torch.arange(12)
    assert (weights.argmax(dim=2) == backwards).double().mean() >= 0.95
    check_that_all_weight_on_the_end_is_the_last_state(attentive, inputs)


def test_before_it_has_learned_all_weight_on_the_end_is_the_last_state_too(twelve: Data) -> None:
    fresh = learned(twelve, "luong-dot", hidden=32, steps=0)
    check_that_all_weight_on_the_end_is_the_last_state(fresh, twelve.split("test").inputs)
