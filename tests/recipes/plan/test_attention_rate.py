"""How quickly a device attends: counted operations over the least of several times."""

from collections.abc import Callable
from math import sqrt

import pytest
import torch
from torch import Tensor

from netwright.recipes.plan import attention_rate as file
from netwright.recipes.plan.attention_rate import attention_rate

SMALL = {"texts": 2, "heads": 3, "tokens": 16}


def test_the_operations_of_a_pass_forward_and_back_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = list[object]()

    def half_a_second(work: Callable[[], object]) -> float:
        times.append(work())
        return 0.5

    monkeypatch.setattr(file, "quickest", half_a_second)
    rate = attention_rate(torch.device("cpu"), torch.float32, **SMALL)
    assert rate == 6 * (3 * 64) * 16 * (2 * 16) / 0.5  # 6 D T n over seconds
    assert len(times) == 1


def test_every_time_attends_forward_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[int, ...]]()
    go_back = torch.autograd.grad

    def noted(attended: Tensor, leaves: list[Tensor], given: Tensor) -> tuple[Tensor, ...]:
        seen.append(tuple(attended.shape))
        queries, keys, values = leaves
        wanted = attention(queries, keys, values)
        torch.testing.assert_close(attended, wanted, rtol=1e-5, atol=1e-5)
        return go_back(attended, leaves, given)

    monkeypatch.setattr(torch.autograd, "grad", noted)
    assert attention_rate(torch.device("cpu"), torch.float32, **SMALL) > 0
    assert seen == [(2, 3, 16, 64)] * 4  # once before the clock starts, three times under it


def attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """By its formula; nobody sees what comes later."""
    scores = queries.matmul(keys.transpose(-2, -1)) / sqrt(queries.shape[-1])
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return weights.matmul(values)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_gpu_attends_more_slowly_than_it_multiplies() -> None:
    rate = attention_rate(torch.device("cuda"))
    assert 1e12 < rate < 1e15
