"""What the doctor says of a run that has ended: of its data, its outputs, its layers and losses."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import torch

from netwright.core.config import Config, parse, to_mapping
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.finding import Finding
from netwright.core.learner import Learner
from netwright.core.trees import move
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.single_rows import find_single_rows
from netwright.data.checkup.target_outliers import find_target_outliers
from netwright.recipes.fitting.missed_classes import find_missed_classes
from netwright.recipes.fitting.outcome import Outcome
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.fitting.squashed_outputs import MOST_ROWS, find_squashed_outputs
from netwright.train.settings import TrainConfig
from netwright.train.watching.symptoms import OPTIONS, Patient, Score, find_symptoms

PROPER = ("log_loss", "rmse", "perplexity")  # errors that a guess without inputs makes smallest
EXPLAINED = 0.5  # R2 from which on far targets are learned as well as others
# What an illness of data or outputs brings about in layers and losses is not told beside it.
BRINGS_ABOUT = {
    "squashed-outputs": {"plateau", "saturated-units", "vanishing-gradients", "rate-too-low"},
    "target-outliers": {"plateau", "overfitting", "dead-units", "exploding-gradients"},
    "imbalance": {"plateau"},
    "single-row-class": set[str](),
}
OF_THE_RATE = {"rate-too-high", "rate-too-low"}


def run_findings(
    prepared: Prepared,
    outcome: Outcome,
    split: str,
    metrics: Mapping[str, float],
    baseline: Mapping[str, float],
) -> list[Finding] | None:
    """All that ails a run, causes first; None where nobody watched and nothing is to be told.

    Args:
        prepared: with the model that has learned.
        outcome: how that went.
        split: the one that was measured.
        metrics: of the model.
        baseline: of the guess without inputs.
    """
    config = prepared.recipe.train
    causes = list(_of_data_and_outputs(prepared, split, metrics)) if config.doctor else []
    if not outcome.layer_history.layers:
        return causes or None
    patient = Patient(
        history=outcome.history,
        layers=outcome.layer_history,
        lr=outcome.lr or config.lr or config.rule.lr,
        limit=_longest_gradient(config, parameters=_size(prepared)),
        options=options_taken(prepared.recipe.model_settings),
        score=next(
            (
                Score(name, metrics[name], baseline[name])
                for name in PROPER
                if name in metrics and name in baseline
            ),
            None,
        ),
    )
    hidden = set().union(*(BRINGS_ABOUT[cause.illness] for cause in causes))
    if config.rule.closure:
        hidden |= OF_THE_RATE  # it searches for the length of a step
    symptoms = [one for one in find_symptoms(patient) if one.illness not in hidden]
    return [*causes, *symptoms, *([outcome.ending] if outcome.ending else [])]


def written_findings(
    prepared: Prepared,
    outcome: Outcome,
    split: str,
    metrics: Mapping[str, float],
    baseline: Mapping[str, float],
) -> dict[str, Any]:
    """What ails a run, as its results have it: see `run_findings`."""
    found = run_findings(prepared, outcome, split, metrics, baseline)
    return {} if found is None else {"findings": [finding.to_json() for finding in found]}


def _of_data_and_outputs(
    prepared: Prepared, split: str, metrics: Mapping[str, float]
) -> Iterator[Finding]:
    """What stands in the way before the first step, where it did harm."""
    data, model = prepared.data, prepared.model
    if prepared.task.unmeasured:
        return filter(None, ())
    found: list[Finding | None] = []
    if not prepared.recipe.model and not isinstance(model, Learner):  # the catalog's end in scores
        rows = torch.arange(min(MOST_ROWS, len(data.train)), device=data.train.targets.device)
        inputs = move(data.train.read(rows), device_of(model))
        found.append(find_squashed_outputs(model, inputs, prepared.task))
    if data.spec.target == "class":
        found += [find_missed_classes(prepared, split), find_single_rows(data, Origin())]
    if data.spec.target == "real" and metrics.get("r2", 0.0) < EXPLAINED:
        found.append(find_target_outliers(data, Origin()))
    return filter(None, found)


def _longest_gradient(config: TrainConfig, *, parameters: int) -> float:
    """What clipping leaves of any gradient."""
    by_value = math.inf if config.clip_value is None else config.clip_value * parameters**0.5
    return min(by_value, math.inf if config.clip_norm is None else config.clip_norm)


def _size(prepared: Prepared) -> int:
    return sum(part.numel() for part in prepared.model.parameters())


def options_taken(settings: Config | None) -> frozenset[str]:
    """What a fix may name: settings that the model takes."""
    if settings is None:
        return frozenset()
    taken = set()
    for option in OPTIONS:
        name, _, value = option.partition("=")
        with suppress(ConfigError):
            parse(type(settings), {**to_mapping(settings), name: value})
            taken.add(option)
    return frozenset(taken)
