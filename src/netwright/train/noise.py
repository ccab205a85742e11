"""Normal noise from a stream of its own, as large as some tensors together.

A draw is a pure function of the seed and a path of names and numbers: it is the same wherever a run
goes on from, and nothing else that is random in training moves.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from netwright.core.seeding import derive_seed


def stream_on(device: torch.device, seed: int, *path: object) -> torch.Generator:
    """A generator for one named stream, where the numbers are needed."""
    return torch.Generator(device).manual_seed(derive_seed(seed, *path))


def noise_like(tensors: Sequence[Tensor], random: torch.Generator) -> list[Tensor]:
    """Standard normal numbers in the shapes of the tensors, drawn in one go."""
    first = tensors[0]
    sizes = [tensor.numel() for tensor in tensors]
    flat = torch.randn(sum(sizes), generator=random, device=first.device, dtype=first.dtype)
    parts = flat.split(sizes)  # type: ignore[no-untyped-call]
    return [part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True)]
