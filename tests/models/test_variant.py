"""Sizes of a network: made from a row, they are the classes that would be written by hand."""

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from netwright.core.config import describe
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.model import Model
from netwright.models.published_sizes import CIFAR_RESNETS, GPTS, RESNETS, VGGS
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.models.variant import find_variant, make_variant
from netwright.models.vision.cifar_resnet import CifarResNet
from netwright.models.vision.resnet import ResNet
from netwright.models.vision.vgg import VGG
from tests.repetition import for_each

FAMILIES: dict[type[Model], Any] = {
    VGG: VGGS,
    ResNet: RESNETS,
    CifarResNet: CIFAR_RESNETS,
    GPT: GPTS,
}
SIZES = [(name, family) for family, rows in FAMILIES.items() for name in rows]
SPEC = DataSpec(inputs="features", input_shape=(3,), target="class", num_outputs=2)


def narrow() -> type[MLP]:
    return make_variant(MLP, "Narrow", card=MLP.card, defaults={"hidden": (2,)})


def test_a_variant_differs_from_its_family_in_what_is_said_alone() -> None:
    kind = narrow()
    assert issubclass(kind, MLP)
    assert (kind.__name__, kind.settings.__name__) == ("Narrow", "NarrowConfig")
    assert issubclass(kind.settings, MLPConfig)
    ours, theirs = describe(kind.settings), describe(MLPConfig)
    assert [field.name for field in ours] == [field.name for field in theirs]
    assert [field for field in ours if field not in theirs] == [
        next(field for field in ours if field.name == "hidden")
    ]
    assert ours[0].default == [2]
    assert ours[0].doc == theirs[0].doc
    assert kind.build(kind.settings(), SPEC).hidden[0][0].out_features == 2  # type: ignore[index]


def test_settings_of_a_variant_are_frozen_and_checked() -> None:
    config: Any = narrow().settings()
    with pytest.raises(FrozenInstanceError):
        config.hidden = (3,)
    with pytest.raises(ConfigError, match=r"^hidden\[0\] must be greater than 0, got 0$"):
        narrow().settings(hidden=(0,))  # type: ignore[call-arg]


def test_each_variant_has_settings_of_its_own() -> None:
    """A config says which model it is of."""
    first, second = narrow().settings, narrow().settings
    assert first is not second
    assert first() != second()


def test_classes_and_settings_are_found_by_name_and_nothing_else_is() -> None:
    kind = narrow()
    find = find_variant("somewhere", [kind])
    assert find("Narrow") is kind
    assert find("NarrowConfig") is kind.settings
    with pytest.raises(AttributeError, match=r"^module 'somewhere' has no attribute 'Wide'$"):
        find("Wide")


@for_each(("name", "family"), SIZES)
def test_a_row_of_the_tables_is_a_model_of_its_family(name: str, family: type[Model]) -> None:
    kind = MODELS.load(name)
    assert kind.__bases__ == (family,)
    assert kind.settings.__bases__ == (family.settings,)
    assert (kind.__module__, kind.settings.__module__) == (family.__module__, family.__module__)
    assert kind.__doc__ == kind.card.sentence


def test_every_model_is_found_by_pickle() -> None:
    """As an estimator's is, in another process."""
    for name in MODELS:
        kind = MODELS.load(name)
        assert pickle.loads(pickle.dumps(kind)) is kind
        config = kind.settings()
        assert pickle.loads(pickle.dumps(config)) == config, name


def test_a_size_has_its_defaults_and_its_family_keeps_its_own() -> None:
    medium = MODELS.load("gpt2-medium").settings()
    numbers = {"layers": 24, "heads": 16, "width": 1024, "context": 1024, "dropout": 0.1}
    assert {name: getattr(medium, name) for name in numbers} == numbers
    assert (GPTConfig().layers, GPTConfig().context) == (4, None)
