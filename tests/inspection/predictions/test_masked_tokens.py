"""Guesses at masked places: which places, what stands around them, how likely the truth is."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.data.spec import IGNORED
from netwright.inspection.predictions.masked_tokens import AROUND, measure_masked_tokens

NAMES = ["the", "cat", "sat", "mat", "[MASK]"]
TOKENS = torch.tensor([0, 4, 2, 3])  # "the [MASK] sat mat": place 1 covered, place 3 exchanged
TARGETS = torch.tensor([IGNORED, 1, IGNORED, 0])


def test_places_by_hand() -> None:
    logits = torch.zeros(4, 4)
    logits[1] = torch.tensor([0.1, 0.6, 0.2, 0.1]).log()
    logits[3] = torch.tensor([0.2, 0.3, 0.4, 0.1]).log()
    first, second = measure_masked_tokens(logits, TOKENS, TARGETS, NAMES.__getitem__).places
    assert (first.before, first.stood, first.after) == ("the", "[MASK]", "sat mat")
    assert (second.before, second.stood, second.after) == ("the [MASK] sat", "[mat]", "")
    assert first.true.token == "cat"
    assert first.true.probability == pytest.approx(0.6)
    assert [one.token for one in second.likeliest] == ["sat", "cat", "the", "mat"]
    assert [one.is_true for one in second.likeliest] == [False, False, True, False]


def test_the_caption_counts_and_the_picture_is_drawn() -> None:
    logits = torch.zeros(4, 4)
    logits[1, 1] = logits[3, 2] = 5.0
    view = measure_masked_tokens(logits, TOKENS, TARGETS, NAMES.__getitem__)
    assert "The first guess is right at 50.0 % of these 2 places" in view.caption
    assert len(view.image("svg")) > 1000


def test_only_the_nearest_text_is_shown() -> None:
    tokens = torch.zeros(60, dtype=torch.int64)
    targets = torch.full((60,), IGNORED)
    targets[30] = 1
    (place,) = measure_masked_tokens(torch.zeros(60, 4), tokens, targets, NAMES.__getitem__).places
    assert len(place.before) == len(place.after) == AROUND


def test_a_text_without_chosen_places_is_refused() -> None:
    with pytest.raises(ShapeError, match="places that were chosen must not be empty"):
        measure_masked_tokens(
            torch.zeros(4, 4), TOKENS, torch.full((4,), IGNORED), NAMES.__getitem__
        )
