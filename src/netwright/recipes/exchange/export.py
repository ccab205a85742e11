"""A run, exported: written, opened again, and compared with the run on rows of its data.

What differs by more than `TOLERANCE` is an error, and nothing is left behind. Beside the files of
the format stand

    preprocessing.json   how raw inputs are encoded, fitted on the training rows
    export.json          what goes in, what comes out, and how closely it agrees

Shapes: N rows.
"""

import math
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netwright.core.catalog import Catalog
from netwright.core.errors import ConfigError, RunError
from netwright.core.files.storage import Staging, as_json, new_folder
from netwright.core.terminal.notebook_table import notebook_table
from netwright.core.trees import count_rows, move, take_rows, tensors_of
from netwright.core.version import VERSION
from netwright.data.dataset import Split
from netwright.recipes.exchange.export_format import (
    ExportFormat,
    ExportSource,
    Reopened,
    check_packages,
)
from netwright.recipes.exchange.input_scaling import build_input_scaling
from netwright.recipes.exchange.predict_script import check_script, write_script
from netwright.recipes.exchange.predictor import Predictor
from netwright.recipes.saved.run_record import RunRecord

FORMATS: Catalog[type[ExportFormat]] = Catalog(
    "format",
    {
        "state-dict": "netwright.recipes.exchange.state_dict:StateDict",
        "onnx": "netwright.recipes.exchange.onnx_graph:OnnxGraph",
        "torch-export": "netwright.recipes.exchange.torch_program:TorchProgram",
        "hf": "netwright.recipes.exchange.hugging_face:HuggingFace",
    },
)
TOLERANCE = 1e-4  # of the largest prediction
MOST_ROWS = 32
DESCRIPTION, PREPROCESSING = "export.json", "preprocessing.json"


@dataclass(frozen=True, kw_only=True)
class Export:
    """What was exported, and how closely it agrees with the run.

    Args:
        folder: where it lies.
        files: what is in it.
        rows: of the data, that were compared.
        difference: the largest of a prediction, as a share of the largest prediction.
    """

    folder: Path
    files: tuple[str, ...]
    rows: int
    difference: float

    def __str__(self) -> str:
        return (
            f"{self.folder}: {', '.join(self.files)}; compared with the run on {self.rows} rows, "
            f"the predictions differ by at most {self.difference:.2g}"
        )

    def _repr_html_(self) -> str:
        told = f"{self.rows} rows, predictions differ by at most {self.difference:.2g}"
        return notebook_table(f"{self.folder}: {told}", [{"file": name} for name in self.files])


def export_run(
    run: RunRecord, to: str, out: Path, examples: Split, *, script: bool = False
) -> Export:
    """Write a run in another format into a new folder.

    Args:
        run: that has finished.
        to: a name in `FORMATS`.
        out: the folder, which must not be there.
        examples: real ones, encoded; some of them are compared.
        script: write a predict.py beside it, with what it needs.
    """
    form = find_format(to)
    source = export_source(run, examples)
    form.check(source)
    if script:
        check_script(source, to)
    if out.exists():
        raise ConfigError(f"{out} already exists, give --out another folder")
    with new_folder(out) as staging:
        form.write(source, staging)
        reopened = form.reopen(source, staging.path)
        difference = compare(source, reopened)
        if not difference <= TOLERANCE:
            raise RunError(
                f"exported to {to}, the model differs from the run: predictions are off by "
                f"{difference:.2g} of the largest, at most {TOLERANCE:g} is allowed; nothing was "
                "written"
            )
        _write_description(source, to, reopened, difference, staging)
        if script:
            write_script(source, to, staging)
        files = tuple(staging.sums)
    return Export(folder=out, files=files, rows=count_rows(source.rows), difference=difference)


def find_format(name: str) -> ExportFormat:
    """The format of this name, with the packages that it needs."""
    form = FORMATS.load(name)()
    check_packages(name, form)
    return form


def export_source(run: RunRecord, examples: Split) -> ExportSource:
    """The model on the CPU with some rows of the data, spread over all of it."""
    if len(examples) == 0:
        raise ConfigError("an export is compared with the run on rows of data, got none")
    count = min(MOST_ROWS, len(examples))
    places = torch.linspace(0, len(examples) - 1, count).long().to(examples.targets.device)
    scaling = build_input_scaling(run.preprocessor, run.spec)
    model = deepcopy(run.model).cpu().eval().requires_grad_(False)
    return ExportSource(
        predictor=Predictor(model, run.task, run.spec, scaling).eval(),
        preprocessor=run.preprocessor,
        section=run.config["model"],
        rows=move(examples.read(places), torch.device("cpu")),
    )


def compare(source: ExportSource, reopened: Reopened) -> float:
    """The largest difference between the run and what was written, for many rows and for one."""
    of_run = source.predictor.of_run
    compared = (source.rows, take_rows(source.rows, slice(1)))
    return max(largest_difference(of_run(rows), reopened(rows)) for rows in compared)


def takes_any_length(source: ExportSource, reopened: Reopened) -> bool:
    """Whether texts may be shorter than those of the data: a recurrence is one of fixed length."""
    if source.spec.inputs != "tokens" or source.rows.shape[1] < 2:
        return False
    shorter = source.rows[:, : source.rows.shape[1] // 2]
    try:
        said = reopened(shorter)
    except Exception:  # each format refuses another length in its own way
        return False
    return largest_difference(source.predictor.of_run(shorter), said) <= TOLERANCE


def largest_difference(wanted: Tensor, got: Tensor) -> float:
    """By how much they differ at most, as a share of the largest number that is wanted.

    Infinite where the shapes differ, or where something is no number.
    """
    if wanted.shape != got.shape or not (wanted.isfinite().all() and got.isfinite().all()):
        return math.inf
    apart = (wanted.double() - got.double()).abs().max()
    return float(apart / (wanted.abs().max() or 1))


def _write_description(
    source: ExportSource, to: str, reopened: Reopened, difference: float, staging: Staging
) -> None:
    """Write what a program that uses the files has to know."""
    preprocessor = {"kind": source.preprocessor.kind, **source.preprocessor.to_json()}
    staging.write(PREPROCESSING, as_json(preprocessor))
    described = _description(source, to, difference)
    if takes_any_length(source, reopened):
        described["inputs"]["tensors"][0]["shape"] = ["batch", "length"]
    staging.write(DESCRIPTION, as_json(described))


def _description(source: ExportSource, to: str, difference: float) -> dict[str, Any]:
    spec, predictor = source.spec, source.predictor
    return {
        "format": 1,
        "netwright": VERSION,
        "to": to,
        "model": source.section,
        "inputs": {
            "are": "encoded, see preprocessing.json" if predictor.scaling is None else "raw",
            "kind": spec.inputs,
            "tensors": [
                {"dtype": str(one.dtype).removeprefix("torch."), "shape": ["batch", *one.shape[1:]]}
                for one in tensors_of(predictor.raw(source.rows))
            ],
            "names": list(spec.feature_names),
        },
        "outputs": {
            "are": predictor.output_name,
            "kind": spec.target,
            "shape": ["batch", *spec.output_shape],
            "names": list(spec.class_names or spec.target_names),
            **({} if predictor.task.threshold is None else {"threshold": predictor.task.threshold}),
        },
        "compared": {"rows": count_rows(source.rows), "largest_difference": difference},
    }
