"""From a prepared recipe to a run: let it learn, measure it, write what is worth keeping."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.adapted_module import module_name
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.files.folder_lock import FolderLock
from netwright.core.files.storage import remove_leftovers, write_json
from netwright.core.finding import Finding
from netwright.core.learner import Learner, SteppedLearner
from netwright.core.seeding import in_turn
from netwright.core.terminal.console import print_message, print_warning
from netwright.data.fingerprint import fingerprint
from netwright.models.ensembles.ensemble import Ensemble
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Model
from netwright.recipes.fitting.ensemble_fit import PreparedEnsemble, ensemble_fit
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.learner_fit import learner_fit
from netwright.recipes.fitting.member_checkpoints import delete_member_checkpoints
from netwright.recipes.fitting.outcome import Outcome
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.recipes.fitting.run_findings import written_findings
from netwright.recipes.fitting.track_rows import TrackRows, check_trackers
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.reproduce import as_resumed
from netwright.recipes.run.kept_calibration import check_calibration, keep_calibration
from netwright.recipes.run.kept_threshold import check_threshold, keep_threshold
from netwright.recipes.run.run import Run
from netwright.recipes.run.translation import greedy_bleu
from netwright.recipes.saved.resume import NEVER, Origin, find_origin, find_run, run_of
from netwright.recipes.saved.run_folder import (
    check_own,
    create_run_folder,
    let_go_of,
    save_model,
    write_recipe,
)
from netwright.recipes.saved.start_from import check_tokens, compare_scaling, take_weights
from netwright.recipes.saved.take_vectors import take_vectors
from netwright.train.callback import Callback
from netwright.train.evaluate import evaluate_rows, measure_baseline
from netwright.train.ranks import Ranks, joined
from netwright.train.trackers.tracker import flat_settings
from netwright.train.trainer import Trainer

MOST_TOLD = 5  # findings of the doctor on the console


@in_turn
def train(
    prepared: Prepared,
    *,
    out: Path | None = None,
    resume: str | Path = NEVER,
    allow: str | Sequence[str] = (),
    extra: Sequence[Callback] = (),
    quiet: bool = False,
    keep_folder: bool = True,
    measures: bool = True,
) -> Run:
    """Let the prepared model learn, then measure it and write what is worth keeping.

    Ctrl-C and SIGTERM end training after the step at hand; the run is saved as usual, and then
    `KeyboardInterrupt` or `SystemExit` is raised. Started by torchrun, the processes train the
    model together and the first one writes. Without a folder, `measures` off leaves results out.
    """
    settings = prepared.recipe.train
    with joined(settings.rank_timeout, shards=settings.parallel == "shard") as ranks:
        quiet = quiet or not ranks.is_first
        _check_together(prepared, ranks)
        check_calibration(prepared.recipe.train.calibrate, prepared.data)
        check_threshold(prepared.recipe.train.threshold, prepared.data)
        check_trackers(prepared.recipe.train.track)
        if not keep_folder:
            _tell(take_first_weights(prepared), quiet=quiet)
            return _train(prepared, RunContext(ranks=ranks, extra=extra, quiet=quiet), measures)
        with _run_folder(prepared, ranks, out, resume) as origin:
            _tell(origin.remarks, quiet=quiet)
            here = RunContext(
                folder=origin.folder,
                checkpoint=origin.checkpoint,
                allow=_names(allow),
                ranks=ranks,
                extra=extra,
                tracking=_tracking(prepared, origin.folder) if ranks.is_first else None,
                quiet=quiet,
            )
            try:
                return _train(prepared, here)
            finally:  # also where it failed
                if here.tracking is not None:
                    here.tracking.close()


def _tracking(prepared: Prepared, folder: Path) -> TrackRows | None:
    """What writes the run for the trackers that the recipe names."""
    names = prepared.recipe.train.track
    settings = flat_settings(prepared.recipe.to_mapping())
    return TrackRows(folder, names, settings) if names else None


def _tell(remarks: Sequence[str], *, quiet: bool) -> None:
    for remark in () if quiet else remarks:
        print_warning(remark)


def _check_together(prepared: Prepared, ranks: Ranks) -> None:
    """Refuse what several processes cannot train, before a folder is made."""
    if ranks.is_alone:
        return
    if isinstance(prepared.model, Learner):
        raise ConfigError(
            f"{prepared.recipe.model} trains in one process, by its own learning rule"
        )
    if isinstance(prepared.model, Ensemble):
        raise ConfigError(f"{prepared.recipe.model} trains in one process, member by member")
    if prepared.own.metrics:
        raise ConfigError("metrics of your own are measured in one process: leave out metrics")
    trainer = Trainer(prepared.recipe.train, prepared.task, ranks=ranks, own=prepared.own)
    trainer.rehearse(prepared.model, prepared.data)


def _names(allow: str | Sequence[str]) -> tuple[str, ...]:
    names = allow.split(",") if isinstance(allow, str) else allow
    return tuple(name.strip() for name in names if name.strip())


@contextmanager
def _run_folder(
    prepared: Prepared, ranks: Ranks, out: Path | None, resume: str | Path
) -> Iterator[Origin]:
    """The folder to work in, new or found again; the first rank owns it for the block."""
    notes: tuple[str, ...] = ()
    if not ranks.is_first:
        origin = Origin.from_text(ranks.tell(""))
        take_first_weights(prepared, origin.checkpoint)
        yield origin
        return
    recipe, model = prepared.recipe, prepared.model
    names = (recipe.model or module_name(model), prepared.data.name)
    place = find_run(resume, out, recipe, names)
    if place is None:
        notes = take_first_weights(prepared)  # may be refused, before a folder is made
    was_there = out is not None and out.exists()
    folder = create_run_folder(out, *names) if place is None else run_of(place)
    try:
        with FolderLock(folder):
            check_own(folder)
            remove_leftovers(folder)
            remove_leftovers(folder / "checkpoints", inside=folder)
            origin = Origin(folder=folder, remarks=notes)
            if place is not None:
                origin = find_origin(place, recipe, starts_over=_starts_over(model))
                if isinstance(model, Ensemble):  # its lessons are kept instead of checkpoints
                    origin = replace(origin, remarks=())
                notes = take_first_weights(prepared, origin.checkpoint)
                origin = replace(origin, remarks=(*origin.remarks, *notes))
            # An ensemble that is found again checks first what its members learned from.
            if place is None or (origin.checkpoint is None and not isinstance(model, Ensemble)):
                write_recipe(folder, recipe)
            ranks.tell(origin.as_text())
            yield origin
    except BaseException:  # also Ctrl-C before the first step
        if place is None:
            let_go_of(folder, was_there=was_there)
        raise


def _starts_over(model: nn.Module) -> bool:
    """Whether its learning rule cannot go on where it was."""
    return isinstance(model, Learner) and not isinstance(model, SteppedLearner)


def take_first_weights(prepared: Prepared, checkpoint: Path | None = None) -> tuple[str, ...]:
    """Where a run begins, give it the weights it is to start from; what should be said of them."""
    recipe, data = prepared.recipe, prepared.data
    if checkpoint is not None:
        return ()
    vectors = _first_vectors(recipe)
    if vectors and recipe.start_from:
        raise ConfigError("both from and model.embeddings say how to start: leave out one of them")
    if vectors and isinstance(prepared.model, Model):
        return (take_vectors(prepared.model, vectors, data.preprocessor),)
    if not recipe.start_from:
        return _tell_of_frozen(prepared)
    if isinstance(prepared.model, Learner):
        raise ConfigError(
            f"{recipe.model} has its own learning rule and cannot start from given weights"
        )
    source = Path(recipe.start_from)
    check_tokens(source, data)
    told = take_weights(prepared.model, source, data.spec.class_names)
    return (*told, *compare_scaling(source, data))


def _first_vectors(recipe: Recipe) -> FirstVectorsConfig | None:
    """The settings that name a file of word vectors to start from; None where they name none."""
    settings = recipe.model_settings
    if isinstance(settings, FirstVectorsConfig) and settings.embeddings:
        return settings
    return None


def _tell_of_frozen(prepared: Prepared) -> tuple[str, ...]:
    """What should be said of a part that will never learn; your own module may have learned."""
    part = prepared.recipe.train.freeze
    if not part or not prepared.recipe.model or "freeze" in prepared.unused:
        return ()
    return (f"{part} is frozen at its random initialisation: --from gives it trained weights",)


def _train(prepared: Prepared, here: RunContext, measures: bool = True) -> Run:
    model, data, task = prepared.model, prepared.data, prepared.task
    outcome, settings = learn(prepared, here), prepared.recipe.train
    kept = keep_calibration(settings.calibrate, model, data, task)
    kept += keep_threshold(settings.threshold, model, data, task)  # of what is calibrated
    _tell(kept, quiet=here.quiet)
    outcome = replace(outcome, notes=(*outcome.notes, *kept))
    config = prepared.recipe.to_mapping()
    model.eval()
    if here.folder is not None and here.ranks.is_first:
        save_model(here.folder, model, config["model"], data, task)  # before measuring can fail
    results = _results(prepared, outcome) if measures else {}
    _tell_findings(results, quiet=here.quiet)
    if here.tracking is not None:
        here.tracking.finish(outcome.history.rows, results["metrics"])
    if here.folder is not None and here.ranks.is_first:
        write_json(here.folder / "results.json", results)
        if outcome.finished and isinstance(model, Ensemble):
            delete_member_checkpoints(here.folder)
    run = Run(
        model=model,
        spec=data.spec,
        task=task,
        preprocessor=data.preprocessor,
        results=results,
        history=outcome.history,
        layer_history=outcome.layer_history,
        config=config,
        folder=here.folder,
        known_data=data,
        guess=task.baseline(data.train),
    )
    if not outcome.finished and here.folder is not None and not here.quiet:
        print_message(f"the run is saved; resume with: {as_resumed(config, here.folder)}")
    if outcome.exit_code == 130:
        saved = f"the run is saved in {here.folder}" if here.folder else "nothing is saved"
        raise KeyboardInterrupt(saved)
    if outcome.exit_code:
        raise SystemExit(outcome.exit_code)
    return run


def learn(prepared: Prepared, here: RunContext) -> Outcome:
    """Let the model learn in place: member by member, by a rule of its own, or by gradients."""
    if isinstance(prepared, PreparedEnsemble):
        return ensemble_fit(prepared, here)
    if isinstance(prepared.model, Learner):
        return learner_fit(prepared, here)
    return gradient_fit(prepared, here)


def _results(prepared: Prepared, outcome: Outcome) -> dict[str, Any]:
    """What the run is worth, beside the trivial baseline: on test, else on what there is."""
    data, task = prepared.data, prepared.task
    split = "train" if task.unmeasured else [name for name, _ in data.splits()][-1]
    rows, metrics, baseline = _worth(prepared, outcome, split)
    unmeasured = [f"only the losses of training are measured: {task.unmeasured}"]
    return {
        "format": 1,
        "status": outcome.status,
        "finished": outcome.finished,
        "split": split,
        "rows": rows,
        "metrics": metrics,
        "baseline": baseline,
        "baseline_rule": ""
        if task.unmeasured
        else task.describe_baseline(data.train, data.spec.class_names or data.spec.target_names),
        "parameters": _size(prepared.model),
        "epochs": outcome.epochs,
        "best_epoch": outcome.best_epoch,
        **({"steps": outcome.steps, "best_step": outcome.best_step} if outcome.steps else {}),
        "seconds": round(outcome.seconds, 3),
        "load_seconds": round(data.load_seconds, 3),
        "compile_seconds": round(outcome.compile_seconds, 3),
        "notes": [*data.notes, *outcome.notes, *(unmeasured if task.unmeasured else [])],
        **written_findings(prepared, outcome, split, metrics, baseline),
        **greedy_bleu(prepared.model, data.preprocessor, data.split(split)),
        **_contents(prepared),
    }


def _worth(
    prepared: Prepared, outcome: Outcome, split: str
) -> tuple[int, dict[str, float], dict[str, float]]:
    """The rows of a split, and the measures of the model and of the trivial guess on them.

    Where nothing can be measured, they are the last losses of training.
    """
    data, task = prepared.data, prepared.task
    if task.unmeasured:
        keys = [key for key in outcome.history.keys() if key.startswith("train/")]
        return (
            len(data.train),
            {key.removeprefix("train/"): outcome.history.latest(key) for key in keys},
            {},
        )
    examples = data.split(split).to(device_of(prepared.model))
    workers = prepared.recipe.train.workers
    measured = evaluate_rows(prepared.model, examples, task, workers=workers)
    guess = task.baseline(data.train)
    baseline = measure_baseline(measured.targets, measured.weights, guess, task)
    return len(measured.targets), measured.metrics, baseline


def _tell_findings(results: dict[str, Any], *, quiet: bool) -> None:
    """What the doctor found, the first few; the report has all of it."""
    findings = [Finding(**values) for values in results.get("findings", ())]
    _tell([f"doctor: {finding}" for finding in findings[:MOST_TOLD]], quiet=quiet)


def _contents(prepared: Prepared) -> dict[str, Any]:
    """What the files of the user's own data held, so that a later look notices a change."""
    if not getattr(prepared.recipe.data_settings, "path", ""):
        return {}
    return {"contents": {name: fingerprint(split) for name, split in prepared.data.splits()}}


def _size(model: nn.Module) -> int:
    """How many parameters it has; where a rule fills buffers alone, the numbers in them."""
    parameters = sum(part.numel() for part in model.parameters())
    return parameters or sum(part.numel() for part in model.buffers())
