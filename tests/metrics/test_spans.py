"""Exact match and F1 of spans, by hand and by counting places."""

import pytest
import torch

from netwright.data.spec import IGNORED
from netwright.metrics.catalog import measure_all
from netwright.metrics.spans import measure_spans, score_spans

SAID = torch.tensor([[3, 5], [3, 5], [3, 5], [0, 0], [2, 2]])
ANSWERS = torch.tensor(
    [
        [[3, 5], [9, 9]],  # right
        [[5, 8], [0, 1]],  # one of three and of four
        [[6, 8], [4, 5]],  # the second fits better: two of three and of two
        [[1, 4], [IGNORED, IGNORED]],  # beside it
        [[IGNORED, IGNORED], [IGNORED, IGNORED]],  # cut off
    ]
)


def by_counting(said: list[int], answers: list[list[int]]) -> tuple[float, float]:
    best = (0.0, 0.0)
    ours = set(range(said[0], said[1] + 1))
    for first, last in answers:
        if first >= 0:
            theirs = set(range(first, last + 1))
            both = len(ours & theirs)
            precision, recall = both / len(ours), both / len(theirs)
            f1 = 2 * precision * recall / (precision + recall) if both else 0.0
            best = (max(best[0], float(ours == theirs)), max(best[1], f1))
    return best


def test_each_example_by_hand_and_by_counting_places() -> None:
    scores = score_spans(SAID, ANSWERS)
    wanted = [[1, 1], [0, 2 / 7], [0, 4 / 5], [0, 0], [0, 0]]
    torch.testing.assert_close(scores, torch.tensor(wanted).double())
    numbers = torch.Generator().manual_seed(0)
    said = torch.randint(0, 9, (200, 2), generator=numbers).sort(dim=1).values
    answers = torch.randint(0, 9, (200, 3, 2), generator=numbers).sort(dim=2).values
    answers[::3, 1] = IGNORED
    counted = [by_counting(*one) for one in zip(said.tolist(), answers.tolist(), strict=True)]
    torch.testing.assert_close(score_spans(said, answers), torch.tensor(counted).double())


def test_weights_and_the_table_of_metrics() -> None:
    scores = score_spans(SAID, ANSWERS)
    assert measure_spans(scores)["exact_match"] == pytest.approx(1 / 5)
    weights = torch.tensor([3.0, 1, 0, 0, 0])
    assert measure_spans(scores, weights)["exact_match"] == pytest.approx(3 / 4)
    assert measure_all("span", SAID, ANSWERS) == measure_spans(scores)
