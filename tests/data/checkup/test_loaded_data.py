"""All checks of loaded data, where they apply."""

from functools import partial
from pathlib import Path

import pytest
from torch import Tensor

import netwright as nw
from netwright.data.checkup.loaded_data import CHECKS, look_at_data
from netwright.data.checkup.origin import Origin
from netwright.data.images.folder import ImageFolderConfig, load_image_folder
from netwright.data.images.stored_images import StoredImages
from netwright.data.loading.stored import StoredSplit, sample_stored
from tests.data.images.pictures import folder_of


def test_every_check_is_made_or_said_to_be_for_other_kinds() -> None:
    classes, reals = (look_at_data(nw.data.load(name), Origin()) for name in ("moons", "line"))
    assert classes.looked_at == tuple(check.looks_at for check in CHECKS[:-1])
    assert classes.not_looked_at == ("target-outliers, which is for real targets",)
    assert reals.looked_at == tuple(CHECKS[place].looks_at for place in (0, 1, -1))
    assert reals.not_looked_at == (
        "imbalance, which is for class or mask targets",
        "single-row-class, which is for class targets",
        "label-noise, which is for features or image inputs and class targets",
    )


def test_stored_rows_are_read_and_looked_at(tmp_path: Path) -> None:
    names = [f"{kind}/{place}.png" for kind in ("cat", "dog") for place in range(10)]
    root = folder_of(tmp_path / "pets", *names)
    data = load_image_folder(ImageFolderConfig(path=str(root), memory=1e-9))
    assert isinstance(data.train, StoredSplit)
    seen = look_at_data(data, Origin())
    held = look_at_data(load_image_folder(ImageFolderConfig(path=str(root))), Origin())
    assert seen == held


def test_of_stored_rows_all_targets_are_looked_at_where_inputs_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{kind}/{place}.png" for kind in ("cat", "dog") for place in range(10)]
    root = folder_of(tmp_path / "pets", *names)
    data = load_image_folder(ImageFolderConfig(path=str(root), memory=1e-9))
    few = partial(sample_stored, most=2)  # of which each class may have one
    monkeypatch.setattr("netwright.data.checkup.loaded_data.sample_stored", few)
    read: list[int] = []

    def counted(self: StoredImages, rows: Tensor) -> Tensor:
        read.append(len(rows))
        return take(self, rows)

    take = StoredImages.read
    monkeypatch.setattr(StoredImages, "read", counted)
    illnesses = {finding.illness for finding in look_at_data(data, Origin()).findings}
    assert "single-row-class" not in illnesses
    assert read and max(read) <= 2


def test_of_stored_rows_a_rare_class_is_seen_that_no_sample_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*(f"cat/{place}.png" for place in range(30)), "dog/1.png", "dog/2.png"]
    root = folder_of(tmp_path / "pets", *names)
    config = ImageFolderConfig(path=str(root), memory=1e-9, val_size=0, test_size=0)
    few = partial(sample_stored, most=2)
    monkeypatch.setattr("netwright.data.checkup.loaded_data.sample_stored", few)
    found = look_at_data(load_image_folder(config), Origin()).findings
    (imbalance,) = (finding for finding in found if finding.illness == "imbalance")
    assert imbalance.sentence.startswith("1 of 2 classes stands in few training rows: 'dog' 6.25%")
