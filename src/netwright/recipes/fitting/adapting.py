"""What a module of the user's own takes and gives: seen on a few rows, then adapted where it must.

A module from one tensor to one tensor in the number format of the data stays as it is.

Shapes: B rows.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from netwright.core.adapted_module import AdaptedModule, Place, float_kind, parts_of_output
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.core.learner import Learner
from netwright.core.outputs import Output
from netwright.core.seeding import seeded
from netwright.core.trees import Tree, count_rows, map_tensors, tensors_of
from netwright.data.dataset import Data

ROWS = 7  # that are tried: a number that few other dimensions have
PREDICTIONS = ("logits", "output", "outputs", "pred", "preds", "prediction", "predictions", "y_hat")


def adapt(
    module: nn.Module, data: Data, part: Place | None = None, *, gives_whole: bool = False
) -> nn.Module:
    """The module as `inputs -> Tensor`; itself where it is that already.

    Args:
        module: the user's own, on its device.
        data: what it is to learn from.
        part: the key, field or place of the prediction in what the module returns; None: the one
            that is called so, or the only one that can be it.
        gives_whole: a loss wants all that the module returns.
    """
    if isinstance(module, Learner) or any(map(is_lazy, module.parameters())):
        return module
    train, device = data.train, device_of(module)
    rows = torch.arange(min(ROWS, len(train)), device=train.targets.device)
    inputs = map_tensors(lambda tensor: tensor.to(device), train.read(rows))
    whole = AdaptedModule(module)
    outputs = _outputs(whole, inputs)
    for given in outputs:
        if not isinstance(given, Tensor | Output):
            taken = _prediction(given, part, inputs, data)
            return AdaptedModule(module, taken, gives_whole=gives_whole)
    if part is not None and outputs:
        raise ConfigError(f"the model returns one tensor: remove output={part!r}")
    if not isinstance(inputs, Tensor):
        return whole
    is_other = inputs.is_floating_point() and float_kind(module) not in {None, inputs.dtype}
    return whole if is_other else module


def _outputs(whole: AdaptedModule, inputs: Any) -> list[Any]:
    """What it returns at rest and in training, as torchvision's Inception differs; or nothing.

    Where it fails, the first batch tells how. Buffers and generators are as they were before.
    """
    modes = [(part, part.training) for part in whole.own.modules()]
    before = [(buffer, buffer.clone()) for buffer in whole.buffers()]
    found = []
    try:
        with evaluating(whole.own), seeded(0):
            found.append(whole.call(inputs))
            whole.train()
            found.append(whole.call(inputs))
    except Exception:
        pass
    finally:
        for part, training in modes:
            part.training = training
        with torch.no_grad():
            for buffer, values in before:
                buffer.copy_(values)
    return found


def _prediction(output: Any, part: Place | None, inputs: Tree, data: Data) -> Place:
    """Which part of an output is its prediction; refused where there is none, or no telling.

    Where nothing is compared with it, as of a variational autoencoder without targets, it is the
    first of the shape of the inputs, else the first with a value for each row.
    """
    named = parts_of_output(output)
    reals = {
        name: value
        for name, value in named.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    if part is not None:
        if part not in reals:
            raise ConfigError(
                f"the model's output has no tensor {part!r}; there are {_listed(reals) or 'none'}"
            )
        return part
    called = [name for name in PREDICTIONS if name in reals]
    by_row = [name for name, value in reals.items() if value.shape[:1] == (count_rows(inputs),)]
    fitting = [name for name in by_row if data.spec.fits_output(tuple(reals[name].shape[1:]))]
    if data.spec.target == "none":
        shapes = {tensor.shape for tensor in tensors_of(inputs)}
        fitting = [name for name in by_row if reals[name].shape in shapes][:1]
        by_row = by_row[:1]
    for found in (called[:1], _once(fitting, named), _once(by_row, named)):
        if len(found) == 1:
            return found[0]
    kind = type(output).__name__
    if not reals:
        raise ConfigError(
            f"the model must return a tensor, or a tuple, dict or dataclass of tensors, got {kind}"
        )
    raise ConfigError(
        f"the model returns a {kind} of {_listed(reals)}, and it is not clear which is its "
        f"prediction: name it, as in output={next(iter(reals))!r}"
    )


def _once(names: list[Place], named: dict[Place, Any]) -> list[Place]:
    """Names of different parts: a named tuple has each by its name and by its place."""
    found: dict[int, Place] = {}
    for name in names:
        found[id(named[name])] = name
    return list(found.values())


def _listed(reals: dict[Place, Tensor]) -> str:
    return ", ".join(f"{name!r} {tuple(value.shape)}" for name, value in reals.items())
