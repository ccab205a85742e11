"""The kernels are tried as an operation, in `test_stem_operation.py`; here, what they are."""

import pytest
import torch

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.core.kernel_start import Kernel
from netwright.layers.convolution import stem_kernels


def test_each_has_its_sentence() -> None:
    kernels = [part for part in vars(stem_kernels).values() if isinstance(part, Kernel)]
    assert len(kernels) == 2
    assert all(kernel.source.fn.__doc__ for kernel in kernels)
