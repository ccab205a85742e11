"""Tokens and tags: perplexity by hand and by its laws, sequences without a mistake, refusals."""

import math
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from netwright.core.errors import DataError, ShapeError
from netwright.core.seeding import generator
from netwright.metrics.catalog import measure_all
from netwright.metrics.tokens import (
    check_token_samples,
    guessed_sums,
    measure_tags,
    measure_tokens,
    sequence_accuracy,
    token_sums,
)
from tests.repetition import for_each

HALVES = torch.tensor([0.5, 0.25, 0.25])  # of three tokens


def test_sums_and_measures_by_hand() -> None:
    targets = torch.tensor([[0, 1], [0, -100]])
    sums = token_sums(HALVES.expand(2, 2, 3), targets)
    assert sums.tolist() == [[2, 1, 3 * math.log(2)], [1, 1, math.log(2)]]
    assert measure_tokens(sums) == pytest.approx(
        {"accuracy": 2 / 3, "perplexity": 2 ** (4 / 3), "bits_per_token": 4 / 3}
    )
    assert measure_tokens(sums, torch.tensor([0.0, 3.0])) == pytest.approx(
        {"accuracy": 1, "perplexity": 2, "bits_per_token": 1}
    )
    assert torch.equal(guessed_sums(HALVES, targets), sums)


def test_every_place_has_its_own_likeliest_token() -> None:
    targets = torch.tensor([[0, 2, 1], [1, 1, -100]])
    told = torch.eye(3)[torch.tensor([[0, 2, 2], [1, 0, 0]])]
    assert token_sums(told, targets)[:, :2].tolist() == [[3, 2], [2, 1]]


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(2, 300))
def test_who_holds_all_tokens_equally_likely_has_their_number_as_perplexity(kinds: int) -> None:
    even = torch.full((3, 4, kinds), 1 / kinds)
    values = measure_all("tokens", even, torch.randint(kinds, (3, 4), generator=generator(0)))
    assert values["perplexity"] == pytest.approx(kinds, rel=1e-6)
    assert values["bits_per_token"] == pytest.approx(math.log2(kinds), rel=1e-6)


def test_what_underflowed_stays_finite() -> None:
    certain = torch.tensor([[[1.0, 0.0]]])
    sums = token_sums(certain, torch.tensor([[1]]))
    assert measure_tokens(sums)["perplexity"] == pytest.approx(1 / torch.finfo().tiny)


def test_tags_agree_with_scikit_learn_on_the_tokens_that_count() -> None:
    rng = generator(1)
    said, targets = (torch.randint(5, (30, 6), generator=rng) for _ in range(2))
    targets = torch.where(torch.rand(30, 6, generator=rng) < 0.6, said, targets)
    targets[torch.rand(30, 6, generator=rng) < 0.3] = -100
    weights = torch.rand(30, generator=rng)
    counts = targets >= 0
    each = weights[:, None].expand(30, 6)[counts]
    true, called = targets[counts], said[counts]
    values = measure_tags(said, targets, 5, weights)
    assert values["accuracy"] == pytest.approx(accuracy_score(true, called, sample_weight=each))
    assert values["f1"] == pytest.approx(
        f1_score(true, called, sample_weight=each, average="macro")
    )


def test_a_sequence_is_right_where_all_of_it_is_and_one_without_tokens_is_no_sequence() -> None:
    targets = torch.tensor([[0, 1], [0, 1], [2, -100], [-100, -100]])
    said = torch.tensor([[0, 1], [0, 0], [2, 0], [0, 0]])
    assert sequence_accuracy(said, targets) == pytest.approx(2 / 3)
    assert sequence_accuracy(said, targets, torch.tensor([1.0, 2.0, 1.0, 9.0])) == 1 / 2
    assert sequence_accuracy(torch.tensor([[1, 1], [0, 2]]), torch.tensor([[0, 1], [0, 2]])) == 0.5


def test_what_cannot_be_measured_is_refused() -> None:
    chances, nothing = HALVES.expand(2, 2, 3), torch.full((2, 2), -100)
    for kind in ("tokens", "tags"):
        with pytest.raises(DataError, match=r"^there is no token to score$"):
            measure_all(kind, chances, nothing)
        with pytest.raises(DataError, match=r"^targets must lie in \[0, 3\), got 3$"):
            measure_all(kind, chances, nothing + 103)
    with pytest.raises(ShapeError, match="probabilities must have shape"):
        measure_all("tokens", chances[0], nothing)
    with pytest.raises(DataError, match=r"a row of probabilities must sum to 1, got 0\.5 in row 0"):
        measure_all("tokens", chances / 2, nothing + 100)
    with pytest.raises(DataError, match=r"^there is no token to score$"):
        measure_tokens(token_sums(chances, nothing))
    with pytest.raises(DataError, match=r"^there is no token to score$"):
        sequence_accuracy(nothing, nothing)


@for_each(
    ("changed", "sentence"),
    [
        ({"scores": torch.zeros(2, 3)}, "scores must have shape (N, T, V), got (2, 3)"),
        ({"scores": torch.zeros(2, 2, 0)}, "scores must not be empty, got shape (2, 2, 0)"),
        (
            {"targets": torch.zeros(2, 3, dtype=torch.int64)},
            "targets must have shape (2, 2), got (2, 3)",
        ),
        ({"targets": torch.zeros(2, 2)}, "targets must be int64, got torch.float32"),
        (
            {"scores": torch.zeros(2, 2, 3, dtype=torch.complex64)},
            "scores must be real numbers, got torch.complex64",
        ),
        (
            {"scores": torch.full((2, 2, 3), math.nan)},
            "scores must be finite, got nan at [0, 0, 0] (12 in all)",
        ),
        ({"weights": torch.ones(3)}, "weights must have shape (2), got (3,)"),
    ],
)
def test_samples_of_another_kind_are_refused(changed: dict[str, Any], sentence: str) -> None:
    samples: dict[str, Any] = {
        "scores": HALVES.expand(2, 2, 3),
        "targets": torch.tensor([[0, 1], [2, -100]]),
        "weights": torch.ones(2),
    }
    check_token_samples("scores", **samples)
    with pytest.raises((DataError, ShapeError), match=f"^{re.escape(sentence)}$"):
        check_token_samples("scores", **{**samples, **changed})
