"""Attention maps: the weights as they are, few enough to be seen, with the tokens beside them."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.inside.attention_maps import (
    MOST_MAPS,
    AttentionMaps,
    measure_attention_maps,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on
from tests.repetition import slow_but


def backwards(size: int) -> Tensor:
    """Query i looks at key size - 1 - i, mostly."""
    return 0.9 * torch.eye(size).flip(0) + 0.1 / size


def view_of(heads: int, size: int = 4) -> AttentionMaps:
    tokens = [f"t{place}" for place in range(size)]
    random = torch.Generator().manual_seed(0)
    weights = torch.randn(heads, size, size, generator=random).softmax(dim=2)
    return measure_attention_maps(
        {f"layer {head + 1}": weights[head] for head in range(heads)}, tokens, tokens
    )


def test_the_numbers_are_the_weights() -> None:
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    view = measure_attention_maps({"": weights}, ["x", "y", "z"], ["a", "b"])
    assert view.maps[0].weights == ((0.25, 0.75), (1.0, 0.0), (0.5, 0.5))
    assert (view.queries, view.keys, view.heads) == (("x", "y", "z"), ("a", "b"), 1)


def test_the_caption_says_how_sharp_the_sharpest_head_is() -> None:
    blurred = torch.full((4, 4), 0.25)
    tokens = list("abcd")
    view = measure_attention_maps({"layer 1": blurred, "layer 2": backwards(4)}, tokens, tokens)
    assert 'in a row of "layer 2" is 92.5 % on average; spread evenly it would be 25.0 %.' in (
        view.caption
    )
    alone = measure_attention_maps({"": backwards(4)}, tokens, tokens)
    assert "The largest share in a row is 92.5 %" in alone.caption


def test_of_many_heads_a_few_are_shown_from_the_first_to_the_last() -> None:
    view = view_of(30)
    assert len(view.maps) == MOST_MAPS
    assert (view.maps[0].name, view.maps[-1].name) == ("layer 1", "layer 30")
    assert f"{MOST_MAPS} of 30 heads are shown." in view.caption
    assert "heads are shown" not in view_of(3).caption


@pytest.mark.parametrize("heads", slow_but([2], [1, 2, 5]))
def test_every_head_has_a_panel_with_its_name_and_the_tokens(heads: int) -> None:
    view = view_of(heads)
    check_sound(view)
    words = words_on(view)
    assert all(f"layer {head + 1}" in words for head in range(heads))
    assert words.count("t3") == 2 * heads


def test_long_texts_and_hostile_tokens_can_be_drawn() -> None:
    tokens = [*HOSTILE, *(f"token {place}" for place in range(60))]
    check_sound(measure_attention_maps({r"$\frac{": backwards(65)}, tokens, tokens))


def test_a_row_that_looks_at_nothing_is_allowed() -> None:
    weights = torch.tensor([[0.0, 0.0], [0.5, 0.5]])
    assert measure_attention_maps({"": weights}, ["x", "y"], ["a", "b"]).maps[0].weights[0] == (
        0,
        0,
    )


def test_what_is_no_attention_is_refused() -> None:
    with pytest.raises(DataError, match=r"^there is no attention head to show$"):
        measure_attention_maps({}, ["x"], ["a"])
    with pytest.raises(DataError, match=r"^keys must hold 2 names, got 1$"):
        measure_attention_maps({"": torch.eye(2)}, ["x", "y"], ["a"])
    with pytest.raises(DataError, match=r"^queries must hold 2 names, got 1$"):
        measure_attention_maps({"": torch.eye(2)}, ["x"], ["a", "b"])
    with pytest.raises(DataError, match=r"^probabilities must lie in \[0, 1\], got 3$"):
        measure_attention_maps({"": 3 * torch.eye(2)}, ["x", "y"], ["a", "b"])
    with pytest.raises(ShapeError, match=r"^the attention 'layer 1' must have shape \(Q, K\)"):
        measure_attention_maps({"layer 1": torch.eye(2)[None]}, ["x", "y"], ["a", "b"])
