"""How quickly a device attends: counted operations over the least of several times."""

import pytest
import torch

from netwright.recipes.plan import attention_rate as file
from netwright.recipes.plan.attention_rate import attention_rate

SMALL = {"texts": 2, "heads": 3, "tokens": 16}


def test_the_operations_of_a_pass_forward_and_back_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file, "quickest", lambda work: work() or 0.5)
    rate = attention_rate(torch.device("cpu"), torch.float32, **SMALL)
    assert rate == 6 * (3 * 64) * 16 * (2 * 16) / 0.5  # 6 D T n over seconds


def test_every_time_attends_forward_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[torch.Size]()
    attend = torch.nn.functional.scaled_dot_product_attention

    def noted(queries: torch.Tensor, *others: torch.Tensor, is_causal: bool) -> torch.Tensor:
        assert is_causal and queries.requires_grad
        attended = attend(queries, *others, is_causal=is_causal)
        attended.register_hook(lambda gradient: seen.append(gradient.shape))
        return attended

    monkeypatch.setattr(file.F, "scaled_dot_product_attention", noted)
    assert attention_rate(torch.device("cpu"), torch.float32, **SMALL) > 0
    assert seen == [(2, 3, 16, 64)] * 4  # once before the clock starts, three times under it


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_gpu_attends_more_slowly_than_it_multiplies() -> None:
    rate = attention_rate(torch.device("cuda"))
    assert 1e12 < rate < 1e15
