"""The race: who leaves it and why, with fits that are planned instead of made."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split
from netwright.data.tables.table import TableConfig, from_frame
from netwright.recipes.fitting.fit import resolve
from netwright.recipes.judging.folds import foldable
from netwright.recipes.model_search import race as module
from netwright.recipes.model_search.entrant import Entrant
from netwright.recipes.model_search.race import PATIENCE, Race, folds_to_learn, recipe_of

ROWS = 100
NOISE = torch.rand(ROWS, generator=torch.Generator().manual_seed(0)).double()


class Clock:
    """A time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class PlannedRace(Race):
    """Each fit takes so long and costs so much a row; a cost of None is a refusal."""

    costs: Mapping[str, float | None]
    seconds: Mapping[str, float]
    clock: Clock

    def _fit(self, entrant: Entrant, number: int) -> None:
        cost = self.costs[entrant.name]
        if cost is None:
            raise ConfigError("it cannot")
        held_out = self.parts[number][1]
        self.clock.now += self.seconds.get(entrant.name, 1.0)
        losses = cost + (NOISE if entrant.name == "ridge" else NOISE.flip(0))[held_out]
        answers = torch.zeros(len(held_out), 1)
        entrant.hear(held_out, answers, losses, self.seconds.get(entrant.name, 1.0))


@pytest.fixture
def data() -> Data:
    numbers = torch.Generator().manual_seed(0)
    x, y = torch.randn(2, ROWS, 1, generator=numbers)
    loaded = resolve("mlp", (x.numpy(), y.numpy()))[1]
    return Data(
        name="rows",
        spec=loaded.spec,
        train=Split(inputs=x, targets=y),
        preprocessor=loaded.preprocessor,
    )


def planned(
    data: Data,
    monkeypatch: pytest.MonkeyPatch,
    costs: Mapping[str, float | None],
    *,
    seconds: Mapping[str, float] | None = None,
    max_time: float | None = None,
    learned: int = 5,
) -> PlannedRace:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    recipe = resolve("mlp", (data.train.inputs.numpy(), data.train.targets.numpy()))[0]
    race = PlannedRace(
        recipe=recipe,
        rows=foldable(data, None, data),
        names=tuple(costs),
        folds=5,
        learned=learned,
        max_time=max_time,
        tell=lambda line: None,
    )
    race.costs, race.seconds, race.clock = costs, seconds or {}, clock
    return race


def test_a_model_that_is_worse_leaves_before_the_last_fold(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = planned(data, monkeypatch, {"ridge": 0.0, "lasso": 0.05, "mlp": 5.0})
    race.run()
    assert [one.name for one in race.finished] == ["ridge", "lasso"]  # 0.05 is not told from 0
    assert race.entrants[2].left.startswith("worse than ridge, p = ")
    assert len(race.entrants[2].seconds) == 2


def test_luck_on_one_fold_drops_nobody(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    race = planned(data, monkeypatch, {"ridge": 0.0, "mlp": 1.0})
    lucky = race.parts[0][1]  # of ridge: it makes no mistake here, and grave ones elsewhere
    fit = race._fit

    def fit_with_luck(entrant: Entrant, number: int) -> None:
        fit(entrant, number)
        if entrant.name == "ridge" and number:
            entrant.losses[race.parts[number][1]] += 9.0

    monkeypatch.setattr(race, "_fit", fit_with_luck)
    race.run()
    assert float(race.entrants[0].losses[lucky].max()) <= 1.0
    assert [one.name for one in race.finished] == ["mlp", "ridge"]


def test_a_better_model_takes_the_lead(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    race = planned(data, monkeypatch, {"ridge": 1.0, "mlp": 0.0})
    race.run()
    assert [one.name for one in race.finished] == ["mlp", "ridge"]


def test_one_that_fails_leaves_the_others_alone(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = planned(data, monkeypatch, {"ridge": None, "lasso": 0.0})
    race.run()
    assert (race.entrants[0].left, race.finished[0].name) == ("it cannot", "lasso")
    with pytest.raises(DataError, match="ridge: it cannot"):
        planned(data, monkeypatch, {"ridge": None}).run()


def test_time_is_shared_and_kept_for_the_last_fit(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = {"ridge": 0.0, "lasso": 0.0, "mlp": 0.0}
    race = planned(data, monkeypatch, costs, seconds={"lasso": 4.0, "mlp": 9.0}, max_time=60.0)
    race.run()
    # 5 s for ridge, and 1.25 s of a last fit kept: 53.75 s for the 10 fits of the other two
    assert [len(one.seconds) for one in race.entrants] == [5, 5, 3]
    # 25 s are over, and 6.25 s kept: 28.75 s are 5.75 s for each fit, then 19.75 for 4 ...
    assert race.entrants[2].limit == pytest.approx((60 - 25 - 18 - 6.25) / 3)
    assert race.entrants[2].left == "time ran out after 3 of 5 folds"


def test_a_rule_of_its_own_may_take_all_the_time_that_is_left_a_network_its_share(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = planned(data, monkeypatch, {"ridge": 0.0, "mlp": 0.0, "lasso": 0.0}, max_time=60.0)
    limits: dict[str, float | None] = {}
    fit = race._fit

    def note(entrant: Entrant, number: int) -> None:
        limits.setdefault(entrant.name, entrant.limit)
        fit(entrant, number)

    monkeypatch.setattr(race, "_fit", note)
    race.run()
    # 5 s and 1.25 s for a last fit are gone when the MLP begins, twice that when lasso does.
    assert limits == pytest.approx({"ridge": 60 / 5, "mlp": 53.75 / 10, "lasso": 47.5 / 5})


def test_of_many_rows_one_fold_compares_the_models(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [folds_to_learn(rows, 5) for rows in (100, 20_000, 49_999, 50_000, 99_999, 10**6)] == [
        *(5, 5, 3, 2, 2, 1)
    ]
    costs = {"ridge": 1.0, "lasso": 0.0, "mlp": 2.0}
    race = planned(data, monkeypatch, costs, seconds={"lasso": 9.0}, max_time=60.0, learned=1)
    limits: dict[str, float | None] = {}
    fit = race._fit

    def note(entrant: Entrant, number: int) -> None:
        limits[entrant.name] = entrant.limit
        fit(entrant, number)

    monkeypatch.setattr(race, "_fit", note)
    race.run()
    assert [one.name for one in race.finished] == ["lasso", "ridge", "mlp"]
    # A rule of its own may take half of what is left; 1.25 and 12.5 s of a last fit are kept.
    assert limits == pytest.approx(
        {"ridge": 60 / 2, "lasso": (60 - 1 - 1.25) / 2, "mlp": 60 - 10 - 12.5}
    )
    # A stack is weighed by parts of the one fold, each by what the others say.
    assert [len(rows) for rows in race.held_out] == [4] * 5
    assert torch.equal(torch.cat(race.held_out).sort().values, race.parts[0][1])


def test_a_last_fit_has_time_for_what_its_models_took(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forest that is slower than its share of a short search is in the stack all the same."""
    costs, seconds = {"ridge": 0.0, "lasso": 0.0}, {"ridge": 0.5, "lasso": 9.0}
    race = planned(data, monkeypatch, costs, seconds=seconds, max_time=50.0)
    race.run()
    for entrant, limit in zip(race.entrants, (0.1, 30.0), strict=True):
        entrant.limit = limit
    assert race.last_limit(["ridge"]) == pytest.approx(2 * 0.5 * 5 / 4)
    assert race.last_limit(["ridge", "lasso"]) == pytest.approx((2 * 0.5 + 30.0) * 5 / 4)
    race.entrants[1].limit, race.entrants[1].was_cut = 9.0, True  # more time, another model
    assert race.last_limit(["lasso"]) == pytest.approx(9.0 * 5 / 4)
    assert [one.name for one in race.finished] == ["ridge", "lasso"]
    assert [one.name for one in race.stackable] == ["ridge"]
    assert planned(data, monkeypatch, costs).last_limit(["ridge"]) is None


def test_the_first_model_finishes_whatever_the_time(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = planned(data, monkeypatch, {"ridge": 0.0, "mlp": 0.0}, max_time=1.0)
    race.run()
    assert [one.name for one in race.finished] == ["ridge"]
    assert race.entrants[1].left == "time ran out after 0 of 5 folds"


def test_each_fold_is_encoded_by_its_own_training_rows() -> None:
    frame = pd.DataFrame({"a": np.arange(60.0) ** 2, "y": np.arange(60.0) % 7})
    config = TableConfig(target=("y",), target_kind="real")
    rows = foldable(frame, config, from_frame(frame, config), keeps_test=True)
    built: list[Data] = []

    def build(train: torch.Tensor, val: torch.Tensor, held_out: torch.Tensor) -> Data:
        built.append(rows.build(train, val, held_out))
        return built[-1]

    race = Race(
        recipe=resolve("mlp", frame, target="y", target_kind="real", epochs=1)[0],
        rows=replace(rows, build=build),
        names=["ridge", "mlp"],
        folds=2,
        learned=2,
        max_time=None,
        tell=lambda line: None,
    )
    race.run()
    assert rows.count == 48  # of 60, 12 are the test
    for data in built[1:]:  # the first is of all rows
        assert float(data.train.inputs.mean()) == pytest.approx(0, abs=1e-5)
        assert abs(float(data.split("test").inputs.mean())) > 1e-3
    assert [data.val is None for data in built[1:]] == [True, True, False, False]
    assert not bool(race.entrants[0].losses.isnan().any())


def test_groups_are_never_divided() -> None:
    frame = pd.DataFrame({"a": np.arange(60.0), "who": np.arange(60) // 6, "y": np.arange(60.0)})
    config = TableConfig(target=("y",), target_kind="real", group_column="who")
    rows = foldable(frame, config, from_frame(frame, config), keeps_test=True)
    divisions: list[list[set[int]]] = []

    def build(train: torch.Tensor, val: torch.Tensor, held_out: torch.Tensor) -> Data:
        assert rows.groups is not None
        divisions.append([{*rows.groups[part].tolist()} for part in (train, val, held_out)])
        return rows.build(train, val, held_out)

    race = Race(
        recipe=resolve("mlp", frame, target="y", epochs=1)[0],
        rows=replace(rows, build=build),
        names=["ridge", "mlp"],  # only the second has rows to choose its epoch by
        folds=2,
        learned=2,
        max_time=None,
        tell=lambda line: None,
    )
    race.run()
    assert [bool(val) for _, val, _ in divisions] == [False, False, False, True, True]
    for train, val, held_out in divisions:
        assert not (train & val or train & held_out or val & held_out)


def test_networks_stop_when_they_get_no_better_unless_told_how_long() -> None:
    recipe = resolve("mlp", "iris")[0]
    assert recipe_of("mlp-plr", recipe, 3.0).train.patience == PATIENCE
    assert recipe_of("mlp-plr", recipe, 3.0).train.max_time == 3.0
    assert recipe_of("random-forest", recipe, None).train.patience is None
    told = resolve("mlp", "iris", epochs=7)[0]
    assert recipe_of("mlp", told, None).train.patience is None
