"""Parts of labelled files: as given, or held out by seed and class by class."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.images.labelled import LabelledImages, divide


def images(*parts: str, count: int = 40, classes: int = 2) -> LabelledImages:
    count = len(parts) or count
    return LabelledImages(
        files=tuple(Path(f"{place}.png") for place in range(count)),
        targets=torch.arange(count) % classes,
        target="class",
        class_names=tuple(f"c{place}" for place in range(classes)),
        parts=parts,
        how="by their folders",
    )


def test_every_class_keeps_its_share_in_every_part() -> None:
    found, said = divide(images(), val_size=0.1, test_size=0.2, seed=0)
    assert said == "images: 28 train, 4 val, 8 test (held out at random, stratified by class)"
    assert [int((rows % 2).sum()) for rows in found.values()] == [14, 2, 4]
    assert torch.cat(list(found.values())).sort().values.tolist() == list(range(40))
    again, _ = divide(images(), val_size=0.1, test_size=0.2, seed=0)
    other, _ = divide(images(), val_size=0.1, test_size=0.2, seed=1)
    assert torch.equal(found["test"], again["test"])
    assert not torch.equal(found["test"], other["test"])


def test_given_parts_stay_as_they_are() -> None:
    given = images("test", "train", "train", "val")
    found, said = divide(given, val_size=0.1, test_size=0.2, seed=0)
    assert {part: rows.tolist() for part, rows in found.items()} == {
        "train": [1, 2],
        "val": [3],
        "test": [0],
    }
    assert said == "images: 2 train, 1 val, 1 test (by their folders)"


def test_what_is_to_choose_by_comes_out_of_train_where_none_is_given() -> None:
    given = images(*["test"] * 4, *["train"] * 20)
    found, said = divide(given, val_size=0.1, test_size=0.5, seed=0)
    assert said == "images: 18 train, 2 val, 4 test (by their folders; val is held out of train)"
    assert found["test"].tolist() == [0, 1, 2, 3]
    for seed in range(5):
        chosen = divide(given, val_size=0.1, test_size=0.5, seed=seed)[0]["val"]
        assert sorted((chosen % 2).tolist()) == [0, 1]  # one of each class
    assert torch.cat([found["train"], found["val"]]).sort().values.tolist() == list(range(4, 24))
    whole, _ = divide(given, val_size=0, test_size=0.5, seed=0)
    assert list(whole) == ["train", "test"]


@pytest.mark.parametrize("part", ["val", "test"])
def test_a_class_that_is_never_learned_is_refused(part: str) -> None:
    with pytest.raises(DataError, match=r"^class 'c1' has no training image$"):
        divide(images("train", part, "train", part), val_size=0, test_size=0, seed=0)


def test_reals_are_divided_without_classes() -> None:
    reals = LabelledImages(
        files=tuple(Path(str(place)) for place in range(10)),
        targets=torch.rand(10, 1),
        target="real",
        target_names=("score",),
    )
    _, said = divide(reals, val_size=0.1, test_size=0.2, seed=0)
    assert said == "images: 7 train, 1 val, 2 test (held out at random)"
    assert reals.num_outputs == 1


def test_taking_keeps_files_targets_and_parts_together() -> None:
    some = images("train", "val", "test").take([2, 0])
    assert [file.name for file in some.files] == ["2.png", "0.png"]
    assert (some.targets.tolist(), some.parts) == ([0, 0], ("test", "train"))
    undivided = images(count=3).take([1])
    assert (undivided.targets.tolist(), undivided.parts) == ([1], ())
