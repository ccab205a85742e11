"""Runs that are trained, compared as they are: those of one recipe are its seeds.

Nothing is trained. Runs of two recipes under the same seeds on the same rows are paired by seed
and judged as `compare` judges them; with fewer than three seeds in common there is no verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError
from netwright.metrics.catalog import find_metric
from netwright.recipes.judging.compare import Results, compared_entry, judge_rows
from netwright.recipes.judging.comparison import Comparison
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.saved.results_file import read_results
from netwright.recipes.saved.run_folder import check_run_folder
from netwright.recipes.saved.run_list import headline_of

Recipe = Mapping[str, Any]
SAME_ROWS = ("split", "rows", "contents", "baseline")  # of results on the same held-out rows


@dataclass
class _Trained:
    """The runs of one recipe: seed -> results."""

    label: str
    recipe: Recipe
    by_seed: dict[int, Results] = field(default_factory=dict)


def compare_runs(*folders: str | Path, metric: str | None = None) -> Comparison:
    """Judge the gaps between trained runs, paired by their seeds.

    Args:
        *folders: of finished runs on the same data, of two recipes or more; the recipe of the first
            is what the others are compared with.
        metric: a name in `nw.metrics.METRICS`; by default what the first run reports first.
    """
    first, *others = _by_recipe([Path(folder) for folder in folders])
    if not others:
        raise ConfigError("compare needs runs of two recipes or more: these are of one")
    every = [first, *others]
    seeds = tuple(sorted(set.intersection(*(set(one.by_seed) for one in every))))
    if not seeds:
        raise ConfigError(
            f"{first.label} and {others[0].label} have no seed in common: train both under the "
            "same seeds, or let `netwright compare` train them"
        )
    fits = [[one.by_seed[seed] for seed in seeds] for one in every]
    told = fits[0][0]
    measure = find_metric(metric or headline_of(told))
    for one, measured in zip(every, fits, strict=True):
        if any(measure.name not in fit["metrics"] for fit in measured):
            raise ConfigError(f"{one.label} has no {measure.name}: give another metric")
    rows = tuple(
        compared_entry(one.label, one.recipe, seeds, measured, measure)
        for one, measured in zip(every, fits, strict=True)
    )
    return Comparison(
        data=str(first.recipe["data"]["name"]),
        split=told["split"],
        examples=told["rows"],
        metric=measure.name,
        better=measure.better,
        baseline=told["baseline"].get(measure.name, float("nan")),
        baseline_rule=told["baseline_rule"],
        rows=rows,
        verdicts=judge_rows(rows, fits, measure),
    )


def _by_recipe(folders: Sequence[Path]) -> list[_Trained]:
    """The runs by recipe, in the order in which they are given."""
    if len(folders) < 2:
        raise ConfigError(f"compare needs at least two runs, got {len(folders)}")
    found: list[_Trained] = []
    first: tuple[Recipe, Results] | None = None
    for folder in folders:
        check_run_folder(folder)
        recipe, results = read_own_recipe(folder), read_results(folder)
        if not results.get("finished", True):
            raise ConfigError(f"{folder.name} was stopped before its end: resume it first")
        first = first or (recipe, results)
        _check_same_rows(folders[0], folder, first, (recipe, results))
        course = {key: value for key, value in recipe.items() if key != "seed"}
        same = next((one for one in found if one.recipe == course), None)
        if same is None:
            same = _Trained(label=folder.resolve().name, recipe=course)
            found.append(same)
        seed = recipe.get("seed", 0)
        if seed in same.by_seed:
            raise ConfigError(
                f"{folder.name} has the recipe and the seed of another of these runs: leave it out"
            )
        same.by_seed[seed] = results
    for one in found:
        one.recipe = {**one.recipe, "seed": min(one.by_seed)}
    return found


def _check_same_rows(
    folder: Path, other: Path, mine: tuple[Recipe, Results], its: tuple[Recipe, Results]
) -> None:
    """Refuse runs whose scores are not of the same held-out rows: they cannot be paired."""
    is_same = mine[0].get("data") == its[0].get("data") and all(
        mine[1].get(name) == its[1].get(name) for name in SAME_ROWS
    )
    if not is_same:
        raise ConfigError(
            f"{folder.name} and {other.name} were not measured on the same rows of the same data, "
            "so their scores cannot be paired"
        )
