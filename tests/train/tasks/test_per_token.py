"""One answer a token: the loss by torch, padding that changes nothing, weights, batches, JSON."""

import json
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.data.dataset import Data, Split
from netwright.data.spec import IGNORED
from netwright.train.evaluate import _batch_size, evaluate, measure_quickly
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for, task_from_json
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.per_token import PerToken, target_counts
from netwright.train.tasks.tagging import Tagging
from tests.repetition import for_each
from tests.train.token_data import small_lstm, tagged_data, text_data, whole
from tests.train.toy_runs import toy_trainer

BOTH = [text_data, tagged_data]


def logits_for(data: Data) -> Tensor:
    shape = (*data.train.targets.shape, data.spec.num_outputs)
    return torch.randn(shape, generator=generator(3), dtype=torch.float64)


@pytest.mark.parametrize(("make", "kind"), [(text_data, LanguageModelling), (tagged_data, Tagging)])
def test_the_target_decides_the_task_and_it_comes_back_from_json(
    make: Any, kind: type[PerToken]
) -> None:
    data = make()
    task = task_for(data, TrainConfig(label_smoothing=0.1))
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    assert type(task) is type(again) is kind
    assert task.target == data.spec.target
    logits, batch = logits_for(data), whole(data.train)
    assert torch.equal(task.loss(logits, batch), again.loss(logits, batch))


@for_each("make", BOTH)
@for_each("smoothing", [0.0, 0.2])
def test_the_loss_is_the_mean_over_all_tokens_that_count(make: Any, smoothing: float) -> None:
    data = make()
    task = task_for(data, TrainConfig(label_smoothing=smoothing))
    logits, targets = logits_for(data), data.train.targets
    wanted = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), label_smoothing=smoothing, ignore_index=IGNORED
    )
    torch.testing.assert_close(task.loss(logits, whole(data.train)), wanted)
    if not smoothing:
        make_task: Any = type(task)
        own = make_task(logits.shape[2])  # as it is without settings
        torch.testing.assert_close(own.loss(logits, whole(data.train)), wanted)
    assert int(task.counted(targets)) == int((targets != IGNORED).sum())


@pytest.mark.parametrize("make", BOTH)
def test_more_padding_changes_no_measure(make: Any) -> None:
    data, task = make(), task_for(make())
    logits, split = logits_for(data), data.train
    wider = Split(
        inputs=F.pad(split.inputs, (0, 3)),
        targets=F.pad(split.targets, (0, 3), value=IGNORED),
    )
    padded = F.pad(logits, (0, 0, 0, 3), value=1.0)
    torch.testing.assert_close(task.loss(padded, whole(wider)), task.loss(logits, whole(split)))
    right = task.headline_sum(padded, wider.targets, None)
    assert torch.equal(right, task.headline_sum(logits, split.targets, None))
    assert measured(task, padded, wider.targets) == measured(task, logits, split.targets)


def measured(task: Any, logits: Tensor, targets: Tensor, weights: Any = None) -> list[float]:
    kept = task.compared(task.predictions(logits), targets)
    return list(task.measure(kept, targets, weights).values())


@pytest.mark.parametrize("make", BOTH)
def test_a_weight_is_how_many_times_a_text_is_there(make: Any) -> None:
    data, task = make(), task_for(make())
    logits, split = logits_for(data), data.train
    times = torch.arange(len(split)) % 3
    weights = times.double()
    again = torch.repeat_interleave(times)
    assert measured(task, logits, split.targets, weights) == pytest.approx(
        measured(task, logits[again], split.targets[again])
    )
    counted = task.counted(split.targets)
    total = task.loss(logits, whole(replace_weights(split, weights))) * counted
    repeated = task.loss(logits[again], whole(split.take(again)))
    torch.testing.assert_close(total, repeated * task.counted(split.targets[again]))
    right = task.headline_sum(logits, split.targets, weights)
    assert float(right) == float(task.headline_sum(logits[again], split.targets[again], None))


def replace_weights(split: Split, weights: Tensor) -> Split:
    return Split(inputs=split.inputs, targets=split.targets, weights=weights)


@pytest.mark.parametrize("make", BOTH)
def test_measured_in_parts_it_is_the_same(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data, task = make(), task_for(make())
    model = small_lstm(data.spec).eval()
    values = []
    for size in (1024, 3):
        monkeypatch.setattr("netwright.train.evaluate.EVALUATION_BATCH", size)
        values.append(evaluate(model, data.train, task))
        quick = measure_quickly(model, data.train, task)
        assert quick == pytest.approx({name: values[-1][name] for name in quick})
    assert values[0] == pytest.approx(values[1])
    direct = task.loss(model(data.train.inputs), whole(data.train))
    assert values[0]["loss"] == pytest.approx(float(direct.detach()), rel=1e-6)


def test_training_shows_the_same_loss_as_measuring_where_nothing_is_learned() -> None:
    data = tagged_data()
    trainer = toy_trainer(data, lr=1e-30, epochs=1, batch_size=3)
    state = trainer.start(small_lstm(data.spec), data)
    trainer.fit(state, data)
    wanted = measure_quickly(state.model, data.train, task_for(data))
    for name, value in wanted.items():
        assert state.history.latest(f"train/{name}") == pytest.approx(value, rel=1e-6)


def test_batches_are_smaller_where_outputs_are_many() -> None:
    text = torch.zeros(1, 1024, dtype=torch.int64)
    sizes = [_batch_size(text, LanguageModelling(kinds)) for kinds in (2, 64, 50_000)]
    assert sizes == [1024, 32, 1]


def test_targets_are_counted_by_weight_and_a_few_rows_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split = replace_weights(tagged_data().train, torch.tensor([1.0, 2.0, 0.0, 1.0]))
    counts = target_counts(split, 4)
    assert counts.tolist() == [0, 4, 3, 1]
    monkeypatch.setattr("netwright.train.tasks.per_token.ROWS_TOGETHER", 3)
    assert torch.equal(target_counts(split, 4), counts)


@pytest.mark.parametrize("make", BOTH)
def test_what_tokens_cannot_have_is_refused(make: Any) -> None:
    data = make()
    kind = data.spec.target
    refused: dict[str, dict[str, Any]] = {
        f"class_weight is for single-label classification, the target is {kind!r}": {
            "class_weight": "balanced"
        },
        f"the loss 'hinge' is for targets of kind 'class' or 'labels', not {kind!r}": {
            "loss": "hinge"
        },
        "label_smoothing is for cross-entropy, the loss is 'focal'": {
            "loss": "focal",
            "label_smoothing": 0.1,
        },
    }
    for sentence, settings in refused.items():
        with pytest.raises(ConfigError) as refusal:
            task_for(data, TrainConfig(**settings))
        assert str(refusal.value) == sentence


def test_tokens_are_counted_text_by_text_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.train.tasks.per_token.ROWS_TOGETHER", 3)
    targets = tagged_data().train.targets
    assert Tagging(4).counted_each(targets).tolist() == [3, 2, 4, 1]
