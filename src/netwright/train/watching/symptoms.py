"""What ails a run, told from its numbers: pure functions, each finds one illness or nothing.

Each is slow to speak: a healthy run that is called ill does more harm than a mild case that is not.
Where one illness brings another about, only the first is told.

Source: Glorot and Bengio (2010), AISTATS 9, for saturation and shrinking gradients; Pascanu,
Mikolov and Bengio (2013), ICML 30, for growing ones; Prechelt, "Early Stopping - But When?" (1998).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, NamedTuple

from netwright.core.finding import Finding
from netwright.train.watching.history import History
from netwright.train.watching.layer_history import LayerHistory, Numbers

MOST_DEAD = 0.75  # share of a layer's ReLU units
MOST_FLAT = 0.75  # share of what a layer's sigmoids or tanhs put out
LONGEST = 1e3  # gradient of a whole model; losses are means, so that it is usually near 1
SHORTEST = 1e-5  # gradient of a layer, beside the longest of another layer
HIGH_RATE, LOW_RATE = 0.05, 1e-5  # step of a layer beside its weights; about 1e-3 is usual
RISEN, FALLEN = 1.2, 0.95  # times a loss of before; what lies between may be chance
WORSE, LOST = 1.25, 0.05  # times the best validation loss; share of its first value
LAST = 3  # epochs whose mean validation loss is judged
SAME = 0.01  # share of a training loss: less is no change
NO_BETTER, WELL = 0.97, 0.2  # times the error of the guess
FEWEST_ROWS, FEWEST_EPOCHS = 8, 4  # before so many nothing is said
# Settings of a model that a fix may name.
RELU, LEAKY, SMALLER = "activation=relu", "activation=leaky-relu", "initializer=xavier-normal"
OPTIONS = (RELU, LEAKY, SMALLER)


class Score(NamedTuple):
    """An error after training beside that of the best guess; lower is better."""

    name: str
    reached: float
    guess: float


@dataclass(frozen=True, kw_only=True)
class Patient:
    """A run that has ended.

    Args:
        history: its losses.
        layers: what its layers did at the watched steps.
        lr: its learning rate.
        limit: no gradient is longer than this when it is used, as longer ones are cut.
        options: those of `OPTIONS` that the model takes; none of a module of the user's own.
        score: how it does beside knowing nothing of the inputs, where that was measured.
    """

    history: History
    layers: LayerHistory
    lr: float
    limit: float = math.inf
    options: frozenset[str] = frozenset()
    score: Score | None = None

    def losses(self, split: str) -> list[float]:
        """The loss after each epoch; none where there is no such split."""
        rows, key = self.history.rows, f"{split}/loss"
        ends = {row.step for row in rows if row.split == "train"}
        return [row.value for row in rows if row.key == key and row.step in ends]


def rate_too_high(patient: Patient) -> Finding | None:
    """Steps that are long beside the weights themselves, and harm that such steps do.

    Weights that have grown make the same steps look short: the first ones count, too. A gradient
    that is too long before the first step is not the rate's doing.
    """
    rows = patient.layers.rows
    if len(rows) < FEWEST_ROWS or rows[0].whole_gradient > LONGEST:
        return None
    late = rows[len(rows) // 2 :]
    ratio = max(median(row.step_ratio for row in part) for part in (rows[:FEWEST_ROWS], late))
    harm = _harm_of_long_steps(patient, rows[0].loss, median(row.loss for row in late))
    if ratio < HIGH_RATE or not harm:
        return None
    return Finding(
        illness="rate-too-high",
        sentence=f"{harm}, and a step changed the weights by {ratio:.0%} of their length, where "
        "0.1% is usual",
        fix=f"Lower the learning rate, which was {patient.lr:g}: try --lr {patient.lr / 10:g}, or "
        "let --find-lr suggest one",
        see="step-size",
    )


def _harm_of_long_steps(patient: Patient, first: float, last: float) -> str:
    """What became of the run, in words; empty where it took no harm.

    Args:
        patient: the run.
        first: its loss before the first step.
        last: its loss of late.
    """
    if last >= RISEN * first:
        return f"the loss rose from {first:.3g} to {last:.3g}"
    if patient.layers.rows[0].began_at_zero:  # then any first steps look long
        return ""
    layer, share = _worst_layer(patient, "dead", looks=1)
    if share >= MOST_DEAD:
        return f"{share:.0%} of the ReLU units after layer {layer!r} died"
    layer, share = _worst_layer(patient, "saturated", looks=1)
    if share >= MOST_FLAT:
        return f"{share:.0%} of the outputs of layer {layer!r} are saturated"
    return _no_use(patient) if last > FALLEN * first else ""


def _no_use(patient: Patient) -> str:
    """That the run has learned nothing, in words; empty where it has, or nobody knows."""
    score = patient.score
    if score is None or score.reached < NO_BETTER * score.guess:
        return ""
    return (
        f"{score.name} {score.reached:.3g} is no better than guessing without the inputs, "
        f"{score.guess:.3g}"
    )


def rate_too_low(patient: Patient) -> Finding | None:
    """Steps so short that the weights stay where they were."""
    rows = patient.layers.rows
    if len(rows) < FEWEST_ROWS:
        return None
    ratio = max(row.step_ratio for row in rows)
    half = len(rows) // 2
    first, last = (fmean(row.loss for row in part) for part in (rows[:half], rows[half:]))
    if ratio > LOW_RATE or last < FALLEN * first:
        return None
    return Finding(
        illness="rate-too-low",
        sentence=f"the loss stayed at {last:.3g}: no step changed the weights by more than "
        f"{ratio:.1g} of their length, where 1e-3 is usual",
        fix=f"Raise the learning rate, which was {patient.lr:g}: let --find-lr suggest one",
        see="sufficient-decrease",
    )


def exploding_gradients(patient: Patient) -> Finding | None:
    """Gradients so long that one step undoes many; not where they are cut in time."""
    rows = patient.layers.rows
    long = [row for row in rows if min(row.whole_gradient, patient.limit) > LONGEST]
    if len(long) * 10 < len(rows) or not long:
        return None
    worst = max(long, key=lambda row: row.whole_gradient)
    return Finding(
        illness="exploding-gradients",
        sentence=f"the gradient norm exceeded {LONGEST:g} at {len(long)} of {len(rows)} monitored "
        f"steps, {worst.whole_gradient:.3g} at step {worst.step}",
        fix="Clip it with --set train.clip_norm=1",
        see="clip-norm",
    )


def vanishing_gradients(patient: Patient) -> Finding | None:
    """A layer whose gradient is next to nothing beside that of a layer behind it."""
    shares = [row.beside_longest_behind for row in patient.layers.rows]
    place, share = _extreme(shares, patient.layers, min)
    if share is None or share >= SHORTEST:
        return None
    option = f" (--set model.{RELU})" if RELU in patient.options else ""
    return Finding(
        illness="vanishing-gradients",
        sentence=f"the gradient of layer {patient.layers.layers[place]!r} is {share:.1g} times as "
        f"large as that of a later layer: it hardly learns",
        fix=f"Use relu in place of sigmoid or tanh{option}, or fewer layers",
        see="sigmoid-gradients-shrink",
    )


def frozen_part(patient: Patient) -> Finding | None:
    """Layers that are to learn and never had a gradient."""
    rows, layers = patient.layers.rows, patient.layers.layers
    still = [
        layer
        for layer in layers
        if (known := [g for g in patient.layers.series("gradient", layer) if g is not None])
        and not any(known)
    ]
    if not still or len(rows) < FEWEST_ROWS:
        return None
    others = f" and {len(still) - 1} more" if len(still) > 1 else ""
    return Finding(
        illness="frozen-part",
        sentence=f"layer {still[0]!r}{others} of {len(layers)} had no gradient at any of "
        f"{len(rows)} monitored steps: the loss does not depend on it",
        fix="Look in forward for a detach or a no_grad after it, or whether it is used at all",
        see="steepest-descent",
    )


def dead_units(patient: Patient) -> Finding | None:
    """Most ReLU units of a layer are 0 whatever comes in."""
    layer, share = _worst_layer(patient, "dead")
    if share < MOST_DEAD:
        return None
    return Finding(
        illness="dead-units",
        sentence=f"{share:.0%} of the ReLU units after layer {layer!r} are 0 on a whole batch: "
        f"their gradient is 0 too, and they do not learn",
        fix=f"Use leaky ReLUs: --set model.{LEAKY}"
        if LEAKY in patient.options
        else "Use leaky ReLUs, as nn.LeakyReLU, or smaller weights and a lower learning rate",
        see="leaky-relu",
    )


def saturated_units(patient: Patient) -> Finding | None:
    """Most of what a layer puts out lies at an end of its activation's range."""
    layer, share = _worst_layer(patient, "saturated")
    if share < MOST_FLAT:
        return None
    return Finding(
        illness="saturated-units",
        sentence=f"{share:.0%} of the outputs of layer {layer!r} are saturated: it hardly learns",
        fix=f"Start from smaller weights: --set model.{SMALLER}"
        if SMALLER in patient.options
        else "Start from smaller weights, as torch.nn.init.xavier_normal_ gives",
        see="logistic-init",
    )


def overfitting(patient: Patient) -> Finding | None:
    """Validation got worse while training got better."""
    train, val = patient.losses("train"), patient.losses("val")
    if len(val) < FEWEST_EPOCHS or len(val) != len(train):
        return None
    best = min(range(len(val)), key=val.__getitem__)
    now = fmean(val[-LAST:])
    is_worse = now >= WORSE * val[best] and now - val[best] >= LOST * val[0]
    if not is_worse or train[-1] >= train[best] or now <= train[-1]:
        return None
    return Finding(
        illness="overfitting",
        sentence=f"the validation loss was best in epoch {best + 1}, {val[best]:.3g}, and is "
        f"{now:.3g} in the mean of the last {LAST}, while the training loss fell from "
        f"{train[best]:.3g} to {train[-1]:.3g}",
        fix="Stop early: --patience 5",
        see="early-stopping",
    )


def plateau(patient: Patient) -> Finding | None:
    """A loss that no longer moves, where guessing does as well."""
    train, no_use = patient.losses("train"), _no_use(patient)
    if len(train) < 2 * FEWEST_EPOCHS or not no_use:
        return None
    quarter = len(train) // 4
    before, now = fmean(train[-2 * quarter : -quarter]), fmean(train[-quarter:])
    if abs(before - now) > SAME * abs(before):
        return None
    return Finding(
        illness="plateau",
        sentence=f"the training loss stays at {now:.3g}, and {no_use}",
        fix="`netwright doctor DATA` tells whether a model can memorise one batch of it",
        see="critical-point",
    )


def not_finite(culprit: str, *, step: int, lr: float, in_data: bool) -> Finding:
    """Where NaN or infinity came from, of a run that it ended.

    Args:
        culprit: the first that is not finite, in words.
        step: at which it was seen.
        lr: the learning rate.
        in_data: it came with the data.
    """
    cure = f"Lower the learning rate, which was {lr:g}, or clip gradients: --set train.clip_norm=1"
    return Finding(
        illness="not-finite",
        sentence=f"a number was not finite at step {step}: {culprit}",
        fix="Fix that row or drop it: `netwright doctor DATA` lists such rows" if in_data else cure,
        see="table" if in_data else "step-size",
    )


SYMPTOMS: tuple[Callable[[Patient], Finding | None], ...] = (
    exploding_gradients,
    rate_too_high,
    dead_units,
    saturated_units,
    frozen_part,
    vanishing_gradients,
    rate_too_low,
    overfitting,
    plateau,
)
# What an illness brings about is not told beside it; a plateau is told where nothing explains it.
BRINGS_ABOUT = {
    "rate-too-high": {
        "exploding-gradients",
        "dead-units",
        "saturated-units",
        "vanishing-gradients",
        "frozen-part",
        "overfitting",
    },
    "exploding-gradients": {"dead-units", "saturated-units", "overfitting"},
    "dead-units": {"frozen-part", "vanishing-gradients"},
    "saturated-units": {"vanishing-gradients"},
}


def find_symptoms(patient: Patient) -> list[Finding]:
    """All that ails it, causes first; of a run in good health nothing."""
    found = [finding for symptom in SYMPTOMS if (finding := symptom(patient)) is not None]
    names = {finding.illness for finding in found}
    hidden = set().union(*(BRINGS_ABOUT.get(name, set()) for name in names))
    if names - {"plateau"}:
        hidden.add("plateau")
    return [finding for finding in found if finding.illness not in hidden]


def _worst_layer(
    patient: Patient, measure: Literal["dead", "saturated"], *, looks: int = 2
) -> tuple[str, float]:
    """The layer most of whose units sleep, by the last looks, and their share; 0 of none."""
    score = patient.score
    if score is not None and score.reached <= WELL * score.guess:
        return "", 0.0  # at the end of a good run many units are sure of themselves
    seen: list[Numbers] = [look for row in patient.layers if (look := getattr(row, measure))]
    place, share = _extreme(seen[-looks:], patient.layers, max)
    return (patient.layers.layers[place], share) if share is not None else ("", 0.0)


def _extreme(
    rows: Sequence[Numbers], layers: LayerHistory, pick: Callable[..., int]
) -> tuple[int, float | None]:
    """The layer whose median over rows is the smallest or largest, and that median."""
    known = {
        place: median(found)
        for place in range(len(layers.layers))
        if (found := [share for row in rows if (share := row[place]) is not None])
    }
    if not known:
        return 0, None
    place = pick(known, key=known.__getitem__)
    return place, known[place]
