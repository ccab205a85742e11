"""Batch norm folded into the convolution before it, for a model that is done with learning.

    s (w * x + b - m) + t  =  (s w) * x + s (b - m) + t        s = weight / sqrt(variance + eps)

With m and the variance those of training, a norm multiplies and adds the same numbers for every
image: the convolution can do so itself. What is added behind it, and ReLU, are then part of the
same pass over memory where oneDNN has an operation for it.

Shapes: images (B, C, I, J), kernels (E, C, K, L), outputs (B, E, P, Q).
Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference" (2018), section 3.2.
"""

import copy
import platform
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating

TOLERANCE = 1e-5  # of the largest output: by as much may a folded model differ in float32
PACKED_ON = frozenset({"x86_64", "AMD64"})  # elsewhere the operations are other ones, not measured


class FoldedConvolution(nn.Module):
    """A convolution and the norm behind it, as one convolution that learns nothing.

    Args:
        convolution: what comes first; its padding is zeros.
        norm: has kept statistics.
        rectifies: whether ReLU always comes last.
    """

    def __init__(
        self, convolution: nn.Conv2d, norm: nn.BatchNorm2d, *, rectifies: bool = False
    ) -> None:
        super().__init__()
        weight, bias = folded_weights(convolution, norm)
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.bias = nn.Parameter(bias, requires_grad=False)
        self.rectifies = rectifies
        self.stride, self.dilation = list(convolution.stride), list(convolution.dilation)
        self.padding, self.groups = [int(side) for side in convolution.padding], convolution.groups
        self._given = self._packed()

    def forward(self, x: Tensor, *, added: Tensor | None = None, rectifies: bool = False) -> Tensor:
        """(B, C, I, J) -> (B, E, P, Q), with `added` (B, E, P, Q), and after that ReLU.

        Where there is one operation for all of it, the sum is written to where `added` was.
        """
        rectifies = rectifies or self.rectifies
        if self._given is not None and _is_fit(x) and (added is None or _is_fit(added)):
            return self._in_one_pass(x, added, rectifies, self._given)
        if self._given is not None and x.shape[1] == 1:
            x = _channel_last(x)  # so is what is made of it, and those behind need not turn it
        out = functional.conv2d(
            x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )
        out = out if added is None else out + added
        if not rectifies:
            return out
        return functional.relu(out, inplace=not torch.is_grad_enabled())

    def _in_one_pass(
        self, x: Tensor, added: Tensor | None, rectifies: bool, given: tuple[Any, ...]
    ) -> Tensor:
        last, operations = torch.channels_last, torch.ops.mkldnn
        x = x.contiguous(memory_format=last)
        out: Tensor
        if added is None:
            activation = "relu" if rectifies else "none"
            out = operations._convolution_pointwise.default(x, *given, activation, [], "")
        else:
            added = added.contiguous(memory_format=last)
            into = operations._convolution_pointwise_.binary
            out = into(added, x, *given, "add", 1.0, "relu" if rectifies else None, [], None)
        return out

    def _packed(self) -> tuple[Any, ...] | None:
        """What oneDNN gets beside images: the weights in the order in which it reads them first."""
        is_fit = self.weight.dtype == torch.float32 and self.weight.device.type == "cpu"
        is_here = torch._C._has_mkldnn and platform.machine() in PACKED_ON
        if not is_fit or not is_here or len(self.weight) == 1:
            return None
        pace = (self.padding, self.stride, self.dilation, self.groups)
        weight = torch.ops.mkldnn._reorder_convolution_weight(self.weight.detach(), *pace)
        return weight, self.bias.detach(), *pace


def _is_fit(x: Tensor) -> bool:
    """Whether oneDNN takes these images (B, C, I, J).

    A map of one channel, or of one row or column, lies the same in either order of channels and
    pixels: which one is meant is then guessed, and torch 2.11 refuses what it guessed.
    """
    learns = x.requires_grad and torch.is_grad_enabled()
    return x.dtype == torch.float32 and x.is_cpu and 1 not in x.shape[1:] and not learns


def _channel_last(x: Tensor) -> Tensor:
    """The same view of images of one channel (B, 1, I, J), whose strides tell which order is meant.

    `contiguous` leaves them as they are: to it they are in either order.
    """
    return x.squeeze(1).unsqueeze(-1).movedim(-1, 1)


def folded_weights(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Kernels (E, C, K, L) and bias (E,) of the convolution that does what both do."""
    mean, variance = norm.running_mean, norm.running_var
    if mean is None or variance is None:
        raise ConfigError("a norm that keeps no statistics cannot be folded into a convolution")
    ones, zeros = torch.ones_like(mean), torch.zeros_like(mean)
    weight, shift, bias = (
        (default if given is None else given.detach()).double()
        for given, default in ((norm.weight, ones), (norm.bias, zeros), (convolution.bias, zeros))
    )
    scale = weight / (variance.double() + norm.eps).sqrt()
    kernels = convolution.weight.detach()
    folded = kernels.double() * scale[:, None, None, None]
    return folded.to(kernels.dtype), (scale * (bias - mean.double()) + shift).to(kernels.dtype)


class Chain(NamedTuple):
    """Modules by name, each of which gets what the one before it gives.

    Args:
        convolution: the first.
        norm: the second.
        activation: the ReLU behind it, if that is a module.
    """

    convolution: str
    norm: str
    activation: str | None


def fold_norms(model: nn.Module, example: Tensor) -> nn.Module:
    """A model that answers as this one does at rest, with its norms in its convolutions.

    It shares all else with the model, which stays as it is. Who gets what from whom is seen in one
    pass. Where nothing can be folded, and where the answer to the example would be another one or
    none, the model itself is given.

    Args:
        model: any module.
        example: inputs (B, ...).
    """
    before = example.clone()
    with evaluating(model):
        wanted, chains = _watch(model, example)
        if not chains or not isinstance(wanted, Tensor):
            return model
        folded = _sharing_copy(model)
        for chain in chains:
            _fold(folded, chain)
        try:
            said = folded.eval()(example)
        except RuntimeError:  # of a `view`: the maps of a folded model may lie channels last
            return model
    apart = TOLERANCE * max(1.0, float(wanted.abs().max()))
    is_same = said.shape == wanted.shape and bool((said - wanted).abs().max() <= apart)
    is_whole = torch.equal(example, before)  # no sum was written over what the caller gave
    return folded if is_same and is_whole else model


def _sharing_copy(model: nn.Module) -> nn.Module:
    """Other modules with the same tensors."""
    tensors = [*model.parameters(), *model.buffers()]
    return copy.deepcopy(model, {id(one): one for one in tensors})


def _fold(model: nn.Module, chain: Chain) -> None:
    convolution = cast(nn.Conv2d, model.get_submodule(chain.convolution))
    norm = cast(nn.BatchNorm2d, model.get_submodule(chain.norm))
    both = FoldedConvolution(convolution, norm, rectifies=chain.activation is not None)
    # At the place of the norm: `normalized` hands over what is to be added to it.
    model.set_submodule(chain.norm, both)
    model.set_submodule(chain.convolution, nn.Identity())
    if chain.activation is not None:
        model.set_submodule(chain.activation, nn.Identity())


def _watch(model: nn.Module, example: Tensor) -> tuple[Any, list[Chain]]:
    """What the model makes of the example, and the chains in it."""
    given: dict[str, Tensor] = {}
    made: dict[str, Tensor] = {}
    calls: Counter[str] = Counter()
    hooks = []
    for name, module in model.named_modules():
        if type(module) not in {nn.Conv2d, nn.BatchNorm2d, nn.ReLU}:
            continue

        def note(_: nn.Module, inputs: Any, output: Tensor, name: str = name) -> None:
            given[name], made[name] = inputs[0], output
            calls[name] += 1

        hooks.append(module.register_forward_hook(note))
    try:
        output = model(example)
    finally:
        for hook in hooks:
            hook.remove()
    once = [name for name in made if calls[name] == 1]
    return output, list(_chains(model, {name: (given[name], made[name]) for name in once}))


def _chains(model: nn.Module, seen: dict[str, tuple[Tensor, Tensor]]) -> Iterator[Chain]:
    makers = {id(made): name for name, (_, made) in seen.items() if _is(model, name, nn.Conv2d)}
    readers = {id(given): name for name, (given, _) in seen.items() if _is(model, name, nn.ReLU)}
    for name, (given, made) in seen.items():
        norm, maker = model.get_submodule(name), makers.get(id(given))
        if maker is None or not isinstance(norm, nn.BatchNorm2d) or norm.running_mean is None:
            continue
        convolution = model.get_submodule(maker)
        if convolution.padding_mode == "zeros" and not isinstance(convolution.padding, str):
            yield Chain(maker, name, readers.get(id(made)))


def _is(model: nn.Module, name: str, kind: type[nn.Module]) -> bool:
    return isinstance(model.get_submodule(name), kind)
