"""The view `landscape`: the loss around a run's weights, and the path that its training took."""

from dataclasses import dataclass, replace
from typing import Annotated

from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from netwright.core.card import Card
from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.core.evaluation import call_with, evaluating
from netwright.inspection.training.landscape import CELLS, Landscape, PlaneConfig, measure_landscape
from netwright.recipes.views.cost import MOST_SECONDS, PLACE_SECONDS, Cost, measure_cost
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_several
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training_batches import training_batches
from netwright.train.saving.kept_path import read_kept_path

SIZES = (*((rows, CELLS) for rows in (256, 128, 64, 32, 16)), (16, 9), (8, 7), (2, 7))
DIRECTIONS = 30  # cells that drawing two directions takes as long as
SECONDS = 4.0  # on one core


@dataclass(frozen=True, kw_only=True)
class LandscapeConfig(PlaneConfig):
    """Which plane, how finely, on how many examples."""

    rows: Annotated[
        Size | None,
        Doc("number of training examples; default: 256, fewer where a pass is slow"),
    ] = None


def measure(subject: Subject, settings: LandscapeConfig) -> Landscape:
    """The loss of the run's own task, in evaluation mode; the model stays as it is."""
    run = subject.run
    cost = measure_cost(run.model, next(training_batches(subject, 1)).inputs)
    rows, cells = _affordable(cost)
    seconds = _seconds(cost, rows, cells)
    if not (settings.rows or settings.cells) and seconds > MOST_SECONDS:
        raise ConfigError(
            f"a landscape of {subject.name} would take {seconds:,.0f} seconds with "
            f"{rows} examples and {cells} x {cells} cells: set rows or cells to accept that"
        )
    batch = next(training_batches(subject, settings.rows or rows))
    path = read_kept_path(run.folder)
    named = dict(run.model.named_parameters())
    learned = [name for name, weight in named.items() if weight.requires_grad]
    weights = {name: named[name] for name in (learned if path is None else path.weights)}

    def loss(weights: dict[str, Tensor]) -> float:
        return float(run.task.loss(call_with(run.model, weights, run.task.inputs(batch)), batch))

    with evaluating(run.model):
        return measure_landscape(
            loss,
            weights,
            {} if path is None else path.snapshots,
            replace(settings, cells=settings.cells or cells),
            rows=len(batch.rows),
            has_statistics=any(isinstance(part, _BatchNorm) for part in run.model.modules()),
        )


def _affordable(cost: Cost) -> tuple[int, int]:
    """Examples, and cells along each side: the most within the seconds; else the fewest."""
    return next((size for size in SIZES if _seconds(cost, *size) <= SECONDS), SIZES[-1])


def _seconds(cost: Cost, rows: int, cells: int) -> float:
    return cells**2 * cost.placed_seconds(rows) + DIRECTIONS * cost.weights * PLACE_SECONDS


def refusal(subject: Subject) -> str:
    """A loss over weights needs weights: two of them, of one model."""
    weights = subject.run.model.parameters()
    count = sum(weight.numel() for weight in weights if weight.requires_grad)
    if count < 2:
        return f"a landscape needs at least two trainable weights, {subject.name} has {count}"
    return refuse_several(subject, "a landscape")


LANDSCAPE = ViewEntry(
    card=Card(
        sentence="The loss on a plane through the weights, with the path that training took.",
        formula=r"L(w^* + a\,d_1 + b\,d_2)",
        symbols={
            r"w^*": "the weights that were kept",
            r"d_1, d_2": "principal directions of the path w_t - w^*; without a path random ones, "
            "each filter as long as that of w^*",
            "a, b": "the place on the plane",
        },
        source="Li, Xu, Taylor, Studer and Goldstein, "
        '"Visualizing the Loss Landscape of Neural Nets" (2018)',
    ),
    measure=measure,
    refusal=refusal,
    settings=LandscapeConfig,
)
