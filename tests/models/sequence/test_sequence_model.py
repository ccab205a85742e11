"""Models of sequences: shapes by target, padding, probabilities, generating, and carried state."""

import re
from itertools import product

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.sequence.gru import GRU, GRUConfig
from netwright.models.sequence.lstm import LSTM, LSTMConfig
from netwright.testing.model_contract import sample_inputs
from tests.models.sequence.specs import SPECS
from tests.repetition import for_each

TINY = LSTMConfig(hidden=4, embedding=3, dropout=0.0)


def build(kind: str, config: LSTMConfig = TINY) -> LSTM:
    with seeded(0):
        return LSTM.build(config, SPECS[kind]).eval()


def tokens(rows: int, steps: int = 6) -> Tensor:
    return torch.randint(5, (rows, steps), generator=torch.Generator().manual_seed(0))


@pytest.mark.covers("sequence-mappings")
def test_one_model_maps_one_or_many_to_one_or_many() -> None:
    series = DataSpec(inputs="series", input_shape=(1, 2), target="class", num_outputs=3)
    one_to_one = LSTM.build(TINY, series)
    assert one_to_one(torch.zeros(2, 1, 2)).shape == (2, 3)
    assert one_to_one(torch.zeros(2, 7, 2)).shape == (2, 3)  # many to one
    many = build("tokens")
    assert many(tokens(2, 7)).shape == (2, 7, 5)  # many to many
    logits, state = many.read(tokens(2, 1))  # one to many: each answer is read again
    found = [logits]
    for _ in range(3):
        logits, state = many.step(found[-1].argmax(1), state)
        found.append(logits)
    assert torch.stack(found, dim=1).shape == (2, 4, 5)


@pytest.mark.covers("autoregressive-factorization")
def test_probabilities_of_all_sequences_sum_to_one() -> None:
    model = build("tokens").double()
    every = torch.tensor(list(product(range(5), repeat=3)))  # (125, 3)
    begin = torch.zeros(len(every), 1, dtype=torch.int64)
    steps = model(torch.cat((begin, every[:, :-1]), dim=1)).log_softmax(-1)
    log_probs = steps.gather(-1, every[:, :, None]).sum((1, 2))
    assert log_probs.exp().sum().item() == pytest.approx(1.0, abs=1e-12)

    logits, state = model.read(begin)  # the same, one conditional after the other
    conditionals = torch.zeros(len(every), dtype=torch.float64)
    for token in every.unbind(1):
        conditionals += logits.log_softmax(-1).gather(-1, token[:, None])[:, 0]
        logits, state = model.step(token, state)
    torch.testing.assert_close(conditionals, log_probs, rtol=0, atol=1e-12)


def test_reading_and_stepping_give_what_the_whole_gives() -> None:
    model, text = build("tokens", LSTMConfig(hidden=4, embedding=3, layers=2)), tokens(3)
    whole = model(text)
    logits, state = model.read(text[:, :2])
    sizes = [part.shape for part in state]
    torch.testing.assert_close(logits, whole[:, 1])
    for t in range(2, 6):
        logits, state = model.step(text[:, t], state)
        torch.testing.assert_close(logits, whole[:, t])
        assert [part.shape for part in state] == sizes  # a token costs the same however many came
    assert model.context is None


@for_each("pool", ["last", "mean", "max"])
@for_each("bidirectional", [False, True])
def test_answers_do_not_depend_on_how_much_is_filled_up(pool: str, bidirectional: bool) -> None:
    config = LSTMConfig(hidden=4, embedding=3, pool=pool, bidirectional=bidirectional)  # type: ignore[arg-type]
    text = tokens(4).clamp(min=1)
    text[1, 2:] = 0
    longer = torch.cat((text, torch.zeros(4, 3, dtype=torch.int64)), dim=1)
    model = build("text", config)
    torch.testing.assert_close(model(longer), model(text))
    torch.testing.assert_close(model(text[1:2, :2]), model(text)[1:2])
    assert bool(model(torch.zeros_like(text)).isfinite().all())  # a row of nothing
    tagger = build("tags", config)
    torch.testing.assert_close(tagger(longer)[:, :6], tagger(text))


def test_answers_of_a_whole_sequence_come_from_both_ends() -> None:
    model = build("text", LSTMConfig(hidden=4, embedding=3, bidirectional=True))
    text = tokens(3).clamp(min=1)
    outputs, (h, _) = model.backbone(model.embed(text))
    both = torch.cat((outputs[:, -1, :4], outputs[:, 0, 4:]), dim=1)
    torch.testing.assert_close(both, h.flatten(1))  # the last states of both directions
    torch.testing.assert_close(model(text), model.head(both))


def test_dropout_falls_on_token_vectors_and_before_the_head_only() -> None:
    dropping = build("tokens", LSTMConfig(hidden=4, embedding=3, dropout=0.5)).train()
    with seeded(0):
        assert bool((dropping.embed(tokens(9)) == 0).any())
        assert bool((dropping.answer(torch.ones(9, 4)).std(0) > 0).all())
    with seeded(0):
        model = LSTM.build(LSTMConfig(hidden=4, dropout=0.5), SPECS["series"]).train()
    x = torch.randn(4, 6, 2)
    assert torch.equal(model.embed(x), x)  # measured numbers are not dropped


def test_tied_vectors_read_and_score_the_tokens() -> None:
    model = build("tokens", LSTMConfig(hidden=4, embedding=4, dropout=0.0, tied=True))
    assert "embedding.weight" not in model.state_dict()
    vectors, bias = model.head.get_parameter("weight"), model.head.get_parameter("bias")
    outputs, _ = model.backbone(vectors[tokens(2)])
    torch.testing.assert_close(model(tokens(2)), outputs @ vectors.T + bias)


@for_each(
    ("kind", "settings", "sentence"),
    [
        (
            "tokens",
            {"bidirectional": True},
            "bidirectional would see the tokens to be predicted: it needs a target of kind class, "
            "labels, real or tags, got 'tokens'",
        ),
        ("tokens", {"tied": True}, "tied needs embedding = 4, got 3"),
        (
            "text",
            {"tied": True},
            "tied needs tokens as both inputs and targets, got tokens and class",
        ),
        (
            "series",
            {"tied": True},
            "tied needs tokens as both inputs and targets, got series and real",
        ),
    ],
)
def test_settings_that_do_not_fit_the_data_are_refused(
    kind: str, settings: dict[str, bool], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        LSTM.build(LSTMConfig(hidden=4, embedding=3, **settings), SPECS[kind])  # type: ignore[arg-type]


def test_a_carried_state_reads_two_windows_as_one_without_the_gradient() -> None:
    text = tokens(2, 12)
    model = build("tokens")
    whole = model(text)
    model.train().carry_state(2)
    first, second = model(text[:, :6]), model(text[:, 6:])
    torch.testing.assert_close(torch.cat((first, second), dim=1), whole)
    (grad,) = torch.autograd.grad(second.sum(), model.head.get_parameter("weight"))
    assert bool(grad.any())
    assert not model.carried.requires_grad


def test_a_carried_state_is_forgotten_on_demand_and_left_by_nobody_else() -> None:
    text = tokens(2)
    model = build("tokens")
    fresh = model(text)
    model.train().carry_state(2)
    model(text)
    kept = model.carried.clone()
    assert bool(kept.any())
    torch.testing.assert_close(model(tokens(3))[:2], fresh)  # another size begins at zero
    torch.testing.assert_close(model.eval()(text), fresh)  # and so does what is not training
    assert torch.equal(model.carried, kept)
    model.train().forget()
    torch.testing.assert_close(model(text), fresh)
    kept = model.carried.clone()
    model.carry_state(None)
    torch.testing.assert_close(model(text), fresh)
    assert torch.equal(model.carried, kept)  # for training that goes on later
    model.carry_state(3)
    assert torch.equal(model.carried, torch.zeros(3, 8))


@pytest.mark.parametrize("early", [True, False])
def test_a_carried_state_is_saved_with_the_weights(early: bool) -> None:
    text = tokens(2)
    model = build("tokens").train()
    model.carry_state(2)
    model(text)
    saved = {name: part.clone() for name, part in model.state_dict().items()}
    other = build("tokens")
    if early:  # asked to carry before the weights came, or after
        other.carry_state(2)
    other.load_state_dict(saved)
    torch.testing.assert_close(other(text), build("tokens")(text))  # predicting ignores it
    other.train().carry_state(2)
    torch.testing.assert_close(other(text), model(text))


def test_gradient_of_a_carried_batch_does_not_meet_the_state_that_it_leaves() -> None:
    with seeded(0):
        model = GRU.build(GRUConfig(hidden=4, embedding=3), SPECS["tokens"]).train()
    model.carry_state(3)
    for _ in range(2):
        torch.autograd.backward(model(sample_inputs(model.spec, 3)).sum())
    assert all(part.grad is not None for part in model.parameters())
