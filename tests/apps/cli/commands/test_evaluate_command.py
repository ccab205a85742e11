"""`netwright evaluate`: the run's own split, or other labelled data."""

import json
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type


def test_gives_what_training_gave(type_in: Type, things_run: Path) -> None:
    results = json.loads((things_run / "results.json").read_text())
    shown = json.loads(type_in("evaluate", things_run, "--json").out)
    assert shown["metrics"] == results["metrics"]
    assert shown["baseline"] == results["baseline"]
    table = type_in("evaluate", things_run)
    assert "accuracy" in table.out
    assert table.out.endswith(" the second class; the first is 'big'\n")


def test_other_labelled_data(type_in: Type, things_run: Path, things_csv: Path) -> None:
    shown = json.loads(type_in("evaluate", things_run, "--data", things_csv, "--json").out)
    assert shown["split"] == str(things_csv)
    assert shown["metrics"]["accuracy"] > 0.8


def test_a_split_that_is_not_there(type_in: Type, things_run: Path) -> None:
    answer = type_in("evaluate", things_run, "--split", "tset")
    assert answer.code == 2
    assert answer.err == "error: things.csv has no 'tset' split, it has train, val, test\n"


def test_a_new_file_is_typed_after_the_run(
    type_in: Type, things_run: Path, things_csv: Path, tmp_path: Path
) -> None:
    by_option = type_in("evaluate", things_run, "--data", things_csv, "--json").out
    assert type_in("evaluate", things_run, things_csv, "--json").out == by_option
    lines = things_csv.read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([*lines[:9], "99,red,small"]))
    answer = type_in("evaluate", things_run, "new.csv")
    assert answer.out.startswith("new.csv ")
    assert "note: size: 1 row lies far outside the training range" in answer.err


def test_bad_files_are_refused_in_one_sentence(
    type_in: Type, things_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "gaps.csv").write_text("size colour kind\n1 red big\n")
    refusals = {
        ("gone",): "gone: there is no such file",
        ("empty.csv",): "empty.csv: the file is empty",
        ("gaps.csv",): "gaps.csv lacks 3 columns that are needed, 'size', 'colour', 'kind'; it "
        "has size colour kind",
        (tmp_path,): f"{tmp_path} is a folder, wanted a table file (.csv, .tsv, .parquet)",
        ("a.csv", "--data", "b.csv"): "evaluate takes one source of data, got a.csv and b.csv",
        ("a.csv", "--split", "val"): "--split selects from the run's own data, got a.csv as well",
    }
    for words, sentence in refusals.items():
        answer = type_in("evaluate", things_run, *words)
        assert (answer.code, answer.err) == (2, f"error: {sentence}\n")


def test_metrics_of_each_group_of_rows(
    type_in: Type, things_run: Path, things_csv: Path, tmp_path: Path
) -> None:
    lines = things_csv.read_text().splitlines()
    named = [f"{lines[0]},town", *(f"{line},{'AB'[row % 2]}" for row, line in enumerate(lines[1:]))]
    (tmp_path / "new.csv").write_text("\n".join(named))
    shown = json.loads(type_in("evaluate", things_run, "new.csv", "--by", "town", "--json").out)
    assert shown["rows"] == {"A": 30, "B": 30}
    accuracy = [shown["groups"][town]["accuracy"] for town in "AB"]
    assert sum(accuracy) / 2 == pytest.approx(shown["metrics"]["accuracy"])
    table = type_in("evaluate", things_run, "--by", "colour").out
    assert table.startswith("test ")
    assert "red" in table
    answer = type_in("evaluate", things_run, "--by", "town")
    assert answer.err.startswith("error: 'town' was not learned from")


def test_translations_have_a_bleu_with_its_signature(type_in: Type, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    rows = [f"{word} {word}\t{word[::-1]} {word}" for word in ("cat", "dog", "hen", "cow")] * 10
    (tmp_path / "pairs.tsv").write_text("\n".join(["en\tde", *rows]) + "\n")
    small = [f"model.{setting}" for setting in ("layers=1", "heads=1", "width=8")]
    options = [word for setting in small for word in ("--set", setting)]
    words = ("--source", "en", "--target", "de", "--epochs", 1, "--no-report", "--out", "run")
    trained = type_in("train", "transformer", "pairs.tsv", *words, *options)
    assert "\nBLEU " in trained.out
    kept = json.loads((tmp_path / "run" / "results.json").read_text())["bleu"]
    assert json.loads(type_in("evaluate", "run", "--json").out)["bleu"] == kept
    searched = type_in("evaluate", "run", "pairs.tsv", "--beams", 2, "--length-penalty", 1)
    assert "on 40 pairs, 2 beams, length penalty 1: nrefs:1|case:mixed|" in searched.out


def test_a_search_is_for_pairs_of_texts(type_in: Type, things_run: Path) -> None:
    refusals = {
        ("--beams", 2): "BLEU is for pairs of texts that were read from files or lists",
        ("--length-penalty", 1): "--length-penalty is for beam search: give --beams, too",
        ("--beams", 2, "--by", "colour"): "--by is for tables, --beams for pairs of texts: leave "
        "out one of them",
    }
    for words, sentence in refusals.items():
        answer = type_in("evaluate", things_run, *words)
        assert (answer.code, answer.err) == (2, f"error: {sentence}\n")
