"""Cross-entropy in chunks: loss, gradients and likeliest tokens are those of the whole logits."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ShapeError
from netwright.losses import linear_cross_entropy as module
from netwright.losses.linear_cross_entropy import linear_cross_entropy

PLACES, WIDTH, KINDS = 17, 8, 33
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def parts(kind: torch.dtype, *, bias: bool, device: str = "cpu") -> list[Tensor]:
    random = torch.Generator().manual_seed(0)
    shapes = [(PLACES, WIDTH), (KINDS, WIDTH), *([(KINDS,)] if bias else [])]
    drawn = (torch.randn(shape, generator=random, dtype=torch.float64) for shape in shapes)
    return [part.to(device, kind).requires_grad_() for part in drawn]


def some_targets(device: str = "cpu") -> Tensor:
    targets = torch.arange(PLACES, device=device) * 5 % KINDS
    targets[3] = targets[11] = -100
    return targets


def gradients(loss: Tensor, of: list[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(0.3 * loss, of)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("size", [1, 4, 5, PLACES, 100])  # 17 places are no multiple of 4 or 5
def test_it_is_the_cross_entropy_of_all_logits_at_once(
    monkeypatch: pytest.MonkeyPatch, size: int, bias: bool, weighted: bool
) -> None:
    monkeypatch.setattr(module, "MOST_LOGITS", size * KINDS)
    given, targets = parts(torch.float64, bias=bias), some_targets()
    amounts = torch.arange(PLACES, dtype=torch.float64) / 4 if weighted else None
    offsets = given[2] if bias else None
    ours = linear_cross_entropy(given[0], given[1], offsets, targets, amounts)
    logits = F.linear(given[0], given[1], offsets)
    losses = F.cross_entropy(logits, targets, reduction="none", ignore_index=-100)
    wanted = losses.sum() if amounts is None else losses @ amounts
    torch.testing.assert_close(ours.loss, wanted, rtol=1e-12, atol=0)
    assert torch.equal(ours.told, logits.argmax(dim=1))
    for own, other in zip(gradients(ours.loss, given), gradients(wanted, given), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-12, atol=1e-14)


def test_no_more_logits_are_made_than_a_chunk_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LOGITS", 4 * KINDS)
    sizes: list[int] = []

    def noted(logits: Tensor, *rest: Any, **options: Any) -> tuple[Tensor, Tensor]:
        sizes.append(len(logits))
        return score(logits, *rest, **options)

    score = module.score
    monkeypatch.setattr(module, "score", noted)
    vectors, weight = parts(torch.float32, bias=False)
    linear_cross_entropy(vectors, weight, None, some_targets())
    assert sizes == [4, 4, 4, 4, 1]


def test_without_gradients_none_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, weight = parts(torch.float64, bias=False)
    wanted = linear_cross_entropy(vectors, weight, None, some_targets())

    def refuse(*_: Any) -> None:
        raise AssertionError("a gradient was computed")

    monkeypatch.setattr(module._Gradients, "add", refuse)
    with torch.no_grad():
        ours = linear_cross_entropy(vectors, weight, None, some_targets())
    assert torch.equal(ours.loss, wanted.loss)
    assert not ours.loss.requires_grad
    still = linear_cross_entropy(vectors.detach(), weight.detach(), None, some_targets())
    assert torch.equal(still.loss, wanted.loss)


def test_a_frozen_head_gets_no_gradient() -> None:
    vectors, weight = parts(torch.float64, bias=False)
    loss = linear_cross_entropy(vectors, weight.detach(), None, some_targets()).loss
    (ours,) = gradients(loss, [vectors])
    logits = F.linear(vectors, weight)
    (wanted,) = gradients(F.cross_entropy(logits, some_targets(), reduction="sum"), [vectors])
    torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-14)


def test_what_does_not_count_need_not_be_finite() -> None:
    vectors, weight = parts(torch.float64, bias=False)
    with torch.no_grad():
        vectors[3] = torch.nan
    loss = linear_cross_entropy(vectors, weight, None, some_targets()).loss
    assert bool(loss.isfinite())
    assert not bool(gradients(loss, [vectors])[0][3].any())
    with torch.no_grad():
        vectors[4] = torch.inf
    assert not bool(linear_cross_entropy(vectors, weight, None, some_targets()).loss.isfinite())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bias", [False, True])
def test_in_mixed_precision_it_is_as_near_as_whole_logits(device: str, bias: bool) -> None:
    targets = some_targets(device)
    exact = parts(torch.float64, bias=bias, device=device)
    given = parts(torch.float32, bias=bias, device=device)
    wanted = F.cross_entropy(F.linear(*exact), targets, reduction="sum")
    with torch.autocast(device, torch.bfloat16):
        ours = linear_cross_entropy(given[0], given[1], given[2] if bias else None, targets)
    assert ours.loss.dtype == torch.float32
    torch.testing.assert_close(ours.loss.double(), wanted, rtol=1e-2, atol=0)
    for own, other in zip(gradients(ours.loss, given), gradients(wanted, exact), strict=True):
        assert own.dtype == torch.float32
        assert float((own - other).norm() / other.norm()) < 1e-2


def test_shapes_that_do_not_fit_are_refused() -> None:
    vectors, weight = parts(torch.float32, bias=False)
    with pytest.raises(ShapeError, match="weight"):
        linear_cross_entropy(vectors, weight[:, 1:], None, some_targets())
    with pytest.raises(ShapeError, match="targets"):
        linear_cross_entropy(vectors, weight, None, some_targets()[1:])
