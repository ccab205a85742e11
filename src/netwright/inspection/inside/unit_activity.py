"""Units that no longer take part: dead ones, 0 on every example, and saturated ones.

What a layer gives is taken after the norm and the activation that work directly on it; an
activation that follows no layer, as that of a sum, stands for itself. A unit is a channel of a
convolution, over all places; elsewhere a feature, over all steps that count. It is saturated where
it is at an end of the activation's range on every example.

Shapes: B examples, T steps, U units, N values of a unit.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn

from netwright.core.evaluation import evaluating
from netwright.core.trees import Tree, cuda_devices
from netwright.inspection.inside.torch_calls import WatchedCalls, running_modules
from netwright.inspection.inside.watched_layers import watching_layers

CLOSE = 0.01  # to an end of the range: saturated


class Activation(NamedTuple):
    """What worked on a layer last.

    Args:
        name: of torch's function; empty where there is none or it is unknown.
        low: the end of its range, where it is flat.
        high: the other end.
        is_rectifier: it is 0 where it is off; being there is another thing than being at an end.
    """

    name: str = ""
    low: float = -math.inf
    high: float = math.inf
    is_rectifier: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether its range has an end."""
        return self.low > -math.inf or self.high < math.inf


BY_NAME: Mapping[str, Activation] = {
    "relu": Activation("relu", is_rectifier=True),
    **{
        name: Activation(name)
        for name in "leaky_relu rrelu elu celu selu gelu silu mish hardswish softplus".split()
    },
    "tanh": Activation("tanh", -1.0, 1.0),
    "softsign": Activation("softsign", -1.0, 1.0),
    "sigmoid": Activation("sigmoid", 0.0, 1.0),
    "hardsigmoid": Activation("hardsigmoid", 0.0, 1.0),
}
# Functions whose ends are arguments, and what these are where they are left out.
CLAMPS: Mapping[str, tuple[float | None, float | None]] = {
    "hardtanh": (-1.0, 1.0),
    "relu6": (0.0, 6.0),
    "clamp": (None, None),
    "clamp_min": (None, None),
    "clip": (None, None),
}
NORMS = frozenset({"batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"})
# What comes out of torch's recurrent layers.
RECURRENT = {"RNN_TANH": "tanh", "RNN_RELU": "relu", "LSTM": "tanh", "GRU": "tanh"}


def activation_called(
    name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Activation | None:
    """The activation that a call of torch's function is; None of other functions.

    Args:
        name: of the function.
        args: of the call.
        kwargs: of the call.
    """
    if name not in CLAMPS:
        return BY_NAME.get(name)
    given: dict[str, Any] = dict(zip(("min", "max"), CLAMPS[name], strict=True))
    given |= dict(zip(given, args[1:], strict=False))
    given |= {key.removesuffix("_val"): value for key, value in kwargs.items()}
    low, high = given["min"], given["max"]
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        return None
    if low == 0:
        names = {None: "relu", 6: "relu6"}
        return Activation(
            names.get(high, name), high=math.inf if high is None else high, is_rectifier=True
        )
    return Activation(name, low, high) if name == "hardtanh" else None


class Gathered(Protocol):
    """What is made of the values of one layer."""

    def add(self, values: Tensor) -> None:
        """The values (N, U) of one more call."""


@runtime_checkable
class NamesItsTables(Protocol):
    """A model that says which of its embeddings are of tokens: not of segments, or of distances."""

    def word_table(self) -> Tensor | None:
        """The vectors of the tokens that are read; None where there are none."""

    def told_table(self) -> Tensor | None:
        """Those of the tokens that a decoder is told, where they are others."""


Kind = TypeVar("Kind", bound=Gathered)
Start = Callable[[str, Activation, Tensor], Kind]


class UnitActivity:
    """Which units of one layer are stuck, over all of its calls; it stays on the device.

    Args:
        path: where it is in the model; of an activation that follows no layer, where it was called.
        activation: what worked on it last.
        like: values (N, U) of the first call.
    """

    def __init__(self, path: str, activation: Activation, like: Tensor) -> None:
        self.path, self.activation, self.units = path, activation, like.shape[-1]
        self.count = 0  # of values
        self.zeros, self.flat = like.new_zeros(2, dtype=torch.int64)  # values that are 0, at an end
        self.is_dead = torch.ones(self.units, dtype=torch.bool, device=like.device)
        self.is_saturated = self.is_dead & activation.is_bounded

    def add(self, values: Tensor) -> None:
        """The values (N, U) of one more call."""
        is_zero = values == 0
        self.count += values.numel()
        self.zeros += is_zero.sum()
        self.is_dead &= is_zero.all(dim=0)
        if self.activation.is_bounded:
            low, high = self.activation.low, self.activation.high
            is_flat = (values < low + CLOSE) | (values > high - CLOSE)
            self.flat += is_flat.sum()
            self.is_saturated &= is_flat.all(dim=0)

    @property
    def stuck(self) -> Tensor:
        """How many units are dead, and how many values are at an end, (2,)."""
        return torch.stack([self.is_dead.sum(), self.flat])


def unit_activities(model: nn.Module, inputs: Tree) -> list[UnitActivity]:
    """Of every layer and lone activation, in the order in which they ran.

    Args:
        model: any module of one input; it is left exactly as it was.
        inputs: a batch (B, ...), on the model's device.
    """
    with torch.random.fork_rng(cuda_devices(inputs)):
        return gather_values(model, inputs, None, UnitActivity)


def gather_values(
    model: nn.Module, inputs: Tree, padding: int | None, start: Start[Kind]
) -> list[Kind]:
    """What is gathered of every layer, in the order in which they ran.

    Args:
        model: any module of one input; it is left as it was, but random numbers may be drawn.
        inputs: a batch (B, ...), on the model's device.
        padding: the token whose places do not count; None: all count.
        start: path, activation and first values (N, U) of a layer -> what gathers its values.
    """
    with evaluating(model), running_modules(model) as running:
        watch = _Watch(running, padding, start, _token_tables(model))
        with watching_layers(model, watch.note_layer), WatchedCalls(watch.note_call):
            model(inputs)
    watch.close()
    return list(watch.rows.values())


def _token_tables(model: nn.Module) -> list[Tensor]:
    """The embeddings of tokens; none where the model does not say: then all of them are."""
    if not isinstance(model, NamesItsTables):
        return []
    return [table for table in (model.word_table(), model.told_table()) if table is not None]


@dataclass
class _Open:
    """The last layer so far, on whose values a norm or an activation may still work."""

    path: str
    is_layer: bool
    activation: Activation
    values: Tensor


class _Watch(Generic[Kind]):
    """Gathers what layers and activations give while a model runs.

    Args:
        running: the paths of the modules that are running, the innermost last.
        padding: the token that does not count.
        start: begins to gather the values of a layer.
        tables: the embeddings of tokens; empty: all.
    """

    def __init__(
        self, running: list[str], padding: int | None, start: Start[Kind], tables: list[Tensor]
    ) -> None:
        self.running, self.padding, self.start, self.tables = running, padding, start, tables
        self.rows: dict[tuple[str, bool, Activation, int], Kind] = {}
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
            name = RECURRENT[layer.mode] if isinstance(layer, nn.RNNBase) else ""
            self.open = _Open(path, True, BY_NAME.get(name, Activation()), outputs[0])

    def note_call(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        result: Any,
    ) -> Any:
        """Torch's functions: norms and activations go on with what is open."""
        name = func.__name__.removesuffix("_")
        if name == "embedding" and self.padding is not None and self._is_of_tokens(args[1]):
            self.counted = args[0] != self.padding
        follows = self.open is not None and bool(args) and args[0] is self.open.values
        activation = activation_called(name, args, kwargs)
        if activation is not None and not follows and result.ndim > 1:
            self.close()
            self.open = _Open(self.running[-1], False, activation, result)
        elif follows and self.open is not None and (activation is not None or name in NORMS):
            self.open.values = result
            self.open.activation = activation or self.open.activation
        return result

    def _is_of_tokens(self, table: Tensor) -> bool:
        return not self.tables or any(table is known for known in self.tables)

    def close(self) -> None:
        """Nothing more works on the open layer: gather its values."""
        if self.open is None:
            return
        one, self.open = self.open, None
        values = one.values
        if self.counted is not None and values.shape[:2] == self.counted.shape:
            values = values[self.counted]
        values = values.movedim(self.units_axis if values.ndim > 2 else -1, -1).flatten(0, -2)
        key = (one.path, one.is_layer, one.activation, values.shape[-1])
        if key not in self.rows:
            self.rows[key] = self.start(one.path, one.activation, values)
        self.rows[key].add(values)
