"""Decoders that look: what they find by hand, in one go or step by step, and never at padding."""

import pytest
import torch
from torch import Tensor

from netwright.core.seeding import seeded
from netwright.layers.attention.attention_scores import AdditiveScore, BilinearScore, Score
from netwright.layers.attention.attentive_decoder import (
    AttentiveDecoder,
    Decoded,
    LookAfter,
    LookBefore,
    LookingDecoder,
    Memory,
    WithoutAttention,
)
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import GRU, LSTM, States

ROWS, STEPS, PLACES, INPUTS, UNITS = 3, 4, 5, 2, 6
KINDS = ("without", "before", "after")


def decoder(kind: str, score: type[Score] = AdditiveScore, layers: int = 2) -> AttentiveDecoder:
    with seeded(0):
        width = INPUTS + (UNITS if kind == "before" else 0)
        recurrence = RecurrentStack(LSTM, width, UNITS, layers).double()
        if kind == "without":
            return WithoutAttention(recurrence)
        of_kind = LookBefore if kind == "before" else LookAfter
        return of_kind(recurrence, score(UNITS, UNITS)).double()


def given(layers: int = 2) -> tuple[Tensor, States, Memory]:
    """Inputs, a state and a source of 5, 2 and 1 places."""
    random = torch.Generator().manual_seed(0)

    def numbers(*shape: int) -> Tensor:
        return torch.randn(shape, generator=random, dtype=torch.float64)

    state = (numbers(ROWS, layers, UNITS), numbers(ROWS, layers, UNITS))
    mask = torch.arange(PLACES) < torch.tensor([5, 2, 1])[:, None]
    return numbers(ROWS, STEPS, INPUTS), state, Memory(numbers(ROWS, PLACES, UNITS), mask[:, None])


@torch.no_grad()
def run(module: AttentiveDecoder, inputs: Tensor, state: States, memory: Memory) -> Decoded:
    decoded: Decoded = module(inputs, state, memory)
    return decoded


@pytest.mark.parametrize("kind", KINDS)
def test_all_steps_at_once_are_the_steps_one_by_one(kind: str) -> None:
    inputs, state, memory = given()
    module = decoder(kind)
    whole = run(module, inputs, state, memory)
    features, weights = [], []
    for place in range(STEPS):
        part = run(module, inputs[:, place : place + 1], state, memory)
        state = part.state
        features.append(part.features)
        weights.append(part.weights)
    torch.testing.assert_close(torch.cat(features, dim=1), whole.features)
    for one, other in zip(state, whole.state, strict=True):
        torch.testing.assert_close(one, other)
    if kind != "without":
        torch.testing.assert_close(
            torch.cat([w for w in weights if w is not None], dim=1), whole.weights
        )


@pytest.mark.parametrize("kind", ["before", "after"])
def test_weights_are_shares_of_the_places_that_are_there(kind: str) -> None:
    weights = run(decoder(kind), *given()).weights
    assert weights is not None
    assert weights.shape == (ROWS, STEPS, PLACES)
    torch.testing.assert_close(weights.sum(dim=2), torch.ones(ROWS, STEPS, dtype=torch.float64))
    assert not weights[1, :, 2:].any()
    assert torch.equal(weights[2, :, 0], torch.ones(STEPS, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["before", "after"])
def test_what_stands_where_nothing_is_to_be_read_does_not_matter(kind: str) -> None:
    inputs, state, memory = given()
    other = Memory(torch.where(memory.mask.mT, memory.places, 7.0), memory.mask)
    module = decoder(kind)
    first, second = run(module, inputs, state, memory), run(module, inputs, state, other)
    assert torch.equal(first.features, second.features)


@pytest.mark.parametrize("kind", ["before", "after"])
def test_all_weight_on_the_last_place_gives_the_last_place(kind: str) -> None:
    inputs, state, memory = given()
    memory = memory._replace(mask=(torch.arange(PLACES) == PLACES - 1).expand(ROWS, 1, -1))
    module = decoder(kind)
    assert isinstance(module, LookingDecoder)
    decoded = run(module, inputs, state, memory)
    assert decoded.weights is not None
    assert decoded.weights.tolist() == [[[0, 0, 0, 0, 1]] * STEPS] * ROWS
    context = memory.places[:, -1:].expand(-1, STEPS, -1)
    read = torch.cat((inputs, context), dim=2) if kind == "before" else inputs
    with torch.no_grad():
        outputs, _ = module.recurrence(read, state)
        wanted = torch.tanh(module.mix(torch.cat((outputs, context), dim=2)))
    torch.testing.assert_close(decoded.features, wanted)


def queries_of(module: LookingDecoder) -> list[Tensor]:
    """What will be asked for; filled while the module runs."""
    asked: list[Tensor] = []
    module.score.register_forward_hook(lambda _, given, __: asked.append(given[0]))
    return asked


def test_the_top_state_before_the_step_asks_or_the_output_after_it() -> None:
    inputs, state, memory = given()
    before, after = decoder("before", BilinearScore), decoder("after", BilinearScore)
    assert isinstance(before, LookBefore)
    assert isinstance(after, LookAfter)
    first, last = queries_of(before), queries_of(after)
    run(before, inputs, state, memory)
    assert len(first) == STEPS
    assert torch.equal(first[0], state[0][:, -1:])
    decoded = run(after, inputs, state, memory)
    assert len(last) == 1
    assert torch.equal(last[0][:, -1], decoded.state[0][:, -1])


def test_without_attention_it_is_the_recurrence() -> None:
    inputs, state, memory = given()
    module = decoder("without")
    decoded = run(module, inputs, state, memory)
    with torch.no_grad():
        outputs, _ = module.recurrence(inputs, state)
    assert torch.equal(decoded.features, outputs)
    assert decoded.weights is None


@pytest.mark.parametrize("kind", ["before", "after"])
def test_gradients_are_those_of_differences(kind: str) -> None:
    recurrence = RecurrentStack(GRU, 2 + (2 if kind == "before" else 0), 2).double()
    of_kind = LookBefore if kind == "before" else LookAfter
    module = of_kind(recurrence, AdditiveScore(2, 2)).double()
    random = torch.Generator().manual_seed(1)
    inputs = torch.randn(2, 2, 2, generator=random, dtype=torch.float64, requires_grad=True)
    places = torch.randn(2, 3, 2, generator=random, dtype=torch.float64, requires_grad=True)
    start = torch.randn(2, 1, 2, generator=random, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[[True, True, True]], [[True, False, False]]])

    def features(x: Tensor, h: Tensor, memory: Tensor) -> Tensor:
        decoded: Decoded = module(x, (h,), Memory(memory, mask))
        return decoded.features

    assert torch.autograd.gradcheck(features, (inputs, start, places))
