"""The loss of a set: by hand, in any order of objects and queries, and where there is nothing."""

import math
from itertools import permutations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.core.geometry.boxes import generalized_iou
from netwright.losses.set_prediction import OF_NOTHING, match_queries, set_loss


def case(queries: int = 4, objects: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Outputs (2, Q, 8) of three classes, and objects (2, M, 5), one fewer in the second image."""
    random = torch.Generator().manual_seed(seed)
    outputs = torch.randn(2, queries, 8, generator=random, dtype=torch.float64)
    boxes = torch.rand(2, objects, 4, generator=random, dtype=torch.float64) * 0.5 + 0.25
    classes = torch.randint(3, (2, objects, 1), generator=random).double()
    classes[1, -1] = -1
    return outputs, torch.cat((classes, boxes), dim=2)


def by_hand(outputs: Tensor, objects: list[Tensor]) -> float:
    """The loss of one image (Q, 8) by going through all matchings."""
    shares, said = outputs[:, :4].softmax(dim=1), outputs[:, 4:].sigmoid()

    def distance(one: Tensor, query: int) -> tuple[float, float]:
        overlap = generalized_iou(one[None, 1:], said[None, query])
        return float((one[1:] - said[query]).abs().sum()), float(overlap)

    def cost(one: Tensor, query: int) -> float:
        far, overlap = distance(one, query)
        return 5 * far - 2 * overlap - float(shares[query, int(one[0])])

    chosen = min(
        permutations(range(len(outputs)), len(objects)),
        key=lambda some: sum(map(cost, objects, some)),
    )
    total, weights = 0.0, 0.0
    for query in range(len(outputs)):
        weight = 1.0 if query in chosen else OF_NOTHING
        wanted = int(objects[chosen.index(query)][0]) if query in chosen else 3
        total, weights = total - weight * math.log(float(shares[query, wanted])), weights + weight
    parts = [distance(one, query) for one, query in zip(objects, chosen, strict=True)]
    boxes = sum(5 * far + 2 * (1 - overlap) for far, overlap in parts)
    return total / weights + boxes / max(len(objects), 1)


@pytest.mark.covers("detr")
def test_the_loss_is_that_of_the_best_of_all_matchings() -> None:
    for seed in range(10):
        outputs, targets = case(seed=seed)
        wanted = [
            by_hand(each, [one for one in objects if one[0] >= 0])
            for each, objects in zip(outputs, targets, strict=True)
        ]
        assert set_loss(outputs, targets).tolist() == pytest.approx(wanted)


@pytest.mark.covers("detr")
def test_neither_the_order_of_the_objects_nor_that_of_the_queries_matters() -> None:
    outputs, targets = case()
    wanted = set_loss(outputs, targets)
    for order in permutations(range(3)):
        torch.testing.assert_close(set_loss(outputs, targets[:, order]), wanted)
    for order in permutations(range(4)):
        torch.testing.assert_close(set_loss(outputs[:, order], targets), wanted)


def test_what_stands_beside_no_object_is_not_read() -> None:
    outputs, targets = case()
    wanted = set_loss(outputs, targets)
    targets[1, -1, 1:] = 0.9
    torch.testing.assert_close(set_loss(outputs, targets), wanted)


def test_an_image_without_objects_teaches_to_say_nothing() -> None:
    outputs, targets = case()
    targets[..., 0] = -1
    nothing = torch.full((8,), 3)
    wanted = functional.cross_entropy(outputs[..., :4].flatten(0, 1), nothing, reduction="none")
    torch.testing.assert_close(set_loss(outputs, targets), wanted.view(2, 4).mean(dim=1))


def test_what_is_right_costs_nearly_nothing_and_is_matched() -> None:
    _, targets = case()
    kinds = torch.where(targets[..., 0] < 0, 3, targets[..., 0]).long()
    logits = 50.0 * functional.one_hot(kinds, 4)
    outputs = torch.cat((logits, targets[..., 1:].logit()), dim=2)
    assert match_queries(outputs, targets).tolist() == [[0, 1, 2], [0, 1, -1]]
    assert float(set_loss(outputs, targets).max()) < 1e-6


def test_diverged_outputs_have_a_loss_that_is_not_finite_and_no_error() -> None:
    outputs, targets = case()
    outputs[0, 0] = torch.nan
    assert set_loss(outputs, targets).isfinite().tolist() == [False, True]


def test_an_object_without_a_query_is_refused() -> None:
    outputs, targets = case(queries=2)
    with pytest.raises(ConfigError, match="3 objects, but the model has 2 queries: use at least"):
        set_loss(outputs, targets)
    assert set_loss(outputs[1:], targets[1:]).isfinite().all()  # this image has two


def test_targets_may_be_of_another_precision_than_outputs() -> None:
    outputs, targets = case()
    found = set_loss(outputs, targets.float())
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, set_loss(outputs, targets), rtol=1e-5, atol=1e-5)
