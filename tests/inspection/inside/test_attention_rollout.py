"""Attention rollout by hand, its law, and what it refuses."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.inside.attention_rollout import measure_attention_rollout, roll_out


def test_two_layers_by_hand() -> None:
    first = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # each looks at the other
    second = torch.tensor([[1.0, 0.0], [1.0, 0.0]])  # both look at token 0
    rolled = roll_out([first[None, None], second[None, None]])
    # Half stays: [[.5 .5] [.5 .5]] after the first, then [[1 0] [.5 .5]] of it.
    assert rolled[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    swapped = roll_out([second[None, None], first[None, None]])
    assert swapped[0].tolist() == [[0.75, 0.25], [0.75, 0.25]]


def test_heads_are_averaged_and_every_row_is_a_distribution() -> None:
    layers = [torch.rand(2, 3, 5, 5).softmax(dim=3) for _ in range(4)]
    rolled = roll_out(layers)
    assert torch.allclose(rolled.sum(dim=2), torch.ones(2, 5, dtype=torch.float64))
    assert torch.allclose(rolled, roll_out([one.mean(dim=1, keepdim=True) for one in layers]))


def test_the_class_token_looks_at_one_patch_of_an_image_that_no_patch_fills() -> None:
    weights = torch.zeros(1, 1, 7, 7)  # 2 x 3 patches of side 2 for 3 x 5 pixels
    weights[..., 0, 4] = 1  # the first of the second row
    weights[0, 0, 1:] = torch.eye(7)[1:]
    view = measure_attention_rollout([weights], torch.rand(1, 3, 3, 5), ["cat"], 2)
    assert view.by_token
    assert view.images[0].shares == ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert "the class token looks" in view.caption
    assert (
        "strongest of 6 patches has 100.0 %; spread evenly each would have 16.7 %" in view.caption
    )
    assert len(view.image("svg")) > 1000


def test_without_a_class_token_the_mean_of_all_patches_counts() -> None:
    weights = torch.full((1, 1, 4, 4), 0.25)
    view = measure_attention_rollout([weights], torch.rand(1, 1, 4, 4), [""], 2)
    assert not view.by_token
    assert view.images[0].shares == ((0.25, 0.25), (0.25, 0.25))


def test_what_does_not_fit_is_refused() -> None:
    images = torch.rand(1, 1, 4, 4)
    with pytest.raises(DataError, match="there is no attention to roll out"):
        roll_out([])
    with pytest.raises(DataError, match="6 tokens are not 2 x 2 patches"):
        measure_attention_rollout([torch.rand(1, 1, 6, 6)], images, [""], 2)
    with pytest.raises(ShapeError, match="the attention"):
        roll_out([torch.rand(1, 1, 4, 4), torch.rand(1, 1, 5, 5)])
