"""The encoder-decoder: its contract, what it may depend on, how much of the truth it is told."""

from collections.abc import Callable
from itertools import pairwise
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.decoding.source_decoder import say_greedily
from netwright.models.sequence.encoder_decoder import (
    Attention,
    EncoderDecoder,
    EncoderDecoderConfig,
)
from netwright.testing.model_contract import MODEL_CHECKS, Build, sample_inputs
from netwright.train.callbacks.scheduled_sampling import remaining
from netwright.train.setting_groups import ForcingDecay
from tests.repetition import for_each

SOURCE, TARGET, TOKENS = 5, 4, 9
SPEC = DataSpec(
    inputs="pairs",
    input_shape=(SOURCE + TARGET,),
    target="tokens",
    num_outputs=TOKENS,
    vocab_size=TOKENS,
    padding=PAD,
    source_length=SOURCE,
)
KINDS: tuple[Attention, ...] = ("none", "bahdanau", "luong-dot", "luong-general")
CONFIGS: dict[str, EncoderDecoderConfig] = {
    **{kind: EncoderDecoderConfig(attention=kind, hidden=6, embedding=4) for kind in KINDS},
    "two layers of lstm": EncoderDecoderConfig(cell="lstm", layers=2, hidden=6, embedding=4),
    "elman, one way": EncoderDecoderConfig(
        cell="elman", bidirectional=False, attention="bahdanau", hidden=6, embedding=4
    ),
}


def build(name: str = "luong-general", seed: int = 0) -> EncoderDecoder:
    with seeded(seed):
        return EncoderDecoder.build(CONFIGS[name], SPEC).double().eval()


def pairs() -> Tensor:
    """Sources of 5, 3 and 1 tokens, and what the decoder is told."""
    return torch.tensor(
        [
            [4, 5, 6, 7, 8, BOS, 8, 7, 6],
            [4, 5, 6, PAD, PAD, BOS, 6, 5, 4],
            [8, PAD, PAD, PAD, PAD, BOS, 8, PAD, PAD],
        ]
    )


@torch.no_grad()
def logits_of(model: EncoderDecoder, inputs: Tensor) -> Tensor:
    logits: Tensor = model(inputs)
    return logits


@for_each("name", CONFIGS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], name: str) -> None:
    check(lambda: EncoderDecoder.build(CONFIGS[name], SPEC))


@for_each("name", CONFIGS)
def test_there_are_logits_of_every_target_token_at_every_step(name: str) -> None:
    model = build(name).float()
    assert logits_of(model, sample_inputs(SPEC, 3)).shape == (3, TARGET, TOKENS)


@for_each("name", CONFIGS)
def test_step_by_step_it_says_what_it_says_at_once(name: str) -> None:
    model, inputs = build(name), pairs()
    state, found = model.read_source(inputs[:, :SOURCE]), []
    with torch.no_grad():
        for tokens in inputs[:, SOURCE:].unbind(1):
            logits, state = model.step(tokens, state)
            found.append(logits)
    torch.testing.assert_close(torch.stack(found, dim=1), logits_of(model, inputs))


@for_each("name", CONFIGS)
def test_padding_of_the_source_changes_nothing(name: str) -> None:
    model, source = build(name), pairs()[1:2, :SOURCE]
    begin = torch.tensor([BOS])
    with torch.no_grad():
        short, _ = model.step(begin, model.read_source(source[:, :3]))
        long, _ = model.step(begin, model.read_source(torch.cat((source, 0 * source), dim=1)))
    torch.testing.assert_close(short, long)


@for_each("name", CONFIGS)
def test_a_token_depends_on_those_told_before_it_and_on_no_later_one(name: str) -> None:
    model, inputs = build(name), pairs()
    other = inputs.clone()
    other[:, SOURCE + 2] = 4  # none of the rows has it there
    before, after = logits_of(model, inputs), logits_of(model, other)
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.isclose(before[:, 2], after[:, 2]).any()


def test_without_attention_it_is_two_networks_of_torch_joined_by_a_state() -> None:
    model, inputs = build("none"), pairs()[:1]
    encoder, decoder = (
        nn.GRU(4, 3, batch_first=True, bidirectional=True).double(),
        nn.GRU(4, 6, batch_first=True).double(),
    )
    encoder.load_state_dict(model.encoder.rnn.state_dict())
    decoder.load_state_dict(model.decoder.recurrence.rnn.state_dict())
    with torch.no_grad():
        _, (forth, back) = encoder(model.source_embedding(inputs[:, :SOURCE]))
        context = torch.cat((forth, back), dim=1)  # all that the decoder knows of the source
        outputs, _ = decoder(model.target_embedding(inputs[:, SOURCE:]), context[None])
        torch.testing.assert_close(model.head(outputs), model(inputs))


def test_attention_is_on_the_tokens_of_the_source_alone() -> None:
    for name in KINDS[1:]:
        with torch.no_grad():
            weights = build(name).attention_weights(pairs())
        assert weights.shape == (3, TARGET, SOURCE)
        torch.testing.assert_close(weights.sum(dim=2), torch.ones(3, TARGET).double())
        assert not weights[1, :, 3:].any()
        assert not weights[2, :, 1:].any()


def test_where_there_is_no_attention_none_can_be_seen() -> None:
    with pytest.raises(ConfigError, match=r"^this encoder-decoder has no attention$"):
        build("none").attention_weights(pairs())


def test_two_directions_share_the_units_evenly() -> None:
    with pytest.raises(
        ConfigError, match=r"^hidden must be even for a bidirectional encoder, got 7$"
    ):
        EncoderDecoderConfig(hidden=7)
    assert EncoderDecoderConfig(hidden=7, bidirectional=False).hidden == 7


def said_freely(model: EncoderDecoder, source: Tensor) -> Tensor:
    """Logits (B, T, V) where each step hears what the one before said."""
    state, heard, logits = model.read_source(source), source.new_full((len(source),), BOS), []
    for _ in range(TARGET):
        step_logits, state = model.step(heard, state)
        heard = step_logits.argmax(dim=1)
        logits.append(step_logits)
    return torch.stack(logits, dim=1)


def heard_by(model: EncoderDecoder, inputs: Tensor, monkeypatch: pytest.MonkeyPatch) -> Tensor:
    """The tokens (B, T) that reach the decoder while it is trained and always says EOS."""
    heard: list[Tensor] = []

    def step(tokens: Tensor, state: object) -> tuple[Tensor, object]:
        heard.append(tokens)
        return nn.functional.one_hot(torch.full_like(tokens, EOS), TOKENS).double(), state

    monkeypatch.setattr(model, "step", step)
    with seeded(0):
        logits_of(model, inputs)
    return torch.stack(heard, dim=1)


@pytest.mark.covers("scheduled-sampling")
def test_told_all_some_or_none_of_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    model, inputs = build("bahdanau").train(), pairs()
    before = torch.get_rng_state()
    assert torch.equal(logits_of(model, inputs), logits_of(build("bahdanau"), inputs))
    assert torch.equal(before, torch.get_rng_state())

    model.teacher_forcing = 0.0
    with torch.no_grad():
        freely = said_freely(model, inputs[:, :SOURCE])
    assert torch.equal(logits_of(model, inputs), freely)
    others = inputs.clone()
    others[:, SOURCE + 1 :] = 5  # no token but the first is heard
    assert torch.equal(logits_of(model, others), freely)

    model.teacher_forcing = 0.7
    inputs = pairs()[:1].expand(4000, -1)
    heard, truth = heard_by(model, inputs, monkeypatch), inputs[:, SOURCE:]
    is_told = heard == truth
    assert bool(is_told[:, 0].all())  # the beginning
    assert bool(((heard == EOS) | is_told).all())
    shares = is_told[:, 1:].double().mean(dim=0)  # (T - 1,)
    assert (shares - 0.7).abs().max() < 4 * (0.7 * 0.3 / 4000) ** 0.5
    both = (is_told[:, 1] & is_told[:, 2]).double().mean()  # one step does not bind the next
    assert abs(both - 0.49) < 4 * (0.49 * 0.51 / 4000) ** 0.5

    for decay in get_args(ForcingDecay):  # the way from one to the other
        shares_left = [remaining(step / 50, decay) for step in range(51)]
        assert all(now > later for now, later in pairwise(shares_left))


def test_predictions_do_not_depend_on_how_it_was_taught() -> None:
    model = build()
    wanted = logits_of(model, pairs())
    model.teacher_forcing = 0.0
    assert torch.equal(logits_of(model, pairs()), wanted)


def test_what_it_says_by_itself_is_what_its_steps_give() -> None:
    model, source = build(), pairs()[:, :SOURCE]
    with torch.no_grad():
        said = say_greedily(model, source, 3, begin=BOS, end=EOS)
        first, _ = model.step(torch.tensor([BOS] * 3), model.read_source(source))
    assert torch.equal(said[:, 0], first.argmax(dim=1))
