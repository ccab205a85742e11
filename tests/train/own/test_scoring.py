"""scikit-learn's scorers give what its functions give of the same predictions."""

import pytest
import torch
from sklearn.metrics import f1_score, get_scorer, log_loss, r2_score, roc_auc_score

from netwright.train.own.scoring import score

TARGETS = torch.tensor([0, 1, 1, 0])
SAID = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])


def test_scorers_of_classes_scores_and_reals() -> None:
    assert score(get_scorer("f1"), "class", SAID, TARGETS) == f1_score(TARGETS, [0, 0, 1, 1])
    found = score(get_scorer("neg_log_loss"), "class", SAID, TARGETS)
    assert found == pytest.approx(-log_loss(TARGETS.numpy(), SAID.numpy()))
    assert score(get_scorer("roc_auc"), "class", SAID, TARGETS) == roc_auc_score(
        TARGETS, SAID[:, 1]
    )
    reals = torch.tensor([1.0, 2.0, 4.0])
    assert score(get_scorer("r2"), "real", reals + 0.5, reals) == r2_score(reals, reals + 0.5)
