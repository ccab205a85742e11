"""`netwright predict`: from a file, standard input, one row or images; labels, probabilities."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import netwright as nw
from netwright.apps.cli.commands import predict_command
from netwright.apps.cli.typed_row import read_row
from netwright.core.errors import ConfigError
from netwright.data.images.masks import resize_mask
from tests.apps.cli.conftest import Type
from tests.data.images.pair_pictures import write_pairs
from tests.data.images.pictures import folder_of

ROWS = "size,colour\n9.5,red\n0.5,blue\n"


def test_a_file_gives_a_table(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    answer = type_in("predict", things_run, "rows.csv", "--proba")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["kind"] for row in rows] == ["big", "small"]
    assert float(rows[0]["p(big)"]) + float(rows[0]["p(small)"]) == pytest.approx(1, abs=1e-5)
    assert type_in("predict", things_run, "rows.csv").out == "kind\nbig\nsmall\n"


def test_standard_input(type_in: Type, things_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    assert type_in("predict", things_run, "-").out == "kind\nbig\nsmall\n"


def test_one_row_and_a_threshold(type_in: Type, things_run: Path) -> None:
    row = "size=9.5,colour=red"
    shown = json.loads(type_in("predict", things_run, "--row", row, "--json").out)
    assert shown == [{"kind": "big"}]
    # The second class, "small", is given from probability 0 on.
    answer = type_in("predict", things_run, "--row", row, "--threshold", 0, "--json")
    assert json.loads(answer.out) == [{"kind": "small"}]


def test_refuses_rows_that_do_not_fit(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("sise,colour\n9.5,red\n")
    answer = type_in("predict", things_run, "rows.csv")
    assert answer.code == 2
    assert "rows.csv" in answer.err
    assert "did you mean 'sise'" in answer.err or "'size'" in answer.err
    (tmp_path / "rows.csv").write_text("size,colour\n1,red\nx,red\n")
    answer = type_in("predict", things_run, "rows.csv")
    assert answer.err == "error: rows.csv:3: column 'size': 'x' is not a number\n"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pictures of each of two classes."""
    names = ["cat/1.png", "cat/2.png", "dog/1.png", "dog/two\nlines.png"]
    return folder_of(tmp_path_factory.mktemp("pets"), *names)


@pytest.fixture(scope="module")
def pictures_run(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned its four pictures by heart."""
    out = tmp_path_factory.mktemp("runs") / "pets"
    nw.fit("softmax", pictures, val_size=0, test_size=0, epochs=20, lr=0.1, out=out, quiet=True)
    return out


def test_images_are_named_before_their_answers(
    type_in: Type, pictures: Path, pictures_run: Path
) -> None:
    answer = type_in("predict", pictures_run, pictures / "dog", pictures / "cat/2.png", "--proba")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert list(rows[0]) == ["file", "prediction", "p(cat)", "p(dog)"]
    assert [(row["file"], row["prediction"]) for row in rows] == [
        (f"{pictures}/dog/1.png", "dog"),
        (f"{pictures}/dog/two\\nlines.png", "dog"),
        (f"{pictures}/cat/2.png", "cat"),
    ]


def test_a_few_images_at_a_time_are_all_images(
    type_in: Type, pictures: Path, pictures_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type_in("predict", pictures_run, pictures, "--json").out
    assert len(json.loads(whole)) == 4
    monkeypatch.setattr(predict_command, "TOGETHER", 3)
    assert type_in("predict", pictures_run, pictures, "--json").out == whole


def test_a_run_on_images_takes_images(
    type_in: Type, pictures: Path, pictures_run: Path, things_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    answer = type_in("predict", pictures_run, "rows.csv")
    assert answer.err.startswith("error: rows.csv cannot be read as an image: it is none of PNG")
    answer = type_in("predict", pictures_run, "--row", "size=1")
    assert answer.err == "error: --row is for tables, this run was trained on images\n"
    answer = type_in("predict", things_run, "rows.csv", "rows.csv")
    assert answer.err == "error: predict takes one table, got 2 files\n"
    answer = type_in("predict", things_run)
    assert answer.err == "error: predict needs rows: give a file, - for standard input, or --row\n"
    answer = type_in("evaluate", pictures_run, "--data", pictures, "--json")
    assert json.loads(answer.out)["metrics"]["accuracy"] == 1


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten images of 8 x 6 with their masks of 0 and 255."""
    return write_pairs(tmp_path_factory.mktemp("cells"), range(10))


@pytest.fixture(scope="module")
def masks_run(pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has seen the pairs once, in another size than they have."""
    out = tmp_path_factory.mktemp("runs") / "cells"
    nw.fit("unet", pairs, size=(4,), depth=1, width=2, val_size=0, epochs=1, out=out, quiet=True)
    return out


def test_objects_are_named_with_their_boxes(type_in: Type, tmp_path: Path) -> None:
    small: dict[str, Any] = {"n": 40, "side": 16, "width": 8, "heads": 2, "layers": 1, "queries": 3}
    nw.fit("detr", "shapes", epochs=1, out=tmp_path / "run", quiet=True, **small)
    Image.new("RGB", (30, 20), "red").save("one.png")
    (row,) = json.loads(type_in("predict", "run", "one.png", "--json").out)
    assert row["file"] == "one.png"
    assert all(set(one) == {"class", "probability", "box"} for one in row["objects"])
    (line,) = csv.DictReader(io.StringIO(type_in("predict", "run", "one.png").out))
    assert json.loads(line["objects"]) == row["objects"]
    assert "this run predicts boxes" in type_in("predict", "run", "one.png", "--proba").err


def test_pictures_are_described_one_a_line(type_in: Type, tmp_path: Path) -> None:
    small: dict[str, Any] = {"n": 60, "width": 8, "heads": 2, "layers": 1}
    nw.fit("transformer", "captions", epochs=1, out=tmp_path / "run", quiet=True, **small)
    for name in ("one.png", "two.png"):
        Image.new("RGB", (30, 20), "red").save(name)
    assert len(type_in("predict", "run", "one.png", "two.png").out.splitlines()) == 2
    (row,) = json.loads(type_in("predict", "run", "one.png", "--json", "--beams", "2").out)
    assert row["image"] == "r" * 64
    (tmp_path / "lines.txt").write_text("kkk\n")
    assert "64 letters of k, r, g, b" in type_in("predict", "run", "lines.txt").err


def test_masks_are_written_one_an_image(
    type_in: Type, pairs: Path, masks_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict_command, "MASKS_TOGETHER", 4)
    answer = type_in("predict", masks_run, pairs, "--out", "out/masks")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert rows[3] == {"file": f"{pairs}/images/3.png", "mask": "out/masks/3.png"}
    classes = nw.open_run(masks_run).predict(pairs)
    assert classes.shape == (10, 4, 4)
    for row, seen in zip(rows, classes, strict=True):
        written = np.array(Image.open(row["mask"]))
        assert written.dtype == np.uint8
        assert written.tolist() == resize_mask(seen * 255, 8, 6).tolist()


def test_masks_go_where_nothing_is(type_in: Type, pairs: Path, masks_run: Path) -> None:
    image, mask = pairs / "images/1.png", pairs / "masks/1.png"
    before = mask.read_bytes()
    refusals = {
        (image,): "masks are not rows of a table, give --out FOLDER for one PNG per image",
        (image, "--out", pairs / "masks"): f"{mask} already exists, give --out another folder",
        (image, mask, "--out", "m"): f"{image} and {mask} would both be written to m/1.png",
        (image, "--out", image): f"--out must be a folder, {image} is a file",
        (image, "--out", "m", "--proba"): "--proba is for tables, this run predicts masks",
        (image, "--out", "m", "--threshold", 0.5): (
            "threshold is for classes and labels, this run predicts masks"
        ),
        ("--row", "a=1"): "--row is for tables, this run was trained on images",
    }
    for typed, sentence in refusals.items():
        assert type_in("predict", masks_run, *typed).err == f"error: {sentence}\n"
    assert mask.read_bytes() == before
    assert type_in("predict", masks_run, "absent.png", "--out", "m").code == 2
    assert not Path("m").exists()


def test_only_masks_go_to_a_folder(type_in: Type, pictures: Path, pictures_run: Path) -> None:
    answer = type_in("predict", pictures_run, pictures, "--out", "m")
    sentence = "--out must end in .csv, .json, .jsonl or .parquet, got m"
    assert answer.err == f"error: {sentence}\n"


def test_a_run_is_measured_on_a_folder_of_pairs(
    type_in: Type, pairs: Path, masks_run: Path
) -> None:
    answer = type_in("evaluate", masks_run, "--data", pairs, "--json")
    measured = json.loads(answer.out)["metrics"]
    run = nw.open_run(masks_run)
    whole = [run.evaluate(split=split)["pixel_accuracy"] for split in ("train", "test")]
    assert measured["pixel_accuracy"] == pytest.approx(np.average(whole, weights=[8, 2]))


@pytest.mark.parametrize("time", ["day", None])
def test_a_forecast_says_which_row_it_is_of(
    type_in: Type, tmp_path: Path, time: str | None
) -> None:
    table = tmp_path / "series.csv"
    rows = [f"2020-01-{day:02d},{day % 5}.5\n" for day in range(1, 31)]
    table.write_text("day,level\n" + "".join(rows))
    data = nw.data.load("series", path=str(table), target="level", window=3, time=time)
    run = nw.fit("elman", data, hidden=4, epochs=1, out=tmp_path / "run", quiet=True)
    Path("new.csv").write_text("day,level\n" + "".join(rows[:5]))
    said = [float(str(one)) for one in run.predict("new.csv")]  # the digits of a float32
    shown = json.loads(type_in("predict", tmp_path / "run", "new.csv", "--json").out)
    name, places = ("day", ["2020-01-04", "2020-01-05"]) if time else ("line", [5, 6])
    assert shown == [{name: place, "level": one} for place, one in zip(places, said, strict=True)]


def test_rows_as_a_person_types_them() -> None:
    assert read_row("a=1, b = x") == {"a": "1", "b": "x"}
    assert read_row('{"a": 1, "b": null}') == {"a": 1, "b": None}
    with pytest.raises(ConfigError, match="--row is not JSON"):
        read_row("{a}")
    with pytest.raises(ConfigError, match='--row must be like "a=1,b=x" or a JSON object'):
        read_row("a")


@pytest.fixture(scope="module")
def clients_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on rows that a column names, in Latin-1 and with commas between thousands."""
    folder = tmp_path_factory.mktemp("clients")
    rows = [f'{row},"{1000 + 100 * row:,}",{"groß" if row > 20 else "klein"}' for row in range(40)]
    text = "\n".join(["client_id,größe,art", *rows])
    (folder / "clients.csv").write_bytes(text.encode("latin-1"))
    written = {"encoding": "latin-1", "thousands": ","}
    settings: dict[str, Any] = {**written, "target": "art", "out": folder / "run", "quiet": True}
    nw.fit("logistic-newton", folder / "clients.csv", **settings)
    return folder / "run"


def test_answers_go_into_a_file_beside_what_names_their_rows(
    type_in: Type, clients_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.csv").write_bytes('client_id,größe\n9,"4,900"\n7,"1,100"\n'.encode("latin-1"))
    asked = ("predict", clients_run, "new.csv", "--out", "p.csv")
    answer = type_in(*asked)
    assert (answer.code, answer.out, answer.err) == (0, "2 answers: p.csv\n", "")
    assert (tmp_path / "p.csv").read_text(encoding="utf-8") == "client_id,art\n9,groß\n7,klein\n"
    again = type_in(*asked)
    assert (again.code, again.err) == (
        2,
        "error: p.csv already exists, give --out another name\n",
    )
    kept = type_in("predict", clients_run, "new.csv", "--keep", "größe", "--proba").out
    assert kept.splitlines()[0] == "größe,art,p(groß),p(klein)"
    assert type_in("predict", clients_run, "new.csv", "--json", "--out", "p.json").code == 0
    assert json.loads((tmp_path / "p.json").read_text())[1] == {"client_id": "7", "art": "klein"}


def test_a_file_that_is_written_otherwise_is_read_by_a_setting(
    type_in: Type, clients_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.csv").write_text("größe;client_id;art\n4900;3;groß\n", encoding="utf-8")
    assert "has no column 'größe'" in type_in("predict", clients_run, "new.csv").err
    written = ("--set", "data.encoding=utf-8", "--set", "data.thousands=")
    assert type_in("predict", clients_run, "new.csv", *written).out == "client_id,art\n3,groß\n"
    shown = json.loads(type_in("evaluate", clients_run, "new.csv", *written, "--json").out)
    assert shown["metrics"]["accuracy"] == 1


def test_all_missing_columns_and_far_values_are_said(
    type_in: Type, things_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("sizes\n1\n")
    answer = type_in("predict", things_run, "rows.csv")
    lacks = "error: rows.csv lacks 2 columns that are needed, 'size' (did you mean 'sizes'?)"
    assert answer.err == f"{lacks}, 'colour'; it has sizes\n"
    answer = type_in("evaluate", things_run, "rows.csv")
    assert answer.err.startswith("error: rows.csv lacks 3 columns that are needed, 'size'")
    assert answer.code == 2
    (tmp_path / "rows.csv").write_text("size,colour\n950,red\n-95,green\n12,red\n")
    notes = type_in("predict", things_run, "rows.csv").err.splitlines()
    assert len(notes) == 2
    assert notes[0].startswith("note: size: 2 rows lie far outside the training range 0")
    assert notes[0].endswith(", up to 950")
    assert notes[1] == "note: colour: a value not seen in training, 'green', in 1 row"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--keep", "art"], "new.csv has no column 'art'; it has client_id, größe"),
        (["--out", "p.tsv"], "--out must end in .csv, .json, .jsonl or .parquet, got p.tsv"),
        (["--json", "--out", "p.csv"], "--out must end in .json, got p.csv"),
    ],
)
def test_what_cannot_be_kept_or_written_is_refused(
    type_in: Type, clients_run: Path, tmp_path: Path, words: list[str], sentence: str
) -> None:
    (tmp_path / "new.csv").write_bytes("client_id,größe\n9,4900\n".encode("latin-1"))
    answer = type_in("predict", clients_run, "new.csv", *words)
    assert (answer.err, answer.out) == (f"error: {sentence}\n", "")


def test_a_column_called_like_the_answers_is_not_kept(
    type_in: Type, clients_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.csv").write_bytes("größe,art\n4900,groß\n".encode("latin-1"))
    answer = type_in("predict", clients_run, "new.csv", "--keep", "art")
    assert answer.err == "error: --keep art has the same name as the predictions\n"
