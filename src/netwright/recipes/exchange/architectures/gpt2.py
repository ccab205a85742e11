"""A GPT as a GPT-2: GPT2LMHeadModel for texts that go on, GPT2ForSequenceClassification."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import Tensor

from netwright.core.files.storage import as_json
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer_json import to_tokenizer_json, tokenizer_config
from netwright.models.exchange.gpt2_config import (
    differs_from_gpt2,
    generation_config,
    to_gpt2_config,
)
from netwright.models.exchange.gpt2_weights import to_gpt2
from netwright.models.exchange.task_labels import PROBLEMS
from netwright.models.model import Model
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.recipes.exchange.architectures.architecture import (
    Architecture,
    check_tokenizer,
    tokenizer_files,
)
from netwright.recipes.exchange.export_format import ExportSource


class AsGPT2(Architecture):
    """GPT and its sizes."""

    family: ClassVar[type[Model]] = GPT
    title: ClassVar[str] = "GPT-2"

    def differs(self, source: ExportSource) -> str:
        """Settings that GPT-2 has not, another target, no tokenizer."""
        if not isinstance(source.preprocessor, TextEncoder):
            return "its data has no tokenizer"
        if source.spec.target not in {"tokens", *PROBLEMS}:
            return f"it predicts a target of kind {source.spec.target!r}"
        return differs_from_gpt2(cast(GPTConfig, _model(source).config))

    def config(self, source: ExportSource) -> dict[str, Any]:
        """See `to_gpt2_config`."""
        return to_gpt2_config(_model(source))

    def weights(self, source: ExportSource) -> dict[str, Tensor]:
        """See `to_gpt2`."""
        return to_gpt2(source.model.state_dict(), is_classifier=source.spec.target != "tokens")

    def others(self, source: ExportSource) -> Mapping[str, bytes]:
        """The tokenizer; of a language model also what `generate` never says."""
        tokenizer = cast(TextEncoder, source.preprocessor).tokenizer
        config = tokenizer_config(_model(source).context)
        files = tokenizer_files(to_tokenizer_json(tokenizer), config)
        if source.spec.target == "tokens":
            files["generation_config.json"] = as_json(generation_config())
        return files

    def kind(self, source: ExportSource) -> str:
        """For texts that go on, or for classes."""
        is_language_model = source.spec.target == "tokens"
        return "AutoModelForCausalLM" if is_language_model else "AutoModelForSequenceClassification"

    def outputs(self, theirs: Any, source: ExportSource, rows: Tensor) -> Tensor:
        """The logits."""
        logits: Tensor = theirs(rows).logits
        return logits

    def check_inputs(self, transformers: Any, source: ExportSource, folder: Path) -> None:
        """Its tokens of texts must be ours."""
        tokenizer = cast(TextEncoder, source.preprocessor).tokenizer
        check_tokenizer(transformers, folder, tokenizer, cast(Tensor, source.rows))


def _model(source: ExportSource) -> GPT:
    return cast(GPT, source.model)
