"""Samples: the same bytes every time, learnable, and nothing is written over."""

import hashlib
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.files.sample_files import SAMPLES, flower_tables, shape_pictures, write_samples
from tests.odd_files import is_untouched, outside_of, plant, refusal

TEXTS = "74de836e"
CORNERS = [[49, 49, 49], [14, 14, 14], [228, 145, 186], [130, 172, 186]]


def test_the_same_files_every_time(tmp_path: Path) -> None:
    for make in SAMPLES:
        assert make() == make()
    content = {name: text for make in SAMPLES for name, text in make().items()}
    small = {name: text for name, text in content.items() if not name.endswith(".png")}
    assert hashlib.sha256(b"".join(small.values())).hexdigest()[:8] == TEXTS
    assert sum(map(len, content.values())) < 30_000


def test_flowers_are_in_one_file_or_the_other() -> None:
    files = flower_tables()
    rows = [text.decode().splitlines()[1:] for text in files.values()]
    assert [len(part) for part in rows] == [135, 15]
    assert len({row.split(",")[0] for part in rows for row in part}) == 150


def test_pictures_are_circles_and_squares_in_folders_of_their_own() -> None:
    pictures = shape_pictures()
    assert Counter(name.rpartition("/")[0] for name in pictures) == {
        "pictures/circle": 20,
        "pictures/square": 20,
    }
    for name, content in pictures.items():
        values = np.asarray(Image.open(io.BytesIO(content)))[:, :, 0]
        drawn = values != np.median(values[[0, 0, -1, -1], [0, -1, 0, -1]])
        rows, columns = drawn.any(axis=1), drawn.any(axis=0)
        is_full = drawn.sum() == rows.sum() * columns.sum()
        assert is_full == ("square" in name), name


def test_the_pictures_are_the_same_in_every_version() -> None:
    pictures = shape_pictures()  # by their pixels: how PNG packs them may change
    names = [
        f"pictures/{shape}/{number}.png" for shape in ("circle", "square") for number in (1, 20)
    ]
    opened = [np.asarray(Image.open(io.BytesIO(pictures[name]))) for name in names]
    corners = [picture[0, 0].tolist() for picture in opened]
    assert corners == CORNERS


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    written, kept = write_samples(tmp_path)
    assert kept == [tmp_path / "notes.txt"]
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert len(written) == 44
    assert write_samples(tmp_path)[0] == []
    with pytest.raises(ConfigError, match=r"notes.txt is a file, wanted a folder for the samples$"):
        write_samples(tmp_path / "notes.txt")


def test_every_file_is_data(tmp_path: Path) -> None:
    write_samples(tmp_path)
    loaded = {
        "table": {"path": "flowers.csv", "target": "species"},
        "images": {"path": "pictures"},
        "text": {"path": "notes.txt"},
        "text-table": {"path": "reviews.tsv", "text": "sentence", "target": "label"},
        "series": {"path": "visits.csv", "target": "visits"},
    }
    for name, settings in loaded.items():
        data = nw.data.load(name, **{**settings, "path": str(tmp_path / settings["path"])})
        assert len(data.train) >= 10, name


@pytest.mark.parametrize("name", ["new.csv", "pictures"])
def test_no_sample_is_written_where_a_link_leads(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "samples"
    folder.mkdir()
    outside = outside_of(folder)
    plant(folder / name, "link to a folder" if name == "pictures" else "dangling link", outside)
    with pytest.raises(DataError, match=refusal(folder / name, "link")):
        write_samples(folder)
    assert is_untouched(outside)
