"""Splits and data sets: taking rows, naming parts, and refusing what cannot be learned from."""

import re
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import netwright as nw
from netwright.core.errors import DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split, check_data
from netwright.data.spec import IGNORED, DataSpec
from tests.repetition import for_each

NAN, INFINITY = float("nan"), float("inf")


def split(targets: list[int], weights: list[float] | None = None) -> Split:
    count = len(targets)
    return Split(
        inputs=torch.arange(2.0 * count).reshape(count, 2),
        targets=torch.tensor(targets),
        weights=None if weights is None else torch.tensor(weights),
    )


def data(train: Split, val: Split | None = None, test: Split | None = None) -> Data:
    return Data(
        name="toy",
        spec=DataSpec(
            inputs="features",
            input_shape=(2,),
            target="class",
            num_outputs=2,
            class_names=("no", "yes"),
        ),
        train=train,
        val=val,
        test=test,
        preprocessor=ArrayEncoder(input_shape=(2,), target="class", num_outputs=2),
    )


def with_inputs(part: Split, place: tuple[int, int], value: float) -> Split:
    inputs = part.inputs.clone()
    inputs[place] = value
    return replace(part, inputs=inputs)


def test_taking_rows_keeps_inputs_targets_and_weights_together() -> None:
    taken = split([0, 1, 0], [0.1, 0.2, 0.3]).take(torch.tensor([2, 0, 2]))
    assert taken.inputs.tolist() == [[4, 5], [0, 1], [4, 5]]
    assert taken.targets.tolist() == [0, 0, 0]
    assert taken.weights is not None
    torch.testing.assert_close(taken.weights, torch.tensor([0.3, 0.1, 0.3]))
    assert len(taken) == 3


class Repeating(Split):
    """Knows its different targets without looking at all of them."""

    def each_target(self) -> Tensor:
        return torch.tensor([1, 2])


def test_one_of_each_target_is_enough_to_check_them() -> None:
    part = Repeating(inputs=torch.zeros(4, 2), targets=torch.tensor([1, 2, 1, 2]))
    assert split([0, 1]).each_target().tolist() == [0, 1]
    with pytest.raises(DataError, match=r"^label 2 in row 1 of the train split of toy is out of"):
        check_data(data(part))
    lying = replace(data(part), spec=replace(data(part).spec, num_outputs=3))
    part.targets[3] = 9  # is not looked at
    check_data(lying)


def test_reading_rows_gives_their_inputs_in_that_order() -> None:
    assert split([0, 1, 0]).read(torch.tensor([2, 0, 2])).tolist() == [[4, 5], [0, 1], [4, 5]]


def test_taking_rows_leaves_no_weights_where_there_were_none() -> None:
    assert split([0, 1]).take(torch.tensor([1])).weights is None


def test_all_of_a_data_set_moves_to_another_device() -> None:
    whole = data(split([0, 1], [1, 2]), test=split([1, 0]))
    moved = whole.to(torch.device("meta"))
    assert [name for name, _ in moved.splits()] == ["train", "test"]
    tensors: list[Tensor | None] = [moved.train.inputs, moved.train.targets, moved.train.weights]
    assert all(tensor is not None and tensor.device.type == "meta" for tensor in tensors)
    assert moved.test is not None
    assert moved.test.inputs.device.type == "meta"


def test_a_split_is_had_by_name() -> None:
    train, val = split([0, 1]), split([1, 0])
    assert data(train, val).split("val") is val
    with pytest.raises(DataError, match=r"^toy has no 'test' split, it has train, val$"):
        data(train, val).split("test")


def test_good_data_passes() -> None:
    check_data(data(split([0, 1, 1], [0.0, 1.0, 2.0]), split([1]), split([0])))


def test_tags_of_padding_do_not_count() -> None:
    spec = replace(data(split([0])).spec, inputs="tokens", target="tags", vocab_size=9, padding=0)
    inputs = torch.tensor([[3, 4], [5, 0]])
    tagged = Split(inputs=inputs, targets=torch.tensor([[1, 0], [1, IGNORED]]))
    check_data(replace(data(tagged), spec=spec))
    untagged = replace(tagged, targets=torch.full((2, 2), IGNORED))
    with pytest.raises(DataError, match=r"^the train split of toy has no target to learn from$"):
        check_data(replace(data(untagged), spec=spec))


@for_each(
    ("bad", "sentence"),
    [
        (data(split([0, 1]), split([])), "the val split of toy is empty"),
        (
            data(replace(split([0, 1]), targets=torch.tensor([0, 1, 1]))),
            "toy has 2 train inputs but 3 targets",
        ),
        (
            data(with_inputs(split([0, 1]), (1, 0), NAN)),
            "the train inputs of toy must be finite, got nan at [1, 0] (1 in all)",
        ),
        (
            data(split([0, 1]), test=with_inputs(split([0, 1]), (0, 1), -INFINITY)),
            "the test inputs of toy must be finite, got -inf at [0, 1] (1 in all)",
        ),
        (
            data(replace(split([0, 1]), weights=torch.ones(2, 1))),
            "the train weights of toy must have shape (2,), got (2, 1)",
        ),
        (
            data(split([0, 1], [1.0, NAN])),
            "the train weights of toy must be finite, got nan at [1] (1 in all)",
        ),
        (
            data(split([0, 1], [1.0, -0.5])),
            "the train weights of toy must be >= 0 and not all zero",
        ),
        (
            data(split([0, 1], [0.0, 0.0])),
            "the train weights of toy must be >= 0 and not all zero",
        ),
        (
            data(split([0, 1]), split([0, 1, 2])),
            "label 2 in row 2 of the val split of toy is out of range: there are 2 classes, 0 to 1",
        ),
        (
            data(split([0, -1])),
            "label -1 in row 1 of the train split of toy is out of range: "
            "there are 2 classes, 0 to 1",
        ),
        (data(split([1, 1])), "toy has only one class in its training rows, 'yes'"),
    ],
)
def test_refuses_what_cannot_be_learned_from(bad: Data, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        check_data(bad)


def test_reals_must_be_finite_but_may_all_be_equal() -> None:
    reals = DataSpec(inputs="features", input_shape=(2,), target="real", num_outputs=1)
    part = Split(inputs=torch.zeros(2, 2), targets=torch.ones(2, 1))
    check_data(replace(data(part), spec=reals))
    infinite = replace(part, targets=torch.tensor([[1.0], [INFINITY]]))
    sentence = "the train targets of toy must be finite, got inf at [1, 0] (1 in all)"
    with pytest.raises(DataError, match=re.escape(sentence)):
        check_data(replace(data(infinite), spec=reals))


def test_a_part_may_be_of_one_class() -> None:
    check_data(data(split([1, 1])), is_part=True)
    with pytest.raises(DataError, match="only one class"):
        check_data(data(split([1, 1])))


MASKS = DataSpec(
    inputs="image", input_shape=(1, 2, 3), target="mask", num_outputs=2, class_names=("no", "yes")
)


def masks(targets: Tensor) -> Data:
    return replace(data(Split(inputs=torch.zeros(2, 1, 2, 3), targets=targets)), spec=MASKS)


def halves(dtype: torch.dtype = torch.uint8) -> Tensor:
    """Two masks, in each of which one row is of class 1."""
    return torch.tensor([[[0, 0, 0], [1, 1, 1]]] * 2, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_masks_may_be_bytes_or_whole_numbers(dtype: torch.dtype) -> None:
    check_data(masks(halves(dtype)))
    check_data(masks(torch.zeros_like(halves(dtype))), is_part=True)


@for_each(
    ("targets", "sentence"),
    [
        (
            halves().float(),
            "the train targets of toy must be masks (2, 2, 3) of dtype uint8 or int64, "
            "got (2, 2, 3) of torch.float32",
        ),
        (
            halves()[:, :1],
            "the train targets of toy must be masks (2, 2, 3) of dtype uint8 or int64, "
            "got (2, 1, 3) of torch.uint8",
        ),
        (
            halves() + torch.tensor([0, 1], dtype=torch.uint8)[:, None, None],
            "label 2 in row 1 of the train split of toy is out of range: "
            "there are 2 classes, 0 to 1",
        ),
        (halves() * 0 + 1, "toy has only one class in its training masks, 'yes'"),
    ],
)
def test_refuses_masks_that_do_not_fit(targets: Tensor, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        check_data(masks(targets))


def test_other_targets_and_weights_leave_the_inputs() -> None:
    before = split([0, 1], [1.0, 2.0])
    after = before.with_targets(torch.tensor([1, 1]), None)
    assert after.inputs is before.inputs
    assert (after.targets.tolist(), after.weights) == ([1, 1], None)


def test_it_is_told_in_a_line() -> None:
    split = Split(inputs=torch.zeros(5, 2), targets=torch.zeros(5, dtype=torch.int64))
    assert repr(split) == "Split(inputs (5, 2) float32, targets (5,) int64)"
    weighed = replace(split, weights=torch.ones(5))
    assert repr(weighed).endswith(", weights (5,) float32)")
    assert len(repr(nw.data.load("moons"))) < 100
    assert repr(nw.data.load("moons")) == (
        "Data(moons: 280 train, 40 val, 80 test rows; features (2,) -> class of 2)"
    )
