"""`compare`: the same data, the same split, the same seeds; is the gap more than luck?

Under one seed two recipes start from the same weights, as far as their shapes agree, and see the
same examples in the same order. So their scores are paired, and what both owe to the seed drops
out of the difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netwright.core.checks import check_seed, nearest
from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.core.terminal.console import print_message
from netwright.data.dataset import Data
from netwright.data.given.given import take_splits
from netwright.metrics.catalog import Metric
from netwright.metrics.paired import paired_gap
from netwright.recipes.fitting.own_objects import OwnObjects
from netwright.recipes.fitting.track_rows import check_untracked
from netwright.recipes.fitting.training import train
from netwright.recipes.judging.comparison import ComparedEntry, Comparison
from netwright.recipes.judging.contenders import Contender, build_contenders
from netwright.recipes.judging.entries import Settings, choose_data, read_entry
from netwright.recipes.judging.gap_verdict import GapVerdict, judge_gap
from netwright.recipes.plan.chosen_metric import choose_metric
from netwright.recipes.plan.given_settings import (
    SOURCE,
    given_to,
    known_names,
    sort_settings,
    split_exact,
)
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.sources import load_source, settings_type
from netwright.train.evaluate import evaluate_baseline
from netwright.train.own.parts import NO_PARTS, OwnParts, check_copied, take_all_own
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.watching.convergence import ILLNESS

Results = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PreparedComparison:
    """Contenders, their data and the metric; nothing is trained yet."""

    contenders: tuple[Contender, ...]
    data: Data
    metric: Metric
    own: OwnParts = NO_PARTS


def compare(
    *entries: str | Path | Config | OwnModel,
    data: Any = None,
    seeds: int = 5,
    seed: int = 0,
    metric: str | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Comparison:
    """Train two or more models on the same data under the same seeds, and judge the gaps.

    A gap is called better or worse where the paired t-test gives p < 0.005; else it is undecided,
    and the verdict says how many seeds would settle it.

    Args:
        *entries: names ("mlp"), names with settings ("mlp:dropout=0:lr=0.01"), configs, recipe
            files, run folders, or classes and functions that make a module of your own, of nothing
            or of a `DataSpec`; the first is what the others are compared with.
        data: what `nw.fit` takes, or the data section of a recipe ({"name": "moons", "n": 900});
            by default the data of the recipes given, else the digits.
        seeds: how many times each is trained; three are the least for a verdict.
        seed: the first of the seeds.
        metric: a name in `nw.metrics.METRICS`; by default the task's own: accuracy, rmse,
            perplexity ...
        quiet: print nothing.
        **settings: of training (epochs, lr ...) or of the data (target, noise ...), for all; also
            a loss, an optimizer's class, a training_step ... of your own, and validation, test or
            groups beside the data, as in `nw.fit`.
    """
    prepared = prepare_comparison(
        entries, data, seeds=seeds, seed=seed, metric=metric, settings=settings
    )
    return run_comparison(prepared, quiet=quiet)


def prepare_comparison(
    sources: Sequence[str | Path | Config | OwnModel],
    data: Any = None,
    *,
    seeds: int = 5,
    seed: int = 0,
    metric: str | None = None,
    settings: Settings,
) -> PreparedComparison:
    """Resolve names and settings, load the data once, and try every model on one batch."""
    if len(sources) < 2:
        raise ConfigError(f"compare needs at least two entries, got {len(sources)}")
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise ConfigError(f"seeds must be a positive integer, got {seeds!r}")
    check_seed(seed)
    own, settings = take_all_own(settings)
    if data is not None and not isinstance(data, Mapping):
        data, settings = take_splits(data, settings)
    check_copied(own, "compare")
    check_untracked(settings, "compare")
    entries = [read_entry(source) for source in sources]
    source, for_data = choose_data(data, entries)
    given = {**for_data, **given_to("data", settings)}
    shared = _sort_settings(settings, settings_type(source, given))
    loaded = load_source(source, {**for_data, **shared["data"]})
    chosen = _choose_metric(metric, loaded[2])
    return PreparedComparison(
        contenders=build_contenders(entries, loaded, shared["train"], own, seeds=seeds, seed=seed),
        data=loaded[2],
        metric=chosen,
        own=own,
    )


def run_comparison(prepared: PreparedComparison, *, quiet: bool = False) -> Comparison:
    """Train every contender under every seed, and judge the gaps to the first."""
    contenders, metric = prepared.contenders, prepared.metric
    rounds = len(contenders[0].seeds)
    fits: list[list[Results]] = [[] for _ in contenders]
    for turn in range(rounds):
        for contender, results in zip(contenders, fits, strict=True):
            seed = contender.seeds[turn]
            results.append(_fit(contender, seed, prepared.data, prepared.own))
            if not quiet:
                score, seconds = results[-1]["metrics"][metric.name], results[-1]["seconds"]
                done = f"{sum(map(len, fits))}/{rounds * len(fits)}"
                told = f"{metric.name} {score:.4g} ({seconds:.1f} s)"
                print_message(f"{done}  {contender.label}, seed {seed}: {told}")
    rows = tuple(_row(*pair, metric) for pair in zip(contenders, fits, strict=True))
    of_all = fits[0][0]  # split and baseline are the same in every fit
    return Comparison(
        data=prepared.data.name,
        split=of_all["split"],
        examples=of_all["rows"],
        metric=metric.name,
        better=metric.better,
        baseline=of_all["baseline"][metric.name],
        baseline_rule=of_all["baseline_rule"],
        rows=rows,
        verdicts=judge_rows(rows, fits, metric),
    )


def _fit(contender: Contender, seed: int, data: Data, own: OwnParts) -> Results:
    """The results of one fit; nothing is written."""
    recipe, mine = replace(contender.recipe, seed=seed), OwnObjects(contender.make, own)
    try:
        prepared = mine.prepare(recipe, data)
        if prepared.task.unmeasured:
            raise ConfigError(f"there is nothing to measure: {prepared.task.unmeasured}")
        return train(prepared, quiet=True, keep_folder=False).results
    except NetwrightError as error:
        raise type(error)(f"{contender.label}, seed {seed}: {error}") from error


def _row(contender: Contender, fits: Sequence[Results], metric: Metric) -> ComparedEntry:
    recipe = replace(contender.recipe, seed=contender.seeds[0]).to_mapping()
    return replace(
        compared_entry(contender.label, recipe, contender.seeds, fits, metric),
        repeats=contender.repeats,
    )


def compared_entry(
    label: str,
    recipe: Mapping[str, Any],
    seeds: tuple[int, ...],
    fits: Sequence[Results],
    metric: Metric,
) -> ComparedEntry:
    """What one recipe reached under these seeds; one fit a seed."""
    return ComparedEntry(
        label=label,
        recipe=recipe,
        seeds=seeds,
        scores=tuple(fit["metrics"][metric.name] for fit in fits),
        parameters=fits[0]["parameters"],
        seconds=sum(fit["seconds"] for fit in fits) / len(fits),
        unconverged=sum(
            any(found["illness"] == ILLNESS for found in fit.get("findings", ())) for fit in fits
        ),
    )


def judge_rows(
    rows: Sequence[ComparedEntry], fits: Sequence[Sequence[Results]], metric: Metric
) -> tuple[GapVerdict, ...]:
    """On each row after the first."""
    first, *others = rows
    # The loss tells two fits apart where a coarse metric does not.
    varies = [any(fit["metrics"] != same[0]["metrics"] for fit in same) for same in fits]
    return tuple(
        judge_gap(
            paired_gap(first.scores, row.scores, comparisons=len(others), bounds=metric.bounds),
            better=metric.better,
            comparisons=len(others),
            seeds_matter=varies[0] or varies[place],
            same_recipe=row.repeats == first.label,
        )
        for place, row in enumerate(others, start=1)
    )


def _sort_settings(settings: Settings, data: type[Config] | None) -> dict[str, dict[str, Any]]:
    """Settings of training and of the data: what all entries share."""
    kinds = {"data": data, "train": TrainConfig}
    known = known_names(kinds)
    exact, short = split_exact(settings)
    paths = [f"{section}.{name}" for section, given in exact.items() for name in given]
    every = {SOURCE, *(f"{section}.{name}" for section in known for name in known[section])}
    names = [name for part in known.values() for name in part]
    for path in [*paths, *short]:
        if path not in every and path not in names:
            hint = nearest(path.rpartition(".")[2], names)
            raise ConfigError(
                f"{path!r} is not a setting of training or of the data, which all entries share "
                f"(settings of a model belong to its entry: mlp:dropout=0){hint}"
            )
    return sort_settings(settings, kinds)


def _choose_metric(name: str | None, data: Data) -> Metric:
    """The metric by its name, or the task's own; it must have a value on the rows it is for."""
    task = task_for(data)
    metric = choose_metric(name, task)
    split, examples = list(data.splits())[-1]
    if metric.name not in evaluate_baseline(examples, task.baseline(data.train), task):
        raise DataError(f"{metric.name} has no value on the {split} rows of {data.name}")
    return metric
