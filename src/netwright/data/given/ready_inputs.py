"""What inputs are that go into a model as they are, and what their targets ask for.

One float tensor is told by its dimensions: features (F,), a series (T, F) or an image (C, I, J).
Everything else, several tensors, integers, sizes that vary, a target for each token, is parts: for
a module of one's own.

Shapes: N rows, K outputs, T tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import Tree, tensors_of
from netwright.data.batches.reading import encode_targets
from netwright.data.spec import IGNORED, VARIES, DataSpec, InputKind
from netwright.data.targets import PER_TOKEN, ReadyTarget, infer_kind
from netwright.data.tree_encoder import TreeEncoder, form_of

Shapes = tuple[tuple[int, ...], ...]
AskedKind = Literal["auto", "class", "labels", "real", "tags", "tokens"]
KINDS: Mapping[int, InputKind] = {2: "features", 3: "series", 4: "image"}  # of one float tensor


class ReadyKinds(NamedTuple):
    """The spec of the data, the encoder of the next inputs, and how the targets were told."""

    spec: DataSpec
    encoder: TreeEncoder
    note: str


def ready_kinds(
    inputs: Tree,
    targets: Sequence[Tensor | None],
    *,
    kind: AskedKind = "auto",
    classes: Any = None,
    shapes: Shapes | None = None,
) -> ReadyKinds:
    """Tell what ready inputs and their targets are.

    Args:
        inputs: some rows (N, ...).
        targets: those that are known, of the training rows first; the next ones count for the
            number of classes alone. None where there are none, or only for a training step.
        kind: of the targets; auto: their dtype decides, see `tell_target`.
        classes: the names that a data set gives its classes, or anything else where it has none.
        shapes: of one row of each part, with -1 where it varies; by default those of the inputs.
    """
    form, names, parts = form_of(inputs)
    shapes = shapes or tuple(tuple(part.shape[1:]) for part in parts)
    told, note = tell_target(inputs, targets[0], kind, shapes)
    known = [one for one in targets if one is not None]
    class_names = _class_names(known, told, classes)
    outputs = len(class_names) or _count_outputs(known, told)
    encoder = TreeEncoder(
        form=form,
        names=names,
        shapes=shapes,
        dtypes=tuple(str(part.dtype).removeprefix("torch.") for part in parts),
        target=told,
        num_outputs=outputs,
        class_names=class_names,
    )
    return ReadyKinds(_spec(inputs, encoder), encoder, note)


def tell_target(
    inputs: Tree, targets: Tensor | None, kind: AskedKind = "auto", shapes: Shapes | None = None
) -> tuple[ReadyTarget, str]:
    """What the targets are, and the sentence that says how it was told.

    Whole numbers (N, T) beside tokens (N, T) are one for each token: the tokens themselves, of
    which each is to be told from those before it, or tags. Where all are 0 or 1 they are labels,
    unless T varies: `shapes` are those of `ready_kinds`.
    """
    if targets is None:
        return "none", "there are no targets to measure by: the loss is your own"
    if targets.ndim > 2:
        sizes = ", ".join(map(str, targets.shape[1:]))
        raise DataError(
            f"targets must have shape (N,) or (N, K), got (N, {sizes}): give a DataLoader whose "
            f"batches have them in a dict, (inputs, {{'mask': targets}}), for a training_step"
        )
    if kind != "auto":
        return kind, ""
    beside = _beside(inputs, targets)
    any_length = shapes is not None and any(VARIES in shapes[place] for place in beside)
    if beside and (any_length or not bool(((targets == 0) | (targets == 1)).all())):
        tokens = max(beside.values(), key=lambda part: int(part.max()))  # the others are masks
        return _told_by_token(tokens, targets)
    flat = targets.squeeze(1) if targets.ndim == 2 and targets.shape[1] == 1 else targets
    told, note = infer_kind((flat.float() if flat.dtype is torch.bfloat16 else flat).numpy())
    return told, f"{note}; kind=tags makes them one for each token" if beside else note


def _beside(inputs: Tree, targets: Tensor) -> dict[int, Tensor]:
    """Whole inputs (N, T), by place, that may be the tokens of whole targets (N, T > 1)."""
    if targets.ndim != 2 or targets.shape[1] == 1 or targets.is_floating_point():
        return {}
    return {
        place: part
        for place, part in enumerate(tensors_of(inputs))
        if part.shape == targets.shape and not part.is_floating_point()
    }


def _told_by_token(tokens: Tensor, targets: Tensor) -> tuple[ReadyTarget, str]:
    if bool(((tokens == targets) | (targets == IGNORED)).all()):
        return "tokens", (
            "the targets are the tokens themselves: each is predicted from those before it; "
            "kind=tags predicts each at its own place"
        )
    return "tags", f"the targets are {targets.shape[1]} whole numbers a row: one for each token"


def _width(targets: Tensor) -> int:
    return 1 if targets.ndim == 1 else targets.shape[1]


def _count_outputs(targets: Sequence[Tensor], kind: ReadyTarget) -> int:
    if kind == "tokens":
        return _count_classes(targets, kind)
    return 0 if kind == "none" else _width(targets[0])


def _count_classes(targets: Sequence[Tensor], kind: ReadyTarget) -> int:
    """One more than the largest that was seen."""
    seen = torch.cat([encode_targets(one, kind, 0).flatten() for one in targets])
    seen = seen[seen != IGNORED] if kind in PER_TOKEN else seen
    if not len(seen):
        raise DataError(
            f"targets must have one that counts, all are {IGNORED}: look at what makes them, a "
            f"collate_fn or the function that was mapped over the dataset"
        )
    if int(seen.min()) < 0:
        raise DataError(
            f"classes must be 0 or more, got {int(seen.min())}: number them from 0, and leave out "
            f"rows without a class"
        )
    return int(seen.max()) + 1


def _class_names(targets: Sequence[Tensor], kind: ReadyTarget, classes: Any) -> tuple[str, ...]:
    """Those that the data set gives, else 0, 1 ... up to the largest that was seen."""
    if kind in {"real", "tokens", "none"}:
        return ()
    if kind == "labels":
        return tuple(f"y{place}" for place in range(_width(targets[0])))
    count = _count_classes(targets, kind)
    is_named = isinstance(classes, list | tuple) and all(isinstance(one, str) for one in classes)
    if classes and is_named and len(set(classes)) == len(classes) >= count:
        return tuple(classes)
    return tuple(map(str, range(max(count, 2))))


def _spec(inputs: Tree, encoder: TreeEncoder) -> DataSpec:
    outputs, names = encoder.num_outputs, encoder.class_names
    kind: InputKind = "parts"
    shape: tuple[int, ...] = ()
    is_one = isinstance(inputs, Tensor) and inputs.is_floating_point()
    is_one = is_one and encoder.target not in PER_TOKEN
    if is_one and VARIES not in encoder.shapes[0] and inputs.ndim in KINDS:
        kind, shape = KINDS[inputs.ndim], encoder.shapes[0]
    is_single = encoder.target in {"class", "tags", "tokens"} or outputs == 1
    are_numbers = names == tuple(map(str, range(len(names))))
    return DataSpec(
        inputs=kind,
        input_shape=shape,
        target=encoder.target,
        num_outputs=outputs,
        class_names=names,
        class_type="int" if encoder.target in {"class", "tags"} and are_numbers else "",
        target_names=("y",) if is_single else tuple(f"y{place}" for place in range(outputs)),
        feature_names=tuple(f"x{place}" for place in range(*shape)) if kind == "features" else (),
    )
