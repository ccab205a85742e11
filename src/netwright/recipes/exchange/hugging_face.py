"""A GPT as a folder of Hugging Face's, which `transformers` opens as a GPT-2.

config.json, model.safetensors                  GPT2LMHeadModel, GPT2ForSequenceClassification
tokenizer.json, tokenizer_config.json           AutoTokenizer
generation_config.json                          of a language model: what `generate` never says

model = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, RunError
from netwright.core.files.storage import Staging, as_json
from netwright.core.files.tensor_content import TensorContent
from netwright.core.trees import Tree
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer import UNK
from netwright.data.text.tokenizer_json import to_tokenizer_json, tokenizer_config
from netwright.models.exchange.gpt2_config import (
    PROBLEMS,
    differs_from_gpt2,
    generation_config,
    to_gpt2_config,
)
from netwright.models.exchange.gpt2_weights import to_gpt2
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.recipes.exchange.export_format import ExportFormat, ExportSource, Reopened
from netwright.recipes.exchange.tracing import quietly


class HuggingFace(ExportFormat):
    """Config, weights and tokenizer."""

    sentence: ClassVar[str] = "a GPT as a GPT-2 that transformers opens, with its tokenizer"
    packages: ClassVar[tuple[str, ...]] = ("transformers", "tokenizers")

    def check(self, source: ExportSource) -> None:
        """Refuse what is no GPT-2, or has no tokenizer."""
        model = source.model
        if not isinstance(model, GPT):
            name = source.section["name"] or type(model).__name__
            raise ConfigError(
                f"{name} cannot be exported to hf, which is for gpt and its sizes; export it to "
                "onnx, torch-export or state-dict"
            )
        reason = differs_from_gpt2(cast(GPTConfig, model.config))
        if source.spec.target not in {"tokens", *PROBLEMS}:
            reason = f"it predicts a target of kind {source.spec.target!r}"
        if not isinstance(source.preprocessor, TextEncoder):
            reason = "its data has no tokenizer"
        if reason:
            raise ConfigError(
                f"this GPT cannot be exported to hf as a GPT-2: {reason}; export it to onnx, "
                "torch-export or state-dict"
            )

    def write(self, source: ExportSource, staging: Staging) -> None:
        """The files of the model and of its tokenizer."""
        model, encoder = cast(GPT, source.model), cast(TextEncoder, source.preprocessor)
        weights = to_gpt2(model.state_dict(), is_classifier=source.spec.target != "tokens")
        content = TensorContent(weights, {"format": "pt"})
        staging.write("config.json", as_json(to_gpt2_config(model)))
        staging.write("model.safetensors", content)
        staging.write("tokenizer.json", to_tokenizer_json(encoder.tokenizer).encode())
        staging.write("tokenizer_config.json", as_json(tokenizer_config(model.context)))
        if source.spec.target == "tokens":
            staging.write("generation_config.json", as_json(generation_config()))

    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        """What `transformers` makes of the folder; its tokens of texts must be ours as well."""
        import transformers  # noqa: PLC0415 - optional

        is_language_model = source.spec.target == "tokens"
        kind = "AutoModelForCausalLM" if is_language_model else "AutoModelForSequenceClassification"
        with quietly(), _without_progress(transformers):
            theirs = getattr(transformers, kind).from_pretrained(folder, local_files_only=True)
            read = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        _check_tokens(source, read)
        theirs.eval()

        def predicted(rows: Tree) -> Tensor:
            with torch.no_grad():
                logits: Tensor = theirs(rows).logits
            return logits if is_language_model else source.predictor.task.predictions(logits)

        return predicted


def _check_tokens(source: ExportSource, read: Any) -> None:
    """Refuse a tokenizer that reads the texts of the rows otherwise than ours."""
    tokenizer = cast(TextEncoder, source.preprocessor).tokenizer
    for row in source.rows.tolist():
        text = tokenizer.decode([token for token in row if token != UNK])
        wanted, got = tokenizer.encode(text), read(text, add_special_tokens=False)["input_ids"]
        if wanted != got:
            raise RunError(
                f"exported to hf, the tokenizer differs from the run: {text[:40]!r} is "
                f"{wanted[:8]} there and {got[:8]} here; nothing was written"
            )


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
