"""What a model is made of: the layers that a batch goes through, their sizes and their work.

A real batch runs through the model once, in evaluation mode; nothing of the model is changed. What
stands in a row is the layer's own, without the layers inside it, so the rows add up to the totals.
A parameter that several layers share is counted in the first of them.

Shapes: B stands for the batch.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from netwright.core.adapted_module import module_name
from netwright.core.errors import DataError
from netwright.core.evaluation import call_with, evaluating
from netwright.core.seeding import seeded
from netwright.core.trees import Tree, count_rows, shapes_of, tensors_of
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, INK
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent, quoted, short_name
from netwright.inspection.inside.flops import counting_flops

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 20
LONGEST_PATH = 24
NUMBER_COLUMNS = ("parameters", "FLOPs")


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One module that computes something or holds parameters.

    Args:
        path: where it is in the model; empty for the model itself.
        kind: the name of its class.
        output: the shape of what it gave in its first call, "(B, 10)"; empty if it gave no tensor.
        calls: how often the batch went through it.
        parameters: its own, shared ones counted in the first layer that has them.
        trainable: those of them that learn.
        flops: its own operations, an example.
    """

    path: str
    kind: str
    output: str
    calls: int
    parameters: int
    trainable: int
    flops: int


@dataclass(frozen=True, kw_only=True)
class Summary(View):
    """The layers of a model, in order, and their sums.

    Args:
        layers: those that compute something or hold parameters.
        bytes: memory of parameters and buffers.
    """

    title: ClassVar[str] = "Layers"
    layers: tuple[Layer, ...]
    bytes: int

    @property
    def parameters(self) -> int:
        """Of the whole model."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def trainable(self) -> int:
        """Parameters that learn."""
        return sum(layer.trainable for layer in self.layers)

    @property
    def flops(self) -> int:
        """Forward, an example; a multiplication and an addition are two."""
        return sum(layer.flops for layer in self.layers)

    def table_rows(self) -> list[dict[str, str]]:
        """One row a layer and one for the sum, for a page or a terminal."""
        return [
            {
                "layer": layer.path or "(the model)",
                "kind": layer.kind,
                "output": layer.output if layer.calls else "not called",
                "parameters": f"{layer.parameters:,}",
                "trainable": _trainable(layer),
                "FLOPs": f"{layer.flops:,}",
            }
            for layer in (*self.layers, _sum("total", self.layers))
        ]

    @property
    def size(self) -> tuple[float, float]:
        """Wide enough for two rows of bars, as high as there are layers to show."""
        return (9.0, 0.75 + 0.26 * max(1, len(_shown(self.layers))))

    @property
    def caption(self) -> str:
        """The totals, and the layer that holds most."""
        words = (
            f"{self.parameters:,} parameters, {self.trainable:,} of them trainable, "
            f"{self.bytes / 1e6:,.2f} MB; {self.flops:,} FLOPs an example, forward. A "
            "multiplication and an addition are two; counted are matrix products, convolutions "
            "and attention."
        )
        if not self.parameters:
            return words
        largest = max(self.layers, key=lambda layer: layer.parameters)
        share = percent(largest.parameters / self.parameters)
        name = f"{largest.kind} {largest.path}".strip()
        return f"{words} The largest layer, {quoted(name)}, holds {share} of the parameters."

    def draw(self, figure: "Figure") -> None:
        """A row of bars for parameters and one for FLOPs, layers from the input down."""
        shown = _shown(self.layers)
        if not shown:
            figure.text(0.5, 0.5, "no parameters, no matrix products", ha="center", color=FAINT)
            return
        left, right = figure.subplots(1, 2, sharey=True)
        _draw_bars(left, "parameters", COLOURS[0], [layer.parameters for layer in shown])
        _draw_bars(right, "FLOPs an example", COLOURS[1], [layer.flops for layer in shown])
        left.set_yticks(range(len(shown)), [_label(layer) for layer in shown])
        left.set_ylim(len(shown) - 0.4, -0.6)  # the first on top


def measure_summary(model: nn.Module, inputs: Tree) -> Summary:
    """Send a batch through the model and note what each layer gives and costs.

    Args:
        model: any module of one input; it is left exactly as it was.
        inputs: a batch (B, ...), on the model's device.
    """
    parts = tensors_of(inputs)
    if not parts or any(part.dim() == 0 or len(part) == 0 for part in parts):
        raise DataError(f"a summary needs a batch of examples, got shape {shapes_of(inputs)}")
    passed = _Passage(batch=count_rows(inputs))
    with evaluating(model), seeded(0), counting_flops() as counter:
        with ExitStack() as hooks:
            for module in model.modules():
                for handle in passed.watch(module, counter.get_total_flops):
                    hooks.callback(handle.remove)
            call_with(model, _stand_ins(model), inputs)
    return Summary(layers=tuple(_layers(model, passed)), bytes=_bytes(model))


def _stand_ins(model: nn.Module) -> dict[str, Tensor]:
    """Parameters without gradients, and copies of buffers, by name.

    A layer that counts its calls counts on the copies; and where a layer gives a part of a
    parameter that learns, torch's counter fails.
    """
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    return parameters | {name: buffer.clone() for name, buffer in model.named_buffers()}


class _Passage:
    """What the hooks see while a batch goes through."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.outputs: dict[nn.Module, str] = {}
        self.calls: Counter[nn.Module] = Counter()
        self.flops: Counter[nn.Module] = Counter()
        self._starts: list[int] = []  # of the modules that are running, the innermost last

    def watch(self, module: nn.Module, total: Callable[[], int]) -> Iterator[RemovableHandle]:
        """Hooks before and after the module; `total` gives the FLOPs so far."""

        def begin(*_: Any) -> None:
            self._starts.append(total())

        def end(module: nn.Module, _: Any, output: Any) -> None:
            own = total() - self._starts.pop()
            self.flops[module] += own
            self._starts = [start + own for start in self._starts]  # not theirs
            self.calls[module] += 1
            self.outputs.setdefault(module, self._shape(output))

        yield module.register_forward_pre_hook(begin)
        yield module.register_forward_hook(end)

    def _shape(self, output: Any) -> str:
        """The first tensor's; a dataclass (an Output) is looked into."""
        if is_dataclass(output):
            output = [getattr(output, field.name) for field in fields(output)]
        tensors = tensors_of(output)
        if not tensors:
            return ""
        sizes = [str(size) for size in tensors[0].shape]
        if sizes and tensors[0].shape[0] == self.batch:
            sizes[0] = "B"
        return f"({', '.join(sizes)})"


def _layers(model: nn.Module, passed: _Passage) -> Iterator[Layer]:
    """Leaves, and what holds other modules but has parameters or operations of its own."""
    seen: set[nn.Parameter] = set()
    for path, module in model.named_modules():
        own = [value for value in module.parameters(recurse=False) if value not in seen]
        seen.update(own)
        if own or passed.flops[module] or not any(module.children()):
            yield Layer(
                path=path,
                kind=module_name(module),
                output=passed.outputs.get(module, ""),
                calls=passed.calls[module],
                parameters=sum(value.numel() for value in own),
                trainable=sum(value.numel() for value in own if value.requires_grad),
                flops=round(passed.flops[module] / passed.batch),
            )


def _bytes(model: nn.Module) -> int:
    return sum(value.nbytes for value in (*model.parameters(), *model.buffers()))


def _trainable(layer: Layer) -> str:
    if not layer.parameters:
        return ""
    if layer.trainable in {0, layer.parameters}:
        return "yes" if layer.trainable else "no"
    return f"{layer.trainable:,}"


def _shown(layers: tuple[Layer, ...]) -> list[Layer]:
    """Layers with something to draw, in order; of very many the largest, and the rest as one."""
    drawn = [layer for layer in layers if layer.parameters or layer.flops]
    if len(drawn) <= MOST_BARS:
        return drawn
    parameters, flops = _sum("", drawn).parameters, _sum("", drawn).flops

    def share(layer: Layer) -> float:
        return max(layer.parameters / max(1, parameters), layer.flops / max(1, flops))

    smallest_first = sorted(reversed(drawn), key=share)  # of equals the last goes first
    rest = smallest_first[: len(drawn) - MOST_BARS + 1]
    return [layer for layer in drawn if layer not in rest] + [_sum(f"{len(rest)} others", rest)]


def _sum(name: str, layers: Sequence[Layer]) -> Layer:
    """Several layers as one."""
    return Layer(
        path=name,
        kind="",
        output="",
        calls=1,
        parameters=sum(layer.parameters for layer in layers),
        trainable=sum(layer.trainable for layer in layers),
        flops=sum(layer.flops for layer in layers),
    )


def _label(layer: Layer) -> str:
    """Where and what; of a long path the end says most: "…layers.3.linear1 Linear"."""
    path = layer.path if len(layer.path) <= LONGEST_PATH else f"…{layer.path[1 - LONGEST_PATH :]}"
    kind = short_name(layer.kind) if layer.kind else ""
    return f"{path} {kind}".strip()


def _draw_bars(axes: "Axes", title: str, colour: str, values: list[int]) -> None:
    """One bar a layer with its number beside it, so no axis is needed."""
    axes.set_title(title)
    axes.barh(range(len(values)), values, height=0.7, color=colour)
    for place, value in enumerate(values):
        words = f" {value:,} ({percent(value / sum(values))})" if value else " 0"
        axes.text(value, place, words, va="center", fontsize=8.5, color=INK if value else FAINT)
    axes.set_xlim(0, 1.6 * max(1, *values))  # room for the longest bar's number
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0, labelsize=8.5)
