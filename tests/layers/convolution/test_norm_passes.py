"""Both passes of batch norm by kernels; `test_norm_operation.py` holds them against torch."""

import pytest
import torch

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.layers.convolution.norm_passes import backward_pass, forward_pass


def test_moments_are_those_of_the_channels_however_many_parts_there_are() -> None:
    for rows in (2, 3, 64, 5000):
        # Spread out: of rows that lie close together roundings of the mean would count for much.
        spread = torch.linspace(-1, 1, rows).outer(torch.tensor([1.0, 2.0, 3.0]))
        x = (7 + spread)[:, :, None, None].cuda()
        weight, bias = torch.ones(3, device="cuda"), torch.zeros(3, device="cuda")
        y, moments = forward_pass(x, weight, bias, None, 0.0, rectifies=False)
        flat = x[:, :, 0, 0]
        torch.testing.assert_close(moments[0], flat.mean(0))
        torch.testing.assert_close(moments[2], flat.var(0), rtol=1e-4, atol=0.0)
        torch.testing.assert_close(y.mean((0, 2, 3)), bias, rtol=0.0, atol=1e-4)
        dx, passed, both = backward_pass(y, x, None, moments, weight, bias, rectifies=False)
        assert not passed.numel()
        torch.testing.assert_close(both[1], torch.full_like(bias, float(rows)), rtol=1e-3, atol=0)
        assert dx.abs().max() < 1e-3  # y is its own normalised self: nothing of it is left
