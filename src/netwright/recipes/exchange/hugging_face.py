"""A transformer as a folder of Hugging Face's, which `transformers` opens.

config.json, model.safetensors                  the model, with the head of its task
tokenizer.json, tokenizer_config.json           AutoTokenizer, where the run reads texts
preprocessor_config.json                        AutoImageProcessor, where it reads images
generation_config.json                          where it says texts: what `generate` does by itself

model = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.files.storage import Staging, as_json
from netwright.core.files.tensor_content import TensorContent
from netwright.core.trees import Tree
from netwright.recipes.exchange.architectures.architecture import Architecture
from netwright.recipes.exchange.architectures.bert import AsBERT
from netwright.recipes.exchange.architectures.gpt2 import AsGPT2
from netwright.recipes.exchange.architectures.t5 import AsT5
from netwright.recipes.exchange.architectures.vit import AsViT
from netwright.recipes.exchange.export_format import ExportFormat, ExportSource, Reopened
from netwright.recipes.exchange.tracing import quietly
from netwright.train.tasks.classification import Classification

ARCHITECTURES: tuple[Architecture, ...] = (AsGPT2(), AsBERT(), AsT5(), AsViT())
ELSEWHERE = "export it to onnx, torch-export or state-dict"


class HuggingFace(ExportFormat):
    """Config, weights, and how inputs are read."""

    sentence: ClassVar[str] = "a GPT, BERT, T5 or ViT that transformers opens, with its tokenizer"
    packages: ClassVar[tuple[str, ...]] = ("transformers", "tokenizers")

    def check(self, source: ExportSource) -> None:
        """Refuse what `transformers` has no place for."""
        found = _architecture(source)
        if found is None:
            name = source.section["name"] or type(source.model).__name__
            raise ConfigError(
                f"{name} cannot be exported to hf, which is for gpt, bert, t5 and vit in their "
                f"sizes; {ELSEWHERE}"
            )
        reason = found.differs(source)
        if reason:
            raise ConfigError(
                f"this {found.family.__name__} cannot be exported to hf as a {found.title}: "
                f"{reason}; {ELSEWHERE}"
            )
        task = source.predictor.task
        if isinstance(task, Classification) and (task.temperature is not None or task.curves):
            how = "curves" if task.curves else f"temperature {task.temperature:.4g}"
            raise ConfigError(
                f"this run is calibrated by the {how}, which a model of transformers does not "
                f"have: export it to onnx or torch-export, or train it without calibrate"
            )

    def write(self, source: ExportSource, staging: Staging) -> None:
        """The files of the model, and of what reads its inputs."""
        found = cast(Architecture, _architecture(source))
        staging.write("config.json", as_json(found.config(source)))
        staging.write("model.safetensors", TensorContent(found.weights(source), {"format": "pt"}))
        for name, content in found.others(source).items():
            staging.write(name, content)

    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        """What `transformers` makes of the folder; it must read inputs as we do, too."""
        import transformers  # noqa: PLC0415 - optional

        found = cast(Architecture, _architecture(source))
        kind = getattr(transformers, found.kind(source))
        with quietly(), _without_progress(transformers):
            theirs = kind.from_pretrained(folder, local_files_only=True)
            found.check_inputs(transformers, source, folder)
        theirs.eval()

        def predicted(rows: Tree) -> Tensor:
            with torch.no_grad():
                outputs = found.outputs(theirs, source, cast(Tensor, rows))
            return source.predictor.predictions(outputs)

        return predicted


def _architecture(source: ExportSource) -> Architecture | None:
    """The one that this model is of."""
    return next((one for one in ARCHITECTURES if isinstance(source.model, one.family)), None)


@contextmanager
def _without_progress(transformers: Any) -> Iterator[None]:
    """No bars and remarks of `transformers` meanwhile."""
    log = transformers.utils.logging
    level, has_bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if has_bars:
            log.enable_progress_bar()
