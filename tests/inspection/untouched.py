"""What a look at a model leaves as it was: weights, buffers, flags, hooks and random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def untouched(model: nn.Module) -> Iterator[None]:
    """Fails at its end where anything of the model, or torch's generator, has changed."""
    before, random = _state(model), torch.get_rng_state()
    yield
    after = _state(model)
    assert after["plain"] == before["plain"]
    assert after["tensors"].keys() == before["tensors"].keys()
    assert all(torch.equal(one, after["tensors"][name]) for name, one in before["tensors"].items())
    assert torch.equal(torch.get_rng_state(), random)


def _state(model: nn.Module) -> dict[str, Any]:
    """Copies of all tensors, and everything else as plain values."""
    parts = list(model.modules())
    return {
        "tensors": {name: one.detach().clone() for name, one in model.state_dict().items()},
        "plain": [
            [part.training for part in parts],
            [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in parts],
            [(id(one), one.requires_grad, one.grad) for one in model.parameters()],
            [id(one) for one in model.buffers()],
        ],
    }
