"""A run: the folder a recipe leaves, and the object that evaluates, predicts and shows it.

Shapes: N rows, C classes, K reals, I rows and J columns of a mask, T tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json
from netwright.core.trees import Tree, move
from netwright.data.dataset import Data, Split
from netwright.data.given.loaders import is_loader, labelled_batches
from netwright.data.images.encoder import ImageEncoder
from netwright.data.loading.stored import Sample, sample_stored
from netwright.data.pixels import PixelSplit
from netwright.data.tables.array_reading import read_labelled_table, read_target_array
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tag_encoder import TagEncoder
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import Html, table, text
from netwright.inspection.drawing.view import View
from netwright.recipes.exchange.export import Export, export_run
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.run.answers import (
    check_asked,
    check_measured,
    check_paired,
    in_words,
    like,
)
from netwright.recipes.run.encoded_inputs import (
    encode_any,
    encode_inputs,
    is_table_for_arrays,
    remarks_on,
)
from netwright.recipes.run.generation import build_text_generator, decoding_config
from netwright.recipes.run.metric_table import metric_rows
from netwright.recipes.run.report import check_reportable, write_report
from netwright.recipes.saved.environment import describe_environment
from netwright.recipes.saved.model_of_run import device_of_training, put_own, trained_model
from netwright.recipes.saved.results_file import read_results
from netwright.recipes.saved.run_data import load_run_data
from netwright.recipes.saved.run_folder import SavedModel, check_run_folder
from netwright.recipes.saved.run_record import RunRecord
from netwright.recipes.saved.write_run import write_run
from netwright.recipes.views.shown_views import measure_shown_views
from netwright.recipes.views.subject import Subject
from netwright.train.evaluate import evaluate, evaluate_baseline, predict
from netwright.train.own.loss import LossCallable
from netwright.train.tasks.regression import check_given
from netwright.train.watching.history import History, read_history
from netwright.train.watching.layer_history import FILE as LAYER_FILE
from netwright.train.watching.layer_history import read_layer_history

HISTORY_FILE = "metrics.jsonl"


@dataclass(kw_only=True, eq=False, repr=False)
class Run(RunRecord):
    """A trained model with everything around it.

    Made by `nw.fit` and `nw.open_run`; its `model`, `results` and so on are those of a `RunRecord`.

    Args:
        guess: the trivial prediction (C,) that it is compared with.
        known_data: what it was trained on, where that is at hand.
    """

    guess: Tensor
    known_data: Data | None = None

    def __repr__(self) -> str:
        place = "in memory" if self.folder is None else str(self.folder)
        scores = ", ".join(f"{k} {v:.4g}" for k, v in list(self.results["metrics"].items())[:3])
        return f"Run({place}: {self.results['split']} {scores}; {self.results['status']})"

    @property
    def data(self) -> Data:
        """What the run was trained on, loaded again where that is possible."""
        if self.known_data is None:
            contents = self.results.get("contents", {})
            self.known_data = load_run_data(self.config["data"], self.preprocessor, contents)
        return self.known_data

    def evaluate(self, data: Any = None, *, split: str | None = None) -> dict[str, float]:
        """The loss and every metric, on a split of the run's data or on other labelled data.

        Args:
            data: a table with the target columns, a folder of images, (inputs, targets), or what
                `examples` gave; None is the run's own data.
            split: train, val or test of the run's own data; by default what `results` tell of.
        """
        check_measured(self.task)
        examples = self.examples(data, split=split)
        check_given(self.task, examples.targets, self.spec)
        return evaluate(self.model, examples, self.task)

    def baseline(self, data: Any = None, *, split: str | None = None) -> dict[str, float]:
        """The metrics of the trivial guess on the same examples."""
        return evaluate_baseline(self.examples(data, split=split), self.guess, self.task)

    def predict(self, source: Any, *, threshold: float | None = None) -> Any:
        """What the run says of new inputs, in the words of its data.

        Labels or reals (N,) or (N, K), for a frame a series or frame with its index; masks
        (N, I, J); the texts that pairs are completed with (N,); a list of tags for each sentence.
        What is new in the inputs is what `remarks` says.

        Args:
            source: arrays, a frame, a path, rows as dicts, texts: what the run was trained on.
            threshold: above which the second of two classes is given; by default the kept one.
        """
        threshold = self.task.threshold if threshold is None else threshold
        check_asked(self.spec, threshold=threshold)
        values = self.predictions(source)
        return in_words(values, source, self.spec, self.preprocessor, threshold=threshold)

    def remarks(self, source: Any) -> tuple[str, ...]:
        """What is new in the inputs: numbers far outside the training range, unseen categories."""
        return remarks_on(source, self.spec, self.preprocessor)

    def predict_proba(self, source: Any) -> Any:
        """Probabilities (N, C), of masks (N, C, I, J), in the order of `spec.class_names`."""
        check_asked(self.spec, proba=True)
        return like(source, self.predictions(source).numpy(), self.spec.output_names)

    def predictions(self, source: Any) -> Tensor:
        """What the model says of raw inputs, a tensor.

        Probabilities (N, C), of masks (N, C, I, J), of tags (N, T, C); reals (N, K); of pairs the
        target tokens (N, 2, T): told those before, and hearing itself.
        """
        return self.predictions_of(self.encode(source))

    def encode(self, source: Any) -> Tree:
        """Raw inputs as the model takes them (N, ...), at least one, on the CPU."""
        check_asked(self.spec)
        check_measured(self.task)
        return encode_inputs(source, self.spec, self.preprocessor)

    def predictions_of(self, inputs: Tree) -> Tensor:
        """What `predictions` gives of inputs that `encode` gave; those of several may be joined."""
        return predict(self.model, move(inputs, device_of(self.model)), self.task)

    def generate(self, prompt: str = "", *, beams: int | None = None, **settings: Any) -> str:
        """The text with which a language model goes on after a prompt; see `stream`."""
        return "".join(self.stream(prompt, beams=beams, **settings))

    def stream(
        self, prompt: str = "", *, beams: int | None = None, **settings: Any
    ) -> Iterator[str]:
        """The same, each piece of text as soon as it is there.

        Args:
            prompt: how the text begins.
            beams: search the likeliest text with so many beams instead of drawing one.
            settings: of `DecodingConfig`: temperature, top_k, max_tokens, length_penalty, ...
        """
        generator = build_text_generator(self.model, self.spec, self.preprocessor)
        return generator.stream(prompt, decoding_config(settings), beams=beams)

    def complete(self, prompts: Sequence[str], **settings: Any) -> list[str]:
        """The text after each of several prompts, generated together; see `stream`."""
        generator = build_text_generator(self.model, self.spec, self.preprocessor)
        return generator.complete(prompts, decoding_config(settings))

    def views(self) -> dict[str, View]:
        """What there is to look at, by name: `run.views()["confusion"].save("x.svg")`.

        Views of predictions need the run's data; where it is not at hand they are left out.
        """
        return measure_shown_views(Subject(self, *self.data_at_hand()))

    def report(self, path: str | Path | None = None, *, examples: bool = True) -> Path:
        """Write the page that tells everything about the run, and `.json` with its numbers.

        Args:
            path: of the page; by default report.html in the run's folder.
            examples: show examples of the data.
        """
        check_reportable(self)
        if path is None and self.folder is None:
            raise ConfigError("this run is kept in memory: give a path for its report")
        place = self.folder / "report.html" if path is None and self.folder else Path(path or "")
        if place.suffix != ".html":
            raise ConfigError(f"the path of a report must end in .html, got {place}")
        (sample, absent), unmeasured = self.data_at_hand(), self._why_unmeasured()
        lost = unmeasured or ("" if self.task.unmeasured else absent)
        if lost and path is None and place.exists():
            raise ConfigError(
                f"{place} already has views that would be lost ({lost}); give the report another "
                "path"
            )
        return write_report(
            place,
            self,
            measure_shown_views(Subject(self, sample, absent), examples=examples),
            sample=sample,
            environment=self._environment(),
            absent=absent,
            unmeasured=unmeasured,
        )

    def export(
        self, to: str, out: str | Path | None = None, *, data: Any = None, script: bool = False
    ) -> Export:
        """Write the run for other tools, and compare what was written with the run.

        Args:
            to: a name in the table of formats: state-dict, onnx, torch-export or hf.
            out: a new folder; by default RUN-FORMAT beside the run's folder.
            data: what to compare on, as in `evaluate`; None is the run's own data.
            script: write a predict.py beside it that needs no netwright.
        """
        if out is None and self.folder is None:
            raise ConfigError("this run is kept in memory: give a folder for its export")
        beside = self.folder and self.folder.with_name(f"{self.folder.resolve().name}-{to}")
        return export_run(self, to, Path(out or beside or ""), self.examples(data), script=script)

    def save(self, folder: str | Path) -> Path:
        """Write a run that was trained in memory, `nw.fit(..., save=False)`, into a new folder.

        `nw.open_run` opens it like any other. It has no checkpoints: resumed, it begins again.
        """
        if self.folder is not None:
            raise ConfigError(f"this run is already saved in {self.folder}: copy that folder")
        write_run(
            Path(folder),
            model=self.model,
            config=self.config,
            data=self.data,
            task=self.task,
            history=self.history,
            layer_history=self.layer_history,
            results=self.results,
        )
        self.folder = Path(folder)
        return self.folder

    def _repr_html_(self) -> str:
        rows = metric_rows(self.results["metrics"], self.results["baseline"])
        measured = table(rows, numbers=["this run", "baseline"])
        curves = self.history._repr_html_() if len(self.history) else ""
        return in_notebook(text(repr(self)), measured, Html(curves))

    def data_at_hand(self) -> tuple[Sample | None, str]:
        """A sample of the data, or why there is none; where it lay is the owner's business."""
        if self.task.unmeasured:
            return None, f"the model is not called on inputs: {self.task.unmeasured}"
        try:
            return sample_stored(self.data), ""
        except NetwrightError as error:
            path = str(self.config["data"].get("path") or "")
            return None, str(error).replace(path, Path(path).name) if path else str(error)

    def _why_unmeasured(self) -> str:
        """Why there is no history, where the run's folder has lost it."""
        if self.folder is None or has_file(self.folder / HISTORY_FILE):
            return ""
        return f"{HISTORY_FILE} is not in the run folder"

    def _environment(self) -> dict[str, Any]:
        written = None if self.folder is None else self.folder / "env.json"
        if written is None or not has_file(written):
            return describe_environment(device_of(self.model))
        values = read_json(written)
        return values if isinstance(values, dict) else {}

    def examples(self, data: Any = None, *, split: str | None = None) -> Split:
        """What `evaluate` and `baseline` measure on, read once for both; see `evaluate`."""
        device = device_of(self.model)
        if data is None:
            return self.data.split(split or self.results["split"]).to(device)
        if is_loader(data):
            data = labelled_batches(data, self.spec, self.preprocessor)
        if isinstance(data, Split):
            return data.to(device)
        if not isinstance(data, tuple):
            if is_table_for_arrays(data, self.preprocessor):
                data = read_labelled_table(data, self.spec)
            data = self.preprocessor.read_labelled(data)
        if isinstance(self.preprocessor, PairEncoder):
            return self.preprocessor.split(data).to(device)
        inputs, targets = data if isinstance(data, tuple) else (data, data)
        if isinstance(self.preprocessor, TagEncoder) and isinstance(data, tuple):
            told, said = self.preprocessor.encode_pairs(inputs, targets)
            return Split(inputs=told, targets=said).to(device)
        if is_table_for_arrays(targets, self.preprocessor):
            targets = read_target_array(targets, self.spec)
        encoded = self.preprocessor.encode_targets(targets)
        if isinstance(self.preprocessor, ImageEncoder):  # bytes, a quarter of the room of floats
            pixels, scaling = self.preprocessor.read(inputs), self.preprocessor.scaling
            return PixelSplit(pixels=pixels, scaling=scaling, targets=encoded).to(device)
        examples = Split(
            inputs=encode_any(inputs, self.spec, self.preprocessor),
            targets=encoded,
            weights=self.preprocessor.encode_weights(inputs),
        )
        check_paired(examples)
        return examples.to(device)


def open_run(
    folder: str | Path,
    model: nn.Module | None = None,
    *,
    loss: LossCallable | Literal["model"] | None = None,
    metrics: Any = (),
) -> Run:
    """The run in a folder, ready to evaluate and predict.

    Its model is on the device that the run was to be trained on, or where this machine has no such
    device on the one that `auto` picks.

    Args:
        folder: what `nw.fit` or `netwright train` left.
        model: an untrained module of the same shape, for a run on a module of one's own.
        loss: the one it was trained with, for a run with a loss of one's own; without it the run
            predicts and has no loss to measure.
        metrics: of one's own, to be measured beside those of the table; see `nw.fit`.
    """
    folder = Path(folder)
    check_run_folder(folder)
    saved = SavedModel(folder / "model")
    config, history = read_own_recipe(folder), folder / HISTORY_FILE
    trained = trained_model(model, saved, folder).to(device_of_training(config)).eval()
    put_own(loss, metrics, saved, trained)
    return Run(
        model=trained,
        spec=saved.spec,
        task=saved.task,
        preprocessor=saved.preprocessor,
        results=read_results(folder),
        history=read_history(history) if has_file(history) else History(),
        config=config,
        folder=folder,
        layer_history=read_layer_history(folder / LAYER_FILE),
        guess=saved.guess,
    )
