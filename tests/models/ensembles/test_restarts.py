"""Random restarts: members differ by their seed, and their mean is no worse than they are."""

from itertools import combinations
from pathlib import Path
from typing import cast

import pytest
import torch

import netwright as nw
from netwright.data.catalog import SOURCES
from netwright.models.ensembles.restarts import Restarts, RestartsConfig


@pytest.mark.slow
@pytest.mark.covers("random-restarts")
def test_the_mean_of_five_errs_no_more_than_they_do_on_average_and_often_less_than_the_best(
    tmp_path: Path,
) -> None:
    run = nw.fit(
        "restarts",
        "diabetes",
        members=7,
        settings={"hidden": [16], "dropout": 0.0},
        epochs=30,
        batch_size=128,
        lr=0.05,
        restore_best=False,
        device="cpu",
        out=tmp_path / "run",
        quiet=True,
    )
    model, test = cast(Restarts, run.model.double()), run.data.split("test")
    x, y = test.inputs.double(), test.targets.double()
    with torch.no_grad():
        answers = torch.stack([member(x) for member in model.members])  # (7, N, 1)
        torch.testing.assert_close(model(x), answers.mean(dim=0), rtol=1e-6, atol=0)
    own = (answers - y).square().mean(dim=(1, 2))
    better_than_the_best = 0
    groups = [list(group) for group in combinations(range(7), 5)]
    for group in groups:
        mean = answers[group].mean(dim=0)
        together = (mean - y).square().mean()
        spread = (answers[group] - mean).square().mean()
        assert float(own[group].mean() - together) == pytest.approx(float(spread), rel=1e-10)
        better_than_the_best += bool(together < own[group].min())
    assert better_than_the_best > 0.5 * len(groups)


def test_every_member_sees_all_rows_with_a_seed_of_its_own() -> None:
    source = SOURCES.load("iris")
    data = source.load(source.config())
    model = Restarts.build(RestartsConfig(members=3), data.spec)
    lessons = list(model.lessons(data.train, data.val, 0))
    assert all(lesson.train is data.train and lesson.val is data.val for lesson in lessons)
    assert len({lesson.seed for lesson in lessons}) == 3
    assert [lesson.title for lesson in lessons] == ["member 1/3", "member 2/3", "member 3/3"]
    again = list(model.lessons(data.train, None, 0))
    assert [lesson.seed for lesson in again] == [lesson.seed for lesson in lessons]
