"""What a module of the user's own must be so that it can be trained: refused before anything is."""

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from netwright.core.errors import ConfigError
from netwright.train.settings import TrainConfig


def check_own_module(module: nn.Module) -> None:
    """Refuse weights that cannot be trained or saved, and modules that cannot be watched."""
    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()):
        raise ConfigError(
            "a module scripted or traced by torch.jit cannot be monitored during training: give "
            "the nn.Module that it was made from"
        )
    others = [name for name, kept in module.state_dict().items() if not isinstance(kept, Tensor)]
    if others:
        raise ConfigError(
            f"{others[0]!r} of the module's state_dict is not a tensor, and checkpoints hold "
            f"tensors alone: return a tensor from get_extra_state, or register a buffer"
        )
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for name, tensor in tensors.items():
        if tensor.is_meta:
            raise ConfigError(
                f"{name!r} has no data, it is on the device 'meta': call "
                f"module.to_empty(device='cpu') and initialise it before training"
            )
        if has_overlap(tensor):
            raise ConfigError(
                f"{name!r} has several elements in one memory location, as expand() creates them, "
                f"and cannot be written to: call clone() on it"
            )


def has_overlap(tensor: Tensor) -> bool:
    """Whether two of its elements lie in one place of memory."""
    if is_lazy(tensor):
        return False
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return any(size > 1 and stride == 0 for size, stride in pairs)


def check_complex(module: nn.Module, config: TrainConfig) -> None:
    """Refuse settings that complex weights cannot be trained with."""
    names = [name for name, weight in module.named_parameters() if weight.is_complex()]
    given = {"clip_value": config.clip_value, "l1": config.l1}
    given["precision fp16-mixed"] = config.precision == "fp16-mixed"
    for setting, value in given.items():
        if names and value:
            raise ConfigError(f"{setting} is for real weights, {names[0]!r} is complex")
