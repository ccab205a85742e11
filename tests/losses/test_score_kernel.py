"""The kernel on CUDA scores logits as torch's own operations do; elsewhere there is none."""

import pytest
import torch

from netwright.losses.linear_cross_entropy import score
from netwright.losses.score_kernel import has_kernel, score_by_kernel


def test_a_cpu_and_exact_numbers_have_none() -> None:
    assert not has_kernel(torch.device("cpu"), torch.bfloat16)
    assert not has_kernel(torch.device("cuda"), torch.float64)


def test_a_device_that_fails_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr("netwright.core.kernel_start.find_spec", lambda name: name)
    assert not has_kernel(torch.device("cuda:77"), torch.float32)  # on no machine is it there
    assert "torch's operations run instead: " in capsys.readouterr().err


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_the_kernel_scores_as_torch_does(kind: torch.dtype) -> None:
    assert has_kernel(torch.device("cuda"), kind)
    random = torch.Generator("cuda").manual_seed(0)
    logits = 4 * torch.randn(300, 5056, generator=random, device="cuda").to(kind)
    targets = torch.randint(5003, (300,), generator=random, device="cuda")
    amounts = torch.rand(300, generator=random, device="cuda")
    amounts[7] = 0
    logits[11, 5:] = -torch.inf  # whole lanes of it
    targets[11] = 3
    ours, wanted = logits.clone(), logits.clone()
    scored = score_by_kernel(ours, targets, amounts, 5003, in_place=True)
    reference = score(wanted, targets, amounts, 5003, in_place=True)
    torch.testing.assert_close(scored[0], reference[0], rtol=1e-5, atol=1e-5)
    assert torch.equal(scored[1], reference[1])
    torch.testing.assert_close(ours, wanted)
    kept = logits.clone()
    again = score_by_kernel(kept, targets, amounts, 5003, in_place=False)
    assert torch.equal(kept, logits)
    assert torch.equal(again[0], scored[0])
