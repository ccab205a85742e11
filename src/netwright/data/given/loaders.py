"""A torch `DataLoader` as it is given: its batches as they are, with its own sampler and workers.

Kinds, classes and baseline come from its first batches; where these are not all, a note says so.

Shapes: N rows in memory, B rows of a batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from torch import Tensor

from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.data.batches.reading import encode_targets
from netwright.data.batches.sample import BatchSample, sample_batches
from netwright.data.batches.source import BatchSource
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec, InputKind
from netwright.data.targets import ArrayTarget, infer_kind
from netwright.data.tree_encoder import VARIES, TreeEncoder, form_of

KINDS: Mapping[int, InputKind] = {2: "features", 3: "series", 4: "image"}  # of one float tensor


@dataclass(frozen=True, kw_only=True)
class LoaderConfig(Config):
    """What a loader does not say of its batches."""

    kind: Annotated[
        Literal["auto", "class", "labels", "real"],
        Doc("kind of target; auto: integers are classes, floats are real"),
    ] = "auto"
    target: Annotated[str, Doc("key of the targets where a batch is a dict; default: labels")] = ""
    val_size: Annotated[float, Doc("must be 0: validation batches are a loader of their own")] = 0.0
    test_size: Annotated[float, Doc("must be 0: test batches are a loader of their own")] = 0.0


def is_loader(source: Any) -> bool:
    """Whether this is a loader of torch's, or of a class that is made from it."""
    return isinstance(source, torch.utils.data.DataLoader)


def from_loader(given: Given, config: LoaderConfig) -> Data:
    """A loader as data; nothing is held out of it."""
    if config.val_size or config.test_size:
        raise ConfigError(
            "batches of a DataLoader cannot be held out: give validation=DataLoader(...), or the "
            "Dataset, of which rows are held out"
        )
    sources = {name: BatchSource(one, config.target) for name, one in _loaders(given).items()}
    samples = {name: _sampled(source, name) for name, source in sources.items()}
    sample = samples["train"]
    kind, note = _kind(sample, config)
    names = _class_names(given.data, samples, kind)
    outputs = len(names) or _width(sample.all_targets)
    form, parts, tensors = form_of(sample.inputs)
    splits = {name: _split(sources[name], samples[name], kind, outputs) for name in sources}
    return Data(
        name="batches",
        spec=_spec(sample, kind, names, outputs),
        train=splits["train"],
        val=splits.get("validation"),
        test=splits.get("test"),
        preprocessor=TreeEncoder(
            form=form,
            names=parts,
            shapes=sample.shapes,
            dtypes=tuple(str(part.dtype).removeprefix("torch.") for part in tensors),
            target=kind,
            num_outputs=outputs,
            class_names=names,
        ),
        notes=tuple(filter(None, (note, _note_on_sample(sample)))),
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


def _kind(sample: BatchSample, config: LoaderConfig) -> tuple[ArrayTarget, str]:
    targets = sample.all_targets
    if targets.ndim > 2:
        raise DataError(
            f"targets of a DataLoader must have shape (B,) or (B, K), got "
            f"{('B', *targets.shape[1:])}"
        )
    if config.kind != "auto":
        return config.kind, ""
    flat = targets.squeeze(1) if targets.ndim == 2 and targets.shape[1] == 1 else targets
    return infer_kind(flat.float().numpy() if targets.dtype is torch.bfloat16 else flat.numpy())


def _width(targets: Tensor) -> int:
    return 1 if targets.ndim == 1 else targets.shape[1]


def _class_names(
    loader: Any, samples: Mapping[str, BatchSample], kind: ArrayTarget
) -> tuple[str, ...]:
    """Those that the data set names, else 0, 1 ... up to the largest that was seen."""
    if kind == "real":
        return ()
    if kind == "labels":
        return tuple(f"y{place}" for place in range(_width(samples["train"].all_targets)))
    classes = torch.cat([encode_targets(one.all_targets, "class", 0) for one in samples.values()])
    if int(classes.min()) < 0:
        raise DataError(f"classes must be 0 or more, got {int(classes.min())}")
    seen = int(classes.max()) + 1
    named = getattr(getattr(loader, "dataset", None), "classes", None)
    is_named = isinstance(named, list | tuple) and all(isinstance(name, str) for name in named)
    if named and is_named and len(set(named)) == len(named) >= seen:
        return tuple(named)
    return tuple(map(str, range(max(seen, 2))))


def _spec(sample: BatchSample, kind: ArrayTarget, names: tuple[str, ...], outputs: int) -> DataSpec:
    inputs: InputKind = "parts"
    shape: tuple[int, ...] = ()
    if isinstance(sample.inputs, Tensor) and sample.inputs.is_floating_point():
        inputs = KINDS.get(sample.inputs.ndim, "parts")
        if VARIES in sample.shapes[0]:
            inputs = "parts"
    if inputs != "parts":
        shape = sample.shapes[0]
    columns = ("y",) if kind == "class" or outputs == 1 else tuple(f"y{k}" for k in range(outputs))
    are_numbers = names == tuple(map(str, range(len(names))))
    return DataSpec(
        inputs=inputs,
        input_shape=shape,
        target=kind,
        num_outputs=outputs,
        class_names=names,
        class_type="int" if kind == "class" and are_numbers else "",
        target_names=columns,
        feature_names=tuple(f"x{k}" for k in range(shape[0])) if inputs == "features" else (),
    )


def _split(
    source: BatchSource, sample: BatchSample, kind: ArrayTarget, outputs: int
) -> SourceSplit:
    return SourceSplit(
        inputs=sample.inputs,
        targets=encode_targets(sample.targets, kind, outputs),
        weights=sample.weights,
        source=source,
        kind=kind,
        outputs=outputs,
        batch_size=sample.batch_size,
        batches=sample.batches if sample.is_all else source.count,
        is_whole=sample.is_all and len(sample.targets) == len(sample.all_targets),
    )


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
    return _split(source, sample_batches(source), encoder.target, spec.num_outputs)


def _note_on_sample(sample: BatchSample) -> str:
    if sample.is_all:
        return ""
    return (
        f"the first {sample.batches} batches of the DataLoader, {len(sample.all_targets):,} rows, "
        f"were read to tell its kinds, classes and baseline"
    )


def _settings(_source: Any, _given: Mapping[str, Any]) -> type[LoaderConfig]:
    return LoaderConfig


LOADER = GivenForm(name="a DataLoader", recognises=is_loader, settings=_settings, load=from_loader)
