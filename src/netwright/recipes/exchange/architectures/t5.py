"""A T5 as `transformers` has it: T5ForConditionalGeneration, with one vocabulary of both texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import Tensor

from netwright.core.files.storage import as_json
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.data.text.tokenizer_json import to_tokenizer_json, tokenizer_config
from netwright.models.exchange.t5_config import differs_from_t5, to_t5_config
from netwright.models.exchange.t5_weights import to_t5
from netwright.models.model import Model
from netwright.models.transformers.t5 import T5
from netwright.recipes.exchange.architectures.architecture import (
    Architecture,
    check_tokenizer,
    tokenizer_files,
)
from netwright.recipes.exchange.export_format import ExportSource


class AsT5(Architecture):
    """T5 and its sizes."""

    family: ClassVar[type[Model]] = T5
    title: ClassVar[str] = "T5"

    def differs(self, source: ExportSource) -> str:
        """Two vocabularies, a head of its own, no tokenizer."""
        if not isinstance(source.preprocessor, PairEncoder):
            return "its data has no tokenizer"
        return differs_from_t5(cast(T5, source.model))

    def config(self, source: ExportSource) -> dict[str, Any]:
        """See `to_t5_config`."""
        return to_t5_config(cast(T5, source.model))

    def weights(self, source: ExportSource) -> dict[str, Tensor]:
        """See `to_t5`."""
        return to_t5(source.model.state_dict())

    def others(self, source: ExportSource) -> Mapping[str, bytes]:
        """The tokenizer, and how a target begins, ends and how long it may be."""
        encoder = cast(PairEncoder, source.preprocessor)
        generation = {
            "decoder_start_token_id": BOS,
            "eos_token_id": EOS,
            "pad_token_id": PAD,
            "max_new_tokens": encoder.target_length,
        }
        files = tokenizer_files(
            to_tokenizer_json(encoder.source), tokenizer_config(encoder.source_length)
        )
        return {**files, "generation_config.json": as_json(generation)}

    def kind(self, source: ExportSource) -> str:
        """There is one."""
        return "AutoModelForSeq2SeqLM"

    def outputs(self, theirs: Any, source: ExportSource, rows: Tensor) -> Tensor:
        """The logits of the target, where the truth is told."""
        length = source.spec.source_length
        read, told = rows[:, :length], rows[:, length:]
        logits: Tensor = theirs(
            input_ids=read, attention_mask=(read != PAD).long(), decoder_input_ids=told
        ).logits
        return logits

    def check_inputs(self, transformers: Any, source: ExportSource, folder: Path) -> None:
        """Its tokens of sources must be ours."""
        tokenizer = cast(PairEncoder, source.preprocessor).source
        rows = cast(Tensor, source.rows)[:, : source.spec.source_length]
        check_tokenizer(transformers, folder, tokenizer, rows)
