"""The sequence contract: a sound model passes, and each check catches a model that breaks it."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pytest
import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.model import Model
from netwright.testing import sequence_contract as contract
from netwright.testing.model_contract import MODEL_CHECKS, sample_inputs
from netwright.testing.sequence_contract import SEQUENCE_CHECKS

NEXT = DataSpec(inputs="tokens", input_shape=(6,), target="tokens", num_outputs=7, vocab_size=7)
TAGS = DataSpec(
    inputs="tokens", input_shape=(6,), target="tags", num_outputs=3, vocab_size=7, padding=0
)


@dataclass(frozen=True, kw_only=True)
class SumsConfig(Config):
    """Nothing to set."""


class Sums(Model):
    """The sum of all embeddings so far, of which padding has none."""

    settings: ClassVar[type[Config]] = SumsConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"tokens", "tags"})
    card: ClassVar[Card] = Card(sentence="It adds.", formula="s", source="here")

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.embedding = nn.Embedding(spec.vocab_size, 4, padding_idx=spec.padding)
        self.head = nn.Linear(4, spec.num_outputs)

    @classmethod
    def build(cls, config: Config, spec: DataSpec) -> Self:
        return cls(config, spec)

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.head(self.embedding(tokens).cumsum(dim=1))
        return logits

    def read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        total = self.embedding(tokens).sum(dim=1)
        return self.head(total), total

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        total = state + self.embedding(tokens)
        return self.head(total), total


class LooksAhead(Sums):
    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.head(self.embedding(tokens).flip(1).cumsum(dim=1).flip(1))
        return logits


class Forgets(Sums):
    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        return super().step(tokens, torch.zeros_like(state))


class CountsPlaces(Sums):
    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens) / tokens.shape[1]


@pytest.mark.parametrize("spec", [NEXT, TAGS], ids=lambda spec: str(spec.target))
def test_a_sound_model_passes(spec: DataSpec) -> None:
    for check in MODEL_CHECKS[1:] + SEQUENCE_CHECKS:
        check(lambda: Sums.build(SumsConfig(), spec))


@pytest.mark.parametrize(
    ("check", "model", "spec"),
    [
        (contract.check_never_sees_later_tokens, LooksAhead, NEXT),
        (contract.check_steps_as_it_reads, Forgets, NEXT),
        (contract.check_does_not_read_padding, CountsPlaces, TAGS),
    ],
    ids=["later", "steps", "padding"],
)
def test_a_check_catches_who_breaks_it(check: Any, model: type[Sums], spec: DataSpec) -> None:
    with pytest.raises(AssertionError):
        check(lambda: model.build(SumsConfig(), spec))


def test_sampled_rows_have_different_lengths_and_their_padding_comes_last() -> None:
    tokens = sample_inputs(TAGS, 50)
    lengths = (tokens != 0).sum(dim=1)
    assert 1 <= int(lengths.min()) < int(lengths.max()) <= 6
    assert torch.equal(tokens != 0, torch.arange(6) < lengths[:, None])


def test_sampled_pairs_have_a_source_and_what_a_decoder_is_told() -> None:
    spec = DataSpec(
        inputs="pairs",
        input_shape=(7,),
        target="tokens",
        num_outputs=3,
        vocab_size=9,
        padding=0,
        source_length=4,
    )
    pairs = sample_inputs(spec, 50)
    assert pairs.shape == (50, 7)
    assert int(pairs[:, :4].max()) == 8
    assert int(pairs[:, 4:].max()) == 2
