"""What a playground takes: small data of two features or of small images, and a recipe for it."""

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import torch

from netwright.core.errors import ConfigError
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data
from netwright.data.loading.stored import evenly_spaced
from netwright.recipes.fitting.fit import put_together
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.sources import load_configured
from netwright.recipes.playground.image_stage import MOST_SIDE, ImageStage
from netwright.recipes.playground.picture import Stage
from netwright.recipes.playground.plane_stage import choose_plane
from netwright.train.run_setting_groups import Hardware, Keeping

EPOCHS = 20_000  # a person stops it long before
QUICK = 0.02  # seconds that a model may take for a picture of many cells
MOST_POINTS = 5_000
CLASSES = 6  # of points that are painted
MOST_ROWS = 5_000  # of a split: some models learn from all rows in one step, which nothing ends
USUAL: dict[str, Any] = {
    one.name: one.default for group in (Keeping, Hardware) for one in fields(group)
}
# It computes on the CPU, in this process, and keeps nothing, whatever a recipe says.
# Without oneDNN a plan that is paused would keep all of the process from using it.
FIXED = {**USUAL, "device": "cpu", "doctor": False, "restore_best": False, "onednn": "on"}


def prepare_plan(recipe: Recipe, data: Data | None = None) -> Prepared:
    """The recipe put together as it trains any run, but for what only a whole run needs.

    Args:
        recipe: model, data and training.
        data: in the place of the recipe's own, where it was painted.
    """
    train = replace(recipe.train, **FIXED)
    if train.max_steps is None and train.epochs is None:
        train = replace(train, epochs=EPOCHS)
    recipe = replace(recipe, train=train)
    return put_together(recipe, _sampled(load_configured(recipe) if data is None else data))


def _sampled(data: Data) -> Data:
    """The same data with some of its rows, where there are many; a note says so."""
    large = {name: split for name, split in data.splits() if len(split) > MOST_ROWS}
    notes = [
        f"the playground takes {MOST_ROWS:,} of the {len(split):,} {name} rows"
        for name, split in large.items()
    ]
    taken: dict[str, Any] = {
        name: split.take(evenly_spaced(len(split), MOST_ROWS)) for name, split in large.items()
    }
    return replace(data, notes=(*data.notes, *notes), **taken)


def painted_points(points: Sequence[Sequence[float]]) -> Data:
    """Points that somebody painted, each [x, y, class]; a fifth of them are for validation."""
    if not 4 <= len(points) <= MOST_POINTS:
        raise ConfigError(f"paint 4 to {MOST_POINTS:,} points, got {len(points)}")
    try:
        rows = torch.tensor(points, dtype=torch.float64)
    except (TypeError, ValueError):
        raise ConfigError("each point must be three numbers: x, y and its class") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or not bool(rows.isfinite().all()):
        raise ConfigError("each point must be three numbers: x, y and its class")
    classes = rows[:, 2]
    if not bool(((classes >= 0) & (classes < CLASSES) & (classes == classes.round())).all()):
        raise ConfigError(f"the class of a point must be 0 to {CLASSES - 1}")
    if len({int(name) for name in classes}) < 2:
        raise ConfigError("paint points of two classes at least")
    config = ArraysConfig(kind="class", standardize=False, val_size=0.2, test_size=0.0)
    return from_arrays(rows[:, :2].float(), classes.long(), config=config, name="painted")


def stage_for(prepared: Prepared) -> Stage:
    """What the model is shown on; data of another kind is refused."""
    spec = prepared.data.spec
    if spec.inputs == "features" and spec.input_shape == (2,) and spec.target in {"class", "real"}:
        return choose_plane(prepared, QUICK, time.thread_time)
    if spec.inputs == "image" and spec.target == "class":
        channels, *sides = spec.input_shape
        if channels in (1, 3) and max(sides) <= MOST_SIDE:
            return ImageStage(prepared)
    raise ConfigError(
        f"the playground shows models of two features, or of classes of images of up to "
        f"{MOST_SIDE} x {MOST_SIDE} pixels; {prepared.data.name} has inputs of shape "
        f"{spec.input_shape}: choose two columns of numbers"
    )
