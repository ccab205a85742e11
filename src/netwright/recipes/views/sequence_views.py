"""The views of runs on text and series: what was said next, where was looked, what is remembered.

Shapes: N examples, T steps, S source tokens, V tokens, K tags or reals.
"""

import copy
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.evaluation import evaluating
from netwright.core.outputs import logits_of
from netwright.core.trees import tensors_of
from netwright.data.dataset import Split
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.spec import IGNORED
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.attention_maps import measure_attention_maps
from netwright.inspection.inside.state_norms import measure_state_norms
from netwright.inspection.predictions.confusion import measure_confusion
from netwright.inspection.predictions.forecast import measure_forecast
from netwright.inspection.predictions.next_tokens import VISIBLE, measure_next_tokens
from netwright.models.sequence.encoder_decoder import EncoderDecoder, EncoderDecoderConfig
from netwright.models.sequence.sequence_model import SequenceModel
from netwright.models.transformers.gpt import GPT

MOST_TOKENS = 24  # of an example whose attention is shown: more could not be read
MOST_STATE = 1024  # numbers of a state whose Jacobians are taken: they are matrices of these


def text_views(model: nn.Module, preprocessor: Preprocessor, split: Split) -> dict[str, View]:
    """What a language model expects at each place of the first window."""
    tokens, targets = _first(split, model)
    if not isinstance(preprocessor, TextEncoder):
        return {}
    with evaluating(model):
        logits = logits_of(model(tokens)).cpu()
    name_of = _namer(preprocessor)
    return {"next-tokens": measure_next_tokens(logits[0], tokens[0].cpu(), targets[0], name_of)}


def pair_views(model: nn.Module, preprocessor: Preprocessor, split: Split) -> dict[str, View]:
    """Where a decoder looked while it was told the target of the longest of the first pairs."""
    if not isinstance(model, EncoderDecoder) or not isinstance(preprocessor, PairEncoder):
        return {}
    if cast(EncoderDecoderConfig, model.config).attention == "none":
        return {}
    pairs = split.inputs[:MOST_TOKENS]
    pair = pairs[(pairs != 0).sum(dim=1).argmax()]
    sources, said = preprocessor.names(pair.cpu())
    with evaluating(model):
        weights = model.attention_weights(pair[None].to(device_of(model)))[0].cpu()
    seen = weights[: len(said), : len(sources)]
    return {"alignment": measure_attention_maps({"": seen}, said, sources)}


def tag_views(
    split: Split, predicted: Callable[[Tensor], Tensor], names: Sequence[str], *, is_sample: bool
) -> dict[str, View]:
    """Which tags are taken for which, over all tokens that count."""
    counted = (split.targets != IGNORED).cpu()
    probabilities, targets = predicted(split.inputs)[counted], split.targets.cpu()[counted]
    return {"confusion": measure_confusion(targets, probabilities, names, is_sample=is_sample)}


def series_views(
    preprocessor: Preprocessor, split: Split, predictions: Tensor, names: Sequence[str]
) -> dict[str, View]:
    """What was forecast and what came, in the order of time."""
    if not isinstance(preprocessor, SeriesEncoder):
        return {}
    last = preprocessor.persistence(split.inputs)
    return {"forecast": measure_forecast(split.targets.cpu(), predictions, names, last)}


def inner_views(model: nn.Module, preprocessor: Preprocessor, split: Split) -> dict[str, View]:
    """Where the heads of a transformer look, and how a recurrent network remembers."""
    if not isinstance(model, GPT | SequenceModel):
        return {}
    inputs, _ = _first(split, model)
    if model.spec.padding is not None:
        inputs = inputs[inputs != model.spec.padding][None]
    if not inputs.numel():  # a text without words
        return {}
    if isinstance(model, GPT) and isinstance(preprocessor, TextEncoder):
        return _heads(model, inputs[:, :MOST_TOKENS], _namer(preprocessor))
    if isinstance(model, SequenceModel) and not model.bidirectional:
        # A copy on the CPU: cuDNN gives no gradients while evaluating.
        backbone = copy.deepcopy(model.backbone).cpu().eval()
        start = backbone.start(1)
        if sum(part.numel() for part in tensors_of(start)) <= MOST_STATE:
            with evaluating(model):
                steps = model.embed(inputs)[0]
            return {"state-norms": measure_state_norms(backbone.step, steps.cpu(), start)}
    return {}


def _heads(model: GPT, tokens: Tensor, name_of: Callable[[int], str]) -> dict[str, View]:
    with evaluating(model):
        layers = model.attention_weights(tokens)  # a tensor (1, H, T, T) a layer
    heads = {
        f"layer {layer}, head {head}": weights[0, head].cpu()
        for layer, weights in enumerate(layers)
        for head in range(weights.shape[1])
    }
    names = [name_of(token) for token in tokens[0].tolist()]
    return {"attention": measure_attention_maps(heads, names, names)}


def _first(split: Split, model: nn.Module) -> tuple[Tensor, Tensor]:
    """The first example, for the model (1, ...), and its target on the CPU."""
    row = torch.zeros(1, dtype=torch.int64, device=split.targets.device)
    return split.read(row).to(device_of(model)), split.targets[:1].cpu()


def _namer(encoder: TextEncoder) -> Callable[[int], str]:
    names = encoder.tokenizer.tokens
    return lambda token: names[token].translate(VISIBLE)
