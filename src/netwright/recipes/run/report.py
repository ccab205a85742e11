"""The report: everything worth knowing about a run on one page that can be mailed.

`report.html` needs nothing beside it and runs nothing; `report.json` holds the same numbers.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from netwright.core.adapted_module import module_name
from netwright.core.errors import ConfigError
from netwright.core.files.storage import read_json, write_json, write_text
from netwright.core.trees import move
from netwright.data.loading.stored import Sample
from netwright.inspection.dataset.column_summary import MOST_COLUMNS, describe_columns
from netwright.inspection.drawing.card_blocks import card_blocks
from netwright.inspection.drawing.curve import Axis
from netwright.inspection.drawing.page import (
    Html,
    Page,
    beside,
    choice,
    code,
    folded,
    heading,
    note,
    picture,
    side_by_side,
    table,
    text,
    tiles,
    titled,
)
from netwright.inspection.drawing.view import View
from netwright.inspection.predictions.worst_errors import WorstErrors
from netwright.inspection.predictions.wrong_examples import WrongExamples
from netwright.inspection.training.curves import AXIS_LABELS, Curves
from netwright.inspection.training.update_profile import HARDWARE, UpdateProfile
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.plan.reproduce import as_command, as_python, as_yaml, without_folders
from netwright.recipes.run.answers import examples_word
from netwright.recipes.run.metric_table import as_shown, metric_rows, said_of_results
from netwright.recipes.saved.made_steps import best_tile, length_in_words
from netwright.recipes.saved.run_record import RunRecord
from netwright.recipes.views.entry import Section
from netwright.recipes.views.shown_views import section_of

FORMAT = 1
# Beside the headline, the first two that the run has.
TILES = (
    "balanced_accuracy",
    "roc_auc",
    "f1",
    "log_loss",
    "mae",
    "r2",
    "mean_iou",
    "pixel_accuracy",
    "perplexity",
    "bits_per_token",
    "sequence_accuracy",
)
MOST_CELLS = 8  # columns of an example that are shown


def check_reportable(run: RunRecord) -> None:
    """Refuse a run that was not trained here: there is nothing to tell of it."""
    if "imported" in run.config["data"]:
        raise ConfigError(
            f"{run.folder} was imported, not trained: there is nothing to report; measure it with "
            f"`netwright evaluate {run.folder} DATA`"
        )


def write_report(
    path: Path,
    run: RunRecord,
    views: Mapping[str, View],
    *,
    sample: Sample | None,
    environment: Mapping[str, Any],
    absent: str = "",
    unmeasured: str = "",
) -> Path:
    """Write the page, and the numbers beside it; gives the page's path.

    Args:
        path: of the page; the numbers get the same name with .json.
        run: what it is about.
        views: what was measured, by name.
        sample: of what the run was trained on, where it is at hand.
        environment: versions and device.
        absent: why views of predictions and data are not there, in one sentence.
        unmeasured: why there are no learning curves, in one sentence.
    """
    numbers = path.with_suffix(".json")
    _check_free(numbers)
    config = without_folders(run.config)
    page = Page(_title(run, config), subtitle=_subtitle(run))
    page.section(
        "Results",
        *_results(run),
        *([note(f"Without views of predictions and data: {absent}.")] if absent else []),
        *([note(f"Without learning curves: {unmeasured}.")] if unmeasured else []),
    )
    learning = _in_section("learning", views)
    if learning:
        page.section("Learning", *_learning(learning))
    for view in _in_section("speed", views):
        page.section("Speed", *_speed(view))
    if "findings" in run.results:
        page.section("Doctor", *_doctor(run))
    predictions = _in_section("predictions", views)
    if predictions:
        blocks = side_by_side(*map(titled, predictions))
        page.section("Predictions", *_sampled(run, sample), blocks)
    inside = _in_section("inside", views)
    if inside:
        page.section("Inside", side_by_side(*map(titled, inside)))
    for view in _in_section("examples", views):
        if sample is not None:
            page.section("Examples", *_examples(run, view, sample))
    page.section("Model", *_model(run, _in_section("model", views)))
    if sample is not None:
        page.section("Data", *_data(sample, _in_section("data", views)))
    page.section("Make it again", *_again(config, environment))
    write_text(path, page.render())
    write_json(
        numbers,
        {
            "format": FORMAT,
            "results": run.results,
            "absent": absent,
            "unmeasured": unmeasured,
            "views": {name: view.to_json() for name, view in views.items()},
            "config": config,
            "environment": dict(environment),
        },
    )
    return path


def _check_free(path: Path) -> None:
    """Refuse to write the numbers over a file that is no report: `results.json`, say."""
    if path.exists():
        there = read_json(path)
        if not isinstance(there, dict) or "views" not in there:
            raise ConfigError(
                f"{path} already exists and is not a report: give the page another name"
            )


def _title(run: RunRecord, config: Mapping[str, Any]) -> str:
    data = config["data"].get("path") or config["data"]["name"] or "arrays"
    return f"{config['model']['name'] or module_name(run.model)} on {data}"


def _subtitle(run: RunRecord) -> str:
    results = run.results
    ended = "" if results["status"] == "done" else f" · ended by {results['status']}"
    word = "lesson" if isinstance(run.model, Ensemble) else "epoch"  # a member may learn twice
    length = f"{length_in_words(run, word)} in {_duration(results['seconds'])}"
    return f"{length} · seed {run.config['seed']}{ended}"


def _results(run: RunRecord) -> list[Html]:
    results, headline = run.results, run.task.headline
    metrics, baseline = results["metrics"], results["baseline"]
    shown = [name for name in (headline, *TILES) if name in metrics][:3]
    numbers = [
        (name.replace("_", " "), _figure(name, metrics[name]), _beside(name, baseline))
        for name in shown
    ]
    numbers += [
        ("measured on", f"{results['rows']:,}", f"{results['split']} {examples_word(run.spec)}"),
        ("parameters", f"{results['parameters']:,}", ""),
        ("members", f"{len(run.model.members)}", "")
        if isinstance(run.model, Ensemble)
        else best_tile(run),
    ]
    rows, rule = metric_rows(metrics, baseline), results["baseline_rule"]
    guess = f"The baseline is {rule}: what knowing nothing of the inputs gives."
    return [
        tiles(numbers),
        *([text(guess)] if rule else []),
        *(text(said) for said in said_of_results(run)),
        folded("All metrics", table(rows, numbers=["this run", "baseline"])),
    ]


def _in_section(section: Section, views: Mapping[str, View]) -> list[View]:
    return [view for name, view in views.items() if section_of(name) == section]


def _learning(views: Sequence[View]) -> list[Html]:
    """How the measures moved; of an ensemble, what its members are worth."""
    blocks = [_curves(view) if isinstance(view, Curves) else [titled(view)] for view in views]
    return list(chain.from_iterable(blocks))


def _curves(view: Curves) -> list[Html]:
    # Steps and examples are epochs times a number, of which a short run has few.
    axes: tuple[Axis, ...] = (view.axis, *(("tokens",) if view.has_tokens else ()), "time")
    blocks = [choice("axis", {AXIS_LABELS[axis]: picture(view.along(axis)) for axis in axes})]
    beside = view.of_training()
    if beside is not None:
        blocks.append(folded("Learning rate, gradient norm, speed and memory", picture(beside)))
    return blocks


def _speed(view: View) -> list[Html]:
    """The main numbers, the figure, and its tables."""
    if not isinstance(view, UpdateProfile):
        return [titled(view)]
    return [
        tiles(view.headline()),
        picture(view),
        side_by_side(
            table(view.table_rows(), numbers=["ms", "share", "work", HARDWARE]),
            table(view.operation_rows(), numbers=["calls", "ms", "share"]),
        ),
        folded("Memory by kind", table(view.memory_rows(), numbers=["MB"])),
    ]


def _doctor(run: RunRecord) -> list[Html]:
    """What ails the run, what to do, and where to read; or that nothing was found."""
    rows = [
        {
            "illness": finding["illness"],
            "what was seen": finding["sentence"],
            "what to try": finding["fix"],
            "read": f"netwright explain {finding['see']}",
        }
        for finding in run.results["findings"]
    ]
    seen = run.layer_history
    watched = f"it watched {len(seen.layers)} layers at {len(seen)} steps"
    return [table(rows)] if rows else [text(f"The doctor found nothing; {watched}.")]


def _examples(run: RunRecord, view: View, sample: Sample) -> list[Html]:
    """The view, and its rows with the cells of the table they come from."""
    data = sample.whole
    blocks = [note("These are examples of the data; --no-examples leaves them out."), titled(view)]
    if data.spec.inputs != "image" and isinstance(view, WrongExamples | WorstErrors):
        rows = view.table_rows()
        split = data.split(run.results["split"])
        places = torch.tensor([int(row["row"]) for row in rows], device=split.targets.device)
        decoded = run.preprocessor.decode(move(split.read(places), torch.device("cpu")))
        shown = [{**row, **_cells(cells, row)} for row, cells in zip(rows, decoded, strict=True)]
        blocks.append(folded("The same as a table, with their columns", table(shown)))
    return blocks


def _cells(cells: Mapping[str, str], row: Mapping[str, str]) -> dict[str, str]:
    """The first cells of an example; a column called like one of ours is set apart."""
    first = list(cells.items())[:MOST_CELLS]
    return {f"column {name}" if name in row else name: value for name, value in first}


def _model(run: RunRecord, views: Sequence[View]) -> list[Html]:
    blocks: list[Html] = []
    name = run.config["model"]["name"]
    if name:
        blocks += card_blocks(MODELS.load(name).card)
    tables = [
        Html(
            heading("Layer by layer, from a real batch")
            + table(view.table_rows(), numbers=["parameters", "FLOPs"])
        )
        for view in views
    ]
    if blocks and tables:
        blocks, tables = [beside(Html("".join(blocks)), *tables)], []
    return [*blocks, *tables, *map(picture, views)]


def _sampled(run: RunRecord, sample: Sample | None) -> list[Html]:
    """What stands above views of predictions where they are not of all rows."""
    rows = "" if sample is None else sample.described(run.results["split"])
    return [note(f"These views are of {rows}.")] if rows else []


def _data(sample: Sample, views: Sequence[View]) -> list[Html]:
    """Sizes and targets of the whole data, columns of what is looked at."""
    data = sample.whole
    sizes = ", ".join(f"{split.total:,} {name}" for name, split in data.splits())
    blocks = [text(f"{data.name}: {sizes} rows.")]
    if sample.described("train"):
        blocks.append(note(f"The table is of {sample.described('train')}."))
    rows = describe_columns(sample.shown)
    if len(rows) == MOST_COLUMNS:
        blocks.append(note(f"At most {MOST_COLUMNS} columns are shown."))
    blocks.append(table(rows))
    if data.notes:
        blocks.append(folded("What was inferred on the way", *(text(line) for line in data.notes)))
    return [beside(Html("".join(blocks)), *map(titled, views))] if views else blocks


def _again(config: Mapping[str, Any], environment: Mapping[str, Any]) -> list[Html]:
    command = as_command(config) or "# the model or the data came from Python"
    packages = environment.get("packages", {})
    facts = {
        name: value for name, value in environment.items() if name not in {"packages", "format"}
    }
    rows = [
        {"": name, "version or value": str(value)} for name, value in {**facts, **packages}.items()
    ]
    return [
        choice(
            "again",
            {
                "as a command": code(command),
                "as Python": code(as_python(config)),
                "as YAML": code(as_yaml(config)),
            },
        ),
        folded("Environment", table(rows)),
    ]


def _figure(name: str, value: float) -> str:
    """A metric in large letters: shares in per cent, the rest in four digits."""
    return f"{100 * value:.1f} %" if name.endswith("accuracy") else f"{as_shown(name, value):.4g}"


def _beside(name: str, baseline: Mapping[str, float]) -> str:
    return f"baseline {_figure(name, baseline[name])}" if name in baseline else ""


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
