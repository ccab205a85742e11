"""What is hidden is replaced, one part after the other, and the answer falls by what it gave."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ShapeError
from netwright.inspection.attribution.input_map import ShownInput
from netwright.inspection.attribution.occlusion import measure_occlusion, patches, single_parts

WEIGHTS = torch.tensor([1.0, -2, 4])
WORDS = {"quantity": "value", "hidden": "the mean"}


def linear(x: Tensor) -> Tensor:
    return x @ WEIGHTS


def test_of_a_linear_model_it_is_the_weight_times_the_way_from_the_mean() -> None:
    x, mean = torch.tensor([[2.0, 5, 3]]), torch.tensor([1.0, 3, 4])
    shown = ShownInput(kind="features", answer="it", names=("a", "b", "c"))
    parts = single_parts((3,), 3)
    view = measure_occlusion(linear, x, shown, filling=mean, parts=parts, **WORDS)
    assert view.values == tuple((WEIGHTS * (x[0] - mean)).tolist())  # 1, -4, -4
    assert (view.answered, view.num_parts) == (4, 3)
    assert x.tolist() == [[2, 5, 3]]
    assert view.caption == (
        "How far the value of it, 4 with nothing hidden, falls when a part of the input is "
        "replaced by the mean, for 3 parts in turn: blue parts hold it up, orange ones down. The "
        'largest change is at "b" (-4).'
    )


def test_one_part_is_told_as_one() -> None:
    shown = ShownInput(kind="features", answer="it", names=("a", "b", "c"))
    view = measure_occlusion(
        linear, torch.ones(1, 3), shown, filling=torch.zeros(3), parts=[(slice(None),)], **WORDS
    )
    assert "for 1 part in turn" in view.caption


def test_a_pixel_has_the_mean_of_the_patches_over_it() -> None:
    x = torch.zeros(1, 1, 3, 3)
    x[0, 0, 1, 1] = 8.0
    shown = ShownInput(kind="image", answer="it", pixels=((0,) * 3,) * 3)
    parts = patches((1, 3, 3), 2)
    assert len(parts) == 4  # two by two, each over the middle
    view = measure_occlusion(
        lambda images: images[:, 0, 1, 1] + images[:, 0, 0, 0],
        x + torch.tensor([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        shown,
        filling=torch.zeros(1, 3, 3),
        parts=parts,
        **WORDS,
    )
    assert view.values[0] == (9, 8.5, 8)  # the first patch hides both, the others the middle alone
    assert view.values[1] == (8.5, 8.25, 8)


def test_patches_cover_every_pixel() -> None:
    for sides, patch in (((28, 28), 4), ((8, 8), 2), ((10, 7), 3), ((3, 3), 5), ((70, 90), 13)):
        times = torch.zeros(1, *sides)
        for part in patches((1, *sides), patch):
            assert times[part].numel() > 0
            times[part] += 1
        assert times.min() > 0


def test_padding_is_left_alone_and_long_series_are_hidden_in_stretches() -> None:
    assert single_parts((9,), 2) == [(slice(0, 1),), (slice(1, 2),)]
    parts = single_parts((2000, 2), 2000)
    assert len(parts) == 1000
    times = torch.zeros(2000, 2)
    for part in parts:
        times[part] += 1
    assert times.min() == times.max() == 1


def test_tokens_are_hidden_behind_another_token() -> None:
    tokens = torch.tensor([[7, 5, 0]])
    shown = ShownInput(kind="tokens", answer="it", names=("x", "y"))
    view = measure_occlusion(
        lambda given: given.sum(dim=1).double(),
        tokens,
        shown,
        filling=torch.ones(3, dtype=torch.int64),
        parts=single_parts((3,), 2),
        **WORDS,
    )
    assert view.values == (6, 4)


def test_a_filling_of_another_shape_is_refused() -> None:
    shown = ShownInput(kind="features", answer="it", names=("a",) * 3)
    with pytest.raises(ShapeError, match=r"^filling must have shape \(3\), got \(2,\)$"):
        measure_occlusion(linear, torch.ones(1, 3), shown, filling=torch.ones(2), parts=[], **WORDS)
