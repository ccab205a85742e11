"""The kernel is tried in `test_one_pass.py`; here, what it is."""

import pytest
import torch

if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)
from netwright.data.augment.pixel_kernels import read_and_blank


def test_it_has_its_sentence() -> None:
    assert read_and_blank.source.fn.__doc__
