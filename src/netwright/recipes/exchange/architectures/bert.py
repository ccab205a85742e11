"""A BERT as `transformers` has it, with the head of its task.

    masked text        BertForPreTraining                  [MASK] itself is never said there
    classes, labels    BertForSequenceClassification
    tags               BertForTokenClassification          of the tokens between [CLS] and [SEP]
    spans              BertForQuestionAnswering

The tokenizer there puts [CLS] and [SEP], our <bos> and <eos>, around a text or a pair of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor
from torch.nn import functional

from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pretraining.framing import MASK, frame_texts, segments_of
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.data.text.tokenizer_json import framing_config, framing_json
from netwright.models.exchange.bert_config import differs_from_bert, to_bert_config
from netwright.models.exchange.bert_weights import to_bert
from netwright.models.exchange.task_labels import PROBLEMS, task_labels
from netwright.models.model import Model
from netwright.models.transformers.bert import BERT, BERTConfig
from netwright.recipes.exchange.architectures.architecture import (
    Architecture,
    check_tokenizer,
    tokenizer_files,
)
from netwright.recipes.exchange.export_format import ExportSource

NEVER = -1e4  # logit of what cannot be, finite also in half precision
KINDS = {
    "tokens": "BertForPreTraining",
    **dict.fromkeys(PROBLEMS, "BertForSequenceClassification"),
    "tags": "BertForTokenClassification",
    "span": "BertForQuestionAnswering",
}


class AsBERT(Architecture):
    """BERT and its sizes."""

    family: ClassVar[type[Model]] = BERT
    title: ClassVar[str] = "BERT"

    def differs(self, source: ExportSource) -> str:
        """Settings that BERT has not, another target, no tokenizer."""
        if not isinstance(source.preprocessor, TextEncoder):
            return "its data has no tokenizer"
        if source.spec.target not in KINDS:
            return f"it predicts a target of kind {source.spec.target!r}"
        return differs_from_bert(cast(BERTConfig, _model(source).config))

    def config(self, source: ExportSource) -> dict[str, Any]:
        """The sizes, the head and the names of its classes."""
        told = {**to_bert_config(_model(source)), "architectures": [self.kind(source)]}
        return {**told, **(task_labels(source.spec) if source.spec.class_names else {})}

    def weights(self, source: ExportSource) -> dict[str, Tensor]:
        """See `to_bert`; a head of masked text has a bias for [MASK] too, by which it is never."""
        model = _model(source)
        weights, bias = dict(model.state_dict()), "pretraining.bias"
        if bias in weights:
            missing = len(model.wte.weight) - len(weights[bias])
            weights[bias] = functional.pad(weights[bias], (0, missing), value=NEVER)
        return to_bert(weights, marks_spans=source.spec.target == "span")

    def others(self, source: ExportSource) -> Mapping[str, bytes]:
        """The tokenizer with [CLS], [SEP] and [MASK]."""
        tokenizer = cast(TextEncoder, source.preprocessor).tokenizer
        config = framing_config(_model(source).context, MASK)
        return tokenizer_files(framing_json(tokenizer, MASK), config)

    def kind(self, source: ExportSource) -> str:
        """By the target."""
        return KINDS[source.spec.target]

    def outputs(self, theirs: Any, source: ExportSource, rows: Tensor) -> Tensor:
        """Logits; of masked text those of next or not at [CLS], as ours."""
        is_masked = source.spec.inputs == "masked"
        framed = rows if is_masked else frame_texts(rows)
        given = {"token_type_ids": segments_of(framed), "attention_mask": (framed != PAD).long()}
        said = theirs(input_ids=framed, **given)
        if is_masked:
            logits: Tensor = said.prediction_logits[..., : source.spec.num_outputs]
            room = (0, source.spec.num_outputs - 2)
            first = functional.pad(said.seq_relationship_logits, room, value=NEVER)
            return torch.cat((first[:, None], logits[:, 1:]), dim=1)
        if source.spec.target in PROBLEMS:
            return cast(Tensor, said.logits)
        is_span = source.spec.target == "span"
        each = torch.stack((said.start_logits, said.end_logits), 2) if is_span else said.logits
        # What either says of padding means nothing, and differs: only the other places count.
        is_read = (framed != PAD)[:, 1:-1, None]
        return torch.where(is_read, each[:, 1:-1], source.model(rows))

    def check_inputs(self, transformers: Any, source: ExportSource, folder: Path) -> None:
        """Its tokens of texts must be ours, with [CLS] and [SEP] around them."""
        tokenizer = cast(TextEncoder, source.preprocessor).tokenizer
        rows = cast(Tensor, source.rows)
        check_tokenizer(transformers, folder, tokenizer, rows, around=([BOS], [EOS]))


def _model(source: ExportSource) -> BERT:
    return cast(BERT, source.model)
