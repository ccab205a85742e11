"""What a layer does on a batch: the spread of its values, its zeros, its dead and saturated units.

A layer is taken after the norm and the activation that work directly on what it gives; an
activation that follows no layer, as that of a sum, stands for itself. A unit is a channel of a
convolution, over all places; elsewhere a feature, over all steps that count.

Shapes: B examples, T steps, U units, N values of a unit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.core.evaluation import evaluating
from netwright.core.seeding import generator, seeded
from netwright.inspection.histogram import histogram, histogram_edges
from netwright.inspection.torch_calls import WatchedCalls, running_modules
from netwright.inspection.watched_layers import layer_name, watching_layers

MOST_VALUES = 20_000  # of a call, whose spread is shown
TAIL = 0.005  # of the values on either side, that the spread leaves out
CLOSE = 0.01  # to an end of the range: saturated

# The ends of its range, by the name of torch's function; those without two are not bounded.
ENDS: Mapping[str, tuple[float, ...]] = {
    "relu": (),
    "leaky_relu": (),
    "elu": (),
    "selu": (),
    "gelu": (),
    "silu": (),
    "softplus": (),
    "tanh": (-1.0, 1.0),
    "hardtanh": (-1.0, 1.0),
    "sigmoid": (0.0, 1.0),
    "hardsigmoid": (0.0, 1.0),
}
NORMS = frozenset({"batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"})
# What comes out of torch's recurrent layers.
RECURRENT = {"RNN_TANH": "tanh", "RNN_RELU": "relu", "LSTM": "tanh", "GRU": "tanh"}


@dataclass(frozen=True, kw_only=True)
class LayerActivity:
    """What one layer put out on all examples.

    Args:
        path: where it is in the model; of an activation that follows no layer, where it was called.
        activation: the function that worked on it last; empty where there is none or it is unknown.
        units: U.
        mean: of all values.
        std: of all values.
        zeros: the share of values that are exactly 0.
        dead: units that are 0 on every example.
        flat: the share of values at an end of the activation's range.
        saturated: units that are there on every example.
        edges: of the bins of values that are not 0; empty where all are.
        counts: how many values of a sample lie in each bin.
    """

    path: str
    activation: str
    units: int
    mean: float
    std: float
    zeros: float
    dead: int
    flat: float
    saturated: int
    edges: tuple[float, ...]
    counts: tuple[float, ...]

    @property
    def stuck(self) -> float:
        """The share of units that are dead or saturated; one that is both counts once."""
        return max(self.dead, self.saturated) / self.units

    @property
    def label(self) -> str:
        """Its name on a figure."""
        return f"{layer_name(self.path)} {self.activation}".rstrip()


def layer_activities(
    model: nn.Module, inputs: Tensor, padding: int | None
) -> tuple[LayerActivity, ...]:
    """Every layer's, in the order in which they ran; the model is left exactly as it was.

    Args:
        model: any module of one input.
        inputs: a batch (B, ...), on the model's device.
        padding: the token whose places do not count; None: all count.
    """
    with evaluating(model), seeded(0), running_modules(model) as running:
        watch = _Watch(running, padding)
        with watching_layers(model, watch.note_layer), WatchedCalls(watch.note_call):
            model(inputs)
    watch.close()
    return tuple(row.activity() for row in watch.rows.values())


@dataclass
class _Open:
    """The last layer so far, on whose values a norm or an activation may still work."""

    path: str
    is_layer: bool
    activation: str
    values: Tensor


class _Watch:
    """Gathers what layers and activations give while a model runs.

    Args:
        running: the paths of the modules that are running, the innermost last.
        padding: the token that does not count.
    """

    def __init__(self, running: list[str], padding: int | None) -> None:
        self.running, self.padding = running, padding
        self.rows: dict[tuple[str, bool, str, int], _Gathered] = {}
        self.open: _Open | None = None
        self.counted: Tensor | None = None  # which places of the last tokens count, (B, T)
        self.units_axis = -1  # of what the last layer gave

    def note_layer(self, path: str, layer: nn.Module, outputs: list[Tensor]) -> None:
        """A layer has run; the activations called within it belong to it."""
        self.close()
        within = f"{path}." if path else ""
        for key in [key for key in self.rows if not key[1] and f"{key[0]}.".startswith(within)]:
            del self.rows[key]
        if outputs:
            dims = outputs[0].ndim
            is_convolution = any(weight.ndim >= dims > 2 for weight in layer.parameters())
            self.units_axis = 1 if is_convolution else -1
            activation = RECURRENT[layer.mode] if isinstance(layer, nn.RNNBase) else ""
            self.open = _Open(path, True, activation, outputs[0])

    def note_call(
        self, func: Callable[..., Any], args: tuple[Any, ...], _: Mapping[str, Any], result: Any
    ) -> Any:
        """Torch's functions: norms and activations go on with what is open."""
        name = func.__name__.removesuffix("_")
        if name == "embedding" and self.padding is not None:
            self.counted = args[0] != self.padding
        follows = self.open is not None and bool(args) and args[0] is self.open.values
        if name in ENDS and not follows and result.ndim > 1:
            self.close()
            self.open = _Open(self.running[-1], False, name, result)
        elif follows and self.open is not None and (name in ENDS or name in NORMS):
            self.open.values = result
            self.open.activation = name if name in ENDS else self.open.activation
        return result

    def close(self) -> None:
        """Nothing more works on the open layer: count its values."""
        if self.open is None:
            return
        one, self.open = self.open, None
        values = one.values
        if self.counted is not None and values.shape[:2] == self.counted.shape:
            values = values[self.counted]
        values = values.movedim(self.units_axis if values.ndim > 2 else -1, -1).flatten(0, -2)
        check_finite(f"what layer {one.path or 'model'!r} puts out", values)
        key = (one.path, one.is_layer, one.activation, values.shape[-1])
        if key not in self.rows:
            self.rows[key] = _Gathered(one.path, one.activation, values)
        self.rows[key].add(values)


class _Gathered:
    """The values of one layer, summed up over its calls.

    Args:
        path: of the layer.
        activation: that worked on it last.
        like: values (N, U) of the first call.
    """

    def __init__(self, path: str, activation: str, like: Tensor) -> None:
        self.path, self.activation = path, activation
        self.count, self.total, self.squares = 0, 0.0, 0.0
        self.zeros, self.flat = 0, 0
        self.is_dead = torch.ones(like.shape[-1], dtype=torch.bool, device=like.device)
        self.is_saturated = self.is_dead.clone()
        self.sample: list[Tensor] = []

    def add(self, values: Tensor) -> None:
        """The values (N, U) of one more call."""
        variance, mean = map(float, torch.var_mean(values.float(), correction=0))
        self.count += values.numel()
        self.total += mean * values.numel()
        self.squares += (variance + mean**2) * values.numel()
        is_zero = values == 0
        self.zeros += int(is_zero.sum())
        self.is_dead &= is_zero.all(dim=0)
        ends = ENDS.get(self.activation, ())
        is_flat = sum(((values - end).abs() < CLOSE for end in ends), torch.zeros_like(is_zero))
        self.flat += int(is_flat.sum())
        self.is_saturated &= is_flat.all(dim=0)
        self.sample.append(_sample(values))

    def activity(self) -> LayerActivity:
        """What was gathered, as plain numbers."""
        sample = torch.cat(self.sample)
        sample = sample[sample != 0].sort().values
        tail = int(TAIL * len(sample))
        sample = sample[tail : len(sample) - tail]
        edges = histogram_edges(sample, len(sample)) if len(sample) else ()
        mean = self.total / self.count
        return LayerActivity(
            path=self.path,
            activation=self.activation,
            units=len(self.is_dead),
            mean=mean,
            std=max(self.squares / self.count - mean**2, 0.0) ** 0.5,
            zeros=self.zeros / self.count,
            dead=int(self.is_dead.sum()),
            flat=self.flat / self.count,
            saturated=int(self.is_saturated.sum()),
            edges=edges,
            counts=histogram(sample, edges) if edges else (),
        )


def _sample(values: Tensor) -> Tensor:
    """All values, or some drawn evenly by chance, on the CPU, (N,)."""
    flat = values.detach().flatten()
    if len(flat) > MOST_VALUES:
        places = torch.randint(len(flat), (MOST_VALUES,), generator=generator(0, "activations"))
        flat = flat[places.to(flat.device)]
    return flat.cpu().double()
