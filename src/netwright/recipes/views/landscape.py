"""The view `landscape`: the loss around a run's weights, and the path that its training took."""

import math
from dataclasses import dataclass, replace
from typing import Annotated

from torch import Tensor
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm

from netwright.core.card import Card
from netwright.core.config import Doc, Size
from netwright.core.evaluation import evaluating
from netwright.inspection.landscape import CELLS, Landscape, PlaneConfig, measure_landscape
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.views.cost import Cost, measure_cost
from netwright.recipes.views.entry import Subject, ViewEntry
from netwright.recipes.views.training_batches import training_batches
from netwright.train.kept_path import read_kept_path

MOST_ROWS, LEAST_ROWS, LEAST_CELLS = 256, 16, 9
SECONDS = 3.0  # on one core


@dataclass(frozen=True, kw_only=True)
class LandscapeConfig(PlaneConfig):
    """Which plane, how finely, on how many examples."""

    rows: Annotated[
        Size | None,
        Doc(f"training examples; if not given {MOST_ROWS}, fewer where a pass takes long"),
    ] = None


def measure(subject: Subject, settings: LandscapeConfig) -> Landscape:
    """The loss of the run's own task, in evaluation mode; the model stays as it is."""
    run = subject.run
    rows, cells = _affordable(measure_cost(run.model, next(training_batches(subject, 1)).inputs))
    batch = next(training_batches(subject, settings.rows or rows))
    path = read_kept_path(run.folder)
    named = dict(run.model.named_parameters())
    learned = [name for name, weight in named.items() if weight.requires_grad]
    weights = {name: named[name] for name in (learned if path is None else path.weights)}

    def loss(weights: dict[str, Tensor]) -> float:
        return float(run.task.loss(functional_call(run.model, weights, (batch.inputs,)), batch))

    with evaluating(run.model):
        return measure_landscape(
            loss,
            weights,
            {} if path is None else path.snapshots,
            replace(settings, cells=settings.cells or cells),
            rows=len(batch.inputs),
            has_statistics=any(isinstance(part, _BatchNorm) for part in run.model.modules()),
        )


def _affordable(cost: Cost) -> tuple[int, int]:
    """Examples, and cells along each side: first fewer examples, then fewer cells."""
    rows = max(LEAST_ROWS, min(MOST_ROWS, cost.rows_within(SECONDS / CELLS**2)))
    cells = math.isqrt(int(SECONDS / max(cost.seconds(rows), 1e-9)))
    return rows, max(LEAST_CELLS, min(CELLS, cells))


def refusal(subject: Subject) -> str:
    """A loss over weights needs weights: two of them, of one model."""
    model = subject.run.model
    name = subject.run.config["model"]["name"] or type(model).__name__
    if isinstance(model, Ensemble):
        return f"a landscape is of the weights of one model, {name} has several"
    count = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    if count < 2:
        return f"a landscape is drawn over two learned weights or more, {name} has {count}"
    return ""


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
