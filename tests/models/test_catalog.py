"""Every model of the catalog keeps the contracts, on every kind of data that it says it takes."""

from collections.abc import Iterator
from itertools import product, takewhile
from typing import Any

import pytest

from netwright import models
from netwright.core.config import describe, parse
from netwright.core.errors import UnknownNameError
from netwright.core.learner import Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.catalog import MODELS
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.model import check_fits
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from netwright.testing.sequence_contract import SEQUENCE_CHECKS
from tests.repetition import for_each

INPUTS: dict[InputKind, tuple[int, ...]] = {
    "features": (5,),
    "image": (2, 3, 4),
    "series": (4, 3),
    "tokens": (6,),
    "masked": (7,),
    "pairs": (7,),
}
SOURCE = 4  # tokens of a pair
IMAGES = {  # networks that halve images need more pixels, transformers more than one patch
    **dict.fromkeys(("vit", "mlp-mixer"), (2, 5, 6)),
    **dict.fromkeys(("vit-ti", "vit-s", "vit-b"), (2, 17, 16)),
    "alexnet": (2, 63, 64),
    "cnn": (2, 5, 4),
    "resnet9": (2, 8, 9),
    "unet": (2, 6, 5),
    "detr": (2, 7, 9),
    **{f"vgg{depth}": (2, 32, 33) for depth in (11, 13, 16, 19)},
}
DEEPER = {  # each differs from another of its family by depth alone: one kind of data will do
    *("vgg11", "vgg13", "vgg19", "gpt2-medium", "gpt2-large", "gpt2-xl", "transformer-big"),
    *("t5-base",),
    *("vit-s", "vit-b", "bert-mini", "bert-small", "bert-medium", "bert-base"),
    *("resnet34", "resnet101", "resnet152", "resnet32", "resnet44", "resnet56", "resnet110"),
}
TARGETS: tuple[tuple[TargetKind, int], ...] = (
    ("class", 2),
    ("class", 3),
    ("labels", 3),
    ("real", 1),
    ("real", 2),
    ("mask", 3),
    ("boxes", 3),
    ("tokens", 8),
    ("tags", 3),
    ("span", 2),
    ("none", 0),
)
TOGETHER: dict[InputKind, frozenset[TargetKind]] = {  # kinds of data that there are
    "features": frozenset({"class", "labels", "real"}),
    "image": frozenset({"class", "labels", "real", "mask", "boxes"}),
    "series": frozenset({"class", "labels", "real"}),
    "tokens": frozenset({"class", "labels", "real", "tokens", "tags", "span", "none"}),
    "masked": frozenset({"tokens"}),
    "pairs": frozenset({"tokens"}),
}


PADDED = {("tokens", target) for target in ("class", "labels", "real", "tags", "span", "none")}


def specs(name: str) -> Iterator[DataSpec]:
    """Every kind of data that the model of this name takes."""
    kind = MODELS.load(name)
    shapes = {**INPUTS, "image": IMAGES.get(name, INPUTS["image"])}
    targets = (("class", 3), ("tokens", 8)) if name in DEEPER else TARGETS
    for (inputs, shape), (target, count) in product(shapes.items(), targets):
        fits = inputs in kind.inputs and target in kind.targets & TOGETHER[inputs]
        if fits and (inputs, target) not in kind.apart:
            names = tuple(f"name {index}" for index in range(count))
            yield DataSpec(
                inputs=inputs,
                input_shape=shape,
                target=target,
                num_outputs=count,
                class_names=names if target not in {"real", "tokens", "span"} else (),
                target_names=names if target == "real" else ("y",),
                vocab_size={"tokens": 8, "pairs": 8, "masked": 9}.get(inputs, 0),
                padding=0 if inputs == "pairs" or (inputs, target) in PADDED else None,
                source_length=SOURCE if inputs == "pairs" else 0,
            )


def label(value: Any) -> str | None:
    if isinstance(value, DataSpec):
        return f"{value.inputs}-{value.target}{value.num_outputs}"
    return getattr(value, "__name__", None)


RECURRENT = ("elman", "jordan", "lstm", "gru", "mingru", "minlstm", "lru", "encoder-decoder")
GPT2S = ("gpt", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl")
TRANSFORMERS = ("transformer", "transformer-base", "transformer-big")
T5S = ("t5", "t5-small", "t5-base")
BERTS = ("bert", "bert-tiny", "bert-mini", "bert-small", "bert-medium", "bert-base")
VITS = ("vit", "vit-ti", "vit-s", "vit-b")
SMALLER: dict[str, dict[str, int]] = {  # as many trees or channels as they have take seconds
    "bagging": {"members": 3},
    "restarts": {"members": 2},
    "alexnet": {"width": 2, "hidden": 4},
    "unet": {"width": 2, "depth": 2},
    **{f"vgg{depth}": {"width": 2, "hidden": 4} for depth in (11, 13, 16, 19)},
    **{f"resnet{depth}": {"width": 2} for depth in (9, 18, 20, 32, 34, 44, 56, 110)},
    **{f"resnet{depth}": {"width": 4} for depth in (50, 101, 152)},
    **{name: {"layers": 1, "heads": 2, "width": 8, "context": 8} for name in (*GPT2S, *BERTS)},
    **{name: {"layers": 1, "heads": 2, "width": 8} for name in (*TRANSFORMERS, *T5S)},
    **{name: {"layers": 1, "heads": 2, "width": 8} for name in VITS},
    "detr": {"layers": 1, "heads": 2, "width": 8, "queries": 3},
    "table-resnet": {"layers": 1, "width": 8, "hidden": 8},
    "mlp-plr": {"frequencies": 4, "width": 4},
    "ft-transformer": {"layers": 1, "heads": 2, "width": 8, "hidden": 8},
    "mlp-mixer": {"layers": 1, "width": 8, "token_hidden": 3, "channel_hidden": 8},
    **{name: {"hidden": 8, "embedding": 6} for name in RECURRENT},
    "text-cnn": {"embedding": 6, "maps": 3},
    "time-delay": {"embedding": 6, "hidden": 8},
    "bag-of-vectors": {"embedding": 6},
    "random-forest": {"trees": 5},
    "rbm": {"units": 32, "epochs": 8},  # with 8 units some bits learn next to nothing
    "gradient-boosting": {"stages": 8},
    "hist-boosting": {"stages": 8},
    "boosting": {"members": 5},
}
CASES = [(name, spec) for name in MODELS for spec in specs(name)]


def is_repetition(name: str, spec: DataSpec) -> bool:
    """Whether each part of a case is in another one: its inputs, its targets, or all but depth.

    Networks for images differ by their targets in the last layer alone, which all of them share.
    """
    before = list(takewhile(lambda one: one != spec, specs(name)))
    has_inputs = spec.inputs in {one.inputs for one in before}
    has_target = any(
        (one.target, one.num_outputs) == (spec.target, spec.num_outputs) for one in before
    )
    is_of_images = MODELS.load(name).inputs == {"image"}
    return name in DEEPER or (has_inputs and (has_target or is_of_images))


def parted(cases: list[tuple[str, DataSpec]]) -> list[Any]:
    """The cases, those that repeat others as slow."""
    return [
        pytest.param(name, spec, marks=pytest.mark.slow if is_repetition(name, spec) else ())
        for name, spec in cases
    ]


LEARNERS = [(name, spec) for name, spec in CASES if issubclass(MODELS.load(name), Learner)]
MLPS = (
    MLPConfig(hidden=()),
    MLPConfig(hidden=(6,), dropout=0.0, initializer="he-normal"),
    MLPConfig(hidden=(6, 6), activation="tanh", batch_norm=True),
    MLPConfig(hidden=(6, 6, 4), activation="sigmoid", residual=True),
    MLPConfig(hidden=(6, 6), batch_norm=True, residual=True, initializer="orthogonal"),
)


@pytest.mark.parametrize(("name", "spec"), parted(CASES), ids=label)
def test_keeps_the_model_contract(name: str, spec: DataSpec) -> None:
    kind = MODELS.load(name)
    checks = MODEL_CHECKS + SEQUENCE_CHECKS if spec.vocab_size else MODEL_CHECKS
    for check in checks:
        check(lambda: kind.build(parse(kind.settings, SMALLER.get(name, {})), spec))


@for_each("config", MLPS, ids=range(len(MLPS)))
def test_every_option_of_the_mlp_keeps_the_model_contract(config: MLPConfig) -> None:
    spec = DataSpec(inputs="image", input_shape=(1, 2, 3), target="class", num_outputs=3)
    for check in MODEL_CHECKS:
        check(lambda: MLP.build(config, spec))


@pytest.mark.parametrize(("name", "spec"), parted(LEARNERS), ids=label)
def test_keeps_the_learner_contract(name: str, spec: DataSpec) -> None:
    kind = MODELS.load(name)
    for check in LEARNER_CHECKS:
        check(lambda: kind.build(parse(kind.settings, SMALLER.get(name, {})), spec))


def test_closed_forms_are_learners_and_networks_are_not() -> None:
    names = {name for name, _ in LEARNERS}
    assert {"least-squares", "ridge"} <= names
    assert not {"mlp", "linear-regression", "logistic", "softmax"} & names


def test_a_config_says_which_model_it_is_of() -> None:
    configs = [MODELS.load(name).settings for name in MODELS]
    assert len(set(configs)) == len(configs)


def test_every_model_and_its_config_can_be_imported_from_the_room() -> None:
    for name in MODELS:
        kind = MODELS.load(name)
        assert getattr(models, kind.__name__) is kind
        assert getattr(models, kind.settings.__name__) is kind.settings


def test_every_model_takes_some_data_of_ours() -> None:
    for name in MODELS:
        found = list(specs(name))
        assert found, name
        for spec in found:
            check_fits(MODELS.load(name), name, spec)


def test_every_setting_is_explained() -> None:
    for name in MODELS:
        for setting in describe(MODELS.load(name).settings):
            assert setting.doc, f"{name}.{setting.name} has no sentence"


def test_symbols_of_a_card_say_what_they_are() -> None:
    for name in MODELS:
        card = MODELS.load(name).card
        assert card.symbols, name
        assert all(meaning.strip() for meaning in card.symbols.values()), name


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown model 'mpl'; did you mean 'mlp'"):
        MODELS.load("mpl")
