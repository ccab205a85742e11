"""Folds of any source: which rows are divided, and that encoding sees training rows alone."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import netwright as nw
from netwright.core.config import Config, parse
from netwright.core.errors import ConfigError, DataError
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data, Split
from netwright.data.images.folder import ImageFolderConfig, load_image_folder
from netwright.data.pixels import ChannelScaling, PixelSplit
from netwright.data.tables.table import TableConfig, from_frame
from netwright.recipes.judging.folds import ENCODED_BEFORE, FoldableData, foldable
from netwright.recipes.plan.sources import load_source
from tests.data.text.spans.written import write_questions

BUT_5 = [0, 1, 2, 3, 4, 6, 7, 8, 9]
NONE = torch.empty(0, dtype=torch.int64)


def whole(name: str, **settings: object) -> FoldableData:
    source, config, data = load_source(name, dict(settings))
    assert source
    return foldable(name, config, data)


def table(rows: int = 40) -> pd.DataFrame:
    numbers = np.arange(rows, dtype=float)
    return pd.DataFrame(
        {
            "size": numbers,
            "colour": ["rare" if row == 0 else "red" for row in range(rows)],
            "kind": ["big" if row % 2 else "small" for row in range(rows)],
        }
    )


def fold_frame(frame: pd.DataFrame, **settings: object) -> FoldableData:
    config: Config = parse(TableConfig, {"target": "kind", **settings})
    assert isinstance(config, TableConfig)
    return foldable(frame, config, from_frame(frame, config))


def test_all_rows_of_a_named_set_are_divided_also_those_that_fit_would_hold_out() -> None:
    rows = whole("iris")
    assert (rows.count, rows.notes) == (150, ())
    assert rows.classes is not None
    assert rows.classes.bincount().tolist() == [50, 50, 50]
    assert rows.val_share == pytest.approx(0.1)
    assert whole("iris", val_size=0.0).val_share == 0


def test_features_are_standardised_by_the_fold_s_training_rows_alone() -> None:
    train, held = torch.arange(0, 100), torch.arange(100, 442)
    data = whole("diabetes").build(train, NONE, held)
    torch.testing.assert_close(data.train.inputs.mean(0), torch.zeros(10), atol=1e-5, rtol=0)
    spread = data.train.inputs.std(0, correction=0)
    torch.testing.assert_close(spread, torch.ones(10), atol=1e-5, rtol=0)
    assert data.val is None
    assert data.test is not None
    assert float(data.test.inputs.mean(0).abs().max()) > 0.01  # it was not asked


@pytest.mark.parametrize("shape", [(3,), (4, 3)])
def test_weights_and_the_steps_of_a_series_enter_the_fold_s_standardising(
    shape: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=(30, *shape)) + 2, rng.normal(size=30), rng.integers(1, 4, 30)
    arrays = (x, y, weights)
    rows = foldable(arrays, None, load_source(arrays, {})[2])
    train, held_out = torch.arange(29, 9, -1), torch.arange(10)
    fold = rows.build(train, torch.arange(0), held_out)
    assert fold.train.weights is not None
    amounts = fold.train.weights.double()[:, None]
    steps = fold.train.inputs.double().reshape(20, -1, 3)
    mean = (amounts * steps.mean(dim=1)).sum(dim=0) / amounts.sum()
    square = (amounts * steps.square().mean(dim=1)).sum(dim=0) / amounts.sum()
    torch.testing.assert_close(mean, torch.zeros(3).double(), rtol=0, atol=1e-5)
    torch.testing.assert_close(square, torch.ones(3).double(), rtol=0, atol=1e-5)


def test_a_fold_holds_the_raw_values_of_its_rows() -> None:
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(5.0, 3.0, (30, 2)), rng.normal(size=30)
    data = from_arrays(inputs, targets, config=ArraysConfig(val_size=0, test_size=0))
    places = torch.tensor([3, 8, 1, 29])
    fold = foldable(data, None, data).build(places, NONE, torch.tensor([4, 5]))
    means = torch.tensor(inputs[[3, 8, 1, 29]].mean(0))
    assert fold.preprocessor.encode(inputs[:3]).shape == (3, 2)
    torch.testing.assert_close(
        fold.preprocessor.encode(inputs[4:6]), fold.split("test").inputs, atol=1e-5, rtol=0
    )
    torch.testing.assert_close(
        torch.tensor(fold.preprocessor.to_json()["mean"]).double(), means, atol=1e-5, rtol=0
    )


def test_a_table_is_encoded_anew_so_a_category_of_held_out_rows_is_unknown() -> None:
    rows = fold_frame(table())
    assert rows.count == 40
    with_rare = rows.build(torch.arange(0, 30), NONE, torch.arange(30, 40))
    without = rows.build(torch.arange(10, 40), torch.tensor([5]), torch.tensor(BUT_5))
    assert any("rare" in name for name in with_rare.spec.feature_names)
    assert not any("rare" in name for name in without.spec.feature_names)
    assert [len(split) for _, split in without.splits()] == [30, 1, 9]
    sizes = without.train.inputs[:, 0]
    assert float(sizes.mean()) == pytest.approx(0, abs=1e-5)


def test_rows_without_a_target_are_left_out_and_a_column_called_fold_stays_a_feature() -> None:
    frame = table().rename(columns={"size": "fold"})
    frame.loc[3, "kind"] = None
    rows = fold_frame(frame, drop_missing_target=True)
    assert rows.count == 39
    data = rows.build(torch.arange(0, 30), NONE, torch.arange(30, 39))
    assert "fold" in data.spec.feature_names
    assert [len(split) for _, split in data.splits()] == [30, 9]


def test_test_rows_that_a_table_names_are_kept_out(tmp_path: Path) -> None:
    frame = table()
    frame["split"] = ["test" if row < 10 else "train" for row in range(40)]
    path = tmp_path / "things.csv"
    frame.to_csv(path, index=False)
    _, config, data = load_source(path, {"target": "kind"})
    rows = foldable(str(path), config, data)
    assert rows.count == 30
    fold = rows.build(torch.arange(0, 20), NONE, torch.arange(20, 30))
    assert fold.split("train").inputs.shape[0] == 20
    assert "split" not in fold.spec.feature_names


def test_a_test_split_that_comes_with_data_is_kept_out_and_weights_go_along() -> None:
    data = nw.data.load("moons", n=50)
    weighted = replace(
        data,
        train=replace(data.train, weights=torch.ones(len(data.train))),
        val=None,
    )
    rows = foldable(weighted, None, weighted)
    assert rows.count == len(data.train)
    assert rows.build(torch.arange(5), NONE, torch.arange(5, 10)).train.weights is not None


def test_rows_of_a_split_without_weights_count_once() -> None:
    data = nw.data.load("moons", n=50)
    assert data.val is not None
    weighted = replace(data, train=replace(data.train, weights=torch.full((len(data.train),), 3.0)))
    rows = foldable(weighted, None, weighted)
    known = rows.build(torch.arange(rows.count), NONE, torch.arange(1)).train.weights
    assert known is not None
    assert known.tolist() == [3.0] * len(data.train) + [1.0] * len(data.val)


def test_encoding_that_cannot_be_done_again_is_said() -> None:
    config = TableConfig(target=("kind",))
    data = from_frame(table(), config)
    assert foldable(data, None, data).notes == (ENCODED_BEFORE,)


def test_stored_inputs_are_divided_by_their_places(tmp_path: Path) -> None:
    np.save(tmp_path / "inputs.npy", np.arange(40.0).reshape(20, 2))
    np.save(tmp_path / "targets.npy", np.arange(20) % 2)
    _, config, data = load_source(tmp_path, {"standardize": False})
    rows = foldable(str(tmp_path), config, data)
    assert (rows.count, rows.notes) == (20, ())
    fold = rows.build(torch.arange(0, 10), NONE, torch.arange(10, 20))
    values = torch.cat([fold.train.inputs, fold.split("test").inputs])
    assert sorted(values[:, 0].tolist()) == list(range(0, 40, 2))
    _, scaled, again = load_source(tmp_path, {})
    assert foldable(str(tmp_path), scaled, again).notes == (ENCODED_BEFORE,)
    mixed = replace(again, val=Split(inputs=values, targets=torch.zeros(20, dtype=torch.int64)))
    with pytest.raises(DataError, match="stored in different places cannot be split again"):
        foldable(mixed, None, mixed)


def images(count: int, mean: float = 0.5) -> PixelSplit:
    return PixelSplit(
        pixels=torch.arange(4 * count, dtype=torch.uint8).reshape(count, 1, 2, 2),
        scaling=ChannelScaling(mean=(mean,), scale=(0.25,)),
        targets=torch.arange(count) % 2,
    )


def test_images_are_divided_as_bytes() -> None:
    loaded = from_arrays(np.zeros((8, 1, 2, 2)), np.arange(8) % 2)
    data = replace(loaded, train=images(6), val=images(4), test=None)
    rows = foldable(data, None, data)
    fold = rows.build(torch.arange(5), NONE, torch.arange(5, 10))
    assert isinstance(fold.train, PixelSplit)
    assert isinstance(fold.test, PixelSplit)
    assert torch.equal(fold.train.pixels, images(6).pixels[:5])
    assert torch.equal(fold.test.pixels[1:], images(4).pixels)
    other = replace(data, val=images(4, mean=0.25))  # bytes of two scalings agree as floats only
    joined = foldable(other, None, other).build(torch.arange(6), NONE, torch.arange(6, 10))
    assert torch.equal(joined.train.inputs, images(6).inputs)
    assert torch.equal(joined.split("test").inputs, images(4, mean=0.25).inputs)


@pytest.mark.parametrize("normalize", ["imagenet", "train"])
def test_images_that_the_user_set_aside_for_the_test_are_in_no_fold(
    tmp_path: Path, normalize: Literal["imagenet", "train"]
) -> None:
    for place, part in enumerate(("train", "train", "test")):
        for kind, level in (("dark", 20), ("light", 220)):
            path = tmp_path / part / kind / f"{place}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("L", (4, 4), level + place).save(path)
    config = ImageFolderConfig(path=str(tmp_path), normalize=normalize, val_size=0)
    rows = foldable(str(tmp_path), config, load_image_folder(config))
    assert rows.count == 4
    assert rows.notes == ((ENCODED_BEFORE,) if normalize == "train" else ())


def test_texts_that_share_what_they_are_read_from_cannot_be_folded(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("one two three four five six seven eight nine ten " * 40)
    whole_of = str(tmp_path / "own.txt")
    for name in ("text", "masked-text", "corrupted-text"):
        with pytest.raises(ConfigError, match="overlap or adjoin in one sequence"):
            whole(name, path=whole_of, tokenizer="word", window=13)
    with pytest.raises(ConfigError, match="several questions share a context"):
        whole("questions", path=str(write_questions(tmp_path)), tokenizer="word")


def test_test_rows_that_were_held_out_by_chance_can_be_left_out() -> None:
    frame = table()
    config = TableConfig(target=("kind",))
    data = from_frame(frame, config)
    rows = foldable(frame, config, data, keeps_test=True)
    every = torch.arange(rows.count)
    built = rows.build(every, NONE, NONE)

    def sizes(fold: Data, split: Split) -> set[float]:
        return {float(row["size"]) for row in fold.preprocessor.decode(split.inputs)}

    test = sizes(data, data.split("test"))
    assert test
    assert sizes(built, built.train) == set(frame["size"]) - test
    assert (
        whole("iris").count - foldable("iris", *load_source("iris", {})[1:], keeps_test=True).count
        == 30
    )
