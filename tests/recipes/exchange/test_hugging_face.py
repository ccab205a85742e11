"""What transformers has a place for, and what is refused in one sentence."""

from typing import Any

import pytest

from netwright.core.errors import ConfigError
from netwright.metrics.isotonic import RisingCurve
from netwright.recipes.exchange.hugging_face import HuggingFace
from netwright.train.tasks.classification import Classification
from tests.recipes.exchange.families import source_of, spec_of


@pytest.mark.parametrize(
    ("name", "target", "settings", "reason"),
    [
        ("gru", "tokens", {}, "gru cannot be exported to hf, which is for gpt, bert, t5 and vit"),
        ("gpt", "tokens", {}, "as a GPT-2: its data has no tokenizer; export it to onnx"),
    ],
)
def test_what_is_no_gpt2_is_refused(
    name: str, target: str, settings: dict[str, Any], reason: str
) -> None:
    source = source_of(name, spec_of(name, "tokens", target), **settings)
    with pytest.raises(ConfigError, match=reason):
        HuggingFace().check(source)


@pytest.mark.parametrize(
    ("name", "inputs", "target", "settings", "reason"),
    [
        ("bert", "tokens", "real", {}, "as a BERT: its data has no tokenizer"),
        ("t5", "pairs", "tokens", {}, "as a T5: its data has no tokenizer"),
        ("vit", "image", "real", {}, "as a ViT: it predicts a target of kind 'real'"),
        ("vit", "image", "class", {"pool": "mean"}, "as a ViT: the mean of all patches is read"),
        ("vit", "image", "class", {"patch": 5}, "as a ViT: images of .* no whole patches of 5"),
    ],
)
def test_what_transformers_has_no_place_for_is_refused(
    name: str, inputs: Any, target: Any, settings: dict[str, Any], reason: str
) -> None:
    source = source_of(name, spec_of(name, inputs, target), **settings)
    with pytest.raises(ConfigError, match=reason):
        HuggingFace().check(source)


def test_calibrated_probabilities_are_refused_as_they_would_be_lost() -> None:
    source = source_of("vit", spec_of("vit", "image", "class"), patch=1)
    HuggingFace().check(source)
    task = source.predictor.task
    assert isinstance(task, Classification)
    task.temperature = 2.0
    with pytest.raises(ConfigError, match="calibrated by the temperature 2, which a model"):
        HuggingFace().check(source)
    task.temperature, task.curves = None, (RisingCurve((0.5,), (0.5,)),)
    with pytest.raises(ConfigError, match="calibrated by the curves, which a model"):
        HuggingFace().check(source)
