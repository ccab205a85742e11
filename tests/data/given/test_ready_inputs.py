"""Ready inputs and their targets are told by dtype and dimensions."""

from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.given.ready_inputs import ready_kinds
from tests.repetition import for_each

X, Y = torch.zeros(4, 3), torch.arange(4) % 3
TOKENS = torch.arange(24).reshape(4, 6) % 7


def test_the_encoder_is_of_the_form_of_the_inputs() -> None:
    kinds = ready_kinds({"a": X, "b": Y}, [Y])
    assert kinds.spec.inputs == "parts"
    assert kinds.encoder.names == ("a", "b")
    assert kinds.encoder.shapes == ((3,), ())
    assert kinds.encoder.encode({"a": X, "b": Y})["b"].dtype is torch.int64


def test_a_size_that_varies_makes_parts_of_one_tensor() -> None:
    assert ready_kinds(X, [Y]).spec.inputs == "features"
    assert ready_kinds(X, [Y]).spec.feature_names == ("x0", "x1", "x2")
    assert ready_kinds(X, [Y], shapes=((-1,),)).spec.inputs == "parts"


@for_each(
    ("targets", "kind", "target", "names"),
    [
        ([Y], "auto", "class", ("0", "1", "2")),
        ([Y, Y + 2], "auto", "class", ("0", "1", "2", "3", "4")),
        ([torch.zeros(4).bool()], "auto", "class", ("0", "1")),
        ([Y[:, None]], "auto", "class", ("0", "1", "2")),
        ([torch.eye(4, 2).long()], "auto", "labels", ("y0", "y1")),
        ([torch.rand(4, 2)], "auto", "real", ()),
        ([torch.rand(4).bfloat16()], "auto", "real", ()),
        ([torch.ones(4)], "class", "class", ("0", "1")),
    ],
)
def test_targets_are_told_by_their_dtype(targets: Any, kind: Any, target: str, names: Any) -> None:
    spec = ready_kinds(X, targets, kind=kind).spec
    assert spec.target == target
    assert spec.class_names == names
    assert spec.num_outputs == (len(names) or (targets[0].shape[1] if targets[0].ndim > 1 else 1))


@for_each("classes", [["a", "b"], ["a", "a", "b"], "abc", [1, 2, 3], None])
def test_names_that_do_not_fit_are_not_used(classes: Any) -> None:
    assert ready_kinds(X, [Y], classes=classes).spec.class_names == ("0", "1", "2")
    assert ready_kinds(X, [Y], classes=["a", "b", "c"]).spec.class_names == ("a", "b", "c")


@for_each(
    ("targets", "kind"),
    [
        (TOKENS % 2, "labels"),
        (TOKENS % 2 == 0, "labels"),
        (TOKENS % 3, "tags"),
        ((TOKENS % 2).masked_fill(TOKENS == 5, -100), "tags"),
        (TOKENS, "tokens"),
    ],
)
def test_columns_of_0_and_1_are_labels_beside_tokens_too(targets: Any, kind: str) -> None:
    for inputs in (TOKENS, {"input_ids": TOKENS, "mask": torch.ones_like(TOKENS)}):
        kinds = ready_kinds(inputs, [targets])
        assert kinds.spec.target == kind
        assert ("; kind=tags makes them one for each token" in kinds.note) == (kind == "labels")
    assert ready_kinds(TOKENS, [targets], kind="tags").spec.target == "tags"


def test_columns_of_0_and_1_beside_tokens_of_any_length_are_tags() -> None:
    inputs, targets = {"input_ids": TOKENS, "other": TOKENS[:, :3]}, [TOKENS % 2]
    assert ready_kinds(inputs, targets, shapes=((-1,), (3,))).spec.target == "tags"
    assert ready_kinds(inputs, targets, shapes=((6,), (-1,))).spec.target == "labels"


def test_labels_beside_other_inputs_have_no_such_note() -> None:
    assert "kind=tags" not in ready_kinds(TOKENS, [torch.eye(4, 2).long()]).note


def test_one_column_beside_one_token_is_a_class() -> None:
    spec = ready_kinds({"category": Y[:, None], "numbers": X}, [Y[:, None]]).spec
    assert (spec.target, spec.class_names) == ("class", ("0", "1", "2"))


def test_what_is_no_target_is_refused() -> None:
    with pytest.raises(DataError, match="classes must be 0 or more, got -1"):
        ready_kinds(X, [Y - 1])
    with pytest.raises(DataError, match=r"got \(N, 2, 2\)"):
        ready_kinds(X, [torch.zeros(4, 2, 2)])
