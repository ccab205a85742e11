"""`nw.compare`: paired by data, split, weights and order; honest about what seeds can say."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, NetwrightError, RunError
from netwright.data.dataset import Data
from netwright.models.mlp import MLPConfig
from netwright.recipes.fitting.fit import prepare, put_together
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.fitting.training import train
from netwright.recipes.judging import compare as room
from netwright.recipes.judging.compare import PreparedComparison, compare, prepare_comparison
from netwright.recipes.judging.contenders import Contender
from netwright.recipes.plan.sources import load_source
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from tests.repetition import for_each


def two(first: str, second: str, data: str = "moons", **settings: Any) -> PreparedComparison:
    return prepare_comparison([first, second], data, seeds=2, settings=settings)


def built(prepared: PreparedComparison, contender: Contender, turn: int = 0) -> Prepared:
    """What is trained under one seed, before its first step."""
    recipe = contender.recipe
    return put_together(
        type(recipe)(**{**vars(recipe), "seed": contender.seeds[turn]}), prepared.data
    )


class Rows(Callback):
    """Notes which rows each step sees."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def on_step_end(self, state: TrainState) -> None:
        assert state.batch is not None
        self.seen.append(state.batch.rows.tolist())


def test_recipes_of_one_shape_start_from_the_same_weights() -> None:
    prepared = two("mlp:hidden=8", "mlp:hidden=8:dropout=0")
    first, second = (built(prepared, row).model.state_dict() for row in prepared.contenders)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    other = built(prepared, prepared.contenders[0], turn=1).model.state_dict()
    assert not torch.equal(first["head.weight"], other["head.weight"])


def test_recipes_of_other_shapes_share_the_layers_before_the_first_that_differs() -> None:
    prepared = two("mlp:hidden=8,8", "mlp:hidden=8,4")
    first, second = (built(prepared, row).model.state_dict() for row in prepared.contenders)
    for name in ("hidden.0.0.weight", "hidden.0.0.bias"):
        assert torch.equal(first[name], second[name])
    assert first["hidden.1.0.weight"].shape != second["hidden.1.0.weight"].shape


def test_all_entries_see_the_same_examples_in_the_same_order() -> None:
    prepared = two("mlp:hidden=8", "logistic:optimizer=adam", epochs=2)
    orders = []
    for contender in prepared.contenders:
        rows = Rows()
        train(built(prepared, contender), extra=[rows], quiet=True, keep_folder=False)
        orders.append(rows.seen)
    assert len(orders[0]) == 2 * -(-len(prepared.data.train) // 32)
    assert orders[0] == orders[1]


def test_a_score_is_that_of_a_fit_with_its_seed() -> None:
    told = compare("logistic", "mlp:hidden=8", data="moons", seeds=2, seed=3, epochs=2, quiet=True)
    run = train(
        prepare("mlp", "moons", seed=4, hidden=(8,), epochs=2), quiet=True, keep_folder=False
    )
    assert told.rows[1].seeds == (3, 4)
    assert told.rows[1].scores[1] == run.results["metrics"]["accuracy"]
    assert told.baseline == run.results["baseline"]["accuracy"]
    assert told.rows[1].parameters == run.results["parameters"]
    assert (told.split, told.examples) == ("test", run.results["rows"])


def test_the_data_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []

    def counted(*given: Any) -> Any:
        loads.append(given)
        return load_source(*given)

    monkeypatch.setattr(room, "load_source", counted)
    compare("logistic", "softmax", "mlp:hidden=4", data="moons", seeds=2, epochs=1, quiet=True)
    assert loads == [("moons", {})]


def test_the_same_comparison_gives_the_same_numbers() -> None:
    first, second = (
        compare("mlp:hidden=4", "logistic", data="xor", seeds=3, epochs=1, quiet=True)
        for _ in range(2)
    )
    assert [row.scores for row in first.rows] == [row.scores for row in second.rows]
    assert first.verdicts == second.verdicts


@pytest.mark.slow
def test_an_mlp_is_better_than_a_line_on_the_moons() -> None:
    told = compare("logistic", "mlp:hidden=32", data="moons", epochs=10, lr=0.05, quiet=True)
    assert told.metric == "accuracy"
    assert told.verdicts[0].word == "better"
    assert told.verdicts[0].gap.interval is not None
    assert told.verdicts[0].gap.interval[0] > 0


def test_learners_without_seeds_have_an_exact_gap() -> None:
    told = compare("least-squares", "ridge", data="diabetes", seeds=3, quiet=True)
    assert (told.metric, told.better) == ("rmse", "lower")
    (verdict,) = told.verdicts
    assert verdict.gap.interval is None
    assert verdict.word == ("better here" if verdict.gap.mean < 0 else "worse here")
    assert "says nothing about other rows" in verdict.reason


def test_different_recipes_that_learn_the_same_are_the_same() -> None:
    told = compare("logistic", "logistic:save_every=2", data="moons", epochs=1, quiet=True)
    assert [row.seeds for row in told.rows] == [(0, 1, 2, 3, 4)] * 2
    assert told.verdicts[0].word == "the same"


def test_a_repeat_is_trained_under_seeds_of_its_own() -> None:
    told = compare("mlp:hidden=8", "mlp:hidden=8", data="moons", seeds=3, epochs=2, quiet=True)
    assert [row.label for row in told.rows] == ["mlp:hidden=8", "mlp:hidden=8 (again)"]
    assert [row.seeds for row in told.rows] == [(0, 1, 2), (3, 4, 5)]
    assert told.rows[0].scores != told.rows[1].scores
    assert "since the recipe is the same" in told.verdicts[0].reason


def test_no_verdict_under_three_seeds() -> None:
    told = compare("logistic", "softmax", data="moons", seeds=2, epochs=1, quiet=True)
    assert told.verdicts[0].word == "no verdict"


def noise_of(repetitions: int, entry: str, data: Data, **settings: Any) -> int:
    """How many of these comparisons of a recipe with itself raise no false alarm."""
    verdicts = [
        compare(entry, entry, data=data, seed=100 * turn, quiet=True, **settings).verdicts[0]
        for turn in range(repetitions)
    ]
    assert {verdict.word for verdict in verdicts} == {"noise"}
    intervals = [verdict.gap.interval for verdict in verdicts]
    return sum(span is not None and span[0] <= 0 <= span[1] for span in intervals)


QUICK: dict[str, Any] = {"seeds": 3, "epochs": 2, "batch_size": 256, "lr": 0.02}


def test_a_recipe_compared_with_itself_is_noise() -> None:
    assert noise_of(1, "mlp:hidden=16", load_source("digits", {})[2], **QUICK) == 1


@pytest.mark.slow
def test_a_recipe_compared_with_itself_is_noise_17_times_in_20() -> None:
    assert noise_of(20, "mlp:hidden=16", load_source("digits", {})[2], **QUICK) >= 17


@pytest.mark.slow
@pytest.mark.long
def test_the_default_recipe_compared_with_itself_is_noise_17_times_in_20() -> None:
    assert noise_of(20, "mlp", load_source("digits", {})[2]) >= 17


Faker = Callable[[dict[str, list[dict[str, float]]]], None]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Faker:
    """Fits that are not made: model -> the metrics under seeds 0, 1, 2 ..."""

    def install(measured: dict[str, list[dict[str, float]]]) -> None:
        def trained(prepared: Prepared, **how: Any) -> Any:
            assert how == {"quiet": True, "keep_folder": False}
            results = {
                "metrics": measured[prepared.recipe.model][prepared.recipe.seed],
                "split": "test",
                "rows": 4,
                "baseline": {"accuracy": 0.25, "log_loss": 1.5},
                "baseline_rule": "always",
                "parameters": 3,
                "seconds": 1.0 + prepared.recipe.seed,
            }
            return SimpleNamespace(results=results)

        monkeypatch.setattr(room, "train", trained)

    return install


def test_an_even_gap_is_exact_only_where_nothing_depends_on_the_seed(fake: Faker) -> None:
    """Four rows make a coarse accuracy; the loss shows that the fits differ."""
    still = [{"accuracy": 0.25, "loss": 2.0}] * 3
    moving = [{"accuracy": 0.75, "loss": 0.1 * seed} for seed in range(3)]
    fake({"logistic": still, "softmax": [{"accuracy": 0.75, "loss": 0.5}] * 3, "mlp": moving})
    told = compare("logistic", "softmax", "mlp", data="moons", seeds=3, quiet=True)
    assert [verdict.word for verdict in told.verdicts] == ["better here", "no verdict"]
    told = compare("mlp", "softmax", "logistic", data="moons", seeds=3, quiet=True)
    assert [verdict.word for verdict in told.verdicts] == ["the same", "no verdict"]


def test_all_gaps_are_to_the_first_and_share_the_confidence(fake: Faker) -> None:
    scores = {"logistic": (0.5, 0.6, 0.5), "softmax": (0.6, 0.8, 0.5), "mlp": (0.9, 0.9, 0.8)}
    fake({name: [{"accuracy": score} for score in row] for name, row in scores.items()})
    told = compare(*scores, data="moons", seeds=3, quiet=True)
    assert [row.scores for row in told.rows] == list(scores.values())
    assert told.rows[0].seconds == 2.0
    for verdict, name in zip(told.verdicts, ("softmax", "mlp"), strict=True):
        wanted = [b - a for a, b in zip(scores["logistic"], scores[name], strict=True)]
        assert list(verdict.gap.differences) == wanted
    (alone,) = compare("logistic", "softmax", data="moons", seeds=3, quiet=True).verdicts
    shared = told.verdicts[0]
    assert alone.gap.interval is not None
    assert shared.gap.interval is not None
    assert shared.gap.interval[0] < alone.gap.interval[0]
    assert alone.gap.interval[1] < shared.gap.interval[1]
    assert "about 18 seeds" in alone.reason
    assert "about 20 seeds" in shared.reason


def test_a_lower_metric_can_be_the_better_one(fake: Faker) -> None:
    fake(
        {
            "logistic": [{"log_loss": loss} for loss in (1.0, 1.1, 1.2)],
            "mlp": [{"log_loss": loss} for loss in (0.1, 0.25, 0.3)],
        }
    )
    told = compare("logistic", "mlp", data="moons", seeds=3, metric="log_loss", quiet=True)
    assert (told.metric, told.better, told.baseline) == ("log_loss", "lower", 1.5)
    assert told.verdicts[0].word == "better"


def test_progress_is_one_line_a_fit_seed_by_seed(
    fake: Faker, capsys: pytest.CaptureFixture[str]
) -> None:
    fake({name: [{"accuracy": 0.5}] * 2 for name in ("logistic", "softmax")})
    compare("logistic", "softmax", data="moons", seeds=2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "1/4  logistic, seed 0: accuracy 0.5 (1.0 s)",
        "2/4  softmax, seed 0: accuracy 0.5 (1.0 s)",
        "3/4  logistic, seed 1: accuracy 0.5 (2.0 s)",
        "4/4  softmax, seed 1: accuracy 0.5 (2.0 s)",
    ]
    compare("logistic", "softmax", data="moons", seeds=1, quiet=True)
    assert capsys.readouterr().err == ""


def test_settings_that_all_share_go_to_training_or_to_the_data() -> None:
    prepared = two("mlp:hidden=4", "logistic", epochs=7, noise=0.4, n=100)
    for row in prepared.contenders:
        assert row.recipe.train.epochs == 7
        mapping = row.recipe.to_mapping()["data"]
        assert (mapping["noise"], mapping["n"]) == (0.4, 100)
    assert sum(len(split) for _, split in prepared.data.splits()) == 100


def test_a_text_column_is_shared_by_all_entries(reviews_file: Path) -> None:
    for data in (reviews_file, pd.read_csv(reviews_file)):
        given = {"text": "text", "target": "label", "epochs": 1}
        prepared = prepare_comparison(("elman", "gru"), data, settings=given)
        assert prepared.data.spec.inputs == "tokens"


def test_arrays_and_configs_are_compared_too() -> None:
    inputs = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    told = compare(
        MLPConfig(hidden=(4,)),
        "logistic",
        data=(inputs, (inputs[:, 0] > 0).long()),
        seeds=1,
        epochs=1,
        quiet=True,
    )
    assert [row.label for row in told.rows] == ["mlp:hidden=4", "logistic"]
    assert told.data == "arrays"


@for_each(
    ("given", "sentence"),
    [
        ({"metric": "acuracy"}, "unknown metric 'acuracy'; did you mean 'accuracy'?"),
        (
            {"metric": "mae"},
            "mae is not for a target of kind 'class'; there are accuracy, balanced_accuracy, "
            "precision, recall, f1, roc_auc, average_precision, log_loss, brier, top_5_accuracy",
        ),
        ({"metric": "top_5_accuracy"}, "top_5_accuracy has no value on the test rows of moons"),
        ({"seeds": 0}, "seeds must be a positive integer, got 0"),
        ({"seeds": True}, "seeds must be a positive integer, got True"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
        (
            {"settings": {"hidden": (8,)}},
            "'hidden' is not a setting of training or of the data, which all entries share "
            "(settings of a model belong to its entry: mlp:dropout=0)",
        ),
        (
            {"settings": {"epoch": 3}},
            "'epoch' is not a setting of training or of the data, which all entries share "
            "(settings of a model belong to its entry: mlp:dropout=0); did you mean 'epochs'?",
        ),
        ({"settings": {"epochs": 0}}, "mlp: train.epochs must be greater than 0, got 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NetwrightError, match=f"^{re.escape(sentence)}$"):
        prepare_comparison(["mlp", "logistic"], "moons", **{"settings": {}, **given})


def test_refusals_are_of_the_right_kind() -> None:
    with pytest.raises(ConfigError, match=r"^compare needs at least two entries, got 1$"):
        compare("mlp")
    with pytest.raises(DataError, match="no value"):
        compare("mlp", "logistic", data="moons", metric="top_5_accuracy")


def test_a_fit_that_fails_is_told_with_its_entry_and_seed() -> None:
    with pytest.raises(RunError, match=r"^mlp:hidden=4:optimizer=sgd:lr=1e30, seed 5: non-fin"):
        compare(
            "least-squares",
            "mlp:hidden=4:optimizer=sgd:lr=1e30",
            data="diabetes",
            seed=5,
            quiet=True,
        )


@pytest.mark.slow
@pytest.mark.covers("experiment-factors")
def test_one_factor_at_a_time_each_with_its_mean_and_spread_over_seeds() -> None:
    factors = ("hidden=4,4", "activation=tanh", "lr=0.05", "loss=hinge")
    found = compare(
        "mlp:hidden=4",
        *(
            f"mlp:hidden=4:{factor}" if "hidden" not in factor else f"mlp:{factor}"
            for factor in factors
        ),
        data={"name": "moons", "n": 120},
        seeds=3,
        epochs=5,
        quiet=True,
    )
    assert len(found.rows) == 5
    for row in found.rows:
        assert len(row.scores) == 3
        assert row.mean == pytest.approx(sum(row.scores) / 3)
        assert row.std is not None
    first = found.rows[0].recipe
    for row, factor in zip(found.rows[1:], factors, strict=True):
        setting = factor.partition("=")[0]
        changed = [
            key
            for section in ("model", "train")
            for key in first[section]
            if first[section][key] != row.recipe[section][key]
        ]
        assert changed == [setting]
