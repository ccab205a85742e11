"""Translating with a run: the target of each source that a beam search finds.

Shapes: N pairs, S source tokens, T target tokens.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, DataError
from netwright.core.evaluation import evaluating
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import BOS, EOS
from netwright.decoding.beam_search import check_beams
from netwright.decoding.source_decoder import SourceDecoder, say_by_beams
from netwright.recipes.run.run import Run

TOGETHER = 256  # beams of all sources that are searched at a time


def translate(
    run: Run, source: Any, *, beams: int = 4, length_penalty: float = 0.6
) -> Sequence[str]:
    """The targets (N,) of sources, as texts.

    Args:
        run: of a model of pairs.
        source: texts in a list, or a table with the column of sources.
        beams: how many beginnings are carried on; 1 is greedy.
        length_penalty: 0 prefers short targets, 1 compares the mean of log-probabilities a token.
    """
    model, encoder = run.model, run.preprocessor
    if not isinstance(model, SourceDecoder) or not isinstance(encoder, PairEncoder):
        raise ConfigError(
            f"beams are for pairs of texts, this run takes {run.spec.inputs} and predicts "
            f"{run.spec.target}"
        )
    check_beams(beams, length_penalty)
    inputs = encoder.encode(source)[:, : encoder.source_length].to(device_of(model))
    if not len(inputs):
        raise DataError("no inputs were given to translate")
    texts: list[str] = []
    with evaluating(model), torch.no_grad():
        for sources in torch.split(inputs, max(1, TOGETHER // beams)):
            texts += encoder.write(_targets(model, encoder, sources, beams, length_penalty))
    return texts


def _targets(
    model: SourceDecoder, encoder: PairEncoder, sources: Tensor, beams: int, length_penalty: float
) -> Tensor:
    return say_by_beams(
        model,
        sources,
        encoder.target_length,
        begin=BOS,
        end=EOS,
        beams=beams,
        length_penalty=length_penalty,
    )
