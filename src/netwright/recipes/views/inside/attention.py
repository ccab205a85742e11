"""The views of where a model looks: `attention` within a text, `alignment` with a source.

Any model that has `attention_weights` is asked for them; of a source that is typed, while it says
its own answer.

Shapes: B texts or pairs, H heads, T tokens, S tokens of the source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, NoSettings
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.decoding.source_decoder import SourceDecoder, say_greedily
from netwright.inspection.inside.attention_maps import AttentionMaps, measure_attention_maps
from netwright.inspection.predictions.next_tokens import VISIBLE
from netwright.recipes.views.attribution.explained_answer import FramesTexts, input_token_names
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject

MOST_TOKENS = 24  # of an example whose attention is shown: more could not be read


@runtime_checkable
class AttendsToItself(Protocol):
    """A model of texts whose tokens look at each other."""

    def attention_weights(self, tokens: Tensor, /) -> Sequence[Tensor]:
        """The weights (B, H, T, T) of each layer."""


@runtime_checkable
class AttendsToSource(Protocol):
    """A model of pairs whose target tokens look at the source."""

    def attention_weights(self, pairs: Tensor, /) -> Tensor | Sequence[Tensor]:
        """The weights (B, T, S), or (B, H, T, S) of each layer; without any, a refusal."""


def _refuse_attention(subject: Subject) -> str:
    run = subject.run
    if not isinstance(run.model, AttendsToItself) or run.spec.inputs == "pairs":
        return (
            f"attention needs a model with `attention_weights` over a text, {subject.name} has none"
        )
    if not isinstance(run.preprocessor, TextEncoder):
        return "attention maps need text inputs, this run has none"
    return "" if subject.first_steps().numel() else "the first text has no tokens"


def _measure_attention(subject: Subject, _: NoSettings) -> AttentionMaps:
    run, tokens = subject.run, subject.first_steps()[:, :MOST_TOKENS]
    with evaluating(run.model):
        layers = cast(AttendsToItself, run.model).attention_weights(tokens)
    token_names = input_token_names(run)
    names = [token_names[token].translate(VISIBLE) for token in tokens[0].tolist()]
    if isinstance(run.model, FramesTexts):
        names = run.model.framed_names(names)
    return measure_attention_maps(_by_head(layers), names, names)


def _refuse_alignment(subject: Subject) -> str:
    run = subject.run
    if not (isinstance(run.preprocessor, PairEncoder) and isinstance(run.model, AttendsToSource)):
        return (
            f"alignment needs a model with `attention_weights` over pairs of texts, {subject.name} "
            "has none"
        )
    try:
        _alignment(subject, subject.example(0).inputs)
    except ConfigError as error:
        return str(error)
    return ""


@dataclass(frozen=True, kw_only=True)
class AlignmentConfig(Config):
    """Which pair of texts is shown."""

    text: Annotated[
        str,
        Doc("a source of your own, shown with what the model says of it; default: a known pair"),
    ] = ""


def _measure_alignment(subject: Subject, settings: AlignmentConfig) -> AttentionMaps:
    """Of a text with its own answer; or of the longest of the first pairs, whose target is told."""
    if settings.text:
        pair = _own_answer(subject, settings.text)
    else:
        pairs = subject.split.inputs[:MOST_TOKENS]
        pair = pairs[(pairs != 0).sum(dim=1).argmax()]
    named = cast(PairEncoder, subject.run.preprocessor).names(pair.cpu())
    sources, said = ([name.translate(VISIBLE) for name in names] for names in named)
    maps = _alignment(subject, pair[None].to(device_of(subject.run.model)))
    shown = {name: weights[: len(said), : len(sources)] for name, weights in maps.items()}
    return measure_attention_maps(shown, said, sources)


def _own_answer(subject: Subject, text: str) -> Tensor:
    """A text and what the model says of it, each time the likeliest token (S + T)."""
    encoder, model = cast(PairEncoder, subject.run.preprocessor), subject.run.model
    if not isinstance(model, SourceDecoder):
        raise ConfigError(f"text needs a model that says targets by itself, {subject.name} is none")
    count = len(encoder.source.encode_all([text])[0])
    if count > encoder.source_length:
        raise ConfigError(
            f"text must have at most {encoder.source_length} tokens, as many as the model reads, "
            f"got {count}"
        )
    source = encoder.encode([text])[:, : encoder.source_length].to(device_of(model))
    with evaluating(model):
        said = say_greedily(model, source, encoder.target_length, begin=BOS, end=EOS)
    ends = (said[0] == EOS) | (said[0] == PAD)
    length = int(ends.int().argmax()) if bool(ends.any()) else encoder.target_length
    told = torch.full_like(said[0], PAD)
    told[0] = BOS
    told[1 : length + 1] = said[0, : min(length, encoder.target_length - 1)]
    return torch.cat((source[0], told))


def _alignment(subject: Subject, pair: Tensor) -> dict[str, Tensor]:
    """The weights (T, S) of one pair (1, S + T), by head where there are several; on the CPU."""
    model = subject.run.model
    with evaluating(model):
        weights = cast(AttendsToSource, model).attention_weights(pair)
    return {"": weights[0].cpu()} if isinstance(weights, Tensor) else _by_head(weights)


def _by_head(layers: Sequence[Tensor]) -> dict[str, Tensor]:
    """Of the weights (B, H, T, S) of each layer those of the first example, on the CPU."""
    return {
        f"layer {layer}, head {head}": weights[0, head].cpu()
        for layer, weights in enumerate(layers)
        for head in range(weights.shape[1])
    }


ATTENTION = ViewEntry(
    card=Card(
        sentence="From where each token takes what it needs, a panel a head.",
        formula=r"\mathrm{softmax}\!\left(Q K^\top / \sqrt{d}\right)",
        source='Vaswani et al., "Attention Is All You Need" (2017)',
    ),
    measure=_measure_attention,
    refusal=_refuse_attention,
    own_input=True,
    section="inside",
    has_examples=True,
    code=(measure_attention_maps,),
)
ALIGNMENT = ViewEntry(
    card=Card(
        sentence="Where a decoder looks in the source while it says each token.",
        formula="",
        source='Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align '
        'and Translate" (2015)',
    ),
    measure=_measure_alignment,
    refusal=_refuse_alignment,
    settings=AlignmentConfig,
    section="predictions",
    has_examples=True,
    code=(measure_attention_maps,),
)
