"""The view `embedding-map` of a run: its examples, or its tokens, as vectors on a plane."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.data.loading.stored import evenly_spaced
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.text.tokenizer import SPECIALS
from netwright.inspection.drawing.shown_rows import shown_rows
from netwright.inspection.inside.embedding_map import (
    EmbeddingMap,
    Method,
    measure_embedding_map,
    vectors_after,
    vectors_before_last,
)
from netwright.inspection.predictions.next_tokens import VISIBLE
from netwright.recipes.views.attribution.explained_answer import input_token_names, output_names
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import THE_OTHERS, refuse_several
from netwright.recipes.views.subject import Subject

EACH_PLACE = frozenset({"mask", "tags", "tokens"})  # targets with an answer at each place
COMMON = 9  # target tokens with a colour of their own
MOST_NUMBERS = 2**24  # of the inputs that go through the model
FEWEST = 2  # examples: a mask has an answer for each pixel
PADDED = 4  # of so many places one counts, where texts are filled up
BATCH = 64


@dataclass(frozen=True, kw_only=True)
class EmbeddingMapConfig(Config):
    """Which vectors are shown, and how."""

    of: Annotated[
        Literal["examples", "tokens"], Doc("what to show: examples, or token embeddings")
    ] = "examples"
    layer: Annotated[
        str,
        Doc(
            "path of the module whose outputs are shown; default: the inputs of the last "
            "linear layer"
        ),
    ] = ""
    method: Annotated[Method, Doc("projection method")] = "pca"
    points: Annotated[Size, Doc("maximum number of points")] = 500


def refusal(subject: Subject) -> str:
    """Only of one model with layers, whose answers each have one target."""
    if subject.run.spec.target == "boxes":
        return f"an embedding map is for one answer per example or place; {THE_OTHERS}"
    parts = subject.run.model.modules()
    if any(isinstance(part, nn.Linear | nn.Conv1d | nn.Conv2d) for part in parts):
        return refuse_several(subject, "an embedding map")
    return f"an embedding map needs a network with layers, {subject.name} has none"


def measure(subject: Subject, settings: EmbeddingMapConfig) -> EmbeddingMap:
    """Examples by what the model has made of them, or the rows of its embedding."""
    if settings.of == "tokens":
        return _of_tokens(subject, settings)
    run, split = subject.run, subject.split
    if run.spec.target == "span":
        raise ConfigError("spans have no class to colour each place by: set of=tokens")
    rows = evenly_spaced(len(split), _num_rows(run.spec, settings.points))
    rows = rows.to(split.targets.device)
    inputs = [split.read(part) for part in torch.split(rows, BATCH)]
    vectors = torch.cat([_vectors(run.model, part, settings.layer) for part in inputs])
    targets = split.targets[rows].cpu()
    if run.spec.target in EACH_PLACE:
        targets = targets.long()  # masks are bytes
        if vectors.shape[:-1] != targets.shape:
            raise ConfigError(
                f"layer must give a vector for each of {tuple(targets.shape)} answers, "
                f"got {tuple(vectors.shape)}"
            )
        counted = (targets != IGNORED).flatten().nonzero()[:, 0]
        chosen = counted[shown_rows(len(counted), settings.points)]
        vectors, targets = vectors.flatten(0, -2)[chosen], targets.flatten()[chosen]
        what = f"what the model makes of one {'pixel' if run.spec.target == 'mask' else 'token'}"
    else:
        what = "what the model makes of one example"
    where = f"after {settings.layer!r}" if settings.layer else "before its last linear map"
    if vectors.ndim > 2:
        vectors = _mean_over_places(vectors, torch.cat(inputs).cpu(), run.spec.padding)
        where += f", the mean over its {'tokens' if run.spec.vocab_size else 'places'}"
    if run.spec.target == "real":
        return measure_embedding_map(
            vectors,
            f"{what} {where}",
            values=targets[:, 0],
            value_name=output_names(run)[0],
            method=settings.method,
        )
    classes, names = _as_classes(run.spec.target, targets, output_names(run))
    return measure_embedding_map(
        vectors, f"{what} {where}", classes=classes, class_names=names, method=settings.method
    )


def _of_tokens(subject: Subject, settings: EmbeddingMapConfig) -> EmbeddingMap:
    """The first tokens of the vocabulary but for padding and its like, which say nothing."""
    run = subject.run
    tables = [part for part in run.model.modules() if isinstance(part, nn.Embedding)]
    if not tables:
        raise ConfigError(f"{subject.name} has no token embedding to show")
    tokens = {
        token: name.translate(VISIBLE)
        for token, name in enumerate(input_token_names(run))
        if token != run.spec.padding and name not in SPECIALS
    }
    shown = list(tokens)[: settings.points]
    return measure_embedding_map(
        tables[0].weight.detach()[shown],
        "the embedding of one token",
        labels=[tokens[token] for token in shown],
        method=settings.method,
    )


def _vectors(model: nn.Module, inputs: Tensor, layer: str) -> Tensor:
    inputs = inputs.to(device_of(model))
    found = vectors_after(model, layer, inputs) if layer else vectors_before_last(model, inputs)
    return found.cpu()


def _mean_over_places(vectors: Tensor, inputs: Tensor, padding: int | None) -> Tensor:
    """(N, D) of vectors at several places (N, ..., D); padding of inputs (N, T) is no place."""
    if padding is None or vectors.shape[:-1] != inputs.shape:
        return vectors.flatten(1, -2).mean(dim=1)
    counted = (inputs != padding)[..., None].to(vectors)
    return (counted * vectors).sum(dim=1) / counted.sum(dim=1).clamp(min=1)


def _num_rows(spec: DataSpec, points: int) -> int:
    """So many examples as give the points, and fewer where they are large."""
    places = math.prod(spec.output_shape) / spec.num_outputs
    if spec.target in EACH_PLACE and spec.padding is not None:
        places /= PADDED
    return max(min(math.ceil(points / places), MOST_NUMBERS // spec.num_features), FEWEST)


def _as_classes(target: str, targets: Tensor, names: Sequence[str]) -> tuple[Tensor, Sequence[str]]:
    """Classes with a name each: rare tokens are one, and so are several labels at once."""
    if target == "tokens":
        common = targets.bincount(minlength=len(names)).topk(min(COMMON, len(names))).indices
        is_common = targets[:, None] == common  # (N, COMMON)
        classes = torch.where(is_common.any(dim=1), is_common.int().argmax(dim=1), len(common))
        return classes, [*(names[token].translate(VISIBLE) for token in common.tolist()), "other"]
    if target == "labels":
        counts = targets.sum(dim=1)
        classes = torch.where(counts == 1, targets.argmax(dim=1), len(names) + (counts > 1).long())
        return classes, [*names, "none", "several"]
    return targets, names


EMBEDDING_MAP = ViewEntry(
    card=Card(
        sentence="What the model has made of its examples before the last layer, or the vectors of "
        "its tokens, on a plane; near points are alike to it.",
        formula=r"y_n = W (h_n - \bar h), \quad "
        r"W = \arg\max_{W W^T = I} \sum_n |W (h_n - \bar h)|^2",
        symbols={
            "h_n": "the vector of example n, (D)",
            r"\bar h": "their mean",
            "W": "the first two principal components, (2, D)",
            "y_n": "where it is drawn, (2)",
        },
        source="Pearson (1901), Philosophical Magazine 2, 559-572; van der Maaten and Hinton "
        "(2008), JMLR 9, 2579-2605",
        misprint="Sizes of clumps and distances between them in a map by t-SNE mean nothing.",
    ),
    measure=measure,
    refusal=refusal,
    one_input=True,
    settings=EmbeddingMapConfig,
)
