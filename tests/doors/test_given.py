"""Arrays, frames and what else is no torch object: each trains, resumes, predicts, reports."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from tests.doors.door import Door, check_door, check_report
from tests.repetition import slow_but
from tests.undrawn import undrawn  # noqa: F401 - a fixture


def features(rows: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(rows, 3))


def classes(rows: int) -> Any:
    return np.arange(rows) % 2


def images(rows: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((rows, 6, 5, 3), dtype=np.float32)


def gaps(rows: int, seed: int = 0) -> Any:
    values = features(rows, seed)
    values[1::4, 1] = np.nan
    return values


def frame(rows: int, seed: int = 0) -> pd.DataFrame:
    """Two columns of numbers, one with a missing cell, one of text, and a class."""
    values = features(rows, seed)
    values[1, 1] = np.nan
    return pd.DataFrame(
        {
            "size": values[:, 0],
            "age": values[:, 1],
            "colour": np.where(np.arange(rows) % 3 == 0, "red", "blue"),
            "kind": np.where(values[:, 0] > 0, "big", "small"),
        }
    )


def texts(rows: int) -> tuple[list[str], list[int]]:
    return (["a fine film", "a dull film", "what fun", "how boring"] * rows)[:rows], [
        1 - row % 2 for row in range(rows)
    ]


def pictures(rows: int) -> tuple[list[Image.Image], list[str]]:
    pixels = (images(rows) * 255).astype(np.uint8)
    return [Image.fromarray(one) for one in pixels], [("cat", "dog")[k % 2] for k in range(rows)]


def dataset(pair: tuple[list[Any], list[Any]], inputs: str = "text") -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({inputs: pair[0], "label": pair[1]})


def splits_of_images() -> Any:
    rows = {"train": 24, "validation": 8, "test": 8}
    parts = {name: dataset(pictures(count), "image") for name, count in rows.items()}
    return pytest.importorskip("datasets").DatasetDict(parts)


def parts(rows: int) -> dict[str, Any]:
    return {"numbers": features(rows), "place": np.arange(rows) % 3}


class Joined(nn.Module):
    """Takes two inputs: numbers (B, 3), and a place of three (B,)."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.places, self.head = nn.Embedding(3, 4), nn.Linear(7, outputs)

    def forward(self, numbers: Tensor, place: Tensor) -> Tensor:
        said: Tensor = self.head(torch.cat([numbers, self.places(place)], dim=1))
        return said


def polars_frame(rows: int, seed: int = 0) -> Any:
    columns = frame(rows, seed).to_dict("list")
    return pytest.importorskip("polars").DataFrame(columns, nan_to_null=True)


def arrow_table(rows: int, seed: int = 0) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pandas(frame(rows, seed))


def labelled(rows: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    rows_ = frame(rows, seed)
    return rows_.drop(columns="kind"), rows_["kind"]


DOORS = {
    "arrays with validation and test": Door(
        given=lambda: {
            "data": (features(40), classes(40)),
            "validation": (features(10, 1), classes(10), np.full(10, 0.5)),
            "test": (features(6, 2), classes(6)),
        },
        new=lambda: features(5),
        rows=(40, 10, 6),
    ),
    "several reals with validation": Door(
        given=lambda: {
            "data": (features(40), features(40, 1)[:, :2]),
            "validation": (features(10, 1), features(10)[:, :2]),
        },
        new=lambda: features(5),
        rows=(40, 10, 0),
    ),
    "weighted arrays with a test": Door(
        given=lambda: {
            "data": (features(40), classes(40), np.linspace(0.1, 1, 40)),
            "test": (features(6, 2), classes(6)),
        },
        new=lambda: features(5),
        rows=(36, 4, 6),
    ),
    "a frame with validation": Door(
        given=lambda: {"data": frame(40), "validation": frame(10, 1)},
        settings={"hidden": (4,), "target": "kind"},
        new=lambda: frame(5, 3),
        note="10 validation rows are given",
        rows=(40, 10, 0),
    ),
    "a frame with reals and a test": Door(
        given=lambda: {"data": frame(40), "test": frame(10, 1)},
        settings={"hidden": (4,), "target": "size"},
        new=lambda: frame(5, 3),
        note="10 test rows are given",
        rows=(36, 4, 10),
    ),
    "images with channels last": Door(
        given=lambda: {"data": (images(24), classes(24)), "validation": (images(8, 1), classes(8))},
        new=lambda: images(5),
        note="have their channels last",
        rows=(24, 8, 0),
    ),
    "grey images of bytes": Door(
        given=lambda: {"data": ((images(24)[..., 0] * 255).astype(np.uint8), classes(24))},
        settings={"hidden": (4,), "factor": 1 / 255},
        new=lambda: (images(5)[..., 0] * 255).astype(np.uint8),
        note="read as grey images",
    ),
    "missing numbers, filled": Door(
        given=lambda: {"data": (gaps(40), classes(40)), "test": (gaps(9, 1), classes(9))},
        settings={"hidden": (4,), "missing": "mean"},
        new=lambda: gaps(5),
        note="filled with the training mean",
    ),
    "missing numbers, dropped": Door(
        given=lambda: {"data": (gaps(40), features(40, 1)), "test": (gaps(9), features(9))},
        settings={"hidden": (4,), "missing": "drop"},
        new=lambda: features(5),
        note="rows of data were dropped, a value is missing",
    ),
    "a sparse matrix": Door(
        given=lambda: {"data": (csr_matrix(features(40)), features(40, 1)[:, 0])},
        new=lambda: csr_matrix(features(5)),
    ),
    "texts and labels": Door(
        given=lambda: {"data": texts(32), "validation": texts(8)},
        model=lambda: "lstm",
        settings={"hidden": 4, "embedding": 4},
        new=lambda: texts(4)[0],
        note="8 validation rows are given",
        rows=(32, 8, 0),
    ),
    "texts and reals": Door(
        given=lambda: {"data": (texts(32)[0], features(32)[:, 0], np.linspace(0.1, 1, 32))},
        model=lambda: "lstm",
        settings={"hidden": 4, "embedding": 4},
        new=lambda: pd.Series(texts(4)[0]),
    ),
    "texts alone": Door(
        given=lambda: {"data": texts(32)[0], "validation": texts(8)[0]},
        model=lambda: "lstm",
        settings={"hidden": 4, "embedding": 4, "window": 8},
        new=None,
        note="32 texts, each ends in <eos>",
    ),
    "pillow images": Door(
        given=lambda: {"data": pictures(24), "validation": pictures(8)},
        new=lambda: pictures(3)[0],
        note="every image is 6 x 5, RGB",
        rows=(24, 8, 0),
    ),
    "pillow images and reals": Door(
        given=lambda: {"data": (pictures(24)[0], features(24))},
        new=lambda: pictures(3)[0],
    ),
    "a dataset of texts": Door(
        given=lambda: {"data": dataset(texts(32)), "test": dataset(texts(8))},
        model=lambda: "lstm",
        settings={"hidden": 4, "embedding": 4},
        new=lambda: texts(4)[0],
    ),
    "a dict of datasets of images": Door(
        given=lambda: {"data": splits_of_images()},
        new=lambda: pictures(3)[0],
        rows=(24, 8, 8),
    ),
    "a dataset of columns": Door(
        given=lambda: {"data": pytest.importorskip("datasets").Dataset.from_pandas(frame(40))},
        settings={"hidden": (4,), "target": "kind"},
        new=lambda: frame(5),
    ),
    "a dict of arrays": Door(
        given=lambda: {"data": (parts(40), classes(40)), "validation": (parts(8), classes(8))},
        model=lambda: Joined(2),
        settings={},
        new=lambda: parts(5),
        note="nothing is scaled",
        rows=(40, 8, 0),
    ),
    "a tuple of arrays and reals": Door(
        given=lambda: {"data": (tuple(parts(40).values()), features(40)[:, 0], np.ones(40))},
        model=lambda: Joined(1),
        settings={},
        new=lambda: tuple(parts(5).values()),
    ),
    "arrays in groups": Door(
        given=lambda: {"data": (features(40), classes(40)), "groups": np.arange(40) // 5},
        new=lambda: features(5),
        rows=(30, 5, 5),
    ),
    "a frame in groups": Door(
        given=lambda: {"data": frame(40).assign(who=np.arange(40) // 5), "groups": "who"},
        settings={"hidden": (4,), "target": "kind"},
        new=lambda: frame(5),
        note="held out by group, column 'who'",
    ),
    "a frame and a series": Door(
        given=lambda: {"data": labelled(40), "validation": labelled(10, 1)},
        new=lambda: labelled(5)[0],
        note="colour: category",
        rows=(40, 10, 0),
    ),
    "a frame, reals and weights": Door(
        given=lambda: {"data": (frame(40), features(40)[:, :2], np.linspace(0.1, 1, 40))},
        new=lambda: frame(5),
    ),
    "a polars frame and a series": Door(
        given=lambda: {"data": (polars_frame(40).drop("kind"), polars_frame(40)["kind"])},
        new=lambda: polars_frame(5).drop("kind"),
    ),
    "a polars frame with validation": Door(
        given=lambda: {"data": polars_frame(40), "validation": polars_frame(10, 1)},
        settings={"hidden": (4,), "target": "kind"},
        new=lambda: polars_frame(5, 3),
        rows=(40, 10, 0),
    ),
    "an Arrow table with validation": Door(
        given=lambda: {"data": arrow_table(40), "validation": arrow_table(10, 1)},
        settings={"hidden": (4,), "target": "kind"},
        new=lambda: arrow_table(5, 3),
        rows=(40, 10, 0),
    ),
    "an Arrow table and classes": Door(
        given=lambda: {"data": (arrow_table(40).drop_columns("kind"), classes(40))},
        new=lambda: arrow_table(5).drop_columns("kind"),
    ),
}


QUICKLY = ["arrays with validation and test", "a frame and a series", "texts and labels"]


@pytest.mark.parametrize("name", slow_but(QUICKLY, DOORS))
def test_it_trains_resumes_and_predicts(tmp_path: Path, name: str) -> None:
    check_door(DOORS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
@pytest.mark.usefixtures("undrawn")
def test_it_reports(tmp_path: Path, name: str) -> None:
    check_report(DOORS[name], tmp_path)
