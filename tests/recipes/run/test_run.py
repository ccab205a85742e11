"""Runs: opened elsewhere they say the same; labels, thresholds, frames and refusals."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch import nn

import netwright as nw
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, DataError


def test_a_copied_folder_predicts_the_same(
    table_run: nw.Run, table_file: Path, tmp_path: Path
) -> None:
    """Preprocessing travels with the run: the copy never sees the training table."""
    assert table_run.folder is not None
    copy = shutil.copytree(table_run.folder, tmp_path / "copy")
    opened = nw.open_run(copy)
    rows = tmp_path / "rows.csv"
    rows.write_text("size,colour\n1.5,red\n9.5,blue\n,green\n", encoding="utf-8")
    assert opened.predict(rows).tolist() == table_run.predict(rows).tolist()
    assert np.array_equal(opened.predict_proba(rows), table_run.predict_proba(rows))
    assert opened.predict({"size": 9.5, "colour": "red"}).tolist() == ["big"]
    assert opened.predict([{"size": "0.5", "colour": "red"}]).tolist() == ["small"]
    assert opened.results == table_run.results
    assert opened.history.rows == table_run.history.rows


def test_evaluate_reads_the_runs_own_data_or_other_labelled_rows(
    table_run: nw.Run, table_file: Path
) -> None:
    assert table_run.folder is not None
    opened = nw.open_run(table_run.folder)
    assert opened.evaluate() == table_run.results["metrics"]
    assert opened.baseline() == table_run.results["baseline"]
    everywhere = opened.evaluate(table_file)
    parts = [opened.evaluate(split=split) for split in ("train", "val", "test")]
    sizes = [len(opened.data.split(split)) for split in ("train", "val", "test")]
    together = sum(p["accuracy"] * n for p, n in zip(parts, sizes, strict=True)) / sum(sizes)
    assert everywhere["accuracy"] == pytest.approx(together)
    with pytest.raises(DataError, match=r"things.csv has no 'tset' split"):
        opened.evaluate(split="tset")


def test_a_frame_in_gives_its_index_out(table_run: nw.Run) -> None:
    frame = pd.DataFrame({"size": [9.0, 1.0], "colour": ["red", "blue"]}, index=["x", "y"])
    labels = table_run.predict(frame)
    assert isinstance(labels, pd.Series)
    assert labels.to_dict() == {"x": "big", "y": "small"}
    assert labels.name == "kind"
    shares = table_run.predict_proba(frame)
    assert list(shares.columns) == ["big", "small"]
    assert list(shares.index) == ["x", "y"]


def test_what_is_new_in_rows_is_remarked(table_run: nw.Run) -> None:
    row = {"size": 5.0, "colour": "red"}
    assert table_run.remarks(row) == ()
    far, unseen = table_run.remarks({"size": 1e6, "colour": "grey"})
    assert far.startswith("size: 1 row lies far outside the training range")
    assert unseen == "colour: a value not seen in training, 'grey', in 1 row"


def test_the_threshold_moves_the_second_class(table_run: nw.Run) -> None:
    row = {"size": 5.0, "colour": "red"}
    share = table_run.predict_proba(row)[0, 1]
    assert table_run.predict(row, threshold=share - 1e-4).tolist() == ["small"]
    assert table_run.predict(row, threshold=share + 1e-4).tolist() == ["big"]
    with pytest.raises(ConfigError, match=re.escape("threshold must lie in [0, 1], got 2")):
        table_run.predict(row, threshold=2)


def test_reals_come_back_in_their_own_units(tmp_path: Path) -> None:
    run = nw.fit("linear-regression", "line", epochs=40, lr=0.05, quiet=True, out=tmp_path / "r")
    inputs = np.array([[0.0], [1.0]])
    low, high = run.predict(inputs)
    slope, config = high - low, run.config["data"]
    assert slope == pytest.approx(config["slope"], abs=0.2)
    with pytest.raises(ConfigError, match="probabilities are for classes and labels"):
        run.predict_proba(inputs)
    with pytest.raises(ConfigError, match="threshold is for classes and labels"):
        run.predict(inputs, threshold=0.5)


def test_a_module_of_ones_own_is_asked_for(tmp_path: Path) -> None:
    def build() -> nn.Module:
        return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))

    run = nw.fit(build(), "moons", epochs=2, out=tmp_path / "own", quiet=True)
    with pytest.raises(ConfigError, match=r"contains your own module, Sequential: pass it as"):
        nw.open_run(tmp_path / "own")
    again = nw.open_run(tmp_path / "own", build())
    assert again.evaluate() == run.evaluate()
    with pytest.raises(DataError, match="do not fit the model"):
        nw.open_run(tmp_path / "own", nn.Linear(2, 2))


def test_it_opens_on_the_device_of_training_where_the_machine_has_it(
    table_run: nw.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pick(name: str = "auto") -> torch.device:
        places = {"auto": "cpu", "cuda:1": "meta"}  # the meta device stands for a GPU
        if name not in places:
            raise ConfigError(f"device {name!r} is not there")
        return torch.device(places[name])

    assert table_run.folder is not None
    shutil.copytree(table_run.folder, tmp_path / "copy")
    written = (tmp_path / "copy" / "config.yaml").read_text(encoding="utf-8")
    monkeypatch.setattr("netwright.recipes.saved.model_of_run.pick_device", pick)
    for name, place in (("auto", "cpu"), ("cuda:1", "meta"), ("cuda:7", "cpu")):
        changed = re.sub(r"device: .*", f"device: {name}", written)
        assert name in changed
        (tmp_path / "copy" / "config.yaml").write_text(changed, encoding="utf-8")
        assert device_of(nw.open_run(tmp_path / "copy").model).type == place


def test_a_run_on_arrays_says_that_it_does_not_hold_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(80, 3))
    targets = np.where(inputs[:, 0] > 0, "yes", "no")
    run = nw.fit("logistic", (inputs, targets), epochs=30, lr=0.05, out=tmp_path / "a", quiet=True)
    assert set(run.predict(inputs)) <= {"yes", "no"}
    opened = nw.open_run(tmp_path / "a")
    with pytest.raises(DataError, match="trained on arrays that are not saved with it; give data="):
        opened.evaluate()
    assert opened.evaluate((inputs, targets))["accuracy"] > 0.5


def test_pairs_are_told_their_targets_when_they_are_measured(tmp_path: Path) -> None:
    run = nw.fit(
        "encoder-decoder",
        "reverse",
        n=60,
        length=4,
        hidden=4,
        epochs=1,
        out=tmp_path / "r",
        quiet=True,
    )
    table = tmp_path / "pairs.tsv"
    table.write_text("source\ttarget\nab\tba\nbba\tabb\n")
    assert run.evaluate((["ab", "bba"], ["ba", "abb"])) == run.evaluate(table)
    assert run.predictions(["ab"]).shape == (1, 2, 5)
    with pytest.raises(DataError, match=r"^there are 1 sources but 2 targets$"):
        run.evaluate((["ab"], ["ba", "abb"]))
    with pytest.raises(ConfigError, match=r"^probabilities are for classes and labels"):
        run.predict_proba(["ab"])
    with pytest.raises(DataError, match=r"^'a b': there is no such file; pass texts as a list"):
        run.predict("a b")
    with pytest.raises(DataError, match=r"^no inputs were given to predict$"):
        run.predict([])


def test_repr_tells_where_and_how_good(moons_run: nw.Run) -> None:
    assert re.fullmatch(
        r"Run\(.*moons: test loss [\d.]+, accuracy [\d.]+, .*; done\)", repr(moons_run)
    )


def test_a_table_goes_to_a_model_that_learned_from_arrays(tmp_path: Path) -> None:
    run = nw.fit("logistic", "iris", epochs=2, out=tmp_path / "iris", quiet=True)
    names = run.spec.feature_names
    rows = tmp_path / "rows.csv"
    rows.write_text(
        ",".join(names) + ",species\n5.1,3.5,1.4,0.2,setosa\n6.3,3.3,6.0,2.5,virginica\n"
    )
    array = np.array([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]])
    assert run.predict(rows).tolist() == run.predict(array).tolist()
    assert run.predict(dict(zip(names, array[0], strict=True))).tolist() == [run.predict(array)[0]]


def test_other_data_is_evaluated_where_the_runs_own_is_gone(
    table_run: nw.Run, table_file: Path, tmp_path: Path
) -> None:
    assert table_run.folder is not None
    copy = shutil.copytree(table_run.folder, tmp_path / "copy")
    text = (copy / "config.yaml").read_text()
    (copy / "config.yaml").write_text(text.replace(str(table_file), "gone.csv"))
    opened = nw.open_run(copy)
    assert opened.evaluate(table_file) == table_run.evaluate(table_file)
    assert opened.baseline(table_file)["accuracy"] == pytest.approx(0.5, abs=0.05)


def test_a_picture_more_divides_a_folder_otherwise_and_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    for kind, level in (("dark", 10), ("light", 200)):
        (folder / kind).mkdir(parents=True)
        for place in range(8):
            Image.new("L", (4, 4), level + place).save(folder / kind / f"{place}.png")
    nw.fit("softmax", folder, epochs=1, out=tmp_path / "run", quiet=True)
    assert nw.open_run(tmp_path / "run").evaluate()
    Image.new("L", (4, 4), 99).save(folder / "dark" / "8.png")
    with pytest.raises(DataError, match=r"^pictures has changed since the run was trained on it"):
        nw.open_run(tmp_path / "run").evaluate()


def test_examples_are_read_once_for_two_looks(table_run: nw.Run, table_file: Path) -> None:
    examples = table_run.examples(table_file)
    assert table_run.evaluate(examples) == table_run.evaluate(table_file)
    assert table_run.baseline(examples) == table_run.baseline(table_file)


def test_an_opened_run_is_the_same_with_class_weights(tmp_path: Path) -> None:
    run = nw.fit(
        "logistic", "iris", epochs=1, class_weight="balanced", out=tmp_path / "run", quiet=True
    )
    assert nw.open_run(tmp_path / "run").evaluate() == run.evaluate() == run.results["metrics"]


def test_data_that_moved_away_is_told(table_run: nw.Run, tmp_path: Path) -> None:
    assert table_run.folder is not None
    copy = shutil.copytree(table_run.folder, tmp_path / "copy")
    text = (copy / "config.yaml").read_text()
    where = str(table_run.config["data"]["path"])
    (copy / "config.yaml").write_text(text.replace(where, "gone.csv"))
    with pytest.raises(
        DataError, match=r"^the run's data gone.csv does not exist here: change to the folder"
    ):
        nw.open_run(copy).evaluate()
