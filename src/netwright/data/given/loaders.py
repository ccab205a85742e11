"""A torch `DataLoader` as it is given: its batches as they are, with its own sampler and workers.

Kinds, classes and baseline come from its first batches; where these are not all, a note says so.

Shapes: N rows in memory, B rows of a batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from torch import Tensor

from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.trees import count_rows
from netwright.data.batches.reading import encode_targets
from netwright.data.batches.sample import BatchSample, sample_batches
from netwright.data.batches.source import BatchSource
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.ready_inputs import AskedKind, ready_kinds
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.data.targets import ReadyTarget
from netwright.data.tree_encoder import TreeEncoder


@dataclass(frozen=True, kw_only=True)
class LoaderConfig(Config):
    """What a loader does not say of its batches."""

    kind: Annotated[AskedKind, Doc("kind of target; auto: integers are classes, floats real")] = (
        "auto"
    )
    target: Annotated[str, Doc("key of the targets where a batch is a dict; default: labels")] = ""
    val_size: Annotated[float, Doc("must be 0: validation batches are a loader of their own")] = 0.0
    test_size: Annotated[float, Doc("must be 0: test batches are a loader of their own")] = 0.0


def is_loader(source: Any) -> bool:
    """Whether this is a loader of torch's, or of a class that is made from it."""
    return isinstance(source, torch.utils.data.DataLoader)


def from_loader(
    given: Given, config: LoaderConfig, *, is_stream: bool = False, stream: Any = None
) -> Data:
    """A loader as data; nothing is held out of it.

    Args:
        given: loaders.
        config: what they do not say.
        is_stream: see `BatchSource`.
        stream: of the training rows, see `BatchSource`.
    """
    if config.val_size or config.test_size:
        raise ConfigError(
            "batches of a DataLoader cannot be held out: give validation=DataLoader(...), or the "
            "Dataset, of which rows are held out"
        )
    sources = {
        name: BatchSource(
            one,
            config.target,
            is_stream=is_stream,
            stream=stream if name == "train" else None,
        )
        for name, one in _loaders(given).items()
    }
    samples = {name: _sampled(source, name) for name, source in sources.items()}
    sample = samples["train"]
    kinds = ready_kinds(
        sample.inputs,
        [sample.targets, *(one.all_targets for one in samples.values())],
        kind=config.kind,
        classes=getattr(getattr(given.data, "dataset", None), "classes", None),
        shapes=sample.shapes,
    )
    encoder = kinds.encoder
    splits = {name: _split(source, samples[name], encoder) for name, source in sources.items()}
    return Data(
        name="batches",
        spec=kinds.spec,
        train=splits["train"],
        val=splits.get("validation"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=tuple(filter(None, (kinds.note, _note_on_sample(sample)))),
        test_is_given=given.test is not None,
    )


def _loaders(given: Given) -> dict[str, Any]:
    """The loaders that are there, by name."""
    loaders = {"train": given.data, "validation": given.validation, "test": given.test}
    for name, loader in loaders.items():
        if loader is not None and not is_loader(loader):
            raise ConfigError(
                f"{name} must be a DataLoader as the data is, got {type(loader).__name__}"
            )
    return {name: loader for name, loader in loaders.items() if loader is not None}


def _sampled(source: BatchSource, name: str) -> BatchSample:
    try:
        return sample_batches(source)
    except NetwrightError as error:
        raise type(error)(error if name == "train" else f"{name}: {error}") from None


def _split(source: BatchSource, sample: BatchSample, encoder: TreeEncoder) -> SourceSplit:
    kind, outputs = encoder.target, encoder.num_outputs
    return SourceSplit(
        inputs=sample.inputs,
        targets=_targets(sample, kind, outputs),
        weights=sample.weights,
        source=source,
        kind=kind,
        outputs=outputs,
        batch_size=sample.batch_size,
        batches=sample.batches if sample.is_all else source.count,
        is_whole=sample.is_all and count_rows(sample.inputs) == sample.rows,
    )


def _targets(sample: BatchSample, kind: ReadyTarget, outputs: int) -> Tensor:
    """Of the rows in memory: where they have none, these are the inputs, or nothing to speak of."""
    if kind != "none":
        targets: Tensor = encode_targets(sample.targets, kind, outputs)
        return targets
    is_one = isinstance(sample.inputs, Tensor)
    return sample.inputs if is_one else torch.zeros(count_rows(sample.inputs), 1)


def labelled_batches(loader: Any, spec: DataSpec, encoder: Preprocessor) -> SourceSplit:
    """Batches to measure a run on that has learned from such batches.

    Args:
        loader: gives inputs and targets as the run's own did.
        spec: of the run.
        encoder: of the run; one that scales what it reads is refused.
    """
    if not isinstance(encoder, TreeEncoder):
        raise ConfigError(
            "this run was not trained on a DataLoader, whose batches are taken as they are: give "
            "what it was trained on"
        )
    source = BatchSource(loader)
    return _split(source, sample_batches(source), replace(encoder, num_outputs=spec.num_outputs))


def _note_on_sample(sample: BatchSample) -> str:
    if sample.is_all:
        return ""
    return (
        f"the first {sample.batches} batches of the DataLoader, {sample.rows:,} rows, "
        f"were read to tell its kinds, classes and baseline"
    )


def _settings(_source: Any, _given: Mapping[str, Any]) -> type[LoaderConfig]:
    return LoaderConfig


LOADER = GivenForm(
    name="a DataLoader",
    recognises=is_loader,
    settings=_settings,
    load=from_loader,
    has_rows=False,
)
