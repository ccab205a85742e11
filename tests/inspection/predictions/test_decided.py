"""What is answered, with and without a threshold."""

import torch

from netwright.inspection.predictions.decided import decide, threshold_words

CHANCES = torch.tensor([[0.75, 0.25], [0.25, 0.75]])


def test_without_a_threshold_the_likeliest_leads() -> None:
    classes, lead, surety = decide(CHANCES, None)
    assert classes.tolist() == [0, 1]
    assert lead.tolist() == [0.5, 0.5]
    assert surety.tolist() == [0.75, 0.75]


def test_a_threshold_is_exceeded_not_reached() -> None:
    classes, lead, surety = decide(CHANCES, 0.25)
    assert classes.tolist() == [0, 1]
    assert lead.tolist() == surety.tolist() == [0.0, 0.5]
    assert decide(CHANCES, 0.2).classes.tolist() == [1, 1]
    assert decide(CHANCES, 0.75).classes.tolist() == [0, 0]


def test_it_is_said_only_where_there_is_one() -> None:
    assert threshold_words(None, "yes") == ""
    assert threshold_words(0.25, "yes").startswith(" yes is predicted above probability 0.25")
