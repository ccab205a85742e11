"""The task follows from the kind of target, and comes back from JSON."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import BatchLoader
from netwright.metrics.tokens import sequence_accuracy
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for, task_from_json
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.multi_label import MultiLabel
from netwright.train.tasks.per_token import PerToken
from netwright.train.tasks.regression import Regression, check_given
from netwright.train.tasks.sequence_to_sequence import SequenceToSequence
from netwright.train.tasks.tagging import Tagging
from netwright.train.tasks.task import Task
from tests.data.text.spans.written import write_questions
from tests.data.text.test_tagged import row
from tests.repetition import for_each
from tests.train.token_data import spec_of, tagged_data, text_data
from tests.train.toy_runs import assert_same, toy_data, toy_net

BALANCED = TrainConfig(class_weight="balanced")


@pytest.mark.parametrize(
    ("target", "kind"), [("class", Classification), ("labels", MultiLabel), ("real", Regression)]
)
def test_each_kind_of_target_has_its_task(target: Any, kind: type[Task]) -> None:
    task = task_for(toy_data(target))
    assert type(task) is kind
    assert task.target == target


@pytest.mark.parametrize("target", ["class", "labels", "real"])
def test_a_task_from_json_predicts_the_same(target: Any) -> None:
    data = toy_data(target)
    task = task_for(data)
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    assert type(again) is type(task)
    output = toy_net()(data.train.inputs).detach()
    assert_same(again.predictions(output), task.predictions(output))
    assert_same(again.baseline(data.train), task.baseline(data.train))


def test_classes_are_balanced_when_asked_for() -> None:
    plain, balanced = (task_for(toy_data(), config) for config in (None, BALANCED))
    assert isinstance(plain, Classification)
    assert isinstance(balanced, Classification)
    assert plain.class_weights is None
    assert balanced.class_weights is not None
    assert balanced.class_weights.shape == (3,)


def test_classes_have_the_weights_of_their_names() -> None:
    data = toy_data()
    first, *others = data.spec.class_names
    task = task_for(data, TrainConfig(class_weight={first: 5}))
    assert isinstance(task, Classification)
    assert task.class_weights is not None
    assert task.class_weights.tolist() == [5.0, *[1.0] * len(others)]
    numbered = replace(data, spec=replace(data.spec, class_names=("0", "1", "2")))
    task = task_for(numbered, TrainConfig(class_weight={0: 1, 2: 0.5}))
    assert isinstance(task, Classification)
    assert task.class_weights is not None
    assert task.class_weights.tolist() == [1.0, 1.0, 0.5]


def test_weights_of_no_class_are_refused() -> None:
    data = replace(toy_data(), name="mail")
    data = replace(data, spec=replace(data.spec, class_names=("ham", "spam", "other")))
    sentence = "class_weight has 'span', which is no class of mail; did you mean 'spam'?"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        task_for(data, TrainConfig(class_weight={"span": 2}))
    with pytest.raises(ConfigError, match=r"all weights are 0$"):
        task_for(data, TrainConfig(class_weight={"ham": 0, "spam": 0, "other": 0}))


def test_reals_are_scaled_unless_the_model_finds_its_own_scale() -> None:
    data = toy_data("real")
    fitted, plain = (task_for(data, scale_targets=choice) for choice in (True, False))
    assert isinstance(fitted, Regression)
    assert isinstance(plain, Regression)
    torch.testing.assert_close(fitted.center, data.train.targets.mean(dim=0))
    assert plain.center.tolist() == [0, 0, 0]
    assert plain.scale.tolist() == [1, 1, 1]


def test_a_transform_of_targets_travels_with_the_task() -> None:
    task = task_for(toy_data("real"), TrainConfig(target_transform="asinh"))
    again = task_from_json(task.to_json())
    assert isinstance(again, Regression)
    assert again.transform == "asinh"
    output = torch.ones(2, 3)
    assert torch.equal(again.predictions(output), task.predictions(output))
    with pytest.raises(ConfigError, match="unknown target_transform 'exp'"):
        task_from_json({**task.to_json(), "transform": "exp"})


def test_targets_that_a_transform_is_not_defined_for_are_refused_by_their_row() -> None:
    data = toy_data("real")
    positive = [Split(inputs=one.inputs, targets=one.targets.abs() + 1) for _, one in data.splits()]
    data = replace(data, train=positive[0], val=positive[1], test=None)
    task_for(data, TrainConfig(target_transform="log"))
    positive[1].targets[2, 1] = 0.0
    sentence = r"is 0 in row 2 of the val rows, target_transform log takes numbers above 0; log1p"
    with pytest.raises(DataError, match=sentence):
        task_for(data, TrainConfig(target_transform="log"))
    task_for(data, TrainConfig(target_transform="log1p"))
    positive[0].targets[1, 0] = -1.0
    with pytest.raises(DataError, match=r"is -1 in row 1 of the train rows, .* above -1;"):
        task_for(data, TrainConfig(target_transform="log1p"))


def test_targets_that_come_later_are_refused_by_their_row() -> None:
    data = toy_data("real")
    task = Regression.fitted(data.train, transform="asinh")
    check_given(task, torch.tensor([[-5.0]]), data.spec)
    task = Regression.fitted(replace(data.train, targets=data.train.targets.exp()), transform="log")
    check_given(task, torch.tensor([[5.0]]), data.spec)
    with pytest.raises(DataError, match=r"is -5 in row 1 of the rows given, target_transform log"):
        check_given(task, torch.tensor([[5.0], [-5.0]]), data.spec)


def test_only_reals_have_a_transform() -> None:
    with pytest.raises(ConfigError, match="target_transform is for real targets, the target is 'c"):
        task_for(toy_data("class"), TrainConfig(target_transform="log"))


@pytest.mark.parametrize("target", ["labels", "real"])
def test_only_classes_can_be_balanced(target: Any) -> None:
    sentence = f"class_weight is for single-label classification, the target is {target!r}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        task_for(toy_data(target), BALANCED)


def test_an_unknown_task_in_a_file_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^unknown task 'os\.system'$"):
        task_from_json({"kind": "os.system"})


def test_class_weights_travel_with_the_task() -> None:
    task = task_for(toy_data("class"), BALANCED)
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    assert isinstance(task, Classification)
    assert isinstance(again, Classification)
    assert task.class_weights is not None
    assert again.class_weights is not None
    assert_same(again.class_weights, task.class_weights)


@for_each(
    ("target", "loss"),
    [
        ("class", "hinge"),
        ("class", "perceptron"),
        ("labels", "hinge"),
        ("labels", "perceptron"),
        ("real", "absolute-error"),
        ("real", "huber"),
        ("class", "focal"),
        ("labels", "focal"),
    ],
)
def test_a_named_loss_is_computed_and_comes_back(target: Any, loss: str) -> None:
    data = toy_data(target)
    task = task_for(data, TrainConfig(loss=loss))
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    batch = next(BatchLoader(data.train, 8).epoch(0))
    logits = toy_net()(batch.inputs)
    assert torch.equal(task.loss(logits, batch), again.loss(logits, batch))
    assert not torch.equal(task.loss(logits, batch), task_for(data).loss(logits, batch))


@pytest.mark.parametrize(
    ("target", "loss", "options"),
    [
        ("real", "huber", {"delta": 0.1}),
        ("class", "focal", {"gamma": 5}),
        ("labels", "focal", {"gamma": 5}),
    ],
)
def test_options_of_a_loss_are_heeded_and_come_back(
    target: Any, loss: str, options: dict[str, Any]
) -> None:
    data = toy_data(target)
    task = task_for(data, TrainConfig(loss=loss, loss_options=options))
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    batch = next(BatchLoader(data.train, 8).epoch(0))
    logits = 3 * toy_net()(batch.inputs)
    plain = task_for(data, TrainConfig(loss=loss))
    assert torch.equal(task.loss(logits, batch), again.loss(logits, batch))
    assert not torch.equal(task.loss(logits, batch), plain.loss(logits, batch))


def test_a_task_of_a_run_folder_that_knows_no_options_has_none() -> None:
    written = task_for(toy_data()).to_json()
    del written["loss_options"]
    assert task_from_json(written).to_json()["loss_options"] == {}


def test_an_unknown_option_of_a_loss_is_refused() -> None:
    sentence = "unknown option 'delta' of the loss 'cross-entropy'; there are none"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        task_for(toy_data(), TrainConfig(loss_options={"delta": 2}))


def test_a_loss_for_another_kind_of_target_is_refused() -> None:
    sentence = "the loss 'huber' is for targets of kind 'real', not 'class'"
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        task_for(toy_data("class"), TrainConfig(loss="huber"))
    sentence = "the loss 'hinge' is for targets of kind 'class' or 'labels', not 'real'"
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        task_for(toy_data("real"), TrainConfig(loss="hinge"))


def test_label_smoothing_is_for_cross_entropy_of_classes() -> None:
    smoothed = TrainConfig(label_smoothing=0.1)
    with pytest.raises(
        ConfigError, match="label_smoothing is for single-label classification, the targe"
    ):
        task_for(toy_data("real"), smoothed)
    with pytest.raises(ConfigError, match="label_smoothing is for cross-entropy, the loss is 'hin"):
        task_for(toy_data("class"), replace(smoothed, loss="hinge"))


def test_smoothing_survives_the_run_folder() -> None:
    data = toy_data("class")
    task = task_for(data, TrainConfig(label_smoothing=0.1, smooth_over="others"))
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    assert isinstance(again, Classification)
    assert again.smoothing == pytest.approx(
        0.1 * data.spec.num_outputs / (data.spec.num_outputs - 1)
    )


@for_each(
    ("name", "value"),
    [
        ("smoothing", "x"),
        ("smoothing", 1.5),
        ("num_classes", "3"),
        ("num_classes", 0),
        ("class_weights", 2.5),
        ("class_weights", []),
        ("class_weights", [1.0, 2.0]),
        ("class_weights", ["x", 1, 2]),
        ("loss_options", [2.0]),
    ],
)
def test_a_forged_task_is_refused(name: str, value: Any) -> None:
    good = {
        "kind": "classification",
        "num_classes": 3,
        "class_weights": [1.0, 2.0, 3.0],
        "loss": "cross-entropy",
        "smoothing": 0.1,
    }
    task_from_json(good)
    with pytest.raises(DataError, match=r"of a task must|a task of 3 classes must"):
        task_from_json({**good, name: value})


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (text_data(), LanguageModelling),
        (tagged_data(), Tagging),
        (replace(text_data(), spec=replace(spec_of(4), inputs="pairs")), SequenceToSequence),
    ],
    ids=["text", "tags", "pairs"],
)
def test_tokens_have_the_task_of_their_data(data: Data, kind: type[PerToken]) -> None:
    task = task_for(data, TrainConfig(label_smoothing=0.1))
    assert type(task) is kind
    assert task.to_json() == {
        "kind": kind.kind,
        "num_classes": data.spec.num_outputs,
        "loss": "cross-entropy",
        "loss_options": {},
        "smoothing": 0.1,
    }


DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
QUIET: dict[str, Any] = {"save": False, "quiet": True, "device": "cpu"}
PAIRS: dict[str, Any] = {"data.name": "text-pairs"}


def write_digits(folder: Path, rows: int = 600) -> str:
    """Digits, and their names in English."""
    rng = random.Random(0)
    lines = ["source\ttarget"]
    for _ in range(rows):
        digits = [rng.randrange(10) for _ in range(rng.randint(1, 3))]
        lines.append(f"{' '.join(map(str, digits))}\t{' '.join(DIGITS[n] for n in digits)}")
    (folder / "digits.tsv").write_text("\n".join([*lines, ""]))
    return str(folder / "digits.tsv")


def write_tags(folder: Path, sentences: int = 200) -> str:
    """Words that name a thing behind "the", and else something done: "the run can walk"."""
    rng = random.Random(0)
    lines = []
    for _ in range(sentences):
        words: list[tuple[str, str]] = []
        for _ in range(rng.randint(1, 4)):
            word = rng.choice(("run", "walk", "can", "play"))
            words += rng.choice(([("the", "DET"), (word, "NOUN")], [(word, "VERB")]))
        lines += [row(place, word, tag) for place, (word, tag) in enumerate(words, 1)]
        lines.append("")
    (folder / "tags.conllu").write_text("\n".join(lines))
    return str(folder / "tags.conllu")


@pytest.mark.slow
@pytest.mark.covers("text-tasks")
def test_toy_texts_are_translated_tagged_and_asked_above_the_baselines(tmp_path: Path) -> None:
    translated = nw.fit(
        "encoder-decoder", write_digits(tmp_path), epochs=15, batch_size=16, lr=0.01, hidden=64,
        embedding=16, **PAIRS, **QUIET,
    )  # fmt: skip
    assert translated.evaluate()["sequence_accuracy"] >= 0.95
    assert translated.baseline()["sequence_accuracy"] < 0.2
    (said,) = translated.predict(["4 0 7"])
    assert said == "four zero seven"

    tagged = nw.fit(
        "elman", write_tags(tmp_path), epochs=10, batch_size=16, lr=0.02, hidden=16, **QUIET
    )
    test = tagged.data.test
    assert test is not None
    tags = tagged.model(test.inputs).argmax(dim=2)
    assert sequence_accuracy(tags, test.targets) >= 0.95
    assert tagged.baseline()["accuracy"] < 0.6

    asked = nw.fit(
        "bert", "questions", path=str(write_questions(tmp_path, 200)), tokenizer="word", layers=2,
        heads=2, width=32, dropout=0.0, epochs=25, lr=3e-3, batch_size=32, **QUIET,
    )  # fmt: skip
    assert asked.evaluate()["exact_match"] >= 0.8
    assert asked.baseline()["exact_match"] < 0.6


def test_normal_scores_travel_with_the_task() -> None:
    task = task_for(toy_data("real"), TrainConfig(target_transform="quantile"))
    values = json.loads(json.dumps(task.to_json()))
    again, output = task_from_json(values), torch.randn(4, 3)
    assert torch.equal(again.predictions(output), task.predictions(output))
    plain = {name: value for name, value in values.items() if name != "normal_scores"}
    wrong = [plain, {**plain, "normal_scores": "x"}, {**plain, "normal_scores": [[[1.0]], [[0.0]]]}]
    wrong += [{**values, "transform": "log"}]
    for one in wrong:
        with pytest.raises(DataError, match=r"normal.scores"):
            task_from_json(one)
