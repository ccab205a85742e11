"""Beam search: all beams find what trying all sequences finds; one beam is greedy."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator, seeded
from netwright.data.spec import DataSpec
from netwright.decoding.beam_search import Beams, beam_search
from netwright.decoding.generate import generate
from netwright.decoding.sampling import DecodingConfig
from netwright.models.sequence.lstm import LSTM, LSTMConfig
from tests.repetition import for_each

KINDS, STOP, LONGEST = 3, 0, 4
SPEC = DataSpec(
    inputs="tokens", input_shape=(4,), target="tokens", num_outputs=KINDS, vocab_size=KINDS
)


def lstm(seed: int) -> LSTM:
    with seeded(seed):
        model = LSTM(LSTMConfig(hidden=5, embedding=4, dropout=0.0), SPEC).double().eval()
        for weight in model.parameters():
            weight.data.mul_(3)  # so that what came before decides
        return model


def searched(model: LSTM, prompt: Tensor, **settings: Any) -> Beams:
    logits, state = model.read(prompt)
    return beam_search(logits, state, model.step, **{"max_tokens": LONGEST, **settings})


def sequences() -> list[list[int]]:
    """All that end with a stop, or never, within the longest."""
    return [
        [*body, STOP] if len(body) < LONGEST else list(body)
        for length in range(LONGEST + 1)
        for body in itertools.product(range(1, KINDS), repeat=length)
    ]


@torch.no_grad()
def scored(model: LSTM, prompt: list[int], penalty: float) -> list[tuple[float, list[int]]]:
    """Every sequence by itself, best first."""
    found = []
    for said in sequences():
        text = torch.tensor([[*prompt, *said]])
        each = model(text)[0, len(prompt) - 1 : -1].log_softmax(dim=1)
        total = float(each.gather(1, torch.tensor(said)[:, None]).sum())
        found.append((total / len(said) ** penalty, said))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("penalty", [0.0, 0.7, 1.0])
def test_as_many_beams_as_sequences_find_them_all_in_their_order(penalty: float) -> None:
    model, prompts = lstm(0), [[1, 2], [2, 2]]
    count = len(sequences())
    found = searched(model, torch.tensor(prompts), width=count, stop=STOP, length_penalty=penalty)
    for row, prompt in enumerate(prompts):
        wanted = scored(model, prompt, penalty)
        torch.testing.assert_close(
            found.scores[row], torch.tensor([score for score, _ in wanted]).double()
        )
        for place, (_, said) in enumerate(wanted):
            length = int(found.lengths[row, place])
            assert found.tokens[row, place, :length].tolist() == said
            assert set(found.tokens[row, place, length:].tolist()) <= {STOP}


@for_each("seed", range(5))
def test_one_beam_is_greedy_and_more_find_no_worse_on_these(seed: int) -> None:
    model, prompt = lstm(seed), torch.tensor([[1]])
    config = DecodingConfig(temperature=0.0, max_tokens=LONGEST, stop=STOP)
    greedy = [int(token) for token in generate(model.read, model.step, prompt, config)]
    one = searched(model, prompt, width=1, stop=STOP)
    assert one.tokens[0, 0, : int(one.lengths[0, 0])].tolist() == greedy
    best = scored(model, [1], 0.0)[0][0]
    scores = [
        float(searched(model, prompt, width=width, stop=STOP).scores[0, 0]) for width in (1, 4)
    ]
    assert scores[0] - 1e-12 <= scores[1] <= best + 1e-12


def test_a_beam_finds_what_greed_misses() -> None:
    # First 0.6 for the token 1, after which nothing is likely; 0.4 for 2, after which 2 is certain.
    first = torch.tensor([[0.0, 0.6, 0.4]]).log()
    after = torch.tensor([[1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3], [0.0, 0.0, 1.0]]).log()

    def step(tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        return after[tokens], state

    for width, wanted, chance in ((1, 1, 0.2), (2, 2, 0.4)):
        found = beam_search(first, torch.zeros(1, 1), step, width=width, max_tokens=2)
        assert int(found.tokens[0, 0, 0]) == wanted
        assert float(found.scores[0, 0].exp()) == pytest.approx(chance)


def test_the_state_follows_the_beams_whatever_its_tree() -> None:
    """The state is all tokens so far: where it stays behind, the last column tells."""
    rng = generator(0)
    table = torch.randn(40, KINDS, generator=rng, dtype=torch.float64)

    def logits_after(history: Tensor) -> Tensor:
        places = (history * torch.tensor([1, 3, 9])[: history.shape[1]]).sum(dim=1)
        return table[places]

    def step(tokens: Tensor, state: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
        history = torch.cat([state["said"][0], tokens[:, None]], dim=1)
        return logits_after(history), {"said": (history,), "kind": "kept"}

    start = {"said": (torch.zeros(2, 0, dtype=torch.int64),), "kind": "kept"}
    found = beam_search(table[[0, 0]], start, step, width=4, max_tokens=3)
    for row, beam in itertools.product(range(2), range(4)):
        said = found.tokens[row, beam]
        each = [logits_after(said[None, :place])[0].log_softmax(dim=0) for place in range(3)]
        total = sum(float(one[token]) for one, token in zip(each, said, strict=True))
        assert float(found.scores[row, beam]) == pytest.approx(total)


def test_beams_for_which_there_is_no_sequence_have_a_score_of_minus_infinity() -> None:
    found = beam_search(
        torch.zeros(1, 2), None, lambda *_: (torch.zeros(6, 2), None), width=6, max_tokens=2
    )
    assert found.scores.isneginf().tolist() == [[False] * 4 + [True] * 2]
    assert len({tuple(said) for said in found.tokens[0, :4].tolist()}) == 4


@pytest.mark.parametrize(("width", "max_tokens"), [(0, 5), (2, 0)])
def test_no_beams_and_no_tokens_are_refused(width: int, max_tokens: int) -> None:
    name = "max_tokens" if width else "width"
    with pytest.raises(ConfigError, match=f"^{name} must be at least 1, got 0$"):
        beam_search(
            torch.zeros(1, 3), None, lambda *given: given, width=width, max_tokens=max_tokens
        )
