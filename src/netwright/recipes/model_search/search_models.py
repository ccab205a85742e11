"""`search_models`: from a table to the best model for it, and the run that predicts with it.

All models learn the same folds of the training and validation rows (`race.py`); those at its end
are weighed together (`stack.py`); the better of the stack and the best single model is trained
once more, into an ordinary run folder. The test rows have no part in any choice.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netwright.core.config import to_mapping
from netwright.core.errors import ConfigError
from netwright.core.files.storage import write_json, write_text
from netwright.core.terminal.console import print_message
from netwright.core.time_span import read_time_limit
from netwright.data.dataset import Data
from netwright.data.fingerprint import fingerprint
from netwright.data.tables.frames import is_frame
from netwright.inspection.drawing.page import Html, Page, code, note, table, text, tiles
from netwright.models.catalog import MODELS
from netwright.models.ensembles.stacking import StackingConfig
from netwright.recipes.fitting.fit import put_together, resolve
from netwright.recipes.fitting.training import train
from netwright.recipes.judging.cross_validate import frame_settings
from netwright.recipes.judging.folds import FoldableData, foldable
from netwright.recipes.model_search.kept_fits import Tell, keeping_fits
from netwright.recipes.model_search.leaderboard import (
    CAUTION,
    Standing,
    score_name,
    standings,
    table_rows,
    to_json,
)
from netwright.recipes.model_search.portfolio import choose_models
from netwright.recipes.model_search.race import Race, folds_to_learn, recipe_of
from netwright.recipes.model_search.race_plan import RacePlan
from netwright.recipes.model_search.stack import NAME, Stack, stack
from netwright.recipes.plan.recipe import Recipe, has_own_rule
from netwright.recipes.run.run import Run
from netwright.recipes.saved.run_folder import check_free

FOLDS = 5
JSON, HTML = "leaderboard.json", "leaderboard.html"
Load = Callable[[dict[str, Any]], tuple[Recipe, Data]]  # with these settings of the data
Divide = Callable[[Recipe, Data], FoldableData]  # all of its rows but those of the test


@dataclass(frozen=True, kw_only=True)
class ModelSearchRequest:
    """What is asked of a search over models.

    Args:
        models: names of the catalog; none: the usual ones.
        folds: into which the rows to learn from are divided; None: five, of which as many are
            learned as hold out enough rows.
        max_time: seconds for everything, or like "5m"; None: no limit.
    """

    models: Sequence[str] = ()
    folds: int | None = None
    max_time: float | str | None = None


@dataclass(frozen=True, kw_only=True)
class ModelSearch:
    """What a search over models found; made by `nw.search_models`.

    Args:
        run: of the model that was chosen.
        standings: the leaderboard, the best first.
        chosen: its name: of a model, or "stacking".
        weights: of a stack: model -> weight.
        notes: what should be known of the scores.
    """

    run: Run
    standings: tuple[Standing, ...]
    chosen: str
    weights: dict[str, float]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ModelSearch({self.sentence})"

    @property
    def sentence(self) -> str:
        """What was chosen, and how it does on the test rows, which had no part in the choice."""
        parts = ", ".join(f"{name} {weight:.2f}" for name, weight in self.weights.items())
        results = self.run.results
        if results["split"] != "test":
            return f"{self.chosen}{f' ({parts})' if parts else ''}: no test rows to measure it on"
        metrics = results["metrics"]
        # A model's loss of reals is in its own units, that of the leaderboard in their variance.
        names = ("r2", "rmse") if self.run.spec.target == "real" else tuple(metrics)[:2]
        measured = ", ".join(f"{k} {metrics[k]:.4g}" for k in names if k in metrics)
        cut = "" if results["finished"] else f"; its last fit was ended by {results['status']}"
        return f"{self.chosen}{f' ({parts})' if parts else ''}: test {measured}{cut}"

    def table_rows(self) -> list[dict[str, str]]:
        """The leaderboard as a person reads it."""
        return table_rows(self.standings, self.run.spec.target)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "format": 1,
            "chosen": self.chosen,
            "weights": self.weights,
            "score": score_name(self.run.spec.target),
            "leaderboard": to_json(self.standings),
            "split": self.run.results["split"],
            "metrics": self.run.results["metrics"],
        }

    def _repr_html_(self) -> str:
        return str(text(self.sentence) + _shown(self))


def search_models(  # noqa: PLR0913 - the one door, with a name for each question
    data: Any,
    *,
    models: Sequence[str] = (),
    folds: int | None = None,
    max_time: float | str | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    save: bool = True,
    quiet: bool = False,
    **settings: Any,
) -> ModelSearch:
    """Search the best model for a table, and train it.

    Args:
        data: a table as `nw.fit` takes it: a path, a frame, arrays or a name.
        models: names of the catalog to try; by default a linear model, a forest, boosting, and
            networks.
        folds: into which the rows to learn from are divided, for each model to learn them all; by
            default five, of which as many are learned as it takes to hold out 20,000 rows.
        max_time: seconds, or "5m", for everything: models that are behind leave early. The last
            fit, which has more rows than those before it, may take longer.
        seed: of folds, weights, order and dropout.
        out: the run folder; by default the next free runs/MODEL-DATA-NNN.
        resume: the folder of a search that was broken off; everything else as it was, but for
            `max_time`, which is that of the whole search.
        save: False keeps the run in memory.
        quiet: print nothing.
        **settings: of training, for the networks, or of the data: target, test_size ...
    """

    def load(more: dict[str, Any]) -> tuple[Recipe, Data]:
        return resolve("mlp", data, seed=seed, **{**settings, **more})[:2]

    def divide(recipe: Recipe, loaded: Data) -> FoldableData:
        config = frame_settings(data, settings) if is_frame(data) else recipe.data_settings
        return foldable(data, config, loaded, keeps_test=True)

    return start_model_search(
        load,
        divide,
        ModelSearchRequest(models=models, folds=folds, max_time=max_time),
        out=None if out is None else Path(out),
        resume=None if resume is None else Path(resume),
        save=save,
        quiet=quiet,
    )


def start_model_search(
    load: Load,
    divide: Divide,
    asked: ModelSearchRequest,
    *,
    out: Path | None = None,
    resume: Path | None = None,
    save: bool = True,
    quiet: bool = False,
) -> ModelSearch:
    """The same for data that functions load and divide; see `search_models`.

    Until the search ends, a folder keeps what each fit answered. Ctrl-C ends the race; the best of
    those that finished becomes the run, where it is saved, and then `KeyboardInterrupt` is raised.
    """
    limit = read_time_limit(asked.max_time)
    if resume is not None and not save:
        raise ConfigError("a search that is resumed is saved: leave out save=False")
    if out is not None and save:
        check_free(out)  # hours before it is written to
    recipe, data = load({})
    folds = FOLDS if asked.folds is None else asked.folds
    _check(recipe, folds)
    count = sum(len(split) for name, split in data.splits() if name != "test")
    learned = folds if asked.folds is not None else folds_to_learn(count, folds)
    names = choose_models(asked.models, data.spec, many_rows=learned < folds)
    _check_validation(names, recipe, data)
    plan = RacePlan(
        recipe=recipe,
        models=names,
        folds=folds,
        learned=learned,
        max_time=limit,
        data={name: fingerprint(split) for name, split in data.splits() if name != "test"},
    )
    tell: Tell = (lambda line: None) if quiet else print_message
    keeping = keeping_fits(plan, data.name, resume=resume, tell=tell) if save else nullcontext()
    with keeping as kept:
        race = Race(
            recipe=recipe,
            rows=divide(recipe, data),
            names=names,
            folds=folds,
            learned=learned,
            max_time=limit,
            tell=tell,
            kept=kept,
        )
        race.run()
        if race.was_interrupted and not save:  # nobody would see what is trained now
            raise KeyboardInterrupt("nothing is saved")
        found = _train_best(race, recipe, data, load, out=out, save=save)
        if race.was_interrupted:
            folder = found.run.folder
            raise KeyboardInterrupt(f"the best so far is saved in {folder}: {found.sentence}")
    return found


def _train_best(
    race: Race, recipe: Recipe, data: Data, load: Load, *, out: Path | None, save: bool
) -> ModelSearch:
    """The best model or a stack, trained once more, with the leaderboard in its run folder."""
    finished = race.finished
    together = stack(race.stackable, race.whole, race.held_out, race.target, race.spread)
    if together is not None and together.entrant.mean_loss >= finished[0].mean_loss:
        together = None
    entrants = [*race.entrants, *([together.entrant] if together else [])]
    chosen = _chosen(recipe, race, together)
    if _needs_no_validation(recipe, finished[0].name, together):
        with suppress(ConfigError):  # data that is split already stays as it is
            own, data = load({"val_size": 0.0})
            chosen = replace(chosen, data_settings=own.data_settings)
    ended = "interrupted, once more ends at once; " if race.was_interrupted else ""
    race.tell(f"{ended}training {chosen.model} on {len(data.train):,} rows")
    run = train(put_together(chosen, data), out=out, quiet=True, keep_folder=save)
    found = ModelSearch(
        run=run,
        standings=tuple(standings(entrants, race.whole, race.target)),
        notes=(*race.rows.notes, *_of_folds(race)),
        chosen=chosen.model,
        weights=dict(zip(together.names, together.weights, strict=True)) if together else {},
    )
    if run.folder is not None:
        write_json(run.folder / JSON, found.to_json())
        write_text(run.folder / HTML, _page(found, data.name).render())
    return found


def _of_folds(race: Race) -> tuple[str, ...]:
    """That not every row was held out."""
    if race.learned == race.folds:
        return ()
    rows = sum(len(held_out) for held_out in race.held_out)
    folds = f"{race.learned} of {race.folds} folds"
    return (f"models learned {folds}, whose {rows:,} held-out rows are enough to compare them",)


def _check(recipe: Recipe, folds: int) -> None:
    """Refuse settings that no model, or not every model, would heed."""
    usual = to_mapping(MODELS.load(recipe.model).settings())
    given = usual if recipe.model_settings is None else to_mapping(recipe.model_settings)
    for name, value in given.items():
        if value != usual[name]:
            raise ConfigError(
                f"a search over models takes them as they are: remove {name}, or name the model "
                f"whose settings are to be searched"
            )
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise ConfigError(f"folds must be a whole number of at least 2, got {folds!r}")


def _chosen(recipe: Recipe, race: Race, together: Stack | None) -> Recipe:
    """The recipe of what is to be trained once more."""
    best = race.finished[0].name
    if together is None:
        return recipe_of(best, recipe, race.last_limit([best]))
    stacked = StackingConfig(of=together.names, weights=together.weights)
    network = next((name for name in together.names if not has_own_rule(name)), best)
    settings = recipe_of(network, recipe, race.last_limit(together.names)).train
    return replace(recipe, model=NAME, model_settings=stacked, train=settings)


def _check_validation(names: Sequence[str], recipe: Recipe, data: Data) -> None:
    """Refuse before the race what could not be trained after it."""
    needing = [name for name in names if recipe_of(name, recipe, None).train.patience is not None]
    if data.val is None and needing:
        raise ConfigError(
            f"{needing[0]} stops early by validation rows, and {data.name} has none: set val_size, "
            f"or epochs, or try models that need none"
        )


def _needs_no_validation(recipe: Recipe, best: str, together: Stack | None) -> bool:
    """Whether nothing is chosen on validation rows, so that every row can be learned from."""
    names = [best] if together is None else together.names
    chooses = recipe.train.threshold is not None or recipe.train.calibrate is not None
    return not chooses and all(has_own_rule(name) for name in names)


def _shown(found: ModelSearch) -> Html:
    score = score_name(found.run.spec.target)
    return table(found.table_rows(), numbers=["loss", score, "rows", "seconds per fit"])


def _page(found: ModelSearch, data: str) -> Page:
    """The leaderboard on a page of its own."""
    page = Page(f"Models for {data}")
    best = found.standings[0]
    score = (f"held-out {score_name(found.run.spec.target)}", f"{best.score:.4f}", best.name)
    tried = [one for one in found.standings if one.rows and one.name != NAME]
    models = ("models tried", str(len(tried)), "on the same folds")
    seconds = sum(one.seconds for one in tried)
    page.section(
        "Chosen",
        tiles([score, models, ("a fit of each", f"{seconds:,.0f} s", "in all")]),
        text(found.sentence),
        code(f"netwright predict {found.run.folder} new.csv"),
    )
    page.section("Leaderboard", _shown(found), note(CAUTION), *map(note, found.notes))
    return page
