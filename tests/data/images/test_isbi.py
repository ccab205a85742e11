"""ISBI 2012: blocks of neighbours are held out, and the published files are as they are told."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DownloadError
from netwright.data.files.locations import find_file
from netwright.data.images.isbi import FILES, IsbiConfig, divide_slices, load_isbi
from netwright.data.images.pairs import is_pairs_folder
from netwright.data.pixels import PixelSplit
from tests.repetition import for_each

FOUND = find_file("isbi2012", FILES[0].name)


@pytest.mark.parametrize("val_count", [0, 4, 20])
def test_every_slice_is_in_one_part_and_in_the_test_of_one_fold(val_count: int) -> None:
    tested = []
    for fold in range(5):
        parts = divide_slices(IsbiConfig(fold=fold, val_count=val_count))
        assert sorted(torch.cat(list(parts.values())).tolist()) == list(range(30))
        assert len(parts["val"]) == val_count
        assert parts["test"].diff().tolist() == [1] * 5
        tested += parts["test"].tolist()
    assert tested == list(range(30))


def test_without_settings_the_first_six_slices_are_tested_on_and_none_chosen_by() -> None:
    parts = divide_slices(IsbiConfig())
    assert (parts["test"].tolist(), parts["val"].tolist()) == (list(range(6)), [])


@for_each(
    ("fold", "chosen"),
    [(0, [27, 28, 29]), (1, [27, 28, 29]), (2, [27, 28, 29]), (3, [0, 1, 2]), (4, [0, 1, 2])],
)
def test_slices_to_choose_by_lie_far_from_those_to_report_on(fold: int, chosen: list[int]) -> None:
    parts = divide_slices(IsbiConfig(fold=fold, val_count=3))
    assert parts["val"].tolist() == chosen
    assert parts["train"].tolist() == sorted(parts["train"].tolist())


@for_each(
    ("settings", "sentence"),
    [
        ({"fold": -1}, "fold must be at least 0, got -1"),
        ({"fold": 5}, "fold must be less than 5, got 5"),
        ({"val_count": -1}, "val_count must be at least 0, got -1"),
        ({"val_count": 24}, "val_count must be less than 24, got 24"),
    ],
)
def test_settings_without_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(IsbiConfig, settings)


def test_sixty_files_have_an_address_and_a_sum() -> None:
    assert len({file.name for file in FILES}) == len({file.sha256 for file in FILES}) == 60
    for file in FILES:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        (address,) = file.addresses
        assert re.search(r"/[0-9a-f]{40}/data/membrane/train/(image|label)/\d+\.png$", address)
    assert (FILES[0].name, FILES[30].name) == ("image/0.png", "label/0.png")


def test_an_absent_set_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NETWRIGHT_DATA", raising=False)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    with pytest.raises(DownloadError, match=r"^isbi2012 is not on this machine and .*image/0\.png"):
        load_isbi(IsbiConfig())


@pytest.mark.slow
@pytest.mark.skipif(FOUND is None, reason="isbi2012 is not on this machine")
def test_the_slices_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    data = load_isbi(IsbiConfig(fold=2, val_count=2))
    sizes = {name: len(split) for name, split in data.splits()}
    assert sizes == {"train": 22, "val": 2, "test": 6}
    assert data.spec.input_shape == (1, 512, 512)
    assert data.spec.class_names == ("membrane", "cell")
    assert data.preprocessor.to_json()["mask_values"] == [0, 255]
    masks = torch.cat([split.targets for _, split in data.splits()])
    assert torch.unique(masks).tolist() == [0, 1]
    assert float(masks.float().mean()) == pytest.approx(0.780, abs=5e-4)  # inside a cell
    for _, split in data.splits():
        assert isinstance(split, PixelSplit)
        pixels, is_cell = split.pixels[:, 0].float(), split.targets.bool()
        assert pixels[is_cell].mean() > pixels[~is_cell].mean() + 20  # membranes are dark
    assert float(data.train.inputs.mean()) == pytest.approx(0, abs=1e-4)
    assert FOUND is not None
    assert is_pairs_folder(FOUND.parents[1])
