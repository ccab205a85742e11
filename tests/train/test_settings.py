"""Settings of training: defaults that work, and one sentence for every mistake."""

import math
import re
from typing import Any

import pytest

from netwright.core.config import describe, parse, to_mapping
from netwright.core.errors import ConfigError
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.train.settings import Pace, TrainConfig, batch_size_for, pace_for, pace_of
from tests.data.batches.test_split import split as loader_split
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start

NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"epochs": 0}, "epochs must be greater than 0, got 0"),
        ({"epochs": -3}, "epochs must be greater than 0, got -3"),
        ({"epochs": 1.5}, "epochs must be a whole number, got 1.5"),
        ({"epochs": True}, "epochs must be int or nothing, got True"),
        ({"epochs": "many"}, "epochs must be a whole number, got 'many'"),
        ({"batch_size": 0}, "batch_size must be greater than 0, got 0"),
        ({"lr": NAN}, "lr must be a finite number, got nan"),
        ({"lr": INFINITY}, "lr must be a finite number, got inf"),
        ({"lr": 0.0}, "lr must be greater than 0.0, got 0.0"),
        ({"lr": -0.1}, "lr must be greater than 0.0, got -0.1"),
        ({"weight_decay": -1.0}, "weight_decay must be at least 0.0, got -1.0"),
        ({"weight_decay": NAN}, "weight_decay must be a finite number, got nan"),
        ({"optimizer": "adma"}, "unknown optimizer 'adma'; did you mean 'adam'?"),
        ({"schedule": "cosin"}, "unknown schedule 'cosin'; did you mean 'cosine'?"),
        ({"warmup": -1}, "warmup must be at least 0, got -1"),
        ({"accumulate": 0}, "accumulate must be greater than 0, got 0"),
        ({"patience": -1}, "patience must be at least 0, got -1"),
        ({"min_delta": -0.5}, "min_delta must be at least 0.0, got -0.5"),
        ({"save_every": 0}, "save_every must be greater than 0, got 0"),
        ({"keep": 0}, "keep must be greater than 0, got 0"),
        ({"max_time": 0.0}, "max_time must be greater than 0.0, got 0.0"),
        ({"compile": "perhaps"}, "compile must be true or false, got 'perhaps'"),
        ({"restore_best": "perhaps"}, "restore_best must be true or false, got 'perhaps'"),
        (
            {"precision": "fp8"},
            "precision must be 'fp32', 'bf16-mixed' or 'fp16-mixed', got 'fp8'",
        ),
        ({"kernel": "slow"}, "kernel must be 'auto', 'fused' or 'foreach', got 'slow'"),
        (
            {"class_weight": "even"},
            "class_weight must be 'balanced' or weights by class name, got 'even'",
        ),
        ({"class_weight": {"a": -1}}, "class_weight of 'a' must be a number, 0 or more, got -1"),
        (
            {"class_weight": {"a": math.inf}},
            "class_weight of 'a' must be a number, 0 or more, got inf",
        ),
        (
            {"optimizer": "lbfgs", "accumulate": 2},
            "accumulate must be 1 with lbfgs: it takes its own steps",
        ),
        ({"optimizer": "lbfgs", "on_non_finite": "skip"}, "on_non_finite must be stop with lbfgs"),
        (
            {"optimizer": "lbfgs", "precision": "fp16-mixed"},
            "precision must not be fp16-mixed with lbfgs",
        ),
        (
            {"optimizer": "lbfgs", "carry_state": True},
            "carry_state is not supported with lbfgs: it reads a batch several times",
        ),
        (
            {"carry_state": True, "on_non_finite": "skip"},
            "on_non_finite must not be skip with carry_state: the carried state is not finite "
            "either",
        ),
        *(
            (
                {"optimizer": "svrg", name: value},
                f"{name} is not supported with svrg: its two gradients must be of the same batch",
            )
            for name, value in (("augment", ("flip",)), ("input_noise", 0.1), ("label_noise", 0.1))
        ),
        (
            {"augment": ("flip", "mixup=0.4"), "loss": "hinge"},
            "mixup mixes classes: it needs the loss cross-entropy, got 'hinge'",
        ),
        (
            {"augment": ("cutmix",), "loss": "hinge"},
            "cutmix mixes classes: it needs the loss cross-entropy, got 'hinge'",
        ),
    ],
)
def test_a_wrong_setting_is_refused_in_one_sentence(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        TrainConfig(**settings)


def test_any_loss_goes_with_images_that_are_not_mixed() -> None:
    assert TrainConfig(augment=("flip",), loss="hinge").loss == "hinge"


def test_an_unknown_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"^unknown setting 'train.epoch'; did you mean 'epochs'"):
        parse(TrainConfig, {"epoch": 3}, "train")


@for_each(
    ("settings", "sentence"),
    [
        ({"optimizer_options": {"beta": 1}}, "unknown option 'beta' of Adam; did you mean 'betas'"),
        ({"optimizer": "lbfgs", "weight_decay": 0.1}, "LBFGS has no weight_decay, got 0.1"),
        ({"optimizer": "rmsprop", "kernel": "fused"}, "RMSprop has no fused kernel; use kernel"),
        ({"batch_size": 21}, "batch_size must lie between 1 and the 20 rows, got 21"),
        ({"device": "tpu9"}, "device must be auto, cpu, cuda, cuda:N or mps, got 'tpu9'"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_the_first_step(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        toy_start(**settings)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_trains_with_its_own_learning_rate(optimizer: str) -> None:
    data = toy_data("real", rows=40, val=0)
    options = {"max_iter": 3} if optimizer == "lbfgs" else {}
    settings: dict[str, Any] = {"optimizer": optimizer, "epochs": 5, "optimizer_options": options}
    if OPTIMIZERS.load(optimizer).full_batch:
        settings["batch_size"] = None
    losses = toy_fit(toy_net(), data, **settings).history.series("train/loss")
    assert losses[-1] < losses[0]


def test_settings_written_before_there_was_compilation_still_parse() -> None:
    old = {name: value for name, value in to_mapping(TrainConfig()).items() if name != "compile"}
    assert parse(TrainConfig, old, "train") == TrainConfig()
    assert TrainConfig().compile is False
    assert to_mapping(TrainConfig(compile=True))["compile"] is True


def test_settings_cannot_be_changed_later() -> None:
    config: Any = TrainConfig()
    with pytest.raises(AttributeError):
        config.lr = 0.5


def test_every_setting_explains_itself() -> None:
    assert all(field.doc for field in describe(TrainConfig))


@for_each(("rows", "size"), [(1, 1), (31, 31), (32, 32), (9_999, 32), (10_000, 128), (60_000, 128)])
def test_a_batch_is_32_rows_or_128_of_many_and_never_more_than_there_are(
    rows: int, size: int
) -> None:
    assert batch_size_for(rows) == size


@for_each(
    ("settings", "rows", "pace"),
    [
        ({}, 1_258, Pace(32, 40, 30)),  # 1,200 updates in 30 epochs
        ({}, 280, Pace(32, 9, 112)),  # 112 * 9 is the first over 1,000
        ({}, 20, Pace(20, 1, 300)),  # never more than 300
        ({}, 50_000, Pace(128, 391, 30)),
        ({"accumulate": 4}, 1_258, Pace(32, 10, 100)),
        ({"batch_size": 10, "epochs": 7}, 95, Pace(10, 10, 7)),
    ],
)
def test_few_rows_are_seen_more_often(settings: dict[str, Any], rows: int, pace: Pace) -> None:
    assert pace_for(TrainConfig(**settings), rows) == pace


def test_the_size_of_a_batch_may_be_left_to_the_library() -> None:
    assert toy_fit(toy_net(), toy_data(rows=40), batch_size=None, epochs=1).step == 2


def test_a_limit_of_updates_without_epochs_is_the_length_of_the_run() -> None:
    by_steps = pace_for(TrainConfig(max_steps=100, batch_size=10), 95)
    assert by_steps == Pace(10, 10, 10, 100)
    assert by_steps.all_updates == 100
    part = pace_for(TrainConfig(max_steps=7, batch_size=10, accumulate=4), 95)
    assert (part, part.all_updates) == (Pace(10, 3, 3, 7), 7)
    both = pace_for(TrainConfig(max_steps=7, epochs=5, batch_size=10), 95)
    assert (both, both.all_updates) == (Pace(10, 10, 5), 50)  # schedules span the epochs, as ever


@for_each(
    ("batches", "settings", "pace"),
    [
        (6, {"epochs": 3}, Pace(4, 6, 3)),
        (6, {"epochs": 3, "accumulate": 4}, Pace(4, 2, 3)),
        (6, {}, Pace(4, 6, 167)),
        (6, {"max_steps": 13}, Pace(4, 6, 3, 13)),
        (None, {"max_steps": 13, "accumulate": 2}, Pace(4, 13, 1, 13)),
    ],
)
def test_batches_of_a_loader_are_counted_as_they_are(
    batches: int | None, settings: dict[str, Any], pace: Pace
) -> None:
    assert pace_of(TrainConfig(**settings), loader_split(batches)) == pace


@for_each(
    ("batches", "settings", "told"),
    [
        (6, {"batch_size": 8}, "batch_size is that of the DataLoader, 4: remove batch_size=8"),
        (6, {"optimizer": "lbfgs"}, "lbfgs uses all rows at a step, a DataLoader gives batches"),
        (None, {}, "give max_steps"),
        (None, {"epochs": 2, "max_steps": 4}, "give max_steps"),
    ],
)
def test_what_does_not_go_with_batches_of_a_loader_is_refused(
    batches: int | None, settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        pace_of(TrainConfig(**settings), loader_split(batches))
