"""The model contract: a sound model passes, and each check catches a model that breaks it."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import pytest
import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.outputs import Output
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.model import Model
from netwright.testing import model_contract as contract
from netwright.testing.model_contract import MODEL_CHECKS, Build, sample_inputs
from tests.repetition import for_each

SPEC = DataSpec(inputs="features", input_shape=(4,), target="class", num_outputs=3)
Check = Callable[[Build], None]


@dataclass(frozen=True, kw_only=True)
class SoundConfig(Config):
    """One setting."""

    scale: Annotated[Positive, Doc("a factor of the scores")] = 2.0


class Sound(Model):
    """A linear classifier that keeps every promise."""

    settings: ClassVar[type[Config]] = SoundConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    card: ClassVar[Card] = Card(sentence="It scores.", formula="W x", source="here")

    def __init__(self, config: SoundConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.factor = config.scale
        self.scores = nn.Linear(spec.num_features, spec.num_outputs)

    @classmethod
    def build(cls, config: SoundConfig, spec: DataSpec) -> Self:
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor | Output:
        scores: Tensor = self.factor * self.scores(x.flatten(1))
        return scores


class WithSideOutputs(Sound):
    def forward(self, x: Tensor) -> Output:
        scores = self.scores(x)
        return Output(logits=scores, aux=(scores,))


class NoSource(Sound):
    card = Card(sentence="It scores.", formula="W x", source=" ")


class NoSentence(Sound):
    card = Card(sentence="scores", formula="W x", source="here")


class Dollars(Sound):
    card = Card(sentence="It scores.", formula="$W x$", source="here")


class ImagesOnly(Sound):
    inputs = frozenset({"image"})


class RealsOnly(Sound):
    targets = frozenset({"real"})


class OneTooMany(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.pad(self.scores(x), (1, 0))


class Squeezed(Sound):
    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores.squeeze(0)


class NotFinite(Sound):
    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores.log()


class Random(Sound):
    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores + torch.randn_like(scores)


class DrawsForNothing(Sound):
    def forward(self, x: Tensor) -> Tensor:
        torch.rand(1)
        scores: Tensor = self.scores(x)
        return scores


class LooksAtNeighbours(Sound):
    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores - scores.mean(dim=0)


class LooksAtOrder(Sound):
    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores + scores.cumsum(0) * 0.1


class WritesIntoTheBatch(Sound):
    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x.mul_(2) if self.training else x)
        return scores


class Unused(Sound):
    def __init__(self, config: SoundConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.spare = nn.Parameter(torch.ones(1))


class Detached(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return x @ self.scores.weight.T.detach() + self.scores.bias


class OwnChance(Sound):
    count: ClassVar[Iterator[int]] = itertools.count()

    def __init__(self, config: SoundConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        nn.init.constant_(self.scores.bias, float(next(self.count)))


class HiddenState(Sound):
    def __init__(self, config: SoundConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.shift = torch.randn(spec.num_outputs)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x) + self.shift
        return scores


class OneAnswerAnImage(Sound):
    inputs = frozenset({"image"})
    targets = frozenset({"mask"})


def built(kind: type[Sound]) -> Build:
    return lambda: kind.build(SoundConfig(), SPEC)


def changed_after_building() -> Model:
    model = Sound.build(SoundConfig(), SPEC)
    model.factor = 5.0  # nowhere in the config
    return model


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
@for_each("kind", [Sound, WithSideOutputs])
def test_sound_model_passes(kind: type[Sound], check: Check) -> None:
    check(built(kind))


@for_each(
    ("check", "kind", "message"),
    [
        (contract.check_has_a_card, NoSource, "the card's source is empty"),
        (contract.check_has_a_card, NoSentence, "ends with a full stop: 'scores'"),
        (contract.check_has_a_card, Dollars, "without dollar signs"),
        (contract.check_works_on_what_it_says, ImagesOnly, "'features' is not in `inputs`"),
        (contract.check_works_on_what_it_says, RealsOnly, "'class' is not in `targets`"),
        (contract.check_gives_one_output_a_class_or_real, OneTooMany, r"wanted \(3,\) of each"),
        (contract.check_gives_one_output_a_class_or_real, Squeezed, "1 examples gave 3 outputs"),
        (contract.check_gives_one_output_a_class_or_real, NotFinite, "is not finite"),
        (contract.check_predicts_the_same_twice, Random, "two predictions"),
        (contract.check_predicts_the_same_twice, DrawsForNothing, "drew random numbers"),
        (contract.check_predicts_each_example_by_itself, LooksAtNeighbours, "alone and together"),
        (contract.check_predicts_each_example_by_itself, LooksAtOrder, "alone and together"),
        (contract.check_leaves_its_inputs_alone, WritesIntoTheBatch, "with training=True"),
        (contract.check_gradient_reaches_every_parameter, Unused, "no gradient reaches spare"),
        (contract.check_gradient_reaches_every_parameter, Detached, "reaches scores.weight"),
        (contract.check_same_seed_same_weights, OwnChance, "scores.bias differs"),
        (contract.check_state_goes_to_another_model, HiddenState, "not in its state_dict"),
    ],
)
def test_broken_model_is_caught(check: Check, kind: type[Sound], message: str) -> None:
    assert check in MODEL_CHECKS
    with pytest.raises(AssertionError, match=message):
        check(built(kind))


def test_a_mask_that_is_not_as_large_as_its_image_is_caught() -> None:
    spec = DataSpec(inputs="image", input_shape=(1, 4, 5), target="mask", num_outputs=3)
    with pytest.raises(AssertionError, match=r"wanted \(3, 4, 5\) of each example, got \(3,\)"):
        contract.check_gives_one_output_a_class_or_real(
            lambda: OneAnswerAnImage.build(SoundConfig(), spec)
        )


def test_model_that_is_more_than_its_config_is_caught() -> None:
    with pytest.raises(AssertionError, match="from its own config and spec predicts differently"):
        contract.check_config_rebuilds_the_model(changed_after_building)


def test_model_with_a_foreign_config_is_caught() -> None:
    class Other(Sound):
        settings = Config

        def __init__(self, config: SoundConfig, spec: DataSpec) -> None:
            super().__init__(config, spec)
            self.config = spec  # type: ignore[assignment]

    with pytest.raises(AssertionError, match="config must be a Config"):
        contract.check_config_rebuilds_the_model(built(Other))


def test_sample_inputs_fit_the_data() -> None:
    features = sample_inputs(SPEC, 5)
    assert features.shape == (5, 4)
    assert torch.equal(features, sample_inputs(SPEC, 5))
    assert not torch.equal(features, sample_inputs(SPEC, 5, seed=1))
    words = DataSpec(inputs="tokens", input_shape=(6,), target="class", vocab_size=9)
    tokens = sample_inputs(words, 50)
    assert tokens.shape == (50, 6)
    assert tokens.dtype == torch.int64
    assert (int(tokens.min()), int(tokens.max())) == (0, 8)


def test_checks_leave_the_callers_generator_alone() -> None:
    before = torch.get_rng_state()
    for check in MODEL_CHECKS[2:]:
        check(built(Sound))
    assert torch.equal(before, torch.get_rng_state())
