"""Images in shards as data: labels, parts, the cache of what was counted, and refusals."""

from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.shards.source import ImageShardsConfig, holds_image_shards
from netwright.recipes.plan.recipe import data_section
from tests.data.shards.written_shards import (
    CLASSES,
    load,
    picture,
    write_parquet,
    write_tar,
)


@pytest.mark.parametrize("kind", ["cls", "json", "records", "bytes"])
def test_every_layout_gives_images_and_their_labels(folder: Path, kind: str) -> None:
    for place, name in enumerate(("a", "b")):
        numbers = range(30 * place, 30 * place + 30)
        if kind in {"cls", "json"}:
            write_tar(folder / f"{name}.tar", numbers, record=kind == "json")
        else:
            write_parquet(folder / f"{name}.parquet", numbers, record=kind == "records")
    data = load(folder, normalize="none")
    names = ("0", "1", "2") if kind == "cls" else CLASSES
    assert data.spec.class_names == names and data.spec.input_shape == (3, 4, 4)
    for _, split in data.splits():
        red = (split.read(torch.arange(len(split)))[:, 0, 0, 0] * 255).round().long()
        assert torch.equal(red % 3, split.targets)
    assert [len(split) for _, split in data.splits()] == [42, 6, 12]
    assert "60 samples in 2 shards" in data.notes[0]


def test_parts_are_those_that_names_say_below_the_folder(folder: Path) -> None:
    write_tar(folder / "train-0.tar", range(9))
    write_tar(folder / "train-1.tar", range(9, 18))
    write_tar(folder / "validation-0.tar", range(18, 24))
    write_tar(folder / "test-0.tar", range(24, 30))
    data = load(folder)
    assert [len(split) for _, split in data.splits()] == [18, 6, 6] and data.test_is_given
    only = load(f"{folder}/train-*.tar", test_size=0.5, val_size=0)
    assert [len(split) for _, split in only.splits()] == [18]  # all of them are train


def test_parts_do_not_hang_on_how_a_path_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part, numbers in (("train", range(12)), ("test", range(12, 18))):
        (folder / part).mkdir()
        write_tar(folder / part / "0.tar", numbers)
    monkeypatch.chdir(folder.parent)
    for path in ("shards", "./shards", "shards/../shards/", f"{folder.parent}/./shards//"):
        data = load(path, val_size=0)
        assert [len(split) for _, split in data.splits()] == [12, 6] and data.test_is_given
    only = load("./shards/train", val_size=0, test_size=0.5)  # of which no name says a part
    assert [len(split) for _, split in only.splits()] == [6, 6]


def test_a_tar_file_beside_other_data_is_none_of_shards(tmp_path: Path) -> None:
    for name in ("images", "texts", "shards"):
        (tmp_path / name).mkdir()
        write_tar(tmp_path / name / "packed.tar", range(3))
    (tmp_path / "images" / "cat").mkdir()
    (tmp_path / "images" / "cat" / "1.png").write_bytes(picture(1))
    (tmp_path / "texts" / "a.txt").write_text("a text")
    (tmp_path / "shards" / "sizes.json").write_text("{}")
    (tmp_path / "shards" / ".hidden").write_text("")
    found = [data_section(tmp_path / name)["name"] for name in ("images", "texts", "shards")]
    assert found == ["images", "text", "image-shards"]


def test_bytes_that_are_no_image_are_those_of_a_table(folder: Path) -> None:
    table = pa.table({"key": [b"a", b"b"], "x": [1.0, 2.0], "label": [0, 1]})
    pq.write_table(table, folder / "a.parquet")
    assert data_section(folder / "a.parquet")["name"] == "table"
    with_image = table.append_column("image", [[b"", picture(1)]])
    pq.write_table(with_image, folder / "a.parquet", row_group_size=1)
    assert data_section(folder / "a.parquet")["name"] == "image-shards"


def test_shards_are_known_by_what_they_hold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not holds_image_shards(str(folder)) and not holds_image_shards("table.csv")
    write_parquet(folder / "a.parquet", range(3))
    assert data_section(str(folder))["name"] == "image-shards"
    assert data_section(str(folder / "a.parquet"))["name"] == "image-shards"
    pq.write_table(pa.table({"x": [1.0], "y": [1]}), folder / "a.parquet")
    assert data_section(str(folder / "a.parquet"))["name"] == "table"
    (folder / "a.parquet").unlink()
    write_tar(folder / "a.tar", range(3))
    assert data_section(str(folder))["name"] == "image-shards"
    assert data_section(f"{folder}/*.tar")["name"] == "image-shards"
    (folder / "train").mkdir()
    (folder / "a.tar").rename(folder / "train" / "a.tar")
    assert data_section(str(folder))["name"] == "image-shards"
    (folder / "train" / "a.png").write_bytes(b"")
    assert data_section(str(folder))["name"] == "images"
    (folder / "train" / "a.png").unlink()
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    with pytest.raises(ConfigError, match="s3://bucket/shards lies on the network"):
        data_section("s3://bucket/shards")


def test_an_address_is_known_by_what_lies_there(folder: Path) -> None:
    store = fsspec.filesystem("memory")
    for place, write in {"tar/a.tar": write_tar, "rows/a.parquet": write_parquet}.items():
        file = folder / place.rpartition("/")[2]
        write(file, range(3))
        store.pipe(f"/{place}", file.read_bytes())
    pq.write_table(pa.table({"x": [1.0], "y": [1]}), folder / "a.parquet")
    store.pipe("/table/a.parquet", (folder / "a.parquet").read_bytes())
    for place in ("tar", "tar/a.tar", "tar/*.tar", "rows", "rows/*.parquet"):
        assert data_section(f"memory://{place}")["name"] == "image-shards"
    for place in ("table", "table/a.parquet", "table/*.parquet", "table/a.csv"):
        assert data_section(f"memory://{place}")["name"] == "table"
    store.store.clear()
    with pytest.raises(ConfigError, match=r"memory://texts/a\.txt is a text, which is read from"):
        data_section("memory://texts/a.txt")


def test_settings_are_checked_as_those_of_every_source() -> None:
    with pytest.raises(ConfigError, match="cache_gb must be greater than 0"):
        ImageShardsConfig(path="shards", cache_gb=-1)
    assert ImageShardsConfig(path="shards", test_size="0.5").test_size == 0.5  # type: ignore[arg-type]
