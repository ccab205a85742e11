"""Batches as loaders give them: which part is what, and what is refused with the way that works."""

import re
from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.batches.reading import encode_targets, read_batch
from tests.repetition import for_each

X, Z, Y = torch.zeros(3, 2), torch.ones(3, 4), torch.tensor([0, 1, 2])
W = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def test_inputs_targets_and_weights_are_told_apart() -> None:
    assert read_batch((X, Y)).inputs is X
    assert read_batch([X, Y]).weights is None
    batch = read_batch((X, Y, W))
    assert batch.targets is Y
    assert batch.weights is not None
    assert batch.weights.dtype is torch.float32
    assert read_batch(([X, Z], Y)).inputs == (X, Z)
    assert list(read_batch(({"a": X, "b": Z, "text": ["u"]}, Y)).inputs) == ["a", "b"]


def test_a_dict_has_its_targets_by_a_usual_key_or_by_the_one_that_is_named() -> None:
    batch = read_batch({"a": X, "b": Z, "labels": Y, "weights": W, "names": ["u", "v", "w"]})
    assert list(batch.inputs) == ["a", "b"]
    assert batch.targets is Y
    assert batch.weights is not None
    assert read_batch({"x": X, "y": Y}).inputs is X
    assert read_batch({"x": X, "kind": Y}, "kind").targets is Y


def test_a_batch_may_have_no_targets_or_several() -> None:
    for item in (X, (X,), [X], {"x": X}):
        assert read_batch(item).inputs is X
        assert read_batch(item).targets is None
    assert list(read_batch({"a": X, "b": Z}).inputs) == ["a", "b"]
    assert read_batch((X, {"a": Y, "b": Z, "name": "u"})).targets == {"a": Y, "b": Z}
    assert read_batch((X, [Y, Z])).targets == (Y, Z)
    with pytest.raises(DataError, match="all parts of a batch must have as many rows, got 3 and 2"):
        read_batch((X, {"a": Y[:2]}))


@for_each(
    ("item", "told"),
    [
        ("text", "a batch must be (inputs, targets[, weights]) or a dict"),
        ((X, Z, X, Y), "got 4 parts; several inputs are ((a, b), targets)"),
        (
            (X, Z, Y),
            "the third part of a batch must be weights (B,) of floats, got (3,) of torch.i",
        ),
        ({"labels": Y}, "must have a tensor beside its targets, got only 'labels'"),
        ({"text": ["a"]}, "must have a tensor, got only 'text': let collate_fn give tensors"),
        ((X, [0, 1, 2]), "the targets of a batch must be a tensor, got list: let collate_fn"),
        (("text", Y), "the inputs of a batch must be a tensor, got str"),
        ((X, Y[:2]), "all parts of a batch must have as many rows, got 3 and 2"),
        ((X[:0], Y[:0]), "as many rows, got 0 and 0"),
        ((X, Y.sum()), "a first dimension of rows"),
        (({}, Y), "inputs that are tensors, got none"),
    ],
)
def test_what_is_no_batch_is_refused(item: Any, told: str) -> None:
    with pytest.raises(DataError, match=re.escape(told)):
        read_batch(item)


def test_a_named_key_that_is_not_there_is_refused_by_its_name() -> None:
    with pytest.raises(DataError, match="by the key 'kind', got x, y: name one of these as target"):
        read_batch({"x": X, "y": Y}, "kind")


def test_targets_become_classes_labels_or_reals() -> None:
    assert encode_targets(Y[:, None].short(), "class", 3).tolist() == [0, 1, 2]
    assert encode_targets(torch.tensor([True, False]), "class", 2).tolist() == [1, 0]
    reals = encode_targets(W, "real", 1)
    assert reals.dtype is torch.float32
    assert reals.shape == (3, 1)
    assert encode_targets(Z.long(), "labels", 4).dtype is torch.float32


def test_tags_and_tokens_stay_where_they_are_and_some_do_not_count() -> None:
    tags = torch.tensor([[0, 2], [1, -100]], dtype=torch.int32)
    assert encode_targets(tags, "tags", 3).tolist() == tags.tolist()
    assert encode_targets(tags, "tokens", 3).dtype is torch.int64
    assert encode_targets({"a": Y}, "none", 0) == {"a": Y}


@for_each(
    ("targets", "kind", "outputs", "told"),
    [
        (Y, "class", 2, "label 2 is out of range: there are 2 classes, 0 to 1"),
        (Y - 1, "class", 3, "label -1 is out of range"),
        (Z, "class", 3, "classes must have shape (B,), got (3, 4)"),
        (Z, "real", 3, "targets must have shape (B, 3), got (3, 4)"),
        (Z[:, :, None], "real", 0, "targets must have shape (B, K), got"),
        (Z, "tags", 3, "targets must be whole numbers (B, T), one for each token, got (3, 4)"),
        (Z.long() * 3, "tags", 3, "label 3 is out of range: there are 3 classes"),
        (None, "class", 3, "a batch must be (inputs, targets), or a dict with a key such as"),
        ({"a": Y, "b": Y}, "class", 3, "must be one tensor, got 2 of them: give a training_step"),
    ],
)
def test_other_targets_are_refused(targets: Any, kind: Any, outputs: int, told: str) -> None:
    with pytest.raises(DataError, match=re.escape(told)):
        encode_targets(targets, kind, outputs)
