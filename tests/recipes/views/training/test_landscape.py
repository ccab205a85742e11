"""The view `landscape` of a run: its own loss, its own path, and the model as it was."""

import copy
from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.training.landscape import Landscape
from netwright.recipes.views.cost import Cost
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training import landscape
from netwright.recipes.views.training.landscape import LANDSCAPE, _affordable
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, copy_of


def show(run: nw.Run, **settings: object) -> Landscape:
    view = LANDSCAPE.show(Subject(run, *run.data_at_hand()), settings)
    assert isinstance(view, Landscape)
    return view


def test_shows_the_path_of_a_saved_run_and_its_own_loss_at_the_star(moons_run: nw.Run) -> None:
    assert moons_run.folder is not None
    run = nw.open_run(moons_run.folder)
    before = copy_of(run.model)
    view = show(run, cells=3, rows=10**6)
    loss = run.evaluate(split="train")["loss"]
    assert view.rows == len(run.data.train)
    assert view.loss == pytest.approx(loss, rel=1e-5)
    assert view.path[0].step == 0
    assert view.path[-1].loss is not None
    assert view.path[-1].loss < (view.path[0].loss or 0)
    assert len(view.heights) == len(view.heights[0]) == 3
    assert_same(copy_of(run.model), before)
    assert all(weight.grad is None for weight in run.model.parameters())
    assert not any(part._forward_hooks for part in run.model.modules())


def test_a_run_in_memory_has_a_random_plane(moons_run: nw.Run) -> None:
    moons_run.model.train()
    run = copy.copy(moons_run)
    run.folder = None
    view = show(run, cells=2)
    assert view.path == ()
    assert moons_run.model.training
    moons_run.model.eval()  # as the tests that share this run expect it
    assert show(run, cells=2, seed=1).heights != view.heights


def test_models_with_a_rule_of_their_own_have_one_where_they_have_weights(tmp_path: Path) -> None:
    view = show(nw.fit("least-squares", "line", out=tmp_path / "line", quiet=True), cells=3)
    assert all(
        height >= (view.loss or 0) - 1e-6 for row in view.heights for height in row if height
    )
    tree = nw.fit("decision-tree", "iris", out=tmp_path / "tree", quiet=True)
    with pytest.raises(
        ConfigError,
        match="a landscape needs at least two trainable weights, decision-tree has 0",
    ):
        show(tree)
    several = nw.fit("bagging", "iris", members=2, out=tmp_path / "bag", quiet=True, epochs=1)
    with pytest.raises(ConfigError, match="a landscape is for a single model, bagging has several"):
        show(several)


@for_each(
    ("cost", "size"),
    [
        (Cost(calls=0, flops=0, weights=0), (256, 17)),
        (Cost(calls=10, flops=10**5, weights=10**4), (256, 17)),
        (Cost(calls=20, flops=10**6, weights=10**4), (32, 17)),
        (Cost(calls=50, flops=10**7, weights=10**4), (16, 9)),
        (Cost(calls=50, flops=10**6, weights=8 * 10**6), (8, 7)),
        (Cost(calls=50, flops=10**9, weights=10**4), (2, 7)),
    ],
)
def test_a_costly_model_is_seen_on_fewer_examples_then_on_fewer_cells(
    cost: Cost, size: tuple[int, int]
) -> None:
    assert _affordable(cost) == size


def test_who_would_wait_for_minutes_is_asked_to_say_so(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Cost(calls=100, flops=4 * 10**9, weights=10**8)
    monkeypatch.setattr(landscape, "measure_cost", lambda *_: slow)
    sentence = (
        r"^a landscape of mlp would take 138 seconds with 2 examples and 7 x 7 cells: set rows or "
        r"cells to accept that$"
    )
    with pytest.raises(ConfigError, match=sentence):
        show(moons_run)
    assert show(moons_run, cells=2).rows == 2
