"""Translating with a run: the target of each source that a beam search finds, and its BLEU.

Shapes: N pairs, S source tokens, T target tokens.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any, cast

import torch
from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, DataError
from netwright.core.evaluation import evaluating
from netwright.data.dataset import Split
from netwright.data.loading.paired_texts import PairSplit
from netwright.data.preprocessing import Preprocessor
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import BOS, EOS
from netwright.decoding.beam_search import check_beams
from netwright.decoding.source_decoder import SourceDecoder, say_by_beams
from netwright.metrics.bleu import corpus_bleu
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
    if not isinstance(run.model, SourceDecoder) or not isinstance(run.preprocessor, PairEncoder):
        raise ConfigError(
            f"beams are for pairs of texts, this run takes {run.spec.inputs} and predicts "
            f"{run.spec.target}"
        )
    inputs = run.preprocessor.encode(source).to(device_of(run.model))
    return _say(run.model, run.preprocessor, inputs, beams, length_penalty)


@dataclass(frozen=True, kw_only=True)
class TranslationScore:
    """How good translations are, and all that has to be known to compare them with others.

    Args:
        bleu: 0 to 100.
        copied: the BLEU of the sources themselves, left as they are: a trivial baseline.
        signature: of sacrebleu.
        pairs: how many were translated.
        beams: how they were searched; 1 is greedy.
        length_penalty: of the search.
    """

    bleu: float
    copied: float
    signature: str
    pairs: int
    beams: int
    length_penalty: float


def score_translations(
    model: nn.Module,
    encoder: Preprocessor,
    examples: Split,
    *,
    beams: int = 1,
    length_penalty: float = 0.6,
) -> TranslationScore:
    """The BLEU of what a model says of pairs whose texts are known; without case if it reads so.

    Args:
        model: says targets of sources.
        encoder: of its pairs.
        examples: the pairs, on the model's device.
        beams: see `translate`.
        length_penalty: see `translate`.
    """
    if not (isinstance(model, SourceDecoder) and isinstance(encoder, PairEncoder)) or not (
        isinstance(examples, PairSplit)
    ):
        raise ConfigError("BLEU is for pairs of texts that were read from files or lists")
    said = _say(model, encoder, examples.inputs, beams, length_penalty)
    lower = encoder.target.lower
    score = corpus_bleu(said, examples.references, lower=lower)
    return TranslationScore(
        bleu=score.score,
        copied=corpus_bleu(examples.sources, examples.references, lower=lower).score,
        signature=score.signature,
        pairs=len(examples),
        beams=beams,
        length_penalty=length_penalty,
    )


def greedy_bleu(model: nn.Module, encoder: Preprocessor, examples: Split) -> dict[str, Any]:
    """What is kept of a run's translations, by name; nothing where BLEU cannot be measured."""
    if not can_be_scored(model, examples):
        return {}
    return {"bleu": asdict(score_translations(model, encoder, examples.to(device_of(model))))}


def can_be_scored(model: nn.Module, examples: Split) -> bool:
    """Whether BLEU can be measured of what a model says of these examples, here."""
    is_known = isinstance(model, SourceDecoder) and isinstance(examples, PairSplit)
    return is_known and find_spec("sacrebleu") is not None


def _say(
    model: nn.Module, encoder: PairEncoder, inputs: Tensor, beams: int, length_penalty: float
) -> list[str]:
    """The texts that are said of encoded pairs (N, S + T), of which only the sources are read."""
    check_beams(beams, length_penalty)
    if not len(inputs):
        raise DataError("no inputs were given to translate")
    texts: list[str] = []
    with evaluating(model), torch.no_grad():
        for sources in torch.split(inputs[:, : encoder.source_length], max(1, TOGETHER // beams)):
            said = say_by_beams(
                cast(SourceDecoder, model),
                sources,
                encoder.target_length,
                begin=BOS,
                end=EOS,
                beams=beams,
                length_penalty=length_penalty,
            )
            texts += encoder.write(said)
    return texts
