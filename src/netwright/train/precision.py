"""Number formats: float32, or half formats for the matrix work with float32 weights.

Source: Micikevicius et al., "Mixed Precision Training" (2018).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

Precision = Literal["fp32", "bf16-mixed", "fp16-mixed"]


def autocast(precision: Precision, device: torch.device) -> AbstractContextManager[object]:
    """The block in which a forward pass runs."""
    if precision == "fp32":
        return nullcontext()
    half = torch.bfloat16 if precision == "bf16-mixed" else torch.float16
    return torch.autocast(device.type, dtype=half)


def build_scaler(precision: Precision, device: torch.device) -> torch.amp.GradScaler | None:
    """float16 gradients underflow, so the loss is scaled up before and down after; else nothing."""
    return torch.amp.GradScaler(device.type) if precision == "fp16-mixed" else None
