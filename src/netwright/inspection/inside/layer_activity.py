"""What a layer does on a batch: the spread of its values, its zeros, its dead and saturated units.

Shapes: B examples, U units, N values of a unit.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.core.seeding import generator, seeded
from netwright.core.trees import Tree
from netwright.inspection.drawing.histogram import histogram, histogram_edges
from netwright.inspection.inside.unit_activity import Activation, UnitActivity, gather_values
from netwright.inspection.inside.watched_layers import layer_name

MOST_VALUES = 20_000  # of a call, whose spread is shown
TAIL = 0.005  # of the values on either side, that the spread leaves out


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
    model: nn.Module, inputs: Tree, padding: int | None
) -> tuple[LayerActivity, ...]:
    """Every layer's, in the order in which they ran; the model is left exactly as it was.

    Args:
        model: any module of one input.
        inputs: a batch (B, ...), on the model's device.
        padding: the token whose places do not count; None: all count.
    """
    with seeded(0):
        rows = gather_values(model, inputs, padding, _Gathered)
    return tuple(row.activity() for row in rows)


class _Gathered:
    """The values of one layer, summed up over its calls.

    Args:
        path: of the layer.
        activation: that worked on it last.
        like: values (N, U) of the first call.
    """

    def __init__(self, path: str, activation: Activation, like: Tensor) -> None:
        self.units = UnitActivity(path, activation, like)
        self.total, self.squares = 0.0, 0.0
        self.sample: list[Tensor] = []

    def add(self, values: Tensor) -> None:
        """The values (N, U) of one more call."""
        check_finite(f"what layer {self.units.path or 'model'!r} puts out", values)
        self.units.add(values)
        variance, mean = map(float, torch.var_mean(values.float(), correction=0))
        self.total += mean * values.numel()
        self.squares += (variance + mean**2) * values.numel()
        self.sample.append(_sample(values))

    def activity(self) -> LayerActivity:
        """What was gathered, as plain numbers."""
        sample = torch.cat(self.sample)
        sample = sample[sample != 0].sort().values
        tail = int(TAIL * len(sample))
        sample = sample[tail : len(sample) - tail]
        edges = histogram_edges(sample, len(sample)) if len(sample) else ()
        units, count = self.units, self.units.count
        mean = self.total / count
        return LayerActivity(
            path=units.path,
            activation=units.activation.name,
            units=units.units,
            mean=mean,
            std=max(self.squares / count - mean**2, 0.0) ** 0.5,
            zeros=int(units.zeros) / count,
            dead=int(units.is_dead.sum()),
            flat=int(units.flat) / count,
            saturated=int(units.is_saturated.sum()),
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
