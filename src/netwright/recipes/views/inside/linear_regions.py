"""The view `linear-regions` of a run: the pieces on which its network is one affine map."""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.devices import device_of
from netwright.data.loading.stored import evenly_spaced
from netwright.inspection.inside.activation_patterns import Patterns, activation_patterns
from netwright.inspection.inside.flops import counting_flops
from netwright.inspection.inside.linear_regions import LinearRegions, measure_linear_regions
from netwright.recipes.saved.run_record import RunRecord
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject

MOST_ROWS = 1_000
MOST_FLOPS = 2e9  # of a whole picture
FEWEST_CELLS, MOST_CELLS = 32, 420  # of the most, borders are smooth
MOST_FLOPS_EACH = 2e9  # of one answer: of larger networks no picture is had in a minute


@dataclass(frozen=True, kw_only=True)
class LinearRegionsConfig(Config):
    """How closely is looked."""

    cells: Annotated[
        Annotated[int, Interval(ge=2, le=1000)] | None,
        Doc("grid points along each side; default: as many as take seconds"),
    ] = None
    zoom: Annotated[
        Positive | None,
        Doc(
            "zoom factor relative to a window with all examples; default: until regions are visible"
        ),
    ] = None


def refusal(subject: Subject) -> str:
    """Only of networks of ReLU units and pooling, and of inputs with a plane."""
    run, name = subject.run, subject.name
    if run.spec.vocab_size:
        return "linear regions need numeric inputs, not tokens"
    if run.spec.num_features < 2:
        return "linear regions need at least two inputs for a plane, got one"
    seen, flops = _probe(run)
    if seen.curved or not seen.num_units:
        wrong = seen.curved[0] if seen.num_units else "none"
        return f"linear regions need a network of ReLU units, {name} has {wrong}"
    if flops > MOST_FLOPS_EACH:
        return (
            f"linear regions evaluate the network at thousands of points, and one evaluation of "
            f"{name} takes "
            f"{flops:.1e} operations, more than {MOST_FLOPS_EACH:.0e}"
        )
    return ""


def measure(subject: Subject, settings: LinearRegionsConfig) -> LinearRegions:
    """On the plane of two features, or of the first two principal components."""
    run, split = subject.run, subject.split
    rows = evenly_spaced(len(split), MOST_ROWS).to(split.targets.device)
    inputs, has_classes = split.read(rows).to(device_of(run.model)), run.spec.target == "class"
    return measure_linear_regions(
        run.model,
        inputs,
        cells=settings.cells or _num_cells(_probe(run)[1]),
        zoom=settings.zoom,
        feature_names=run.spec.feature_names,
        decode=run.preprocessor.units(),
        targets=split.targets[rows] if has_classes else None,
        class_names=run.spec.class_names if has_classes else (),
    )


def _probe(run: RunRecord) -> tuple[Patterns, int]:
    """What one blank input meets on its way, and how many operations that takes."""
    blank: Tensor = torch.zeros(1, *run.spec.input_shape, device=device_of(run.model))
    with counting_flops() as counter:
        return activation_patterns(run.model, blank), counter.get_total_flops()


def _num_cells(flops: int) -> int:
    cells = round(math.sqrt(MOST_FLOPS / max(flops, 1)))
    return min(max(cells, FEWEST_CELLS), MOST_CELLS)


LINEAR_REGIONS = ViewEntry(
    card=Card(
        sentence="The convex pieces of the input space on which a network of ReLU units is one "
        "affine map, on a plane, with the decision boundary and examples on it.",
        formula=r"f(x) = A_{\sigma(x)} x + c_{\sigma(x)}, \quad "
        r"\sigma_u(x) = [z_u(x) > 0]",
        symbols={
            "x": "a place on the plane",
            r"\sigma": "the pattern: which units are on",
            "z_u": "what comes into unit u",
            "A, c": "the affine map of the pattern",
        },
        source="Montufar, Pascanu, Cho and Bengio (2014), NIPS 27; Hanin and Rolnick (2019), "
        "NeurIPS 32",
    ),
    measure=measure,
    refusal=refusal,
    numbers_only=True,
    one_input=True,
    settings=LinearRegionsConfig,
)
