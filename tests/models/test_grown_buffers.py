"""Buffers of no fixed size: they grow while learning and come back from a file as they were."""

from typing import ClassVar

import pytest
import torch
from torch import nn

from netwright.models.grown_buffers import GrownBuffers


class Memory(GrownBuffers):
    grown: ClassVar[tuple[str, ...]] = ("stored",)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("stored", torch.zeros(1, 3))
        self.affine = nn.Linear(3, 2)


def test_a_grown_buffer_comes_back_in_its_size_also_inside_another_module() -> None:
    full, empty = nn.Sequential(Memory()), nn.Sequential(Memory())
    full[0].stored = torch.arange(12.0).reshape(4, 3)
    empty.load_state_dict(full.state_dict())
    assert torch.equal(empty[0].stored, full[0].stored)  # type: ignore[arg-type]


def test_a_parameter_of_another_size_is_still_refused() -> None:
    state = {**Memory().state_dict(), "affine.weight": torch.zeros(5, 3)}
    with pytest.raises(RuntimeError, match=r"size mismatch for affine\.weight"):
        Memory().load_state_dict(state)


def test_a_missing_buffer_is_still_refused() -> None:
    state = {name: value for name, value in Memory().state_dict().items() if name != "stored"}
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "stored"'):
        Memory().load_state_dict(state)
