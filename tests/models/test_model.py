"""The abstract model: what a subclass must write, and data that does not fit it."""

import re
from typing import Any, ClassVar

import pytest

from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.model import Model, check_fits
from tests.repetition import for_each


class Half(Model):
    """A model whose author forgot `build`."""

    settings: ClassVar[type[Config]] = Config
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image", "features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"real", "class"})


class Whole(Half):
    @classmethod
    def build(cls, config: Any, spec: DataSpec) -> "Whole":
        return cls(config, spec)


def spec(inputs: InputKind, target: TargetKind) -> DataSpec:
    return DataSpec(inputs=inputs, input_shape=(2,), target=target, num_outputs=2)


def test_build_must_be_written() -> None:
    with pytest.raises(TypeError, match="build"):
        Half(Config(), spec("features", "real"))  # type: ignore[abstract]


def test_a_model_keeps_its_config_and_spec() -> None:
    config, data = Config(), spec("features", "real")
    model = Whole.build(config, data)
    assert model.config is config
    assert model.spec is data


@for_each("inputs", ["features", "image"])
@for_each("target", ["real", "class"])
def test_data_that_fits_passes(inputs: InputKind, target: TargetKind) -> None:
    check_fits(Whole, "whole", spec(inputs, target))


@for_each(
    ("inputs", "target", "sentence"),
    [
        ("tokens", "class", "whole needs images or a table of features, got text (tokens)"),
        ("pairs", "class", "whole needs images or a table of features, got pairs of texts"),
        ("features", "labels", "whole predicts class, real, got a target of kind 'labels'"),
        ("features", "none", "whole predicts class, real, got a target of kind 'none'"),
    ],
)
def test_data_that_does_not_fit_is_refused(
    inputs: InputKind, target: TargetKind, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        check_fits(Whole, "whole", spec(inputs, target))
