"""Scores of an ensemble and its members: by hand, in words, and drawn."""

import pytest
import torch

from netwright.inspection.predictions.ensemble_members import (
    EnsembleMembers,
    measure_ensemble_members,
    score,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on


def reals(*, grown: bool = True, names: tuple[str, ...] = ("mlp", "mlp")) -> EnsembleMembers:
    """Two members, one 2 above and one 4 below what is true."""
    targets = torch.tensor([[1.0], [5.0]])
    alone = [targets + 2, targets - 4]
    together = targets - 1
    return measure_ensemble_members(
        alone,
        [alone[0], together] if grown else [],
        together,
        targets,
        target="real",
        names=names,
        weights=torch.tensor([0.25, 0.75]),
    )


def test_scores_by_hand() -> None:
    view = reals()
    assert (view.metric, view.better) == ("rmse", "lower")
    assert view.alone == pytest.approx((2.0, 4.0))
    assert view.first == pytest.approx((2.0, 1.0))
    assert view.together == pytest.approx(1.0)
    assert view.caption == (
        "All 2 members together: rmse 1. One member alone (dots): 3 on average, 2 at best. The "
        "line is what the first members, up to this one, score together. Lower is better."
    )


def test_classes_and_labels_are_scored_by_what_is_right() -> None:
    chances = torch.tensor([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    assert score(chances, torch.tensor([0, 1, 0]), "class") == pytest.approx(2 / 3)
    truth = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert score(chances, truth, "labels") == pytest.approx(5 / 6)


def test_members_of_several_kinds_are_named_with_what_they_count() -> None:
    view = reals(grown=False, names=("mlp", "ridge"))
    assert " They count mlp 0.25, ridge 0.75. Lower is better." in view.caption
    assert {"mlp", "ridge", "one member", "the ensemble", "rmse"} <= set(words_on(view))
    assert "first members together" not in words_on(view)


def one() -> EnsembleMembers:
    return measure_ensemble_members(
        [torch.eye(2)],
        [torch.eye(2)],
        torch.eye(2),
        torch.tensor([0, 1]),
        target="class",
        names=["tree"],
        weights=torch.ones(1),
    )


def test_one_member_is_no_company_and_members_are_counted_in_whole_numbers() -> None:
    assert one().caption == "The only member: accuracy 100.00 %. Higher is better."
    for view in (one(), reals()):
        assert all(tick == int(tick) for tick in view.plot().axes[0].get_xticks())


@pytest.mark.parametrize(
    "view",
    [reals(), reals(grown=False, names=(HOSTILE[0], HOSTILE[1])), one()],
    ids=["reals", "kinds", "one"],
)
def test_every_picture_is_sound(view: EnsembleMembers) -> None:
    check_sound(view)
