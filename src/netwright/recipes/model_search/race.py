"""The race: models learn the same folds one after the other, and those that are behind leave early.

Few rows are all held out once. Of many the first folds hold out enough of them to tell models apart
(`ENOUGH`), and time is better spent on more models.

The quick models come first and finish, so that there is always something to be measured by. From
the second fold on a model leaves that is worse than the best so far on the rows both have answered,
by the paired test of `metrics/paired.py`, corrected for all the tests of a race: losses have heavy
tails, and on one fold the best may be without a mistake by luck. A network, which learns as long as
it may, shares the time that is left with the fits that are left; a model with a rule of its own
ends by itself, and may take all of it (of many rows a half, which leaves some to the others): cut
short, it would not be the model that it is.

Shapes: N rows to search on.
Source: Maron and Moore, "Hoeffding Races" (1993).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from netwright.core.devices import device_of
from netwright.core.errors import DataError, NetwrightError
from netwright.core.trees import move
from netwright.data.split import hold_out, k_folds
from netwright.metrics.paired import SIGNIFICANCE, PairedGap, paired_gap, written_p_value
from netwright.models.catalog import MODELS
from netwright.recipes.fitting.fit import put_together
from netwright.recipes.fitting.training import train
from netwright.recipes.judging.folds import FoldableData
from netwright.recipes.model_search.entrant import Entrant, new_entrant, row_losses
from netwright.recipes.model_search.kept_fits import KeptFit, KeptFits, Tell
from netwright.recipes.plan.recipe import Recipe, has_own_rule
from netwright.train.evaluate import predict

VAL_SHARE = 0.15  # of a fold's training rows, by which a network chooses its epoch
PATIENCE = 16  # epochs; as in the comparison of networks for tables by Gorishniy et al. (2021)
ENOUGH = 20_000  # rows held out: losses of a standard deviation of 1 are known to within 0.014
LEEWAY = 2.0  # times as long as a fit of the race, where the machine is busier later on


@dataclass(kw_only=True)
class Race:
    """Models that learn the same folds.

    Args:
        recipe: how networks are trained, and the seed.
        rows: to search on; each fold is encoded by its own training rows.
        names: of the models, the quick ones first.
        folds: into which the rows are divided.
        learned: how many of them each model learns.
        max_time: seconds for everything, the last fit included; None: no limit.
        tell: is given a line of progress.
        kept: where fits are kept, and found again; None: nowhere.
    """

    recipe: Recipe
    rows: FoldableData
    names: Sequence[str]
    folds: int
    learned: int
    max_time: float | None
    tell: Tell
    kept: KeptFits | None = None

    def __post_init__(self) -> None:
        """Divide the rows, and let everyone begin with nothing."""
        count, none = self.rows.count, torch.empty(0, dtype=torch.int64)
        whole = self.rows.build(torch.arange(count), none, none)
        self.whole, self.target = whole.train, whole.spec.target
        self.classes = self.whole.targets.cpu() if self.target == "class" else None
        self.parts = k_folds(
            count,
            self.folds,
            seed=self.recipe.seed,
            classes=self.classes,
            groups=self.rows.groups,
        )[: self.learned]
        self.spread = self.whole.targets.cpu().double().std(dim=0, correction=0)
        self.entrants = [new_entrant(name, count, whole.spec.num_outputs) for name in self.names]
        self.started = time.monotonic()
        # What a run looks at to tell a person is left out: nobody sees these runs.
        quick = replace(self.recipe.train, doctor=False, keep_path=0, threshold=None)
        quick = replace(quick, calibrate=None)
        self.recipe = replace(self.recipe, train=quick)
        self.was_interrupted = False

    @property
    def finished(self) -> list[Entrant]:
        """Who has learned every fold and is not worse than the best, the best first."""
        done = [one for one in self.entrants if len(one.seconds) == self.learned and not one.left]
        return sorted(done, key=lambda one: one.mean_loss)

    @property
    def stackable(self) -> list[Entrant]:
        """Those of them that ended by themselves: others would be another model in the stack."""
        return [one for one in self.finished if not one.was_cut]

    @property
    def held_out(self) -> list[Tensor]:
        """The rows that were held out, fold by fold; those of one fold alone in several parts."""
        rows = [held_out for _, held_out in self.parts]
        return (
            rows if len(rows) > 1 else [rows[0][place :: self.folds] for place in range(self.folds)]
        )

    def run(self) -> None:
        """Let each model go over the folds as long as it may; Ctrl-C ends it with what there is."""
        try:
            self._run()
        except KeyboardInterrupt:
            if not self.finished:
                saved = "" if self.kept else ", and nothing is saved"
                raise KeyboardInterrupt(f"no model has finished{saved}") from None
            self.was_interrupted = True
            for entrant in self.entrants:
                number = len(entrant.seconds)
                if not entrant.left and number < self.learned:
                    entrant.left = f"interrupted after {number} of {self.learned} folds"

    def _run(self) -> None:
        for place, entrant in enumerate(self.entrants):
            while not entrant.left and len(entrant.seconds) < self.learned:
                self._go_on(entrant, entrants_left=len(self.entrants) - place)
            told = entrant.left or f"loss {entrant.mean_loss:.4g}"
            self.tell(f"{entrant.name}: {told} ({sum(entrant.seconds):.1f} s)")
        if not self.finished:
            reasons = "; ".join(f"{one.name}: {one.left}" for one in self.entrants)
            raise DataError(f"no model could be trained on all folds: {reasons}")

    def _go_on(self, entrant: Entrant, *, entrants_left: int) -> None:
        """One more fold, unless the time is up; then see whether it is worse than the best."""
        leader, number = next(iter(self.finished), None), len(entrant.seconds)
        if not self._recall(entrant, number):
            if leader is not None and self._is_late(entrant):
                entrant.left = f"time ran out after {number} of {self.learned} folds"
                return
            entrant.limit = self._share(entrant, entrants_left)
            try:
                self._fit(entrant, number)
            except NetwrightError as error:  # the others go on
                entrant.left = str(error)
                return
            self._keep(entrant, number)
        if leader is not None and number and entrant.mean_loss > leader.mean_loss:
            tests = (len(self.names) - 1) * (self.learned - 1)
            gap = common_gap(leader, entrant, comparisons=tests)
            if gap.mean > 0 and gap.p_value is not None and gap.p_value < SIGNIFICANCE:
                entrant.left = f"worse than {leader.name}, {written_p_value(gap.p_value)}"

    def _is_late(self, entrant: Entrant) -> bool:
        """Whether there is no time for one more fit of it, as far as is known."""
        left = self._time_left()
        return left is not None and left <= (entrant.mean_seconds if entrant.seconds else 0)

    def _share(self, entrant: Entrant, entrants_left: int) -> float | None:
        """Seconds for its next fit; where the time is up, what it had before."""
        left = self._time_left()
        if not left:
            return entrant.limit
        sharing = entrants_left
        if has_own_rule(entrant.name):
            sharing = 1 if self.learned == self.folds else min(2, entrants_left)
        return left / (sharing * self.learned - len(entrant.seconds))

    def _recall(self, entrant: Entrant, number: int) -> bool:
        """Let it answer as before the search was resumed; the time that it took has passed."""
        if self.kept is None:
            return False
        held_out = self.parts[number][1]
        fit = self.kept.find(entrant.name, number, (len(held_out), entrant.answers.shape[1]))
        if fit is None:
            return False
        entrant.hear(held_out, fit.answers, fit.losses, fit.seconds)
        entrant.limit, entrant.was_cut = fit.limit, fit.was_cut
        self.started -= fit.seconds
        return True

    def _keep(self, entrant: Entrant, number: int) -> None:
        """Write down what it has just answered."""
        if self.kept is None:
            return
        rows = self.parts[number][1]
        fit = KeptFit(
            answers=entrant.answers[rows],
            losses=entrant.losses[rows],
            seconds=entrant.seconds[-1],
            limit=entrant.limit,
            was_cut=entrant.was_cut,
        )
        self.kept.keep(entrant.name, number, fit)

    def _time_left(self) -> float | None:
        """Seconds until a last fit of those that have finished must begin."""
        if self.max_time is None:
            return None
        last = sum(entrant.mean_seconds for entrant in self.stackable)
        last = max(last, *(entrant.mean_seconds for entrant in self.finished[:1]), 0.0)
        last *= self.folds / (self.folds - 1)  # of more rows
        return max(0.0, self.max_time - (time.monotonic() - self.started) - last)

    def last_limit(self, names: Sequence[str]) -> float | None:
        """Seconds for a last fit of these models one after the other; None: no limit.

        More rows take more time, and what took long in the race is not to be cut short after it:
        a stack that lacks a model is not what was chosen.
        """
        if self.max_time is None:
            return None
        found = [one for one in self.entrants if one.name in names]
        seconds = sum(
            (one.limit or 0.0) if one.was_cut else max(one.limit or 0.0, LEEWAY * one.mean_seconds)
            for one in found
        )
        return seconds * self.folds / (self.folds - 1)

    def _fit(self, entrant: Entrant, number: int) -> None:
        """Train on the rows of a fold, and ask about those that it holds out."""
        started = time.monotonic()
        learned, held_out = self.parts[number]
        seen, chosen_by, _ = hold_out(
            len(learned),
            val_size=0.0 if has_own_rule(entrant.name) else VAL_SHARE,
            test_size=0.0,
            seed=self.recipe.seed,
            classes=None if self.classes is None else self.classes[learned],
            groups=None if self.rows.groups is None else self.rows.groups[learned],
        )
        data = self.rows.build(learned[seen], learned[chosen_by], held_out)
        asked = data.split("test")
        prepared = put_together(
            recipe_of(entrant.name, self.recipe, entrant.limit), replace(data, test=None)
        )
        run = train(prepared, quiet=True, keep_folder=False)
        model, is_whole = run.model, run.results["finished"]
        entrant.was_cut |= has_own_rule(entrant.name) and not is_whole
        answers = predict(model, move(asked.inputs, device_of(model)), prepared.task)
        losses = row_losses(answers, asked, self.target, self.spread, self.whole)
        entrant.hear(held_out, answers, losses, time.monotonic() - started)


def folds_to_learn(rows: int, folds: int) -> int:
    """How many of the folds hold out enough of the rows."""
    return min(folds, math.ceil(ENOUGH / (rows / folds)))


def recipe_of(name: str, recipe: Recipe, limit: float | None) -> Recipe:
    """The recipe with this model as it comes; a network stops when it gets no better."""
    given = recipe.train
    patience = PATIENCE if given.patience is None and given.epochs is None else given.patience
    return replace(
        recipe,
        model=name,
        model_settings=MODELS.load(name).settings(),
        train=replace(given, max_time=limit, patience=None if has_own_rule(name) else patience),
    )


def common_gap(leader: Entrant, other: Entrant, *, comparisons: int) -> PairedGap:
    """How much more the other one costs, on the rows that both have answered."""
    both = (~(leader.losses + other.losses).isnan()).nonzero().flatten()
    return paired_gap(
        leader.losses[both].tolist(), other.losses[both].tolist(), comparisons=comparisons
    )
